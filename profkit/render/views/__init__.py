"""View models: what reports of every format show, as rows and sentences."""
