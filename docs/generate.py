"""Pages made from the code and from saved benchmark results: API reference, methods, performance."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

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

BENCHMARKS = (
    *(
        "forest",
        "forest_large",
        "rows",
        "memory",
        "extreme_all",
        "extreme",
        "accuracy",
        "defaults",
        "nominal",
        "label_ranking",
        "chains",
    ),
    *("partly_known", "rank", "ranking", "selection", "discoveries", "explain", "read", "cluster", "builds", "trust"),
)
"""Their order on the page: time, accuracy, rankings and claims, the rest."""


def write_generated_pages(folder: Path) -> None:
    """Write the generated pages into the documentation's folder where they changed."""
    (folder / "api").mkdir(exist_ok=True)
    _write(folder / "api" / "index.rst", api_page())
    _write(folder / "methods.md", methods_page())
    _write(folder / "performance.md", performance_page(folder.parent / "benchmarks", folder / "benchmarks"))
    _write(folder / "files.md", every_file(folder.parent))


def every_file(root: Path) -> str:
    """Every module and every kernel's header, with the sentence that it opens with."""
    lines = ["# Every file", "", "The first sentence of each module and of each kernel's header."]
    room = None
    found = [*(root / "src" / "ramify").rglob("*.py"), *(root / "cpp").rglob("*.hpp")]
    for path in sorted(found, key=lambda path: (path.parent, path.name)):
        place = path.relative_to(root).as_posix().removeprefix("src/ramify/")
        if path.stem in {"__init__", "__main__"} or "/tests/" in place:
            continue
        if (folder := place.rpartition("/")[0]) != room:
            room = folder
            lines += ["", f"## `{room}/`" if room else "## beside the packages", ""]
        lines.append(f"- `{path.name}`: {_first_sentence(path.read_text(encoding='utf-8'), path.suffix)}")
    return "\n".join(lines) + "\n"


def _first_sentence(code: str, suffix: str) -> str:
    if suffix == ".py":
        text = ast.get_docstring(ast.parse(code)) or ""
    else:
        text = " ".join(line.lstrip("/ ") for line in re.match(r"(?:///?.*\n)*", code)[0].splitlines())
    return re.split(r"(?<=\.)\s", " ".join(text.split()) + " ")[0].strip().rstrip(".:") + "."


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def api_page() -> str:
    """One table per module with every public name."""
    lines = ["API reference", "=============", "", "Everything public, by the step of the flow.", ""]
    lines += _section("ramify", ["Hierarchy"], "Labels or features above each other.", module="ramify.hierarchy")
    for name in MODULES:
        module = import_module(f"ramify.{name}")
        summary = (module.__doc__ or "").strip().split("\n")[0]
        lines += _section(f"ramify.{name}", [each for each in module.__all__ if _lives_in(module, each)], summary)
    return "\n".join(lines) + "\n"


def _lives_in(module: ModuleType, name: str) -> bool:
    """Whether a public name is the module's own: one that its home lists too is described there."""
    home = ".".join(getattr(getattr(module, name), "__module__", module.__name__).split(".")[:2])
    return home == module.__name__ or name not in getattr(import_module(home), "__all__", ())


def _section(title: str, names: list[str], summary: str, module: str | None = None) -> list[str]:
    if not names:
        return []
    lines = [title, "-" * len(title), "", summary, "", f".. currentmodule:: {module or title}", ""]
    return [*lines, ".. autosummary::", "   :toctree: generated/", "", *(f"   {name}" for name in names), ""]


def methods_page() -> str:
    """Every method by its name, from the records that the command line and the report use."""
    from ramify.analysis.methods import MODEL_METHODS, RANKING_METHODS, SELECTION_METHODS

    def table(columns: dict[str, Any], methods: dict[str, Any]) -> str:
        lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        lines += ["| " + " | ".join(cell(method) for cell in columns.values()) + " |" for method in methods.values()]
        return "\n".join(lines)

    def yes(held: bool) -> str:
        return "yes" if held else ""

    first = {"`--method`": lambda method: f"`{method.name}`"}
    last = {"published in": lambda method: method.paper}
    ranking = {
        **first,
        "a feature's score says": lambda method: method.meaning,
        "per label": lambda method: yes(method.per_label),
        "needs out-of-bag rows": lambda method: yes(method.needs_out_of_bag),
        **last,
    }
    selection = {
        **first,
        "a feature's score says": lambda method: method.meaning,
        "for each row": lambda method: yes(method.per_row),
        **last,
    }
    model = {**first, "what it learns": lambda method: method.meaning, **last}
    return (
        "\n\n".join(
            [
                "# Methods",
                "What every `--method` means, and where it was published.",
                "## `ramify rank` and `ramify.analysis.analyse`",
                table(ranking, RANKING_METHODS),
                "## `ramify select` and `ramify.analysis.select_features`",
                table(selection, SELECTION_METHODS),
                "## `ramify fit` and `ramify.analysis.fit_model`",
                table(model, MODEL_METHODS),
            ]
        )
        + "\n"
    )


def performance_page(benchmarks: Path, saved: Path) -> str:
    """What the benchmarks printed when they were last run, each under what it says of itself."""
    parts = [
        "# Performance",
        "What the programs in `benchmarks/` printed when they were last run. Each compares with a peer or with itself "
        "in the same run on the same machine; the ratio is what carries over to yours. Repeat one with "
        "`python benchmarks/NAME.py`.",
        performance_summary(saved),
        "```{contents}\n:local:\n:depth: 1\n```",
    ]
    place = {name: at for at, name in enumerate(BENCHMARKS)}
    found = [*saved.glob("*.md"), *saved.glob("*.txt")]
    for path in sorted(found, key=lambda path: (place.get(path.stem.removeprefix("bench_"), len(place)), path.name)):
        text = path.read_text(encoding="utf-8").strip()
        if path.suffix == ".md":
            parts.append(re.sub(r"^#+", lambda marks: marks.group() + "#", text, flags=re.M))
            continue
        parts.append(f"## {path.stem.removeprefix('bench_').replace('_', ' ').capitalize()}")
        program = benchmarks / f"{path.stem}.py"
        if program.exists():
            parts.append((ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or "").split("\n\n")[0])
        parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def performance_summary(saved: Path) -> str:
    """What the larger tables say in a line each, counted from them."""
    times = _table(saved / "forest.md", "Ramify", "ratio")
    trees = [[float(row[at]) for row in times[1:] if row[at]] for at, name in enumerate(times[0]) if name == "ratio"]
    quality = _table(saved / "forest.md", "scikit-learn", "CLUS")
    accuracy = _table(saved / "accuracy.md", "CLUS-ENS", "portfolio")
    labels = {row[0]: row for row in _table(saved / "extreme_all.md", "method", "P@1")[1:]}
    p_at_1 = _table(saved / "extreme_all.md", "method", "P@1")[0].index("P@1")
    ours = next(row for name, row in labels.items() if name.startswith("Ramify"))

    def span(ratios: list[float]) -> str:
        return f"{min(ratios):g} to {max(ratios):g} times (median {sorted(ratios)[len(ratios) // 2]:g})"

    def ahead(table: list[list[str]], ours: str, theirs: str) -> str:
        a, b = table[0].index(ours), table[0].index(theirs)
        pairs = [(float(row[a]), float(row[b])) for row in table[1:] if "-" not in (row[a], row[b])]
        return f"{sum(x >= y for x, y in pairs)} of {len(pairs)}"

    mine = quality[0][1]
    lines = [
        ("CPU time of a forest", f"scikit-learn's classifier takes {span(trees[0])} as long, its regressor "
         f"{span(trees[1])}", "forest"),
        ("AUPRC of a forest", f"at least scikit-learn's on {ahead(quality, mine, 'scikit-learn')} sets, CLUS's on "
         f"{ahead(quality, mine, 'CLUS')}", "forest"),
        ("AUPRC of the portfolio", f"at least CLUS-ENS's on {ahead(accuracy, 'portfolio', 'CLUS-ENS')} sets, "
         f"C-HMCNN's (a neural network) on {ahead(accuracy, 'portfolio', 'C-HMCNN')}", "accuracy"),
        ("Very many labels", f"precision at 1: {ours[p_at_1]}, omikuji {labels['omikuji'][p_at_1]}; CPU seconds to "
         f"train: {ours[1]}, omikuji {labels['omikuji'][1]}", "extreme_all"),
    ]  # fmt: skip
    head = ["| | Ramify beside others | details |", "|---|---|---|"]
    rows = [
        f"| {what} | {said} | [{_heading(saved, name)}](#{_anchor(_heading(saved, name))}) |"
        for what, said, name in lines
    ]
    return "\n".join([*head, *rows])


def _table(path: Path, *columns: str) -> list[list[str]]:
    """The cells of the first table of a page that has these columns, its head first."""
    tables = re.findall(r"(?:^\|.*\n?)+", path.read_text(encoding="utf-8"), flags=re.M)
    for table in tables:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
        if all(any(name in cell for cell in rows[0]) for name in columns):
            return [rows[0], *rows[2:]]
    raise ValueError(f"{path} has no table with the columns {columns}.")


def _heading(saved: Path, name: str) -> str:
    return (saved / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    write_generated_pages(Path(__file__).parent)
