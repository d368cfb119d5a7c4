"""Programs that the benchmarks start in separate processes."""
