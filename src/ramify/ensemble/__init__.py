"""Tree ensembles for every kind of target."""

__all__: list[str] = []
