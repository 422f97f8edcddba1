"""Generators of data with planted truth, one module per kind of structure."""
