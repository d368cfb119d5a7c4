"""Process of the `cpython` sampler; runs without profkit, in the profiled process's own version of Python."""
