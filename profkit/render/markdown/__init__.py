"""Reports as Markdown, bounded in length, for pull requests and language models."""
