"""Text reports for terminals and pipes, with layout by rich."""
