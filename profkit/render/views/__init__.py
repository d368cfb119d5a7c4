"""Content of reports, independent of their format."""
