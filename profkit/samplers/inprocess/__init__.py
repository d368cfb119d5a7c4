"""Sampling from inside the profiled process, for systems that let no other process read it."""
