"""Zygotes, and the jobs that they fork workers for."""
