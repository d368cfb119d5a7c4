"""The pytest plugin. PYTEST_DONT_REWRITE"""
