"""Extension of IPython and Jupyter: the magics `%profiled` and `%measure`."""
