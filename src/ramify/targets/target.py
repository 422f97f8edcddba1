"""Target: what every kind of target has, whatever y was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.targets.distances import PairDistance

KernelRows = _core.LabelRows | _core.NumberRows | _core.RankingRows
"""A target as the kernels take it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Target(ABC):
    """A checked target: every example a vector, with a weight per entry.

    What is asked of a kind alone is an attribute of the class, so that whoever knows only the kind of a target can ask
    `ramify.targets.target_type(kind)`.

    Attributes
    ----------
    kind : str
        What y was: "classes", "labels", "hierarchy", "numbers", "rankings" or "mixed".
    names : tuple of str
        Names of the labels, the classes or the columns.
    weights : array of shape (n_outputs,)
        Weight of each entry of a vector in the impurity.
    hierarchy : Hierarchy or None
        Hierarchy of the labels.
    unknown : CSR array of shape (n_samples, n_outputs), or None
        True where an entry is unknown; None says that all are known.
    parts : tuple of Target
        The targets that a mixed one holds side by side; else empty.
    forest : str
        Class in `ramify.ensemble` that fits it; "" where none does. `forest_for` in
        `ramify.ensemble.forest_choice` makes one.
    measure, measure_title : str
        Function in `ramify.metrics` that it is scored by, and what tables call it.
    """

    kind: ClassVar[str]
    nouns: ClassVar[tuple[str, str]] = ("label", "labels")
    """What one and several of its `names` are called."""
    forest: ClassVar[str] = ""
    measure: ClassVar[str] = ""
    measure_title: ClassVar[str] = ""
    has_labels: ClassVar[bool] = False
    """Whether an example has each label or has it not (classes, label sets), so that labels can be counted."""
    has_one_label: ClassVar[bool] = False
    """Whether an example has exactly one of the labels: its class."""
    has_sets: ClassVar[bool] = False
    """Whether an example has any number of labels."""
    ranks_labels: ClassVar[bool] = False
    """Whether an example orders the labels."""
    parts_differ: ClassVar[bool] = False
    """Whether it is made of targets of different kinds."""
    permutation_errors: ClassVar[tuple[str, ...]] = ()
    """Errors that the Random Forest score can be taken by, its own first; empty where there is one only."""

    names: tuple[str, ...]
    weights: np.ndarray
    hierarchy: Hierarchy | None = None
    unknown: sparse.csr_array | None = None
    parts: tuple[Target, ...] = ()

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of examples."""

    @property
    def n_outputs(self) -> int:
        """Number of things predicted for an example: 1 for classes, else one per name."""
        return len(self.names)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the entries of a vector; of rankings, whose entries are pairs, those of the labels."""
        return self.names

    @property
    def forest_parameters(self) -> dict[str, Any]:
        """What the forest that fits it must be told of it."""
        return {} if self.hierarchy is None else {"hierarchy": self.hierarchy}

    @property
    def known_share(self) -> np.ndarray | None:
        """Share of the examples of which each entry is known; None where all are."""
        if self.unknown is None:
            return None
        n_unknown = np.bincount(self.unknown.indices, minlength=self.unknown.shape[1])
        return np.asarray(1.0 - n_unknown / self.unknown.shape[0])

    def rows_with_target(self) -> np.ndarray | None:
        """Numbers of the examples of which something is known; None where that is all of them."""
        if self.unknown is None:
            return None
        some = np.diff(self.unknown.indptr) < self.unknown.shape[1]
        return None if some.all() else np.flatnonzero(some)

    @property
    def groups(self) -> np.ndarray | None:
        """Class of each example, where examples fall into classes; else None."""
        return None

    @abstractmethod
    def kernel_rows(self) -> KernelRows:
        """What the core grows trees on."""

    def gain_rows(self) -> _core.LabelRows | _core.NumberRows:
        """The vectors whose variance importances are gains of; what trees grow on, but for rankings."""
        return self.kernel_rows()  # type: ignore[return-value]

    def permutation_options(self, *, per_output: bool, error: str | None = None) -> dict[str, Any]:
        """How the core measures the harm of permuting a feature: with which error, and whether also per output."""
        self.permutation_error(error)
        return {"per_output": per_output}

    def permutation_error(self, error: str | None) -> str | None:
        """The error by which permuting is measured: the one asked for, or the first that this kind of target has."""
        if error is None:
            return self.permutation_errors[0] if self.permutation_errors else None
        if error not in self.permutation_errors:
            known = " or ".join(repr(name) for name in self.permutation_errors)
            takes = f"take {known}" if known else "have one error only; leave it out"
            raise ValueError(f"The Random Forest score of {self.kind} knows no error {error!r}: {self.kind} {takes}.")
        return error

    @abstractmethod
    def distance(
        self, metric: str = "euclidean", *, bound: str | None = "observed", n_threads: int = 1
    ) -> PairDistance:
        """Distance of two examples in [0, 1], as a function of two arrays of row numbers.

        Parameters
        ----------
        metric : {"euclidean", "hamming", "jaccard", "simgic"}, default="euclidean"
            For label sets: root of the summed weights over the symmetric difference, the sum itself, or the share of
            the union that is not shared, in labels or in information content.
        bound : {"observed", "paths", None}, default="observed"
            For label sets: divide by the largest distance of two of them, of two single paths, or not.
        n_threads : int, default=1
            Threads that look for the bound; the result is the same for any number.
        """

    @classmethod
    def described(cls, names: tuple[str, ...]) -> str:
        """A target with these names, in few words."""
        return f"{len(names)} {cls.nouns[1]}"

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"have {n_labels:,} {cls.nouns[n_labels != 1]}"

    def label_columns(self) -> sparse.csr_array | None:
        """What scores per label are computed from: a number per example and label (rankings: pair of labels)."""
        return None

    @classmethod
    def label_scores(
        cls, scores: sparse.csr_array, names: tuple[str, ...], hierarchy: Hierarchy | None
    ) -> tuple[sparse.csr_array, tuple[str, ...], Hierarchy | None]:
        """Scores per entry of a vector as scores per label, with the names and the order of the labels."""
        return scores, names, hierarchy

    def vectors(self) -> Any:
        """Vectors of the examples, whose means are predictions."""
        raise NotImplementedError

    def predicted(self, means: np.ndarray) -> np.ndarray:
        """Predictions from means of `vectors`, in the form that the measure takes."""
        return means

    def truth(self, y: Any) -> Any:
        """Other examples of the same target, in the form that the measure takes."""
        raise NotImplementedError

    def measure_options(self) -> dict[str, Any]:
        """What the measure must know of the examples learnt from."""
        return {}


def refuse_nowhere_known(names: tuple[str, ...], unknown: sparse.csr_array | None, noun: str) -> None:
    """Refuse a label or number that no row knows."""
    if unknown is None:
        return
    n_unknown = np.bincount(unknown.indices, minlength=unknown.shape[1])
    nowhere = [name for name, n in zip(names, n_unknown.tolist(), strict=True) if n == unknown.shape[0]]
    if nowhere:
        others = f", and {len(nowhere) - 1} more" if len(nowhere) > 1 else ""
        raise ValueError(
            f"The {noun} {nowhere[0]!r}{others} is known of no row: there is nothing to learn it from. Leave it out."
        )


def refuse_partly_known(owner: Any, target: Target) -> None:
    """Refuse unknown cells in the name of who does not take them."""
    if target.unknown is None:
        return
    row = int(np.flatnonzero(np.diff(target.unknown.indptr))[0])
    name = owner if isinstance(owner, str) else type(owner).__name__
    raise ValueError(
        f"{name} takes complete targets, but y has unknown cells (NaN, first in row {row}). Forests and boosted trees "
        "take them as they are; else remove those rows or fill the cells in."
    )


def check_n_samples(n_targets: int, n_samples: int | None) -> None:
    """Refuse a target with another number of rows than the features."""
    if n_samples is not None and n_targets != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_samples, n_targets]}")


def check_weights(name: str, weights: Any, n_outputs: int, entry: str) -> np.ndarray:
    """One finite weight >= 0 per entry of a vector; ones for None."""
    if weights is None:
        return np.ones(n_outputs)
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_outputs,):
        raise ValueError(f"{name} must have one entry per {entry} ({n_outputs}). Got the shape {checked.shape}.")
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise ValueError(f"{name} must hold finite numbers >= 0.")
    return checked
