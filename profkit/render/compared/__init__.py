"""Comparisons, for people and programs."""
