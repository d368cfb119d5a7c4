"""Servers that keep profiles of services: Pyroscope, and what receives OTLP over HTTP."""
