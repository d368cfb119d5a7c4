"""The command line: one file a command; only `main` turns errors into exit codes."""
