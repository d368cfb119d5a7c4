"""The program that zygotes are, and what their children do; it imports nothing of profkit.

It runs in whatever environment an order names: another Python, another torch, one without profkit. So it
is started by its path, its modules import each other relatively, and at module level nothing but the
standard library."""
