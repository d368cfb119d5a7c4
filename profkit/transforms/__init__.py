"""From profiles to what reports are made of: pure functions, nothing read or written."""
