"""Reports: `views` has the content of each, the other packages a format each."""
