"""Reports as text for terminals and pipes, laid out by rich."""
