"""Processes: start, watch, describe and end them."""
