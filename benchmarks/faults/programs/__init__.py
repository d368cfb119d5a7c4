"""Programs that the fault campaign breaks."""
