"""Fixtures of the readers' tests."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of the given name and return its path."""

    def written(text, name="data.arff"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written
