"""Fill the tables and figures of the pages in `docs/studies` from the cells that are kept beside them.

``python docs/study_pages.py`` fills all pages, ``... NAME`` one of them. ``... NAME --keep results/NAME`` first takes
over the cells that a run in that folder finished, ``... NAME --check 20`` runs a drawn sample of the kept cells again
and fails where they differ.

A kept cell carries a key of what the study file asks for: data, method with its parameters, split, seed; where a study
keeps means over the splits (`summary`), a row has the key of all its cells. What today's study file does not ask for is
refused. A table stands between ``<!-- table: ID -->`` and ``<!-- end -->``; a
study file makes it by that name (`tables`) and draws the figures (`figures`); the table ``cells`` is made here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from ramify.study import Study
from ramify.study.study_files import data_folder, data_sets, load_study_file

DOCS = Path(__file__).resolve().parent
PAGES = DOCS / "studies"
STUDIES = DOCS.parent / "studies"
NAMES = tuple(sorted(path.stem for path in (PAGES / "results").glob("*.csv") if "." not in path.stem))
BLOCK = re.compile(r"(<!-- table: (?P<id>[^>]+?) -->\n\n?)(?P<text>.*?)(\n?<!-- end -->)", flags=re.S)
COORDINATES = ["dataset", "method", "split", "key", "build", "cpu_seconds"]
# A run leaves these, too.
LEFT_OUT = [
    "seed",
    "settings",
    "status",
    "error",
    "data_sha256",
    "seconds",
    "peak_megabytes",
    "versions",
    "finished_at",
]
DIGITS = 6
WHOLE = -1  # the split of a mean over all splits
Place = tuple[str, str, int]


def keys(name: str, study: Study) -> dict[Place, str]:
    """What a study asks for by data set, method and split, with a key of it; no data is read.

    A method on a data set as a whole, of which means may be kept, stands there with the split WHOLE.
    """
    files = {data.name: json.dumps(data.files, sort_keys=True) for data in data_sets(name)}
    methods = {called: described(method) for called, method in study.methods.items()}
    found: dict[Place, str] = {}
    wholes: dict[tuple[str, str], str] = {}
    for cell in study.cells():
        parts = (cell.dataset, cell.method, cell.split, cell.seed, files.get(cell.dataset, "generated"))
        text = "\x1f".join(map(str, (*parts, methods[cell.method], study.splits)))
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        found[cell.dataset, cell.method, cell.split] = key
        wholes[cell.dataset, cell.method] = wholes.get((cell.dataset, cell.method), "") + key
    for pair, text in wholes.items():
        found[*pair, WHOLE] = hashlib.sha256(text.encode()).hexdigest()[:12]
    return found


def places(results: pd.DataFrame) -> list[Place]:
    """Data set, method and split of every row."""
    splits = [WHOLE if pd.isna(split) else int(split) for split in results["split"]]
    return list(zip(results["dataset"], results["method"], splits, strict=True))


def described(method: Any) -> str:
    """A method by its name and what it is given; of an estimator's parameters those that are not the default."""
    if isinstance(method, partial):
        named = [f"{name}={described(value)}" for name, value in sorted(method.keywords.items())]
        return f"{described(method.func)}({', '.join([*map(described, method.args), *named])})"
    if isinstance(method, BaseEstimator):
        return " ".join(method.__repr__(N_CHAR_MAX=10**6).split())
    return method.__qualname__ if callable(method) else repr(method)


def cells(name: str) -> pd.DataFrame:
    """The kept cells of a study, as they stand in the file."""
    return pd.read_csv(PAGES / "results" / f"{name}.csv", dtype={"key": str, "build": str})


def kept(name: str, folder: Path) -> tuple[ModuleType, Study]:
    """A study file, and its study over the cells that are kept; `folder` is any folder, no data is read."""
    module = load_study_file(str(STUDIES / f"{name}.py"))
    results = cells(name)
    study = module.study(folder, folder / "none").with_results(results)
    asked = keys(name, study)
    if [asked.get(place) for place in places(results)] != list(results["key"]) or results["key"].duplicated().any():
        raise ValueError(f"docs/studies/results/{name}.csv has cells that the study does not ask for; run them again.")
    single = PAGES / "results" / f"{name}.once.csv"
    if single.exists():
        long = pd.read_csv(single)
        wide = long.pivot(index=["dataset", "method"], columns="measure", values="value")[long["measure"].unique()]
        alone = results["method"].isin(module.ONCE)
        told = results.loc[alone, COORDINATES].merge(wide.reset_index(), on=["dataset", "method"])
        results = pd.concat([results[~alone], told], ignore_index=True)
    return module, study.with_results(results)


def builds(name: str) -> str:
    """By which build the cells were run, and what they took."""
    table = cells(name).groupby("build", sort=False)["cpu_seconds"].agg(["size", "sum"])
    rows = [f"| {build} | {row['size']:,.0f} | {row['sum'] / 60:.1f} |" for build, row in table.iterrows()]
    return "\n".join(["| run by | cells | CPU minutes |", "| --- | --- | --- |", *rows])


def filled(page: str, tables: dict[str, str]) -> str:
    """The page with every marked table made anew."""
    return BLOCK.sub(lambda block: f"{block[1].rstrip()}\n\n{tables[block['id']].strip()}\n\n<!-- end -->", page)


def write_page(name: str, folder: Path) -> None:
    """Fill one page and draw its figures."""
    module, study = kept(name, folder)
    path = PAGES / f"{name}.md"
    tables = {**module.tables(study), "cells": builds(name)}
    path.write_text(filled(path.read_text(encoding="utf-8"), tables), encoding="utf-8")
    (PAGES / "figures").mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for title, figure in module.figures(study).items():
            figure.savefig(PAGES / "figures" / f"{name}-{title}.svg", metadata={"Date": None, "Creator": None})


def keep(name: str, run: Path, build: str) -> None:
    """Take over the cells that a run finished; kept ones that the study does not ask for any more go."""
    module = load_study_file(str(STUDIES / f"{name}.py"))
    study = module.study(None, run)
    if differing := [data.name for data in data_sets(name) if data.state(data_folder()) == "differs"]:
        raise SystemExit(f"{', '.join(differing)}: the files are not those of the manifest.")
    found = study.results()
    if found.empty:
        raise SystemExit(f"{run} has no finished cells of this study over these data; set RAMIFY_DATA as in the run.")
    found = found[found["status"] == "done"].drop(columns=[*LEFT_OUT, "key"])
    found = getattr(module, "summary", pd.DataFrame)(found)
    asked = keys(name, study)
    found["key"], found["build"] = [asked[place] for place in places(found)], build
    found = keep_single(name, found, getattr(module, "ONCE", ()))
    path = PAGES / "results" / f"{name}.csv"
    old = cells(name) if path.exists() else found.iloc[:0]
    still = keys(name, study.with_results(pd.concat([old, found]))).values()
    old = old[old["key"].isin(still) & ~old["key"].isin(found["key"])]
    table = pd.concat([old, found], ignore_index=True).sort_values(["dataset", "method", "split"], kind="stable")
    table["cpu_seconds"] = table["cpu_seconds"].round(2)
    measures = [column for column in table.columns if column not in COORDINATES and table[column].notna().any()]
    table[measures] = table[measures].map(lambda value: float(f"{value:.{DIGITS}g}"))
    table[[*COORDINATES, *measures]].to_csv(path, index=False, lineterminator="\n")


def keep_single(name: str, found: pd.DataFrame, methods: tuple[str, ...]) -> pd.DataFrame:
    """Put the measures of methods that have their own and run once into a long table; the rest is returned."""
    single = found[found["method"].isin(methods)]
    if len(single):
        long = single.drop(columns=COORDINATES[2:]).melt(["dataset", "method"], var_name="measure").dropna()
        path = PAGES / "results" / f"{name}.once.csv"
        if path.exists():
            old = pd.read_csv(path)
            there = pd.MultiIndex.from_frame(long[["dataset", "method"]])
            long = pd.concat([old[~pd.MultiIndex.from_frame(old[["dataset", "method"]]).isin(there)], long])
        long["value"] = long["value"].astype(float).round(DIGITS)
        long.sort_values(["dataset", "method"], kind="stable").to_csv(path, index=False, lineterminator="\n")
    others = found[~found["method"].isin(methods)].dropna(axis="columns", how="all")
    return pd.concat([others, single[COORDINATES]], ignore_index=True)


def differences(name: str, n_cells: int, seed: int, cpu_seconds: float = 30.0) -> list[str]:
    """Run a drawn sample of the kept cells again: every value that is another one now.

    Those that took more than `cpu_seconds` are not drawn, nor those whose data are not there. Times are not compared.
    """
    module = load_study_file(str(STUDIES / f"{name}.py"))
    known = cells(name)
    with tempfile.TemporaryDirectory() as folder:
        study = module.study(None, Path(folder))
        cheap = known[(known["cpu_seconds"] <= cpu_seconds) & known["dataset"].isin(study.datasets)]
        drawn = set(places(cheap.sample(min(n_cells, len(cheap)), random_state=seed)))
        all_wanted = study.wanted
        study.wanted = lambda cell: (
            all_wanted(cell) and not drawn.isdisjoint((cell.dataset, cell.method, at) for at in (cell.split, WHOLE))
        )
        again = study.run().results()
    told = again.loc[again["status"] != "done", "error"].tolist()
    values = kept(name, DOCS)[1].results()
    values.index = pd.MultiIndex.from_tuples(places(values))
    again = getattr(module, "summary", pd.DataFrame)(again[again["status"] == "done"])
    for place, row in zip(places(again), again.to_dict("records"), strict=True):
        for measure in values.columns.intersection(list(row)).difference([*COORDINATES, *LEFT_OUT]):
            was, now = values.loc[place, measure], row[measure]
            if pd.notna(now) and "seconds" not in measure and not np.isclose(now, was, rtol=1e-4, atol=1e-6):
                told.append(f"{' / '.join(map(str, place))}, {measure}: {was} is now {now:.6g}")
    return told


def main() -> None:
    """Fill pages, take over cells or check them, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one or several of {', '.join(NAMES)}; all by default"
    )
    parser.add_argument("--keep", type=Path, metavar="RUN", help="take over the cells of a run in this folder")
    parser.add_argument("--build", help="the commit that ran them [default: the one that is checked out]")
    parser.add_argument("--check", type=int, metavar="N", help="run N kept cells again")
    parser.add_argument("--seed", type=int, default=0, help="which cells are drawn")
    given = parser.parse_args()
    for name in given.names or NAMES:
        if given.keep is not None:
            checked_out = ["git", "-C", str(DOCS), "rev-parse", "--short=9", "HEAD"]
            keep(name, given.keep, given.build or subprocess.check_output(checked_out, text=True).strip())
        if given.check:
            told = differences(name, given.check, given.seed)
            print(*[f"{name}: {line}" for line in told] or [f"{name}: the same again"], sep="\n")
            if told:
                raise SystemExit(1)
        else:
            write_page(name, DOCS)


if __name__ == "__main__":
    main()
