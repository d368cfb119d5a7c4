"""Frames between a caller and a profiled function, in files that warnings and logging do not see.

CPython's `warnings.warn` and `logging` look for the caller at `stacklevel` frames above. Both skip frames
whose file has `importlib` and `_bootstrap` in its name, as those of an import (Python/_warnings.c,
Lib/logging/__init__.py). So this folder's name makes them find the caller that they find without profkit.
"""
