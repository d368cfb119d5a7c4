"""The text report, for terminals and pipes: laid out by rich."""
