"""Ingestion of the spool: `read` reads one session's folder as runs, `keep` moves all into the store."""
