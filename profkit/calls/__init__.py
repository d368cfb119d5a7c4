"""What a profiled call touches: markers, wrappers, blocks, and the way to a session; all of it is hot."""
