"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with real data, or a skip that says how to get one."""
    folder = Path(os.environ.get("RAMIFY_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RAMIFY_DATA to the folder that holds it")
    return folder
