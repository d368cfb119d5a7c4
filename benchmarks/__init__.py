"""What profiling costs and how true it is, measured side by side: `python -m benchmarks.sampling`."""
