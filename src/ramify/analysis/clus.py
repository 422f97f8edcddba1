"""Runs of CLUS settings files: rankings by forests and by Relief, with what the settings mean here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ramify.analysis.model_data import forest_for, model_features, model_target, nominal_features, remember_names
from ramify.analysis.model_quality import measured
from ramify.datasets import Dataset
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.arff_header import Attribute, read_header
from ramify.datasets.readers.clus_settings import ClusSettings
from ramify.datasets.readers.raw_files import FileError
from ramify.hierarchy import Hierarchy
from ramify.ranking import nested_rankings
from ramify.ranking.ranking_files import Fimp
from ramify.ranking.relief import relief_path
from ramify.writing import whole_text

PACKED = ("", ".gz", ".bz2", ".xz", ".zip")
SCORES = {"Genie3": "genie3", "Symbolic": "symbolic", "RForest": "permutation"}
"""Rankings by forests, as CLUS and as Ramify call them."""

WEIGHTS: dict[str, Any] = {
    "ExpSumParentWeight": "sum",
    "ExpAvgParentWeight": "mean",
    "ExpMinParentWeight": "min",
    "ExpMaxParentWeight": "max",
    "NoWeight": None,
}
_ENSEMBLES: dict[str, dict[str, Any]] = {
    "Bagging": {"splitter": "best", "bootstrap": True},
    "RForest": {"splitter": "best", "bootstrap": True},
    "ExtraTrees": {"splitter": "random", "bootstrap": False},
}
_N_TREES, _N_NEIGHBORS, _SIGMA, _WEIGHT = 10, 10, 0.5, 0.75  # what CLUS takes where the file does not say


@dataclass(frozen=True)
class ClusRun:
    """What a settings file gave.

    Attributes
    ----------
    files : mapping of str to Fimp
        The rankings, by the names of their files.
    measures : mapping of str to DataFrame
        How well each forest predicts the test set, by its number of trees.
    data : Dataset
        What was learnt from.
    settings : list of (str, str)
        What was done, in words.
    unused : list of str
        Settings that Ramify does not follow.
    read : list of Path
        The settings and the data files.
    """

    files: Mapping[str, Fimp]
    measures: Mapping[str, Any]
    data: Dataset
    settings: Sequence[tuple[str, str]]
    unused: Sequence[str]
    read: Sequence[Path]

    def summary(self, n_top: int = 10) -> str:
        """What was done and found, as text."""
        lines = [*(f"{name}: {value}" for name, value in self.settings), ""]
        if self.unused:
            lines += ["Settings that Ramify does not follow:", *(f"  {setting}" for setting in self.unused), ""]
        for name, table in self.measures.items():
            lines += [f"Test set, {name}:", *(f"  {line}" for line in table.to_string().splitlines()), ""]
        for name, fimp in self.files.items():
            column, scores = next(iter(fimp.columns.items()))
            best = np.argsort(-scores, kind="stable")[:n_top]
            lines += [f"{name}, first by {column}:", *(f"  {fimp.names[j]}  {scores[j]:.6g}" for j in best), ""]
        return "\n".join(lines)

    def save(self, folder: Path) -> list[Path]:
        """Write the `.fimp` files and the summary, and return their paths."""
        stem = self.settings[0][1].removesuffix(".s")
        texts = {name: fimp.text() for name, fimp in self.files.items()}
        texts[f"{stem}.summary.txt"] = self.summary()
        read = {path.resolve() for path in self.read}
        if over := next((name for name in texts if (folder / name).resolve() in read), None):
            raise ValueError(f"{folder / over} would write over a file that is read. Name another folder.")
        for name, text in texts.items():
            with whole_text(folder / name) as file:
                file.write(text)
        return [folder / name for name in texts]


@dataclass
class _Task:
    """The data of a settings file, as its rankings need them."""

    settings: ClusSettings
    train: Dataset
    test: Dataset | None
    features: Any
    positions: list[int]
    targets: list[int]
    attributes: Sequence[Attribute]
    read: Sequence[Path]
    nodes: dict[str, Hierarchy] = field(default_factory=dict)  # hierarchies of attributes that hold one node per row
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def stem(self) -> str:
        return self.settings.path.stem

    @property
    def seed(self) -> int:
        return int(self.settings.number("General", "RandomSeed", 0))


def run_clus(path: str | Path, *, relief: bool | None = None, n_jobs: int | None = None) -> ClusRun:
    r"""Run a settings file of CLUS.

    Parameters
    ----------
    path : path-like
        The `.s` file.
    relief : bool, optional
        Whether to run Relief, as `-relief` of CLUS, or forests, as `-forest`. By default what the file describes:
        forests where `[Ensemble]` names a method or a ranking, else Relief where there is a section of that name.
    n_jobs : int, optional
        Number of threads; the result is the same for all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.analysis.clus import run_clus
    >>> from ramify.datasets import make_multilabel, write_arff
    >>> folder = Path(mkdtemp())
    >>> write_arff(make_multilabel(60, n_labels=2, random_state=0), folder / "toy.arff")
    >>> text = "[Attributes]\nTarget = 51-52\n[Ensemble]\nIterations = [5, 10]\nFeatureRanking = Genie3\n"
    >>> _ = (folder / "toy.s").write_text(text)
    >>> list(run_clus(folder / "toy.s").files)
    ['toyTrees5Genie3.fimp', 'toyTrees10Genie3.fimp']
    """
    settings = ClusSettings(path)
    describes_forest = settings.has("Ensemble", "FeatureRanking") or settings.has("Ensemble", "EnsembleMethod")
    chosen = (not describes_forest and settings.has("Relief")) if relief is None else relief
    if not chosen and not describes_forest:
        advice = "Add [Ensemble] with FeatureRanking = Genie3, or [Relief]."
        raise FileError(settings.path, "the file describes neither a forest nor Relief", advice=advice)
    task = _task(settings)
    files, measures = (_relief_files(task, n_jobs), {}) if chosen else _forest_files(task, n_jobs)
    for section, names in {"Relief": _OF_RELIEF, "Ensemble": _OF_FORESTS, "Model": ("MinimalWeight",)}.items():
        for name in names:  # the file may describe what was not asked for
            settings.text(section, name)
    return ClusRun(files, measures, task.train, task.notes, settings.unused(), task.read)


_OF_RELIEF = ("Iterations", "Neighbours", "WeightNeighbours", "WeightingSigma", "MultilabelDistance")
_OF_FORESTS = (
    "EnsembleMethod",
    "FeatureRanking",
    "FeatureRankingPerTarget",
    "Iterations",
    "SelectRandomSubspaces",
    "SortRankingByRelevance",
)


def _task(settings: ClusSettings) -> _Task:
    """The data that the settings name, with their columns as features and targets."""
    path = _data_file(settings, "File", settings.path.stem + ".arff")
    header, _ = read_header(path, "utf-8")
    attributes = header.attributes
    targets = settings.columns("Attributes", "Target", len(attributes)) or [len(attributes) - 1]
    disabled = settings.columns("Attributes", "Disable", len(attributes)) or []
    key = settings.columns("Attributes", "Key", len(attributes)) or []
    features = settings.columns("Attributes", "Descriptive", len(attributes))
    if features is None:
        strings = [j for j, attribute in enumerate(attributes) if attribute.kind == "string"]
        features = [j for j in range(len(attributes)) if j not in {*targets, *disabled, *key, *strings}]
    if both := sorted({*features} & {*targets}):
        name = attributes[both[0]].name
        raise settings.fault("Attributes", "Descriptive", f"and Target both name column {both[0] + 1} ({name})")
    if (settings.columns("Attributes", "Clustering", len(attributes)) or targets) != targets:
        raise settings.fault("Attributes", "Clustering", "must be the target for Ramify")
    settings.choice("Tree", "Heuristic", {"Default": None, "VarianceReduction": None}, None)
    settings.flag("Tree", "ConvertToRules", default=False)
    separator = settings.text("Hierarchical", "HSeparator")
    if separator not in (None, "/"):
        raise settings.fault("Hierarchical", "HSeparator", "must be / for Ramify")
    files = [path]
    test = settings.text("Data", "TestSet")
    share = _share(test)
    if test is not None and share is None:
        files.append(_data_file(settings, "TestSet", test))
    columns = _Columns(settings, files, targets, features, attributes)
    data, nodes, frame = columns.with_nodes(columns.read())
    train, unseen = _parted(settings, data, share)
    kept = data.n_samples if unseen is None else train
    rows = np.arange(kept) if isinstance(kept, int) else kept
    task = _Task(
        settings,
        data.rows(rows) if unseen is not None else data,
        None if unseen is None else data.rows(unseen),
        frame if unseen is None else frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows],
        features,
        targets,
        attributes,
        [settings.path, *files],
        nodes,
    )
    kind = data.target_type
    task.notes += [("Settings", settings.path.name), ("Data", str(path))]
    task.notes.append(("Rows", f"{task.train.n_samples}" + (f", test set {len(unseen)}" if unseen is not None else "")))
    task.notes += [("Features", str(len(features))), ("Target", kind.described(data.label_names))]
    return task


def _data_file(settings: ClusSettings, name: str, default: str) -> Path:
    """The file that a setting names: as it says from the settings' folder or from here, or beside the settings."""
    said = settings.text("Data", name) or default
    given, folder = Path(said.replace("\\", "/")), settings.path.parent
    for place in (folder / given, given, folder / given.name):
        for ending in PACKED:
            file = place.with_name(place.name + ending)
            if file.is_file():
                return file
    advice = f"Looked for {folder / given}, {given} and {folder / given.name}, also packed. Correct the path."
    raise settings.fault("Data", name, "names no file that is there", advice)


def _share(test: str | None) -> float | None:
    """The share of the rows that is set aside, where the test set is given as a number."""
    try:
        return None if test is None else float(test)
    except ValueError:
        return None


def _parted(settings: ClusSettings, data: Dataset, share: float | None) -> tuple[Any, np.ndarray | None]:
    """Rows to learn from and rows of the test set; None for the latter where there is none."""
    if share is not None:
        if not 0 < share < 1:
            raise settings.fault("Data", "TestSet", "must be a file or a share between 0 and 1")
        order = check_random_state(int(settings.number("General", "RandomSeed", 0))).permutation(data.n_samples)
        n_test = max(1, round(share * data.n_samples))
        return np.sort(order[n_test:]), np.sort(order[:n_test])
    if not data.parts:
        return None, None
    train, test = data.parts.values()
    return train, test


@dataclass(frozen=True)
class _Columns:
    """The columns of the data files, and how they are read."""

    settings: ClusSettings
    files: list[Path]
    targets: list[int]
    features: list[int]
    attributes: Sequence[Attribute]

    @property
    def of_nodes(self) -> list[int]:
        """Hierarchical columns that are features, or targets beside others."""
        targets = self.targets if len(self.targets) > 1 else []
        return [j for j in sorted([*self.features, *targets]) if self.attributes[j].kind == "hierarchical"]

    def read(self, target: Sequence[int] | None = None, *, features: bool = True) -> Dataset:
        """The data set, without the columns that `with_nodes` adds."""
        chosen = [j for j in self.targets if j not in self.of_nodes] if target is None else list(target)
        wanted = [j for j in self.features if j not in self.of_nodes] if features else []
        ignored = [j for j in range(len(self.attributes)) if j not in {*chosen, *wanted}]
        data = read_arff(
            self.files,
            target=chosen,
            ignore=ignored,
            identifier=None,
            hierarchy_type=self.settings.choice("Hierarchical", "Type", {"Tree": "tree", "DAG": "dag"}, "auto"),
        )
        return data if data.hierarchy is None else replace(data, hierarchy=self.weighed(data.hierarchy))

    def weighed(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy with the weights that the settings describe."""
        aggregate = self.settings.choice("Hierarchical", "WType", WEIGHTS, "sum")
        w0 = self.settings.number("Hierarchical", "WParam", _WEIGHT)
        return Hierarchy(hierarchy.names, hierarchy.edges, w0=w0, aggregate=aggregate)

    def with_nodes(self, data: Dataset) -> tuple[Dataset, dict[str, Hierarchy], Any]:
        """The data with hierarchical columns as nominal ones, their hierarchies, and the features."""
        if not self.of_nodes:
            return data, {}, model_features(data)
        import pandas as pd

        frame = data.to_frame()
        beside: dict[str, Any] = {}
        hierarchies: dict[str, Hierarchy] = {}
        for j in self.of_nodes:
            name = self.attributes[j].name
            alone = self.read([j], features=False)
            if alone.hierarchy is None:  # a hierarchical column has one
                continue
            labels = alone.hierarchy.most_specific(alone.y)
            counts = np.diff(labels.indptr)
            if (counts != 1).any():
                row = int(np.flatnonzero(counts != 1)[0])
                raise FileError(
                    self.files[0],
                    f"row {row + 1} of the hierarchical attribute {name!r} has {counts[row]} labels",
                    advice="A hierarchical feature, or target beside others, needs one label per row. Disable it.",
                )
            hierarchies[name] = alone.hierarchy
            column = pd.Categorical.from_codes(labels.indices, categories=list(alone.hierarchy.names))
            if j in self.features:
                frame.insert(self.features.index(j), name, column)
            else:
                beside[name] = column
        if not beside:
            return data, hierarchies, frame
        targets = _target_columns(data, [self.attributes[j].name for j in self.targets if j not in self.of_nodes])
        y = pd.DataFrame(targets | beside)
        return replace(data, y=y, target="mixed", label_names=tuple(y.columns), targets={}), hierarchies, frame


def _target_columns(data: Dataset, names: list[str]) -> dict[str, Any]:
    """The target's columns by name: numbers, or the names of classes."""
    if data.y is None:
        return {}
    if data.target_type.has_one_label:
        return {names[0]: data.classes}
    if data.target_type.parts_differ:
        return {name: data.y[name] for name in names}
    columns = data.y.toarray() if hasattr(data.y, "toarray") else np.asarray(data.y).reshape(data.n_samples, -1)
    columns = columns.astype(str).astype(object) if data.target_type.has_sets else columns
    return dict(zip(names, columns.T, strict=True))


def _forest_files(task: _Task, n_jobs: int | None) -> tuple[dict[str, Fimp], dict[str, Any]]:
    """Rankings of forests of several sizes, one forest containing the next smaller one, and their measures."""
    settings, data = task.settings, task.train
    method = settings.choice("Ensemble", "EnsembleMethod", {name: name for name in _ENSEMBLES}, "Bagging")
    sizes = [int(size) for size in settings.numbers("Ensemble", "Iterations", [_N_TREES])]
    called = settings.choices("Ensemble", "FeatureRanking", {name: name for name in SCORES})
    per_target = settings.flag("Ensemble", "FeatureRankingPerTarget", default=False)
    subspaces = settings.text("Ensemble", "SelectRandomSubspaces") or "LOG"
    n_features = task.features.shape[1]
    drawn = None if method == "Bagging" else _subspace(settings, subspaces, n_features)
    if task.nodes and any(task.attributes[j].kind == "hierarchical" for j in task.targets):
        raise FileError(settings.path, "forests take no hierarchical target beside others", advice="Name one target.")
    forest = forest_for(
        data,
        n_estimators=max(sizes),
        max_features=drawn,
        min_samples_leaf=int(settings.number("Model", "MinimalWeight", 1)),
        categorical_features="from_dtype" if hasattr(task.features, "dtypes") else nominal_features(data),
        random_state=task.seed,
        n_jobs=n_jobs,
        **_ENSEMBLES[method],
    ).fit(task.features, model_target(data))
    task.notes.append(("Ensemble", f"{method} of {', '.join(map(str, sizes))} trees"))
    task.notes.append(("Features per node", "all" if drawn is None else f"{drawn} of {n_features}"))
    files: dict[str, Fimp] = {}
    error = "hamming" if data.target_type.has_sets and data.hierarchy is None else None
    for name in called:
        path = nested_rankings(
            forest, sizes, SCORES[name], task.features, model_target(data), per_label=per_target,
            error=error if name == "RForest" else None,
        )  # fmt: skip
        for size, ranking in zip(sizes, path, strict=True):
            columns = {"overall": ranking.scores}
            if per_target and ranking.per_label is not None and ranking.label_names != ("",):
                columns |= dict(zip(ranking.label_names, ranking.per_label.toarray().T, strict=True))
            head = [f"Ensemble method: {method}", f"Ranking method: {name}", f"Ensemble size: {size}"]
            files[f"{task.stem}Trees{size}{name}.fimp"] = _fimp(task, head, columns)
    measures = {}
    if task.test is not None:
        for size in sizes:
            part = forest.first(size)
            remember_names(part, data)
            measures[f"{size} trees"] = measured(part, data, task.test).measures
    return files, measures


def _subspace(settings: ClusSettings, said: str, n_features: int) -> int:
    """How many features a node looks at; roots and logarithms are rounded up, as CLUS does."""
    if said.upper() == "SQRT":
        return math.ceil(math.sqrt(n_features))
    if said.upper() in {"LOG", "0"}:
        return max(1, math.ceil(math.log2(n_features)))
    try:
        number = float(said)
    except ValueError:
        number = -1.0
    if number <= 0:
        raise settings.fault("Ensemble", "SelectRandomSubspaces", "must be SQRT, LOG, a number or a share of features")
    return min(n_features, int(number) if "." not in said else math.ceil(number * n_features))


def _relief_files(task: _Task, n_jobs: int | None) -> dict[str, Fimp]:
    """Relief by the conventions of CLUS, for all numbers of neighbours and of rows; per target where asked for."""
    settings, data = task.settings, task.train
    neighbors = sorted(int(k) for k in settings.numbers("Relief", "Neighbours", [_N_NEIGHBORS]))
    iterations = _iterations(settings, data.n_samples)
    weighted = settings.flag("Relief", "WeightNeighbours", default=False)
    settings.choice("Relief", "MultilabelDistance", {"HammingLoss": None}, None)
    sigma = settings.number("Relief", "WeightingSigma", _SIGMA) if weighted else None
    # By these two Relief is that of CLUS; a flat label set, too, is as far from another as labels differ.
    common: dict[str, Any] = {
        "n_neighbors": neighbors, "n_iterations": iterations, "sigma": sigma, "distance": "hamming", "bound": "paths",
        "n_jobs": n_jobs, "random_state": task.seed,
    }  # fmt: skip
    if not hasattr(task.features, "dtypes"):
        common["categorical_features"] = nominal_features(data)
    columns: dict[str, np.ndarray] = {}
    for name, told in _relief_targets(task).items():
        for ranking in relief_path(task.features, **told, **common):
            count, k = ranking.origin["n_iterations"], ranking.origin["n_neighbors"]
            columns[f"{name}Iter{count}Neigh{k}"] = ranking.scores
    task.notes.append(("Relief", f"neighbours {neighbors}, rows {iterations}, sigma {sigma}"))
    head = [
        "Ranking method: Relief with all combinations of",
        f"numbers of neighbours: {neighbors}",
        f"numbers of iterations: {iterations}",
    ]
    return {f"{task.stem}.fimp": _fimp(task, head, columns)}


def _iterations(settings: ClusSettings, n_samples: int) -> list[int]:
    """Numbers of rows that Relief visits: shares where all are at most 1, else numbers; -1 for all rows."""
    given = [1.0 if value < 0 else value for value in settings.numbers("Relief", "Iterations", [-1])]
    all_rows = {k for k, value in enumerate(settings.numbers("Relief", "Iterations", [-1])) if value < 0}
    are_shares = all(value <= 1 for value in given)
    counts = {n_samples if k in all_rows else round(v * n_samples if are_shares else v) for k, v in enumerate(given)}
    if not all(1 <= count <= n_samples for count in counts):
        raise settings.fault("Relief", "Iterations", f"must be numbers of rows up to {n_samples}, or shares")
    return sorted(counts)


def _relief_targets(task: _Task) -> dict[str, dict[str, Any]]:
    """What Relief is told of all targets together, and with `FeatureRankingPerTarget` of each of several alone."""
    data, nodes = task.train, task.nodes
    of_features = {name: nodes[name] for name in nodes if name in _names(task)}
    known = {"value_hierarchies": of_features or None}
    together = {
        "y": data.y,
        "target": str(data.target),
        "hierarchy": data.hierarchy,
        "value_hierarchies": nodes or None,
    }
    targets = {"overall": together}
    if not task.settings.flag("Ensemble", "FeatureRankingPerTarget", default=False) or len(task.targets) == 1:
        return targets
    for place, j in enumerate(task.targets):
        name = task.attributes[j].name
        column = data.y[name] if data.target_type.parts_differ else _column(data.y, place)
        if name in nodes:
            labels = nodes[name].encode([[str(node)] for node in column])
            targets[name] = {"y": labels, "target": "hierarchy", "hierarchy": nodes[name], **known}
        elif task.attributes[j].kind == "number":
            targets[name] = {"y": np.asarray(column, dtype=float), "target": "numbers", **known}
        else:
            targets[name] = {"y": np.asarray(column), "target": "classes", **known}
    return targets


def _column(y: Any, place: int) -> np.ndarray:
    dense = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    return dense[:, place]


def _names(task: _Task) -> list[str]:
    return [task.attributes[j].name for j in task.positions]


def _fimp(task: _Task, head: list[str], columns: Mapping[str, np.ndarray]) -> Fimp:
    """The file of a ranking; its lines are sorted by relevance unless the settings say No."""
    by_relevance = task.settings.flag("Ensemble", "SortRankingByRelevance", default=True)
    return Fimp(head, _names(task), [j + 1 for j in task.positions], dict(columns), by_relevance=by_relevance)
