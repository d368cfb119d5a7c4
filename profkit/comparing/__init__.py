"""Comparisons: what differs between two sides, and whether it is more than noise; pure."""
