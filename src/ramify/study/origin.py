"""Where code comes from: an installed package of a certain version, or files of the user's own; and what it reads."""

from __future__ import annotations

import dis
import importlib.metadata
import importlib.util
import site
import sys
import sysconfig
import types
from functools import cache
from pathlib import Path

import ramify


@cache
def release(module: str) -> str | None:
    """Version of the installed package that a module belongs to; None for the user's own files."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    if top == "ramify":
        return ramify.__version__
    folder = _folder(top)
    if folder is None or not any(folder.is_relative_to(installed) for installed in _installed_folders()):
        return None
    for distribution in importlib.metadata.packages_distributions().get(top, ()):
        return importlib.metadata.version(distribution)
    return None


@cache
def names_of_globals(code: types.CodeType) -> tuple[str, ...]:
    """Names that code, and the functions within it, read from the module around them."""
    return tuple(sorted({str(step.argval) for step in _steps(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}))


@cache
def imported_names(code: types.CodeType) -> tuple[str, ...]:
    """Modules that code, and the functions within it, import where they run."""
    return tuple(sorted({str(step.argval) for step in _steps(code) if step.opname == "IMPORT_NAME" and step.argval}))


def _steps(code: types.CodeType) -> list[dis.Instruction]:
    steps = list(dis.get_instructions(code))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            steps += _steps(constant)
    return steps


def _folder(top: str) -> Path | None:
    """Where a package or module lies; None for one that has no file."""
    try:
        specification = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if specification is None:
        return None
    place = (
        specification.origin
        if specification.has_location
        else next(iter(specification.submodule_search_locations or ()), None)
    )
    return Path(place).resolve().parent if place else None


@cache
def _installed_folders() -> tuple[Path, ...]:
    places = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return tuple({Path(place).resolve() for place in [*places, site.getusersitepackages()]})
