"""Study: data sets x methods x splits x measures as an object that can be run, stopped, resumed and extended."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import sklearn.metrics

from ramify import metrics
from ramify.compare import Comparison, compare
from ramify.datasets import Dataset
from ramify.parameters import check_integer, check_jobs
from ramify.study.backends import dask_client, run_dask, run_local
from ramify.study.cells import Cell, Outcome, describe, make_cell, n_splits, run_cell
from ramify.study.claims import Claims
from ramify.study.store import COLUMNS, Store

Progress = Callable[[int, int], None]
logger = logging.getLogger("ramify.study")


class Study:
    """A comparison of methods over data sets that survives whatever stops it.

    Every finished cell (one method on one split of one data set) is a row of `folder/results.sqlite`. A run can be
    killed at any moment and goes on where it was; several runs on one folder share the work.

    Parameters
    ----------
    datasets : dict of str to Dataset or function
        Data sets by name; a function without arguments is called where the data is needed.
    methods : dict of str to estimator or function
        An estimator is fitted on the training rows and measured on the test rows. A function of (train, test, seed)
        gets both as `Dataset` and returns a dict of measures.
    measures : dict of str to function, or list of names of `ramify.metrics`, optional
        For estimators: functions of (y_true, y_score) or (y_true, y_pred).
    splits : int, "parts" or splitter, default=10
        Number of shuffled folds (stratified for classes), the data's own train (+ valid) and test parts, or any
        scikit-learn splitter.
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
        self.splits = splits
        self.folder = Path(folder)
        self.random_state = check_integer(self, "random_state", random_state, low=0)
        self.missing = list(missing)
        self.losses = list(losses)
        self.gains = list(gains)
        if both := [name for name in self.losses if name in self.gains]:
            raise ValueError(f"The measure {both[0]!r} is named as a loss and as a gain; it can be one of them.")
        self._store = Store(self.folder)

    def cells(self) -> list[Cell]:
        """All cells, data set by data set, split by split, so that one data set is read once."""
        measured = ", ".join(sorted(self.measures))
        splits = self.splits if isinstance(self.splits, (int, str)) else repr(self.splits)
        settings = {
            name: f"{describe(method)} | {measured} | {splits} | {self.random_state}"
            for name, method in self.methods.items()
        }
        return [
            make_cell(dataset, method, split, settings[method], self.random_state)
            for dataset in self.datasets
            for split in range(n_splits(self.splits))
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
        if retry:
            failed = {key for key, status in self._store.statuses().items() if status == "failed"}
            self._store.forget(cell.key for cell in cells if cell.key in failed)
        with Claims(self.folder) as claims:
            if dask is None:
                self._run_all(cells, claims, lambda tasks: run_local(run_cell, tasks, n_jobs=n_jobs), progress)
            else:
                with dask_client(dask) as client:
                    self._run_all(cells, claims, lambda tasks: run_dask(run_cell, tasks, client=client), progress)
        return self

    def status(self) -> pd.DataFrame:
        """Number of cells done, failed and waiting, per data set and method."""
        statuses = self._store.statuses()
        rows = [(cell.dataset, cell.method, statuses.get(cell.key, "waiting")) for cell in self.cells()]
        frame = pd.DataFrame(rows, columns=["dataset", "method", "status"])
        counts = frame.groupby(["dataset", "method", "status"], sort=False).size().unstack(fill_value=0)
        return counts.reindex(columns=["done", "failed", "waiting"], fill_value=0)

    def results(self) -> pd.DataFrame:
        """Every finished cell of this study as a row: coordinates, measures, times, memory, error."""
        keys = {cell.key for cell in self.cells()}
        records = [record for record in self._store.records() if record["key"] in keys]
        for record in records:
            record.update(record.pop("measures"))
            record["versions"] = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
        return pd.DataFrame(records)

    def errors(self) -> pd.DataFrame:
        """The cells that failed, with what they raised."""
        results = self.results()
        if results.empty:
            return results
        return results.loc[results["status"] == "failed", ["dataset", "method", "split", "error"]]

    def measure_names(self) -> list[str]:
        """Names of the measures that finished cells have."""
        return [name for name in self.results().columns if name not in _COORDINATES]

    def table(self, measure: str) -> pd.DataFrame:
        """Mean of a measure over the finished splits: one row per data set, one column per method."""
        results = self.results()
        if results.empty:
            raise ValueError(f"The study in {self.folder} has no finished cell yet; run it first.")
        if measure not in (known := self.measure_names()):
            raise ValueError(f"The study has no measure {measure!r}; it has {', '.join(known)}.")
        done = results[results["status"] == "done"]
        table = done.pivot_table(index="dataset", columns="method", values=measure, aggfunc="mean", sort=False)
        order = [name for name in self.methods if name in table.columns]
        table = table.reindex(index=[name for name in self.datasets if name in table.index], columns=order)
        table.index.name = table.columns.name = None
        return table

    def larger_is_better(self, measure: str) -> bool:
        """Which way a measure points: as `losses` and `gains` say, else as its function or its name is known for."""
        if measure in self.losses or measure in self.gains:
            return measure in self.gains
        function = self.measures.get(measure) or _known_measure(measure)
        larger = None if function is None else metrics.larger_is_better(function)
        if larger is None:
            raise ValueError(
                f"Nothing says whether larger values of {measure!r} are better. Say it with Study(..., "
                f"losses=[{measure!r}]) or Study(..., gains=[{measure!r}]), or mark its function with "
                "ramify.metrics.measure(larger_is_better=...)."
            )
        return larger

    def compare(self, measure: str, *, larger_is_better: bool | None = None, **options: Any) -> Comparison:
        """Compare the methods by one measure over the data sets that all of them finished.

        Smaller values win where the measure is a loss, unless `larger_is_better` says otherwise.
        """
        larger = self.larger_is_better(measure) if larger_is_better is None else larger_is_better
        return compare(self.table(measure).dropna(), larger_is_better=larger, **options)

    def _run_all(
        self,
        cells: list[Cell],
        claims: Claims,
        backend: Callable[[Iterator[tuple[Any, ...]]], Iterator[Outcome]],
        progress: Progress | None,
    ) -> None:
        """Run claimed cells until all are finished; wait for those that another run holds."""
        taken: set[str] = set()
        try:
            while waiting := self._unfinished(cells):
                n_before = len(waiting)
                for outcome in backend(self._claimed(waiting, claims, taken)):
                    self._store.write(outcome)
                    _log(outcome)
                    claims.release(outcome.key)
                    taken.discard(outcome.key)
                    n_before -= 1
                    if progress is not None:
                        progress(len(cells) - n_before, len(cells))
                if self._unfinished(cells):
                    time.sleep(0.2)
        finally:
            for key in taken:
                claims.release(key)
        if progress is not None:
            progress(len(cells), len(cells))

    def _unfinished(self, cells: list[Cell]) -> list[Cell]:
        statuses = self._store.statuses()
        return [cell for cell in cells if cell.key not in statuses]

    def _claimed(self, cells: list[Cell], claims: Claims, taken: set[str]) -> Iterator[tuple[Any, ...]]:
        """Tasks of the cells that nobody else runs or has finished, claimed one by one as workers become free."""
        for cell in cells:
            if not claims.take(cell.key):
                continue
            if self._store.has(cell.key):
                claims.release(cell.key)
                continue
            taken.add(cell.key)
            yield (
                cell,
                self.datasets[cell.dataset],
                self.methods[cell.method],
                self.measures,
                self.splits,
                self.random_state,
            )

    def __repr__(self) -> str:
        n_cells = len(self.datasets) * len(self.methods) * n_splits(self.splits)
        return f"Study({len(self.datasets)} data sets, {len(self.methods)} methods, {n_cells} cells, {self.folder})"


def _log(outcome: Outcome) -> None:
    place = "{dataset} / {method} / split {split}".format_map(outcome.record)
    logger.info("%s: %s in %.1f s", place, outcome.record["status"], outcome.record["seconds"])


_COORDINATES = frozenset(COLUMNS) - {"measures"}


def _named_measures(measures: Mapping[str, Callable[..., float]] | Sequence[str]) -> dict[str, Callable[..., float]]:
    if isinstance(measures, Mapping):
        return dict(measures)
    known = [name for name in metrics.__all__ if hasattr(getattr(metrics, name), "larger_is_better")]
    unknown = [name for name in measures if name not in known]
    if unknown:
        raise ValueError(f"ramify.metrics has no measure {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    return {name: getattr(metrics, name) for name in measures}


def _known_measure(name: str) -> Callable[..., Any] | None:
    """The measure of that name in ramify.metrics or sklearn.metrics, for what functions return by name."""
    for module in (metrics, sklearn.metrics):
        if name in module.__all__:
            function: Callable[..., Any] = getattr(module, name)
            return function
    return None
