"""Benchmarks of profkit's overhead and accuracy, as paired measurements: `python -m benchmarks.sampling`."""
