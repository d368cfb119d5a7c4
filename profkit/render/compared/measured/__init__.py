"""Comparisons of measured runs."""
