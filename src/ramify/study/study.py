"""Study: data sets x methods x splits x measures as an object that can be run, stopped, resumed and extended."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ramify import metrics
from ramify.compare import Comparison, compare
from ramify.datasets import Dataset
from ramify.metrics.measures import named_measure
from ramify.parameters import check_integer, check_jobs
from ramify.study.backends import Task, dask_client, run_dask, run_local
from ramify.study.cells import Cell, describe, make_cell, method_content, run_cell
from ramify.study.fingerprint import fingerprint
from ramify.study.loading import UNREADABLE, load_fresh
from ramify.study.locks import CellLocks
from ramify.study.splits import n_splits, seeded
from ramify.study.store import COLUMNS, Store, refuse_reserved
from ramify.study.work import Progress, Work


class Study:
    """A comparison of methods over data sets that survives whatever stops it.

    Every finished cell (one method on one split of one data set) is a row of `folder/results.sqlite`. A run can be
    killed at any moment and goes on where it was; several runs on one folder share the work.

    A cell is known by the content of its data, method, measures and split, so a change of a file, of an array, of a
    function's code or of a parameter runs what it concerns again, and nothing else. `run` reads every data set to see
    whether it changed; all other methods read none and tell what holds for the data as the last run found it.

    Parameters
    ----------
    datasets : dict of str to Dataset or function
        Data sets by name; a function without arguments is called where the data is needed.
    methods : dict of str to estimator or function
        An estimator is fitted on the training rows and measured on the test rows. A function of (train, test, seed)
        gets both as `Dataset` and returns a dict of measures.
    measures : dict of str to function, or list of names of `ramify.metrics`, optional
        For estimators: functions of (y_true, y_score) or (y_true, y_pred), or scorers of scikit-learn. What a function
        is given, predictions or probabilities, is what `ramify.metrics.measures.takes` tells.
    splits : int, "parts" or splitter, default=10
        Number of shuffled folds (stratified for classes), the data's own train (+ valid) and test parts, or any
        scikit-learn splitter; one that shuffles without a seed gets the study's.
    folder : path, default="study"
        Where the results are kept.
    random_state : int, default=0
        Seed of the splits and of all cells.
    missing : list of str
        Names of data sets that the study would like and did not find, to be shown with its results.
    losses, gains : list of str
        Names of measures that are better the smaller, or the larger, they are. Measures of `ramify.metrics` and
        `sklearn.metrics`, and functions marked by `ramify.metrics.measure`, say so themselves.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.metrics import accuracy_score
    >>> from ramify.datasets import Dataset
    >>> from ramify.study import Study
    >>> data = Dataset(np.eye(6), y=np.array([0, 1] * 3), target="classes")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = Study({"toy": data}, {"prior": DummyClassifier()}, {"accuracy": accuracy_score}, 3, folder)
    ...     study.run().table("accuracy").to_dict()
    {'prior': {'toy': 0.5}}
    """

    def __init__(
        self,
        datasets: Mapping[str, Dataset | Callable[[], Dataset]],
        methods: Mapping[str, Any],
        measures: Mapping[str, Callable[..., float]] | Sequence[str] = (),
        splits: Any = 10,
        folder: str | Path = "study",
        *,
        random_state: int = 0,
        missing: Sequence[str] = (),
        losses: Sequence[str] = (),
        gains: Sequence[str] = (),
    ) -> None:
        self.datasets = dict(datasets)
        self.methods = dict(methods)
        self.measures = _named_measures(measures)
        refuse_reserved(self.measures)
        self.splits = splits
        self.folder = Path(folder)
        self.random_state = check_integer(self, "random_state", random_state, low=0)
        self.missing = list(missing)
        self.losses = list(losses)
        self.gains = list(gains)
        if both := [name for name in self.losses if name in self.gains]:
            raise ValueError(f"The measure {both[0]!r} is named as a loss and as a gain; it can be one of them.")
        self._store = Store(self.folder)
        self._kept: pd.DataFrame | None = None  # results of `with_results`
        self._read: dict[str, tuple[Any, str]] = {}  # by data set: its loader and the content that this object read

    def cells(self) -> list[Cell]:
        """All cells, data set by data set, split by split, so that one data set is read once."""
        splits = self._splits()
        settings = {name: f"{describe(method)} | {', '.join(self.measures)}" for name, method in self.methods.items()}
        contents = {
            name: method_content(method, self.measures, splits, self.random_state, name)
            for name, method in self.methods.items()
        }
        return [
            make_cell(dataset, method, split, settings[method], self.random_state, contents[method])
            for dataset in self.datasets
            for split in range(n_splits(splits))
            for method in self.methods
        ]

    def run(self, *, n_jobs: int = 1, dask: Any = None, retry: bool = False, progress: Progress | None = None) -> Study:
        """Run what is not finished yet and return the study.

        Parameters
        ----------
        n_jobs : int, default=1
            Number of processes on this machine; -1 for all cores.
        dask : str or distributed.Client, optional
            Scheduler address such as "tcp://host:8786"; the cells run there and only this process writes.
        retry : bool, default=False
            Run cells that failed before again.
        progress : function of (n_done, n_cells), optional
            Called after every cell.

        Notes
        -----
        The logger "ramify.study" says at level INFO what every finished cell was and how long it took.
        """
        check_jobs("Study.run", n_jobs)
        cells = self.cells()
        self._store.prepare()
        self._read.clear()
        with CellLocks(self.folder) as locks:
            work = Work(cells, self._store, locks, self._content, self._task, retry=retry, progress=progress)
            if dask is None:
                work.do(lambda tasks: run_local(run_cell, tasks, n_jobs=n_jobs))
            else:
                with dask_client(dask) as client:
                    work.do(lambda tasks: run_dask(run_cell, tasks, client=client))
        return self

    def status(self) -> pd.DataFrame:
        """Number of cells done, failed and waiting, per data set and method, for the data as the last run read it."""
        statuses, keys = self._store.statuses(), self._keys()
        rows = [(cell.dataset, cell.method, statuses.get(str(key), "waiting")) for cell, key in keys]
        frame = pd.DataFrame(rows, columns=["dataset", "method", "status"])
        counts = frame.groupby(["dataset", "method", "status"], sort=False).size().unstack(fill_value=0)
        return counts.reindex(columns=["done", "failed", "waiting"], fill_value=0)

    def results(self) -> pd.DataFrame:
        """Every finished cell of this study as a row: coordinates, measures, times, memory, error.

        No data is read: the cells are those over the data as the last run read it.
        """
        if self._kept is not None:
            return self._kept.copy()
        keys = {key for _, key in self._keys()}
        records = [record for record in self._store.records() if record["key"] in keys]
        for record in records:
            record.update(record.pop("measures"))
            record["versions"] = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
        return pd.DataFrame(records)

    def with_results(self, results: pd.DataFrame) -> Study:
        """The same study over results that were kept elsewhere, such as in a CSV that `ramify study export` wrote.

        Nothing is run and no data is read: `results`, `table` and all that is made of them tell what the frame holds.

        Parameters
        ----------
        results : DataFrame
            As of `results`: a row per cell with `dataset`, `method`, `split` and the measures. Rows without a `status`
            are finished ones.
        """
        kept = results.assign(status=results.get("status", "done"))
        other = copy.copy(self)
        other._kept = kept
        names = list(dict.fromkeys(kept["dataset"]))
        other.datasets = {name: self.datasets.get(name, _not_here) for name in names}
        other.missing = [name for name in dict.fromkeys([*self.datasets, *self.missing]) if name not in names]
        return other

    def errors(self) -> pd.DataFrame:
        """The cells that failed, with what they raised."""
        results = self.results()
        if results.empty:
            return results
        return results.loc[results["status"] == "failed", ["dataset", "method", "split", "error"]]

    def measure_names(self) -> list[str]:
        """Names of the measures that finished cells have."""
        return _measure_names(self.results())

    def table(self, measure: str) -> pd.DataFrame:
        """Mean of a measure over the finished splits: one row per data set, one column per method.

        No data is read: the values are those over the data as the last run read it. `counts` tells of how many splits
        each is the mean.
        """
        return self._over_splits(measure, "mean")

    def spread(self, measure: str) -> pd.DataFrame:
        """Standard deviation of a measure over the finished splits, as `table` has its mean; NaN of a single split."""
        means = self.table(measure)
        return self._over_splits(measure, "std").reindex(index=means.index, columns=means.columns)

    def _over_splits(self, measure: str, statistic: str) -> pd.DataFrame:
        table = self._measured(measure).pivot_table(
            index="dataset", columns="method", values=measure, aggfunc=statistic, sort=False
        )
        order = [name for name in self.methods if name in table.columns]
        table = table.reindex(index=[name for name in self.datasets if name in table.index], columns=order)
        table.index.name = table.columns.name = None
        return table

    def counts(self, measure: str) -> pd.DataFrame:
        """Per data set and method: splits in all, splits with a value of a measure, splits that failed."""
        measured = self._measured(measure)
        asked = pd.Series([(cell.dataset, cell.method) for cell in self.cells()]).value_counts(sort=False)
        frame = pd.DataFrame({"splits": asked})
        pairs = list(zip(measured["dataset"], measured["method"], strict=True))
        for name, chosen in (("measured", measured[measure].notna()), ("failed", measured["status"] == "failed")):
            chosen_pairs = pd.Series([pair for pair, counts in zip(pairs, chosen, strict=True) if counts], dtype=object)
            frame[name] = chosen_pairs.value_counts().reindex(frame.index, fill_value=0)
        frame.index = pd.MultiIndex.from_tuples(frame.index, names=["dataset", "method"])
        return frame

    def larger_is_better(self, measure: str) -> bool:
        """Which way a measure points: as `losses` and `gains` say, else as its function or its name is known for."""
        if measure in self.losses or measure in self.gains:
            return measure in self.gains
        function = self.measures.get(measure)
        larger = _direction_by_name(measure) if function is None else metrics.larger_is_better(function)
        if larger is None:
            raise ValueError(
                f"Nothing says whether larger values of {measure!r} are better. Say it with Study(..., "
                f"losses=[{measure!r}]) or Study(..., gains=[{measure!r}]), or mark its function with "
                "ramify.metrics.measure(larger_is_better=...)."
            )
        return larger

    def compare(self, measure: str, *, larger_is_better: bool | None = None, **options: Any) -> Comparison:
        """Compare the methods by one measure over the data sets that all of them finished.

        A method that failed on a split, or has no value there, is left out, and then every data set that another
        method has not finished; the sentence of the result says so. Smaller values win where the measure is a loss,
        unless `larger_is_better` says otherwise.
        """
        larger = self.larger_is_better(measure) if larger_is_better is None else larger_is_better
        table, left_out = self._complete(measure)
        told = f" Left out: {'; '.join(left_out)}." if left_out else ""
        if min(table.shape) < 2:
            raise ValueError(
                f"A comparison by {measure!r} needs at least 2 data sets and 2 methods that finished all splits; there "
                f"are {table.shape[0]} and {table.shape[1]}.{told}"
            )
        comparison = compare(table, larger_is_better=larger, **options)
        return replace(comparison, sentence=comparison.sentence + told)

    def _complete(self, measure: str) -> tuple[pd.DataFrame, list[str]]:
        """The table without methods that failed and data sets that are not finished, and what was left out."""
        table, counts = self.table(measure), self.counts(measure)
        left_out = []
        for method in list(table.columns):
            of_method = counts.xs(method, level="method")
            n_lost = of_method["failed"] + self._without_value(measure, method).reindex(of_method.index, fill_value=0)
            if n_lost.any():
                places = ", ".join(f"{n} of {of_method['splits'][name]} splits of {name}" for name, n in _some(n_lost))
                left_out.append(f"{method}, which failed or has no value on {places}")
                table = table.drop(columns=method)
        for dataset in list(table.index):
            of_set = counts.xs(dataset, level="dataset").reindex(table.columns, fill_value=0)
            n_waiting = int((of_set["splits"] - of_set["measured"]).sum())
            if n_waiting or (of_set["splits"] == 0).any():
                reason = f"{n_waiting} cells of it are waiting" if n_waiting else "some methods do not run on it"
                left_out.append(f"{dataset}, because {reason}")
                table = table.drop(index=dataset)
        return table, left_out

    def _without_value(self, measure: str, method: str) -> pd.Series:
        """Number of splits that a method finished without a value of the measure, per data set."""
        measured = self._measured(measure)
        rows = measured[(measured["method"] == method) & (measured["status"] == "done") & measured[measure].isna()]
        return rows["dataset"].value_counts()

    def _measured(self, measure: str) -> pd.DataFrame:
        """The results, where some have that measure."""
        results = self.results()
        if results.empty:
            n_others = len(self._store.statuses())
            others = (
                f" The folder has {n_others} results over other data, methods, measures, splits or versions."
                if n_others
                else ""
            )
            raise ValueError(f"The study in {self.folder} has no finished cell yet; run it first.{others}")
        if measure not in (known := _measure_names(results)):
            raise ValueError(f"The study has no measure {measure!r}; it has {', '.join(known)}.")
        return results

    def _task(self, cell: Cell) -> Task:
        """What `run_cell` is called with."""
        load, method = self.datasets[cell.dataset], self.methods[cell.method]
        content = self._content(cell.dataset)
        return cell, content, load, method, self.measures, self._splits(), self.random_state

    def _splits(self) -> Any:
        return seeded(self.splits, self.random_state)

    def _keys(self) -> list[tuple[Cell, str | None]]:
        """Every cell with its key, over the data as it was last read; None where it never was."""
        noted = self._store.contents()
        contents: dict[str, str | None] = {}
        for name, load in self.datasets.items():
            loader, content = self._read.get(name, (None, None))
            if isinstance(load, Dataset):
                contents[name] = fingerprint(load, f"the data set {name!r}")
            elif loader is load:
                contents[name] = content
            else:
                contents[name] = noted.get((name, fingerprint(load, f"the loader of {name!r}")))
        pairs = [(cell, contents[cell.dataset]) for cell in self.cells()]
        return [(cell, None if content is None else cell.key(content)) for cell, content in pairs]

    def _content(self, name: str) -> str:
        """Content of a data set, read now if this run has not read it yet."""
        load = self.datasets[name]
        if name not in self._read or self._read[name][0] is not load:
            loader = "" if isinstance(load, Dataset) else fingerprint(load, f"the loader of {name!r}")
            try:
                content, _ = load_fresh(load)
            except Exception:  # the cells will say it
                content = UNREADABLE
            self._read[name] = load, content
            if loader:
                self._store.note_content(name, loader, content)
        return self._read[name][1]

    def __repr__(self) -> str:
        n_cells = len(self.datasets) * len(self.methods) * n_splits(self.splits)
        return f"Study({len(self.datasets)} data sets, {len(self.methods)} methods, {n_cells} cells, {self.folder})"


def _not_here() -> Dataset:
    raise ValueError("Only the results of this data set were kept; pass the folder with the data to run it again.")


def _some(counts: pd.Series) -> list[tuple[str, int]]:
    return [(str(name), int(count)) for name, count in counts.items() if count]


def _measure_names(results: pd.DataFrame) -> list[str]:
    return [name for name in results.columns if name not in _COORDINATES]


_COORDINATES = frozenset(COLUMNS) - {"measures"}


def _named_measures(measures: Mapping[str, Callable[..., float]] | Sequence[str]) -> dict[str, Callable[..., float]]:
    if isinstance(measures, Mapping):
        return dict(measures)
    return {name: named_measure(name) for name in measures}


def _direction_by_name(name: str) -> bool | None:
    """Which way a measure of that name points, for what functions return by name."""
    try:
        return metrics.larger_is_better(named_measure(name))
    except ValueError:
        return None
