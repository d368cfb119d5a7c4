"""Data model: frozen dataclasses that all other packages use."""
