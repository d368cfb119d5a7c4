"""Transfer of functions, arguments and results between this process and workers."""
