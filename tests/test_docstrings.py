"""Every example in a docstring runs as printed."""

import doctest
import importlib
import pkgutil

import pytest

import ramify

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ramify.__path__, "ramify.")
    if not module.name.startswith(("ramify._core", "ramify.cli", "ramify.studies"))
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run_as_printed(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0
