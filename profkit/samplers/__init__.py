"""Samplers behind one interface: py-spy, CPython's own reader, from inside the program, and strobeclient."""
