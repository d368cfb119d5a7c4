"""Transformations of profiles and counts for reports: pure functions without input or output."""
