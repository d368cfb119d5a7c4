"""Comparisons of sampled runs."""
