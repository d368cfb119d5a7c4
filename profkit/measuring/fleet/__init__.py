"""Measuring on the machines of an executor: its workers take jobs of orders, and return runs."""
