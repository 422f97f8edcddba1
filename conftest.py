"""The option of the test runs; here, because pytest reads this file whatever the words of the command line are."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--scorecard FILE`."""
    parser.addoption("--scorecard", metavar="FILE", help="write the reliability table to this file")
