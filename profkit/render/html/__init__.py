"""HTML reports: one offline file each, with the data packed beside the scripts that draw it."""
