"""Classifier chains and their relatives for label sets."""

__all__: list[str] = []
