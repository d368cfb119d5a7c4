"""Whole programs: timed and counted as processes of their own, from their start to their end."""
