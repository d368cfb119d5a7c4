"""Programs with a known answer, each as a user would write it."""
