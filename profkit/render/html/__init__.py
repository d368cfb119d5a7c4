"""The HTML report: one offline file, its data packed beside the scripts that draw it."""
