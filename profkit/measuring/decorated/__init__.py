"""Background measurement of functions decorated with profile(mode=…)."""
