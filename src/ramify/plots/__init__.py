"""Results as matplotlib figures."""

__all__: list[str] = []
