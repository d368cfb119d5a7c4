"""Persistent data: the spool, which profiled and measuring processes write, and the store of runs."""
