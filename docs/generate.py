"""Pages made from the code and from saved benchmark results: the API reference and the performance page."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

MODULES = (
    "datasets",
    "ensemble",
    "ranking",
    "selection",
    "chains",
    "metrics",
    "compare",
    "study",
    "plots",
    "analysis",
    "report",
    "models",
)


def write_generated_pages(folder: Path) -> None:
    """Write `api/index.rst` and `performance.md` into the documentation's folder where they changed."""
    (folder / "api").mkdir(exist_ok=True)
    _write(folder / "api" / "index.rst", api_page())
    _write(folder / "performance.md", performance_page(folder.parent / "benchmarks", folder / "benchmarks"))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def api_page() -> str:
    """One table per module with every public name."""
    lines = ["API reference", "=============", "", "Everything public, by the step of the flow.", ""]
    lines += _section("ramify", ["Hierarchy"], "An order of labels or of features.", module="ramify.hierarchy")
    for name in MODULES:
        module = import_module(f"ramify.{name}")
        summary = (module.__doc__ or "").strip().split("\n")[0]
        lines += _section(f"ramify.{name}", list(module.__all__), summary)
    return "\n".join(lines) + "\n"


def _section(title: str, names: list[str], summary: str, module: str | None = None) -> list[str]:
    if not names:
        return []
    lines = [title, "-" * len(title), "", summary, "", f".. currentmodule:: {module or title}", ""]
    return [*lines, ".. autosummary::", "   :toctree: generated/", "", *(f"   {name}" for name in names), ""]


def performance_page(benchmarks: Path, saved: Path) -> str:
    """What the benchmarks printed when they were last run, each under what it says of itself."""
    parts = [
        "# Performance",
        "What the programs in `benchmarks/` printed when they were last run. Each compares with a peer or with itself "
        "in the same run on the same machine; the ratio is what carries over to yours. Repeat one with "
        "`python benchmarks/NAME.py`.",
    ]
    for path in sorted(saved.glob("*.*")):
        text = path.read_text(encoding="utf-8").strip()
        if path.suffix == ".md":
            parts.append(re.sub(r"^#+", lambda marks: marks.group() + "#", text, flags=re.M))
            continue
        parts.append(f"## {path.stem.removeprefix('bench_').replace('_', ' ')}")
        program = benchmarks / f"{path.stem}.py"
        if program.exists():
            parts.append((ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or "").split("\n\n")[0])
        parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"
