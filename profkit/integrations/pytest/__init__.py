"""The pytest plugin, and the names that all of it uses. PYTEST_DONT_REWRITE"""

MARKER = "profkit"
"""Mark of tests."""
RECORD = "profkit_record"
"""Attribute of a test's report that has the test's record."""
