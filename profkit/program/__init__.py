"""Whole programs: started by `profkit run` and profiled from their first line to their last."""
