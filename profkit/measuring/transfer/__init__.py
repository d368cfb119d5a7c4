"""Functions and arguments on their way to another process."""
