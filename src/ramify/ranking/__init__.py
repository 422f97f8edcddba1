"""Feature rankings, where they come from and whether they are good."""

__all__: list[str] = []
