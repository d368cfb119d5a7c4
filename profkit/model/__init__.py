"""Frozen data that every floor speaks."""
