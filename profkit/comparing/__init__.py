"""Comparisons of two sides, and tests of whether they differ by more than noise; pure."""
