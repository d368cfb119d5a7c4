"""Reports for people and for programs: run → rows → text or JSON."""
