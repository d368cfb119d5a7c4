"""Markdown reports, bounded in length, for pull requests and language models."""
