"""The container: magic, a JSON manifest with its hash, then raw arrays with theirs.

::

    8 bytes    magic, with the version of the format
    8 bytes    length of the manifest, little-endian
    32 bytes   SHA-256 of the manifest
    manifest   UTF-8 JSON: {"ramify": version, "model": value, "arrays": [{"dtype", "shape", "offset", "sha256"}, ...]}
    arrays     little-endian, row by row, each at the next multiple of 64 bytes, nothing after the last

Sizes are checked against the length of the file before anything is allocated, and every hash before anything is used.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from ramify.writing import whole_file

MAGIC = b"RAMIFY\x00\x01"
ALIGNMENT = 64
MAX_MANIFEST = 1 << 28
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
_HEADER = struct.Struct("<8sQ32s")


class ModelFileError(ValueError):
    """A model file that is not one, is damaged, or breaks a rule of its format; nothing was built from it."""


def write_container(path: Path, version: str, model: Any, arrays: list[np.ndarray]) -> None:
    """Write a file that is either complete under its name or not there: what was there before stays until then."""
    manifest = _manifest(version, model, arrays)
    with whole_file(path) as file:
        file.write(_HEADER.pack(MAGIC, len(manifest), hashlib.sha256(manifest).digest()))
        file.write(manifest)
        for array in arrays:
            file.write(bytes(-file.tell() % ALIGNMENT))
            file.write(memoryview(array).cast("B") if array.size else b"")


def read_container(path: Path) -> tuple[Any, list[np.ndarray]]:
    """The model and the arrays of a file whose sizes and hashes are all right."""
    if path.exists() and not path.is_file() and not path.is_dir():  # opening a pipe would wait for a writer
        raise ModelFileError("This is no regular file. Save the model to a file first.")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        manifest, start = _read_manifest(file, size)
        entries = _checked_entries(manifest["arrays"], start, size)
        return manifest["model"], [_read_array(file, *entry) for entry in entries]


def _manifest(version: str, model: Any, arrays: list[np.ndarray]) -> bytes:
    """The manifest, its own length included: offsets depend on the length, so it is padded to where they fit."""
    entries: list[dict[str, Any]] = [
        {"dtype": array.dtype.str, "shape": list(array.shape), "offset": 0, "sha256": _digest(array)}
        for array in arrays
    ]
    length = 0
    while True:
        end = _HEADER.size + length
        for entry, array in zip(entries, arrays, strict=True):
            entry["offset"] = end + -end % ALIGNMENT
            end = entry["offset"] + array.nbytes
        content = {"ramify": version, "model": model, "arrays": entries}
        text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
        if len(text) <= length:
            return text.ljust(length)
        length = len(text)


def _read_manifest(file: BufferedReader, size: int) -> tuple[dict[str, Any], int]:
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size or not header.startswith(MAGIC[:6]):
        raise ModelFileError("This is not a Ramify model file. Such files are written by ramify.save and 'ramify fit'.")
    magic, length, digest = _HEADER.unpack(header)
    if magic != MAGIC:
        raise ModelFileError(
            f"The model file has format {magic[6]}.{magic[7]}, this version of Ramify reads {MAGIC[6]}.{MAGIC[7]}. "
            "Load it with the version that wrote it."
        )
    if length > min(size - _HEADER.size, MAX_MANIFEST):
        raise ModelFileError(
            f"The model file is damaged: it claims a manifest of {length} bytes and has {size} in all."
        )
    text = file.read(length)
    if hashlib.sha256(text).digest() != digest:
        raise ModelFileError("The model file is damaged: the hash of its manifest is wrong.")
    try:
        manifest = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The manifest of the model file is not what ramify.save writes: {error}.") from None
    if not isinstance(manifest, dict) or manifest.keys() != {"ramify", "model", "arrays"}:
        raise ModelFileError("The manifest of the model file must hold 'ramify', 'model' and 'arrays'.")
    if not isinstance(manifest["arrays"], list):
        raise ModelFileError("The 'arrays' of the model file must be a list.")
    return manifest, _HEADER.size + length


def _checked_entries(entries: list[Any], end: int, size: int) -> list[tuple[np.dtype, tuple[int, ...], int, int, str]]:
    """Type, shape, offset, bytes and hash of each array, if they lie one after the other and fill the file."""
    checked = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "offset", "sha256"}:
            raise ModelFileError(f"Array {number} must have 'dtype', 'shape', 'offset' and 'sha256'.")
        dtype, shape, offset, digest = (entry[key] for key in ("dtype", "shape", "offset", "sha256"))
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise ModelFileError(f"Array {number} has dtype {str(dtype)[:40]!r}, which a model file cannot hold.")
        if not isinstance(shape, list) or len(shape) > 4 or not all(_is_size(length) for length in shape):
            raise ModelFileError(f"Array {number} has no valid shape.")
        n_bytes = np.dtype(dtype).itemsize * math.prod(shape)
        if not _is_size(offset) or offset != end + -end % ALIGNMENT:
            raise ModelFileError(f"Array {number} does not start where the array before it ends.")
        if offset + n_bytes > size:
            raise ModelFileError(f"Array {number} claims {n_bytes} bytes at {offset}, but the file has {size} in all.")
        if not isinstance(digest, str):
            raise ModelFileError(f"Array {number} has no valid hash.")
        end = offset + n_bytes
        checked.append((np.dtype(dtype), tuple(shape), offset, n_bytes, digest))
    if end != size:
        raise ModelFileError(f"The model file is damaged: it should have {end} bytes and has {size}.")
    return checked


def _read_array(
    file: BufferedReader, dtype: np.dtype, shape: tuple[int, ...], offset: int, n_bytes: int, digest: str
) -> np.ndarray:
    array = np.empty(shape, dtype)
    if n_bytes:
        file.seek(offset)
        if file.readinto(memoryview(array.reshape(-1)).cast("B")) != n_bytes:
            raise ModelFileError("The model file ends before its last array.")
    if _digest(array) != digest:
        raise ModelFileError("The model file is damaged: the hash of an array is wrong.")
    if dtype == np.bool_ and n_bytes and array.view(np.uint8).max() > 1:
        raise ModelFileError("An array of truth values in the model file holds something else.")
    return array


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(memoryview(array.reshape(-1)).cast("B") if array.size else b"").hexdigest()


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key occurs twice")
    return content
