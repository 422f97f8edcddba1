"""Fill the tables and figures of the pages in `docs/studies` from the results that are kept beside them.

``python docs/study_pages.py`` fills all pages, ``... NAME`` one of them, ``... NAME --keep results/NAME`` first takes
over the cells that a run in that folder finished. A table stands between ``<!-- table: ID -->`` and ``<!-- end -->``;
a study file makes it by that name (`tables`) and draws the figures (`figures`).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import numpy as np
import pandas as pd

from ramify.study import Study
from ramify.study.study_files import load_study_file

DOCS = Path(__file__).resolve().parent
PAGES = DOCS / "studies"
STUDIES = DOCS.parent / "studies"
NAMES = tuple(sorted(path.stem for path in (PAGES / "results").glob("*.csv") if "." not in path.stem))
BLOCK = re.compile(r"(<!-- table: (?P<id>[^>]+?) -->\n\n?)(?P<text>.*?)(\n?<!-- end -->)", flags=re.S)
COORDINATES = ["dataset", "method", "split"]
# A whole run leaves these, too; where a value stands for several splits there is no split.
LEFT_OUT = {"key", "seed", "settings", "status", "error", "data_sha256", "seconds", "peak_megabytes", "versions",
            "finished_at"}  # fmt: skip


def kept(name: str, folder: Path) -> tuple[ModuleType, Study]:
    """A study file, and its study over the results that are kept; `folder` is any folder, no data is read."""
    module = load_study_file(str(STUDIES / f"{name}.py"))
    results = pd.read_csv(PAGES / "results" / f"{name}.csv")
    single = PAGES / "results" / f"{name}.once.csv"
    if single.exists():
        long = pd.read_csv(single)
        wide = long.pivot(index=["dataset", "method"], columns="measure", values="value")[long["measure"].unique()]
        results = pd.concat([results, wide.reset_index()], ignore_index=True)
    return module, module.study(folder, folder / "none").with_results(results)


def filled(page: str, tables: dict[str, str]) -> str:
    """The page with every marked table made anew."""
    return BLOCK.sub(lambda block: f"{block[1].rstrip()}\n\n{tables[block['id']].strip()}\n\n<!-- end -->", page)


def write_page(name: str, folder: Path) -> None:
    """Fill one page and draw its figures."""
    module, study = kept(name, folder)
    path = PAGES / f"{name}.md"
    path.write_text(filled(path.read_text(encoding="utf-8"), module.tables(study)), encoding="utf-8")
    (PAGES / "figures").mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for title, figure in module.figures(study).items():
            figure.savefig(PAGES / "figures" / f"{name}-{title}.svg", metadata={"Date": None, "Creator": None})


def keep(name: str, run: Path) -> None:
    """Take over cells of a run, but for part of a data set of which a mean over all splits is kept."""
    module = load_study_file(str(STUDIES / f"{name}.py"))
    study = module.study(None, run)
    found, status = study.results(), study.status()
    if found.empty:
        raise SystemExit(f"{run} has no finished cells of this study over these data; set RAMIFY_DATA as in the run.")
    found = found[found["status"] == "done"].drop(columns=LEFT_OUT & set(found.columns))
    path = PAGES / "results" / f"{name}.csv"
    old = pd.read_csv(path) if path.exists() else found.iloc[:0]
    whole = status.index[status["done"] == status.sum(axis=1)]
    means = pd.MultiIndex.from_frame(old.loc[old["split"].isna(), ["dataset", "method"]]).difference(whole)
    found = found[~pd.MultiIndex.from_frame(found[["dataset", "method"]]).isin(means)]
    taken = pd.MultiIndex.from_frame(found[["dataset", "method"]])
    found = keep_single(name, found, getattr(module, "ONCE", ()))
    old = old[~pd.MultiIndex.from_frame(old[["dataset", "method"]]).isin(taken)]
    if hasattr(module, "summary"):
        found = module.summary(found)
    table = pd.concat([old, found], ignore_index=True).sort_values(COORDINATES, kind="stable")
    table["cpu_seconds"] = table["cpu_seconds"].round(2)
    measures = [name for name in table.columns if name not in COORDINATES and table[name].notna().any()]
    table = table[[*COORDINATES, *measures]]
    table[measures] = table[measures].map(lambda value: float(f"{value:.6g}") if np.isfinite(value) else value)
    table.to_csv(path, index=False, lineterminator="\n")


def keep_single(name: str, found: pd.DataFrame, methods: tuple[str, ...]) -> pd.DataFrame:
    """Put methods with measures of their own, which run once, into a long table; what is left is returned."""
    single = found[found["method"].isin(methods)]
    if len(single):
        long = single.drop(columns=["split", "cpu_seconds"]).melt(["dataset", "method"], var_name="measure").dropna()
        path = PAGES / "results" / f"{name}.once.csv"
        if path.exists():
            old = pd.read_csv(path)
            there = pd.MultiIndex.from_frame(long[["dataset", "method"]])
            long = pd.concat([old[~pd.MultiIndex.from_frame(old[["dataset", "method"]]).isin(there)], long])
        long["value"] = long["value"].astype(float).round(6)
        long.sort_values(["dataset", "method"], kind="stable").to_csv(path, index=False, lineterminator="\n")
    return found[~found["method"].isin(methods)].dropna(axis="columns", how="all")


if __name__ == "__main__":
    chosen = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if "--keep" in sys.argv:
        keep(chosen[0], Path(chosen.pop()))
    for each in chosen or NAMES:
        write_page(each, DOCS)
