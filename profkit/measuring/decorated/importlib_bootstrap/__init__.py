"""Frames between a caller and a measured function, which warnings and logging skip by their folder's name.

See `profkit.calls.importlib_bootstrap`.
"""
