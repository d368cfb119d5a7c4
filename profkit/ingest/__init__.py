"""From spool folders to runs."""
