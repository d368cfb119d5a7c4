"""Reports as HTML: one offline file with its data packed beside the scripts that draw it."""
