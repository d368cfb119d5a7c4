"""The worker program: launcher, supervisors, zygotes and their children; imports nothing of profkit.

It runs in any environment that an order names: another Python, another torch, one without profkit. So it
is started by its path, its modules import each other relatively, and at module level only the standard
library."""
