"""Samplers: py-spy and strobeclient behind one interface."""
