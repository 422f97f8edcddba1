"""Estimators and what they hold, as plain values of a manifest and back.

Every value that JSON cannot hold as it is becomes a dict with a "kind". Going back, each kind is checked before it is
built, and a class can only be one that Ramify itself makes public.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.models.container import DTYPES, ModelFileError
from ramify.models.fitted_state import check_state, learnt_parts, state_fault
from ramify.state import note_parameters

PUBLIC_MODULES = ("ramify.ensemble", "ramify.ranking", "ramify.selection", "ramify.chains")
MAX_DEPTH = 60
PADDED_TEXTS = 1 << 20
"""So many letters an array of text may have room for beyond what its texts need."""


class Writer:
    """Turns values into a manifest and gathers the arrays beside it; the same object is written once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._position: dict[int, int] = {}
        self._kept_alive: list[Any] = []

    def value(self, value: Any, where: str) -> Any:
        """`value` as the manifest holds it; `where` names it in messages."""
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if isinstance(value, float) and type(value) is not np.float64:
            return float(value) if math.isfinite(value) else {"kind": "float", "value": repr(float(value))}
        if isinstance(value, np.generic):
            return {"kind": "scalar", "array": self._array(np.asarray(value), where)}
        if isinstance(value, np.ndarray):
            return self._array_value(value, where)
        if sparse.issparse(value) and value.format in ("csr", "csc"):
            return self._sparse(value, where)
        if type(value) in (list, tuple):
            if len(value) > 16 and all(type(item) is str for item in value):
                return {"kind": type(value).__name__, "texts": self._texts(list(value))}
            return {
                "kind": type(value).__name__,
                "items": [self.value(v, f"{where}[{i}]") for i, v in enumerate(value)],
            }
        if type(value) in (dict, MappingProxyType):
            items = [[self.value(k, f"a key of {where}"), self.value(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"kind": "dict", "items": items}
        if isinstance(value, Hierarchy):
            return {
                "kind": "hierarchy",
                "names": self._texts(list(value.names)),
                "edges": self._array(np.asarray(value.edges), where),
                "w0": value.w0,
                "aggregate": value.aggregate,
            }
        if isinstance(value, _core.Forest):
            arrays = {name: self._array(array, where) for name, array in value.arrays().items()}
            return {"kind": "forest", "outcome": value.outcome, "n_outputs": value.n_outputs, "arrays": arrays}
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        name = public_name(type(value))
        if name is None or not (isinstance(value, BaseEstimator) or dataclasses.is_dataclass(value)):
            advice = (
                "ramify.save holds estimators made of Ramify's own parts only; use pickle, joblib or skops for it"
                if isinstance(value, BaseEstimator)
                else "give a value that a file can hold, such as an integer for random_state"
            )
            raise TypeError(f"{where} is a {type(value).__module__}.{type(value).__qualname__}: {advice}.")
        if isinstance(value, BaseEstimator):
            parameters = value.get_params(deep=False)
            fitted = learnt_parts(value)
            node = {
                "kind": "estimator",
                "class": name,
                "parameters": {key: self.value(part, f"{where}.{key}") for key, part in parameters.items()},
                "fitted": {key: self.value(part, f"{where}.{key}") for key, part in fitted.items()},
            }
            fault = state_fault(value) if fitted else None
            if fault is not None:
                raise ValueError(
                    f"{where} is no longer as fit left it: {fault}. Set its parameters to what they were at fit, or "
                    "fit it again."
                )
            return node
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return {
            "kind": "record",
            "class": name,
            "fields": {key: self.value(part, f"{where}.{key}") for key, part in fields.items()},
        }

    def _array(self, array: np.ndarray, where: str) -> int:
        if id(array) in self._position:
            return self._position[id(array)]
        plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
        if plain.dtype.str not in DTYPES or array.ndim > 4:
            raise TypeError(
                f"{where} is an array of {array.dtype} with {array.ndim} dimensions; a file cannot hold it."
            )
        self._position[id(array)] = len(self.arrays)
        self._kept_alive.append(array)
        self.arrays.append(plain.reshape(array.shape))
        return self._position[id(array)]

    def _array_value(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.kind not in "UO":
            return {"kind": "array", "array": self._array(array, where)}
        items = array.ravel().tolist()
        if not all(type(item) is str for item in items):
            raise TypeError(f"{where} is an array of mixed objects; a file can hold numbers or text only.")
        width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else 0
        if width > _widest(items):  # no file claims more memory than it needs by much
            width = max(1, max(map(len, items), default=1))
        return {"kind": "text_array", "texts": self._texts(items), "shape": list(array.shape), "width": width}

    def _texts(self, texts: list[str]) -> dict[str, int]:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        self._kept_alive += [ends, letters]
        return {"letters": self._array(letters, "text"), "ends": self._array(ends, "text")}

    def _sparse(self, matrix: Any, where: str) -> Any:
        parts = {name: self._array(getattr(matrix, name), where) for name in ("data", "indices", "indptr")}
        is_array = isinstance(matrix, sparse.sparray)
        return {"kind": matrix.format, "is_array": is_array, "shape": list(matrix.shape), **parts}


class Reader:
    """Builds values from a manifest and its arrays, checking each kind first."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._arrays = arrays

    def value(self, node: Any, depth: int = 0) -> Any:
        """What `node` of the manifest stands for."""
        if depth > MAX_DEPTH:
            raise ModelFileError("The values of the model file are nested too deeply.")
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if not isinstance(node, dict):
            raise ModelFileError("A value of the model file has no kind.")
        kind = str(node.get("kind"))
        if kind not in _KEYS:
            raise ModelFileError(f"The model file holds a value of unknown kind {kind[:40]!r}.")
        if node.keys() - {"kind"} not in _KEYS[kind]:
            raise ModelFileError(f"A value of kind {kind!r} in the model file has other keys than it should.")
        return getattr(self, f"_build_{kind}")(node, depth + 1)

    def _build_float(self, node: dict[str, Any], _: int) -> float:
        if node["value"] not in ("nan", "inf", "-inf"):
            raise ModelFileError("A special number of the model file must be nan, inf or -inf.")
        return float(node["value"])

    def _build_scalar(self, node: dict[str, Any], _: int) -> Any:
        array = self._array(node["array"])
        if array.ndim:
            raise ModelFileError("A single number of the model file is an array.")
        return array[()]

    def _build_array(self, node: dict[str, Any], _: int) -> np.ndarray:
        return self._array(node["array"])

    def _build_text_array(self, node: dict[str, Any], _: int) -> np.ndarray:
        shape, width = self._shape(node["shape"]), node["width"]
        texts = self._texts(node["texts"])
        if math.prod(shape) != len(texts) or type(width) is not int or width < 0:
            raise ModelFileError("An array of text in the model file does not have the shape it claims.")
        if width > _widest(texts):
            raise ModelFileError("An array of text in the model file claims to be wider than its texts.")
        array = np.array(texts, dtype=f"<U{width}" if width else object)
        return array.reshape(shape)

    def _build_csr(self, node: dict[str, Any], _: int) -> Any:
        shape = self._shape(node["shape"])
        if len(shape) != 2 or not isinstance(node["is_array"], bool):
            raise ModelFileError("A sparse matrix of the model file has no valid shape.")
        data, indices, indptr = (self._array(node[name]) for name in ("data", "indices", "indptr"))
        n_slices, n_other = shape if node["kind"] == "csr" else shape[::-1]
        _check_compressed(data, indices, indptr, n_slices, n_other)
        family = "array" if node["is_array"] else "matrix"
        return getattr(sparse, f"{node['kind']}_{family}")((data, indices, indptr), shape=shape)

    _build_csc = _build_csr

    def _build_list(self, node: dict[str, Any], depth: int) -> Any:
        if "texts" in node:
            items = self._texts(node["texts"])
        elif isinstance(node["items"], list):
            items = [self.value(item, depth) for item in node["items"]]
        else:
            raise ModelFileError("A list of the model file is not one.")
        return items if node["kind"] == "list" else tuple(items)

    _build_tuple = _build_list

    def _build_dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        if not isinstance(node["items"], list) or not all(isinstance(i, list) and len(i) == 2 for i in node["items"]):
            raise ModelFileError("A mapping of the model file is not one.")
        content = {}
        for key, value in node["items"]:
            built = self.value(key, depth)
            if not isinstance(built, (str, bool, int, float, np.generic, tuple, type(None))):
                raise ModelFileError("A key of a mapping of the model file is not a plain value.")
            content[built] = self.value(value, depth)
        return content

    def _build_hierarchy(self, node: dict[str, Any], _: int) -> Hierarchy:
        edges = self._array(node["edges"])
        if edges.ndim != 2 or edges.shape[1:] != (2,) or edges.dtype.kind not in "iu":
            raise ModelFileError("The edges of a hierarchy in the model file must be pairs of integers.")
        try:
            return Hierarchy(self._texts(node["names"]), edges, w0=node["w0"], aggregate=node["aggregate"])
        except (ValueError, TypeError, IndexError) as error:
            raise ModelFileError(f"The model file holds a broken hierarchy: {error}") from None

    def _build_forest(self, node: dict[str, Any], _: int) -> _core.Forest:
        outcome, n_outputs, numbers = node["outcome"], node["n_outputs"], node["arrays"]
        if not isinstance(outcome, str) or type(n_outputs) is not int or not 0 <= n_outputs < 1 << 31:
            raise ModelFileError("A forest of the model file has no valid outcome or number of outputs.")
        if not isinstance(numbers, dict):
            raise ModelFileError("A forest of the model file has no arrays.")
        arrays = {name: self._array(number) for name, number in numbers.items()}
        try:
            return _core.Forest(outcome=outcome, n_outputs=n_outputs, arrays=arrays)
        except (ValueError, TypeError, KeyError, RuntimeError, IndexError) as error:
            raise ModelFileError(f"The model file holds a broken forest: {error}") from None

    def _build_estimator(self, node: dict[str, Any], depth: int) -> BaseEstimator:
        made = _public_class(node["class"])
        if not issubclass(made, BaseEstimator):
            raise ModelFileError(f"The model file names {node['class']}, which is not an estimator.")
        parameters = self._named_values(node["parameters"], depth)
        if parameters.keys() != inspect.signature(made).parameters.keys():
            raise ModelFileError(f"The parameters of {node['class']} in the model file are not those that it has.")
        estimator = made(**parameters)
        fitted = self._named_values(node["fitted"], depth)
        for name in fitted:
            if not name.isidentifier() or name.startswith("__") or hasattr(made, name) or name in parameters:
                raise ModelFileError(f"The model file sets {name[:80]!r}, which {node['class']} does not learn.")
        vars(estimator).update(fitted)
        if fitted:
            check_state(estimator)
            note_parameters(estimator)
        return estimator

    def _build_record(self, node: dict[str, Any], depth: int) -> Any:
        made = _public_class(node["class"])
        fields = self._named_values(node["fields"], depth)
        names = {field.name for field in dataclasses.fields(made) if field.init} if _is_record(made) else None
        if fields.keys() != names:
            raise ModelFileError(f"The fields of {node['class']} in the model file are not those that it has.")
        try:
            return made(**fields)
        except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            raise ModelFileError(f"The model file holds a broken {node['class']}: {error}") from None

    def _named_values(self, nodes: Any, depth: int) -> dict[str, Any]:
        if not isinstance(nodes, dict):
            raise ModelFileError("The parts of an object in the model file are not named.")
        return {name: self.value(node, depth) for name, node in nodes.items()}

    def _array(self, number: Any) -> np.ndarray:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ModelFileError("The model file refers to an array that it does not hold.")
        return self._arrays[number]

    def _texts(self, node: Any) -> list[str]:
        if not isinstance(node, dict) or node.keys() != {"letters", "ends"}:
            raise ModelFileError("Texts of the model file have no letters and ends.")
        letters, ends = self._array(node["letters"]), self._array(node["ends"])
        if letters.dtype != np.uint8 or letters.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
            raise ModelFileError("Texts of the model file are not stored as letters and ends.")
        starts = np.concatenate(([0], ends))
        if (np.diff(starts) < 0).any() or starts[-1] != letters.size:
            raise ModelFileError("Texts of the model file do not lie one after the other.")
        content = letters.tobytes()
        try:
            return [
                content[start:stop].decode("utf-8", "surrogatepass")
                for start, stop in zip(starts[:-1].tolist(), ends.tolist(), strict=True)
            ]
        except UnicodeDecodeError as error:
            raise ModelFileError(f"A text of the model file is not UTF-8: {error}") from None

    def _shape(self, shape: Any) -> tuple[int, ...]:
        if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 1 << 62 for n in shape):
            raise ModelFileError("A value of the model file has no valid shape.")
        return tuple(shape)


def _widest(texts: list[str]) -> int:
    """How wide an array of these texts may be: as its longest text, or wider while that is cheap."""
    return max(max(map(len, texts), default=1), PADDED_TEXTS // max(1, len(texts)))


_KEYS: dict[str, tuple[set[str], ...]] = {
    "float": ({"value"},),
    "scalar": ({"array"},),
    "array": ({"array"},),
    "text_array": ({"texts", "shape", "width"},),
    "csr": ({"is_array", "shape", "data", "indices", "indptr"},),
    "csc": ({"is_array", "shape", "data", "indices", "indptr"},),
    "list": ({"items"}, {"texts"}),
    "tuple": ({"items"}, {"texts"}),
    "dict": ({"items"},),
    "hierarchy": ({"names", "edges", "w0", "aggregate"},),
    "forest": ({"outcome", "n_outputs", "arrays"},),
    "estimator": ({"class", "parameters", "fitted"},),
    "record": ({"class", "fields"},),
}


def public_name(made: type) -> str | None:
    """Where Ramify makes a class public, such as "ramify.ensemble.ForestClassifier"; None for other classes."""
    for module in PUBLIC_MODULES:
        if made.__module__.startswith(f"{module}.") and made.__name__ in import_module(module).__all__:
            return f"{module}.{made.__name__}"
    return None


def _public_class(name: Any) -> Any:
    module, _, title = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if module in PUBLIC_MODULES:
        package = import_module(module)
        made = getattr(package, title) if title in package.__all__ else None
        if isinstance(made, type) and public_name(made) == name:
            return made
    raise ModelFileError(f"The model file names the class {str(name)[:80]!r}, which Ramify does not load from files.")


def _is_record(made: Any) -> bool:
    return dataclasses.is_dataclass(made)


def _check_compressed(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_slices: int, n_other: int) -> None:
    if any(part.ndim != 1 for part in (data, indices, indptr)) or any(
        part.dtype not in (np.int32, np.int64) for part in (indices, indptr)
    ):
        raise ModelFileError("A sparse matrix of the model file is not stored as one.")
    if indptr.size != n_slices + 1 or indptr[0] != 0 or indptr[-1] != data.size or data.size != indices.size:
        raise ModelFileError("A sparse matrix of the model file does not have the shape it claims.")
    if (np.diff(indptr) < 0).any() or (indices.size and (indices.min() < 0 or indices.max() >= n_other)):
        raise ModelFileError("A sparse matrix of the model file points outside itself.")
