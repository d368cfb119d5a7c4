"""From spool folders to runs: `read` for a look at one folder, `keep` to put all into the store."""
