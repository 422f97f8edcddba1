"""Fingerprints of content: what a data set, a method, a measure or a splitter is, not what it is called."""

from __future__ import annotations

import copyreg
import functools
import hashlib
import importlib
import platform
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ramify.datasets import Dataset
from ramify.features.file_columns import FileColumns
from ramify.hierarchy import Hierarchy
from ramify.study.origin import imported_names, names_of_globals, release

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_MADE_BY_THE_CLASS = frozenset(
    {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__firstlineno__"}
    | {"__static_attributes__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__"}
    | {"__match_args__", "__slots__", "__orig_bases__", "__parameters__", "__annotate__", "__annotations_cache__"}
)


class FingerprintError(TypeError):
    """Something has no content that could be told from another's."""


def fingerprint(value: Any, name: str = "the value") -> str:
    """Hash of the content of a value, the same in every process.

    Arrays, frames and data sets count by their cells, functions by their code with its defaults, closures, globals and
    own imports, objects by their class and state, what an installed package holds by its name and the package's
    version. The folder that a data file lies in does not count.

    Parameters
    ----------
    value : object
        What to tell from others.
    name : str
        What it is called in the message where that cannot be done.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint(np.arange(3.0)) == fingerprint(np.arange(3.0)), fingerprint(np.arange(3)) == fingerprint((0, 1, 2))
    (True, False)
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 2)
    False
    """
    return _Reader().digest(value, name).hex()


class _Reader:
    """One walk over a value: what was met before is not read again, and what holds itself comes to an end."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}
        self._open: dict[int, int] = {}

    def digest(self, value: Any, place: str) -> bytes:
        if type(value) in _PLAIN:
            return _hash([type(value).__name__.encode(), repr(value).encode()])
        if id(value) in self._known:
            return self._known[id(value)][1]
        if id(value) in self._open:
            return _hash([b"seen above", str(self._open[id(value)]).encode()])
        self._open[id(value)] = len(self._open)
        try:
            hashed = _hash(self._content(value, place))
        except RecursionError:
            raise FingerprintError(f"{place} is nested too deeply to be told from others.") from None
        finally:
            del self._open[id(value)]
        self._known[id(value)] = value, hashed
        return hashed

    def _content(self, value: Any, place: str) -> Iterable[bytes]:
        kind = type(value)
        if kind in (np.ndarray, np.memmap, FileColumns):
            return self._array(value, place)
        if kind in (tuple, list):
            return self._tagged(kind.__name__, ((item, f"{place}[{i}]") for i, item in enumerate(value)))
        if kind in (dict, types.MappingProxyType):
            return self._tagged("dict", ((part, f"{place}[{k!r}]") for k, v in value.items() for part in (k, v)))
        if kind in (set, frozenset):
            return [b"set", *sorted(self.digest(item, f"an element of {place}") for item in value)]
        for types_, read in self._readers():
            if isinstance(value, types_):
                return read(value, place)
        return self._object(value, place)

    def _readers(self) -> Iterator[tuple[Any, Callable[[Any, str], Iterable[bytes]]]]:
        yield np.generic, lambda v, place: [b"scalar", *self._array(np.asarray(v), place)]
        yield Dataset, self._dataset
        yield (
            Hierarchy,
            lambda v, place: self._tagged(
                "hierarchy", [(part, place) for part in (v.names, v.edges, v.w0, v.aggregate)]
            ),
        )
        yield (sparse.spmatrix, sparse.sparray), self._sparse
        yield (pd.DataFrame, pd.Series, pd.Index), self._frame
        yield np.random.RandomState, lambda v, place: self._tagged("state", [(v.get_state(legacy=False), place)])
        yield np.random.Generator, lambda v, place: self._tagged("state", [(v.bit_generator.state, place)])
        yield functools.partial, self._partial
        yield types.MethodType, lambda v, place: self._tagged("method", [(v.__func__, place), (v.__self__, place)])
        yield types.FunctionType, self._function
        yield types.BuiltinFunctionType, self._builtin
        yield types.CodeType, self._code
        yield types.ModuleType, self._module
        yield type, self._class
        yield (staticmethod, classmethod), lambda v, place: self._tagged(type(v).__name__, [(v.__func__, place)])
        yield property, lambda v, place: self._tagged("property", [(f, place) for f in (v.fget, v.fset, v.fdel)])
        yield functools.cached_property, lambda v, place: self._tagged("cached", [(v.func, place)])
        yield type(functools.lru_cache(len)), lambda v, place: self._tagged("cached", [(v.__wrapped__, place)])

    def _tagged(self, tag: str, parts: Iterable[tuple[Any, str]]) -> list[bytes]:
        return [tag.encode(), *(self.digest(part, place) for part, place in parts)]

    def _array(self, value: Any, place: str) -> list[bytes]:
        head = [b"array", value.dtype.str.encode(), repr(value.dtype.descr).encode(), str(value.shape).encode()]
        if value.dtype.hasobject:
            return [*head, *(self.digest(item, f"a cell of {place}") for item in value.ravel().tolist())]
        flat = np.ascontiguousarray(value).reshape(-1)
        return [*head, hashlib.sha256(flat.view(np.uint8) if flat.size else b"").digest()]

    def _sparse(self, value: Any, place: str) -> list[bytes]:
        rows = value if value.format in ("csr", "csc") else value.tocsr()
        parts = (type(value).__name__, value.format, tuple(map(int, rows.shape)), rows.data, rows.indices, rows.indptr)
        return self._tagged("sparse", [(part, place) for part in parts])

    def _frame(self, value: Any, place: str) -> list[bytes]:
        columns = list(value.items()) if isinstance(value, pd.DataFrame) else [(value.name, value)]
        parts: list[Any] = [type(value).__name__]
        if not isinstance(value, pd.Index):
            parts.append(value.index)
        for name, column in columns:
            plain = isinstance(column.dtype, np.dtype) and column.dtype != object
            parts += [name, str(column.dtype), column.to_numpy() if plain else column.to_numpy(dtype=object)]
        return self._tagged("frame", [(part, place) for part in parts])

    def _dataset(self, value: Dataset, place: str) -> list[bytes]:
        held = {field.name: getattr(value, field.name) for field in fields(value) if field.name != "sha256"}
        held["source"] = Path(value.source).name
        return self._tagged("dataset", [(part, f"{name} of {place}") for name, part in sorted(held.items())])

    def _partial(self, value: functools.partial[Any], place: str) -> list[bytes]:
        arguments = [(part, f"argument {i + 1} of {place}") for i, part in enumerate(value.args)]
        for name, part in sorted(value.keywords.items()):
            arguments += [(name, place), (part, f"argument {name} of {place}")]
        return self._tagged("partial", [(value.func, place), *arguments])

    def _function(self, value: types.FunctionType, place: str) -> list[bytes]:
        if (known := release(value.__module__ or "")) is not None and _is_found_by_name(value):
            return [b"name", value.__module__.encode(), value.__qualname__.encode(), known.encode()]
        place = f"{place} ({value.__qualname__})" if value.__qualname__ not in place else place
        parts: list[tuple[Any, str]] = [
            (value.__code__, place),
            (value.__defaults__, f"a default of {place}"),
            (sorted((value.__kwdefaults__ or {}).items()), f"a default of {place}"),
            (sorted((k, v) for k, v in value.__dict__.items() if k != "__wrapped__"), f"an attribute of {place}"),
        ]
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            parts.append((_cell_content(cell), f"the variable {name!r} of {place}"))
        for name in names_of_globals(value.__code__):
            if name in value.__globals__:
                parts += [(name, place), (value.__globals__[name], f"the global {name!r} of {place}")]
        for name in imported_names(value.__code__):
            parts += [(name, place), (_imported(name), f"the module {name!r} of {place}")]
        return self._tagged("function", parts)

    def _builtin(self, value: types.BuiltinFunctionType, place: str) -> list[bytes]:
        if value.__self__ is None or isinstance(value.__self__, types.ModuleType):
            known = release(value.__module__ or "builtins") or ""
            return [b"name", (value.__module__ or "").encode(), value.__qualname__.encode(), known.encode()]
        return self._tagged("method", [(value.__name__, place), (value.__self__, place)])

    def _code(self, value: types.CodeType, place: str) -> list[bytes]:
        plain = (value.co_code, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars, value.co_flags)
        counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount)
        return self._tagged("code", [(part, place) for part in (*plain, *counts, value.co_consts)])

    def _module(self, value: types.ModuleType, place: str) -> list[bytes]:
        if (known := release(value.__name__)) is not None:
            return [b"module", value.__name__.encode(), known.encode()]
        file = getattr(value, "__file__", None)
        if file is None:
            raise _no_content(place, "is a module without a file")
        inner = {
            n: v for n, v in vars(value).items() if isinstance(v, types.ModuleType) and release(v.__name__) is None
        }
        content = Path(file).read_bytes()
        return self._tagged("module", [(content, place), *((v, f"{n} of {place}") for n, v in sorted(inner.items()))])

    def _class(self, value: type, place: str) -> list[bytes]:
        name = f"{value.__module__}.{value.__qualname__}"
        if (known := release(value.__module__)) is not None and "<locals>" not in name:
            return [b"class", name.encode(), known.encode()]
        parts: list[tuple[Any, str]] = [(base, f"a base of {place}") for base in value.__bases__]
        for member, content in sorted(vars(value).items()):
            if member in _MADE_BY_THE_CLASS or isinstance(content, types.MemberDescriptorType):
                continue
            parts += [(member, place), (content, f"{member} of the class {value.__qualname__}")]
        return self._tagged("class", parts)

    def _object(self, value: Any, place: str) -> list[bytes]:
        """An object by its class and what it would be rebuilt from."""
        try:
            registered = copyreg.dispatch_table.get(type(value))
            reduced = value.__reduce_ex__(4) if registered is None else registered(value)
        except (TypeError, AttributeError, ValueError, NotImplementedError) as error:
            raise _no_content(place, f"is a {type(value).__name__} ({error})") from None
        if isinstance(reduced, str):
            return self._tagged("name", [(type(value), place), (reduced, place)])
        build, arguments, state, items, pairs = (*reduced, None, None, None, None)[:5]
        if isinstance(state, Mapping):
            cached = {n for n in state if isinstance(getattr(type(value), str(n), None), functools.cached_property)}
            state = sorted((str(name), part) for name, part in state.items() if name not in cached)
            state = [part for pair in state for part in pair]
        parts = [build, arguments, state, list(items or ()), [part for pair in pairs or () for part in pair]]
        return self._tagged("object", [(type(value), place), *((part, place) for part in parts)])


def _hash(parts: Iterable[bytes]) -> bytes:
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.digest()


def _no_content(place: str, reason: str) -> FingerprintError:
    return FingerprintError(
        f"{place[:1].upper()}{place[1:]} {reason}, whose content cannot be told from another's, so old results could "
        "not be told from new ones. Make it inside the function that uses it, or give it a __reduce__."
    )


def _cell_content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return "empty"


def _is_found_by_name(value: types.FunctionType) -> bool:
    """Whether a function is what its module has under its name, and not one that was made at run time."""
    held: Any = sys.modules.get(value.__module__)
    for step in value.__qualname__.split("."):
        held = getattr(held, step, None)
    return held is value


def _imported(name: str) -> Any:
    """A module that a function imports itself: its version where it was installed, else the module."""
    if (known := release(name)) is not None:
        return known
    try:
        return importlib.import_module(name)
    except ImportError:
        return "not found"


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of packages."""
    return {"python": platform.python_version(), **{name: release(name) or "unknown" for name in packages}}
