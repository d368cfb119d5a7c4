"""Programs that the measurements start in processes of their own."""
