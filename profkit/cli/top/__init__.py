"""Screen of `profkit top`: widgets of textual that show `profkit.live`."""
