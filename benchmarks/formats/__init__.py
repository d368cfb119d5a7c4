"""Files of other tools: what `profkit import` reads, compared with independent readers."""
