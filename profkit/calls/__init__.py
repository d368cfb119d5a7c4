"""Path of a profiled call: markers, wrappers, blocks, and access to the session; all of it is hot."""
