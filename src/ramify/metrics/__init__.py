"""How good are predictions: plain functions, one file per kind of target."""

__all__: list[str] = []
