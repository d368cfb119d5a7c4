"""How the runs of a label developed."""
