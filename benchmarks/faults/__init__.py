"""Fault campaign: break programs, samplers, disks, stores and files, and count what profkit loses."""
