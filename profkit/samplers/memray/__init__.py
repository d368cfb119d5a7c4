"""Memray: the tracker of memory, in the program, and the reader of its captures, in a process of its own."""
