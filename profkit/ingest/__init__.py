"""From the spool to runs: `read` for a look at one session's folder, `keep` to put all into the store."""
