"""Small programs with a known answer, and whether profkit finds it."""
