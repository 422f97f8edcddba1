"""Discoveries: the claims, and what they do and do not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING

from ramify.parameters import check_option, check_real
from ramify.ranking.discovery.feature_branches import BELOW
from ramify.ranking.discovery.outcome import ALL_LABELS, WHOLE

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 10
_OVER = {
    "joint": "The expected share of false claims among all claims is at most {fdr:g}",
    "flat": "The expected share of false claims among all claims is at most {fdr:g}",
    "per_feature": "The expected average, over the selected features, of the share of false claims is at most {fdr:g}",
}
_STATEMENTS = {
    "others": "{feature} predicts {branch} beyond all other features",
    "nothing": "{feature} is associated with {branch}",
}
_MEANINGS = {
    "others": "the feature carries information about the branch that the other features do not",
    "nothing": "the feature carries information about the branch, directly or through other features",
}


def unit_name(members: Sequence[str]) -> str:
    """What a feature or a group is called."""
    if len(members) <= 3:
        return " + ".join(members)
    return f"{members[0]} + {len(members) - 1} more"


@dataclass(frozen=True)
class Claim:
    """One claim: this feature (or group) drives this branch.

    Attributes
    ----------
    feature : str
        The feature, or the name of the group.
    branch : str
        The label that heads the branch; empty for the whole of y.
    effect, low, high : float or None
        Share, from 0 to 1, of what the forest explains of the branch that is lost when the feature is redrawn, and its
        90 % interval, which excludes 0 exactly when the branch as a whole has p < 0.05. None where the forest explains
        too little for the interval to have bounds.
    p, q : float
        P-value, and the smallest error rate at which the claim is made.
    rows : int
        Rows that have the branch.
    beyond_parent : bool or None
        Whether the claim also holds among rows that have all parents of the branch; None where that is not testable.
    """

    feature: str
    branch: str
    effect: float | None
    low: float | None
    high: float | None
    p: float
    q: float
    rows: int
    beyond_parent: bool | None

    @property
    def branch_name(self) -> str:
        """What people read for `branch`: its name, or "all labels"."""
        return ALL_LABELS if self.branch == WHOLE else self.branch

    @property
    def beyond(self) -> str:
        """`beyond_parent` in a word: yes, no, or empty where that is not testable."""
        return {True: "yes", False: "no", None: ""}[self.beyond_parent]


@dataclass(frozen=True, eq=True, repr=False)
class Discoveries:
    """Claims that features drive branches, at a stated error rate.

    Attributes
    ----------
    claims : tuple of Claim
        Surest first; none is a result like any other, and does not say that there is no effect.
    groups : dict of str to tuple of str
        Members of each group of features that cannot be told apart.
    untested : dict of str to str
        Labels that were not tested, and why.
    doubtful : dict of str to str
        Features and groups of which no claim can be made, and why.
    branches : tuple of str
        All branches that were tested; the first, empty, is the whole of y.
    given : {"others", "nothing"}
        Which question was asked: drive or association.
    control : {"joint", "per_feature", "flat"}
        What the error rate is over.
    fdr : float
        The error rate.
    n_draws, n_rows, n_units : int
        How often features were redrawn, rows, and features and groups.
    features : tuple of str
        All features that were asked about.
    feature_branches : dict of str to tuple of str
        Where features have a hierarchy: the features of each branch that was asked about, "NODE and below". A claim on
        one says that its features together predict, given those outside; it is above the claims on its features.
    notes : tuple of str
        What was found about the rows and done about it: copies, order, groups, weights.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ranking import discoveries
    >>> data = make_multilabel(200, random_state=0)
    >>> found = discoveries(None, data.X, data.y, random_state=0)
    >>> found.to_frame().columns.tolist()[:3]
    ['feature', 'branch', 'effect']
    """

    claims: tuple[Claim, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    untested: Mapping[str, str] = field(default_factory=dict)
    doubtful: Mapping[str, str] = field(default_factory=dict)
    branches: tuple[str, ...] = (WHOLE,)
    given: str = "others"
    control: str = "joint"
    fdr: float = 0.1
    n_draws: int = 5
    n_rows: int = 0
    n_units: int = 0
    features: tuple[str, ...] = ()
    feature_branches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_option("Discoveries", "given", self.given, tuple(_STATEMENTS))
        check_option("Discoveries", "control", self.control, tuple(_OVER))
        check_real("Discoveries", "fdr", self.fdr, low=0, high=1, open_low=True, open_high=True)

    def statement(self, feature: str, branch: str) -> str:
        """What is claimed of a feature and a branch: it predicts it beyond the others, or is associated with it.

        Parameters
        ----------
        feature, branch : str
            What they are called.
        """
        return _STATEMENTS[self.given].format(feature=feature, branch=branch)

    @property
    def question(self) -> str:
        """What a claim says."""
        return f"{self.statement('A feature', 'a branch')}: {_MEANINGS[self.given]}."

    @property
    def guarantee(self) -> str:
        """The error rate in words, with its conditions."""
        share = _OVER[self.control].format(fdr=self.fdr)
        return (
            f"{share}, if p-values are valid and independent or positively dependent; validity is measured on "
            "generated data, not proved. Claims are about prediction, not causes; no claim does not mean no effect."
        )

    def for_branch(self, name: str) -> Discoveries:
        """The claims of one branch.

        Parameters
        ----------
        name : str
            The label that heads it; empty, or "all labels", for the whole of y.
        """
        if name == ALL_LABELS and name not in self.branches:
            name = WHOLE
        if name in self.untested:
            return self._with(())
        if name not in self.branches:
            raise ValueError(f"There is no branch {name!r} among the {len(self.branches) - 1} that were tested.")
        return self._with(tuple(claim for claim in self.claims if claim.branch == name))

    def for_feature(self, name: str) -> Discoveries:
        """The claims of one feature or branch of features, or of the group that a feature belongs to.

        Parameters
        ----------
        name : str
            Name of a feature, a group or a branch of features.
        """
        if name not in self.features and name not in self.groups and name not in self.feature_branches:
            raise ValueError(f"There is no feature or group {name!r} among the {len(self.features)} features.")
        units = {name, *(unit for unit, members in self.groups.items() if name in members)}
        return self._with(tuple(claim for claim in self.claims if claim.feature in units))

    def with_names(self, features: Sequence[str], labels: Mapping[str, str]) -> Discoveries:
        """The same with other names.

        Parameters
        ----------
        features : sequence of str
            Names of the features x0, x1, ... of an array.
        labels : mapping of str to str
            New names of labels; others stay.
        """

        def unit(name: str) -> str:
            if name in self.feature_branches:
                head = name.removesuffix(BELOW)
                return name if head not in self.features else f"{features[int(head[1:])]}{BELOW}"
            return unit_name([features[int(x[1:])] for x in self.groups.get(name, (name,))])

        def label(name: str) -> str:
            return labels.get(name, name)

        return Discoveries(
            **{
                **vars(self),
                "claims": tuple(replace(c, feature=unit(c.feature), branch=label(c.branch)) for c in self.claims),
                "groups": {
                    unit(name): tuple(features[int(x[1:])] for x in members) for name, members in self.groups.items()
                },
                "feature_branches": {
                    unit(name): tuple(features[int(x[1:])] for x in own) for name, own in self.feature_branches.items()
                },
                "untested": {label(name): why for name, why in self.untested.items()},
                "doubtful": {unit(name): why for name, why in self.doubtful.items()},
                "branches": tuple(map(label, self.branches)),
                "features": tuple(features),
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per claim, surest first; the branch that is the whole of y is called "all labels"."""
        import pandas as pd

        columns = list(Claim.__dataclass_fields__)
        lines = [asdict(claim) | {"branch": claim.branch_name} for claim in self.claims]
        return pd.DataFrame(lines, columns=columns)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything as .csv or .json, by the name of the file."""
        from ramify.ranking.discovery.discovery_files import write_discoveries

        write_discoveries(self, path)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Discoveries:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path
            A .csv or .json file.
        """
        from ramify.ranking.discovery.discovery_files import read_discoveries

        return read_discoveries(path)

    def __repr__(self) -> str:
        statement = self.statement("feature", "branch")
        return f"Discoveries({len(self.claims)} claims '{statement}', error rate {self.fdr:g})"

    def _repr_html_(self) -> str:
        from ramify.notebook import html_paragraph, html_table
        from ramify.shown import shown_p

        shown = self.claims[:_SHOWN]
        rows = []
        for claim in shown:
            effect = ["" if value is None else value for value in (claim.effect, claim.low, claim.high)]
            rows.append(
                [
                    claim.feature,
                    claim.branch_name,
                    *effect,
                    shown_p(claim.p),
                    shown_p(claim.q),
                    claim.rows,
                    claim.beyond,
                ]
            )
        more = f", the first {_SHOWN}" if len(self.claims) > _SHOWN else ""
        number = "1 discovery" if len(self.claims) == 1 else f"{len(self.claims) or 'No'} discoveries"
        caption = f"{number} at FDR {100 * self.fdr:g} %{more}"
        columns = ["feature", "branch", "effect", "low", "high", "p", "q", "rows", "beyond its parent"]
        return html_table(caption, columns, rows) + html_paragraph(f"{self.question} {self.guarantee}")

    def _with(self, claims: tuple[Claim, ...]) -> Discoveries:
        return Discoveries(**{**vars(self), "claims": claims})
