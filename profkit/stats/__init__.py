"""Statistics of means, shares and ranks: pure."""
