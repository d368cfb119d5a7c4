"""Files of other tools: reading and writing."""
