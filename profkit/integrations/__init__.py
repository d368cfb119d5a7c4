"""Integrations: profkit inside other tools."""
