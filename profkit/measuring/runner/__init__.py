"""From orders to measurements: which cores, in what order, how often, with what progress."""
