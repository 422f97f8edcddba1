"""Results as one self-contained HTML page."""

__all__: list[str] = []
