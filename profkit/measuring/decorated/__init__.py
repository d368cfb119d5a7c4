"""profile(mode=…): what is measured in the background of the user's program."""
