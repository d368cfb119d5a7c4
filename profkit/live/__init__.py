"""Live view of a running process, without its screen: what was sampled, and the thread that samples."""
