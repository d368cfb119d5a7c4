"""The command line: one module per command; only `main` turns errors into exit codes."""
