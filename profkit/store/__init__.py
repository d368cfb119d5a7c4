"""What is kept: the spool of a profiled process, and the store of runs."""
