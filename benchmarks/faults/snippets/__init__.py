"""Small programs that are run with and without profkit; `P` in them is the decorator to compare."""
