"""The public names, counted: what the packages list is what a user learns.

``python -m tests.test_names`` prints them by package.
"""

from importlib import import_module

PACKAGES = (
    "analysis", "chains", "compare", "datasets", "ensemble", "metrics", "models", "plots", "ranking", "report",
    "selection", "study",
)  # fmt: skip


def names() -> dict[str, list[str]]:
    """What each package that a user imports from lists."""
    return {package: list(import_module(f"ramify.{package}").__all__) for package in PACKAGES}


def test_every_listed_name_is_there_once():
    for package, listed in names().items():
        module = import_module(f"ramify.{package}")
        assert len(set(listed)) == len(listed)
        assert all(getattr(module, name) is not None for name in listed)


if __name__ == "__main__":
    for package, listed in names().items():
        print(f"{package:12}{len(listed):4}  {', '.join(listed)}")  # noqa: T201
    print(sum(map(len, names().values())))  # noqa: T201
