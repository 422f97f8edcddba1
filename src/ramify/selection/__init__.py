"""Feature selection: the top of a ranking, and selection along a feature hierarchy."""

__all__: list[str] = []
