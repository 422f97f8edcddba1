"""discoveries: from data to claims."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from ramify.ensemble.forest_choice import check_forest, forest_for
from ramify.ensemble.row_weights import checked_sample_weight
from ramify.ensemble.training_data import checked_row_groups
from ramify.features import Features, columns_of, feature_names, learn_features
from ramify.features.frames import take_rows, weighing_rows
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_jobs, check_option, check_real
from ramify.ranking.discovery.association import Association, association
from ramify.ranking.discovery.checkpoint import Checkpoint
from ramify.ranking.discovery.control import CONTROLS, Graph, inherited, q_values, simes
from ramify.ranking.discovery.effects import beyond_parents, claim_effects
from ramify.ranking.discovery.feature_branches import FeatureBranches, feature_branches
from ramify.ranking.discovery.outcome import Outcome, Untestable, outcome_of, refuse_unknown
from ramify.ranking.discovery.result import Claim, Discoveries, unit_name
from ramify.ranking.discovery.row_orders import of_even_sizes
from ramify.ranking.discovery.rows import RowGroups, blocks_in_order, copies, effective_number
from ramify.ranking.discovery.survey import Question, Survey, survey
from ramify.targets import kind_of

GIVEN = ("others", "nothing")
_FEWEST_ROWS = 100
_FEWEST_ASSOCIATED = 20
_FEWEST_GROUPS, _ENOUGH_GROUPS = 20, 80
_MOST_MEDIANS = 5


def discoveries(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    given: str = "others",
    groups: str | None = "auto",
    n_draws: int = 5,
    fdr: float = 0.1,
    control: str = "joint",
    sample_weight: Any = None,
    row_groups: Any = None,
    feature_hierarchy: Hierarchy | None = None,
    max_rows: int | None = 10_000,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
    checkpoint: str | PathLike[str] | None = None,
) -> Discoveries:
    """Which features drive which branches: claims with a stated share of false ones.

    For each feature and branch: given all other features, does the feature tell anything about which labels of the
    branch a row has? One forest is grown. Each feature is redrawn from its distribution given the others, and a t-test
    over rows says whether the out-of-bag error of a label grows. With `given="nothing"` no forest is grown: does the
    feature by itself go along with any label of the branch, more than in random orders of the rows?

    Parameters
    ----------
    estimator : ForestClassifier, ForestRegressor, LabelRankingForest or None
        The forest, with the hierarchy where there is one; it is cloned and grown. None takes the forest that was tried:
        200 trees with at least 3 rows in a leaf, for numbers if y is numbers, else for classes or label sets.
    X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
        Features; NaN is missing. At least 100 rows; for association 20 rows.
    y : array, CSR or frame
        What the forest takes. Labels with fewer than 10 rows with or without them are not tested.
    given : {"others", "nothing"}, default="others"
        "others" asks for drive: what a feature tells beyond all others. "nothing" asks for association: a feature that
        only goes along with a driver is then claimed too, and one that tells something only with others is not.
    groups : {"auto", None}, default="auto"
        Whether features that cannot be told apart are tested and claimed as one group. Association tests every feature
        by itself.
    n_draws : int, default=5
        How often each feature is redrawn; association redraws none.
    fdr : float, default=0.1
        Expected share of false claims among all.
    control : {"joint", "per_feature", "flat"}, default="joint"
        What the share is over: all claims, in which whoever drives a branch drives everything above it (DAGGER); the
        mean, over features that are selected, of their own share; or all claims without regard to the hierarchy.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, in the forest and in the test; above 5 medians they count as 5. Rows of weight 0 take no
        part.
    row_groups : array-like of shape (n_samples,), optional
        Which rows belong together: patients, families, sites, blocks of time. Bags, folds and tests are by group; for
        association whole groups change places with groups of as many rows, larger ones being cut to a common size.
        Without it, rows that are copies or near copies of others are kept together, and rows that follow an order of
        time, place or batch are tested in blocks with gaps between them; `found.notes` says so.
    feature_hierarchy : Hierarchy, optional
        Of the features, by their names: its branches of 2 to 50 features are claimed as well, "NODE and below", beside
        single features, at one error rate. A branch is redrawn given the features outside of it. `groups` is then not
        asked for, and `control` must be "joint".
    max_rows : int or None, default=10_000
        Where there are more rows, so many of them, drawn at random in whole groups, are asked what features drive: more
        rows cost time and find little more. None takes all.
    n_jobs : int or None, default=None
        Threads or processes; the result is the same for any number. None takes that of the forest.
    random_state : int, RandomState or None
        Seed.
    verbose : int, default=0
        Whether to show progress.
    checkpoint : path, optional
        A folder for finished pieces of work: a run that was stopped goes on from there and ends with the same bits.
        Pieces of other data, parameters or versions are never taken. The folder takes up to 40 bytes for each cell of X
        and can be deleted when the run is done.

    Returns
    -------
    Discoveries
        The claims, what was not tested or is doubtful, and the guarantee in words.

    Notes
    -----
    A column is redrawn by stages, each learnt without the row that it is for: its expectation by ridge regression on
    the most correlated features, curves and products of features that surely matter, and forests, each kept if the
    error falls by 1 %; its spread by the same stages; its shape by the chances of eight bins. Residuals are exchanged
    among rows with similar fitted values, or drawn from a bin. Values that many rows share, missing ones and classes
    are drawn from the product of a multinomial logit and a forest. More than 16 classes change places in pairs of rows
    that agree in the feature which the classes follow most (in a number: nearly), by the odds of such chances with
    shrunken discriminants.
    The redraw is checked: what is left of a column must be unrelated to the redrawn predictions, else the feature is
    reported as doubtful and not claimed. Tables of fewer than 40 features are padded with noise like them (rows in
    another order); a feature of zeros and ones counts a quarter, since trees that cut it all cut it at the same
    place. The p-value of a branch is that of Simes over its labels.

    Association compares a label with four orthogonal polynomials of a number's ranks, or with the categories of a
    nominal feature, and with where values are missing. A feature without ties is tested against 20,000 random orders of
    the rows, another against 2,000 of its own; beyond, p-values come from an exponential tail. A branch takes the
    largest of the scores of its labels, in every order as in the data, so labels of few rows keep their error rate. The
    effect is the share of a label's variance that goes along with the feature, in a branch the largest of its labels.

    With `feature_hierarchy` the hypotheses are all pairs of a unit (feature or branch of features) and a branch of y,
    each below the pairs with what is above its unit or its branch. A branch of features takes twice the smaller of its
    own p-value and that of Simes over all units below it. In a group with classes or shared values, whole rows of
    values change places in pairs, by the odds of a working model: the redraw models of its members, joined by the
    correlations of what they leave.

    That p-values are valid is measured, not proved: `benchmarks/bench_discoveries.py`. Sharply curved or interacting
    dependence between features can yield false claims. A claim is no statement about causes.

    References
    ----------
    E. Candes, Y. Fan, L. Janson, J. Lv. Panning for gold: model-X knockoffs for high dimensional controlled variable
    selection. Journal of the Royal Statistical Society B 80, 2018 (conditional randomisation).

    T. B. Berrett, Y. Wang, R. F. Barber, R. J. Samworth. The conditional permutation test for independence while
    controlling for confounders. Journal of the Royal Statistical Society B 82, 2020 (many classes).

    A. Ramdas, J. Chen, M. J. Wainwright, M. I. Jordan. A sequential algorithm for false discovery rate control on
    directed acyclic graphs. Biometrika 106, 2019.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import ForestClassifier
    >>> from ramify.ranking import discoveries
    >>> data = make_hierarchical(300, depth=1, n_features=20, random_state=0)
    >>> forest = ForestClassifier(100, hierarchy=data.hierarchy, min_samples_leaf=3)
    >>> found = discoveries(forest, data.X, data.y, random_state=0)
    >>> drivers = {claim.feature for claim in found.claims}
    >>> drivers <= {name for name, true in zip(data.feature_names, data.truth.any(axis=1)) if true}
    True
    """
    check_option("discoveries", "given", given, GIVEN)
    check_option("discoveries", "groups", groups, ("auto", None))
    check_option("discoveries", "control", control, CONTROLS)
    check_integer("discoveries", "n_draws", n_draws, low=1)
    check_integer("discoveries", "verbose", verbose, low=0)
    check_real("discoveries", "fdr", fdr, low=0, high=1, open_low=True, open_high=True)
    check_jobs("discoveries", n_jobs)
    _check_nested(feature_hierarchy, given, control)
    if max_rows is not None:
        check_integer("discoveries", "max_rows", max_rows, low=_FEWEST_ROWS)
    weighing = weighing_rows(X, y, sample_weight)
    if weighing is not None:  # a row of weight zero is as good as no row
        X, y = take_rows(X, weighing), take_rows(y, weighing)
        sample_weight = np.asarray(sample_weight)[weighing]
    forest = checked_estimator(estimator, y, given)
    n_jobs = forest.n_jobs if n_jobs is None else n_jobs
    owner = columns_of("discoveries")
    features = learn_features(owner, X, _nominal(forest, X))
    weights = checked_sample_weight(owner, sample_weight, features.values.shape[0])
    together = _checked_groups(row_groups, weighing, features.values.shape[0])
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    if given == "nothing":
        running = {"row_groups": together, "seed": seed, "n_jobs": n_jobs, "verbose": verbose}
        return _associated(forest, features, feature_names(owner), y, weights, fdr, control, **running)
    saved = None if checkpoint is None else Checkpoint(checkpoint)
    asked = {"n_draws": n_draws, "seed": seed, "n_jobs": n_jobs, "verbose": verbose, "checkpoint": saved}
    with threadpool_limits(limits=1, user_api="blas"):  # products of small matrices: more threads wait for each other
        notes: list[str] = []
        rows = _some_rows(features.values.shape[0], together, max_rows, seed, notes)
        if rows is not None:
            features, y = features.take(rows), take_rows(y, rows)
            weights = None if weights is None else weights[rows]
            together = None if together is None else np.unique(together[rows], return_inverse=True)[1]
        names = feature_names(owner)
        nested = None if feature_hierarchy is None else feature_branches(feature_hierarchy, names)
        kind = groups if nested is None else nested
        return _driven(forest, features, names, y, weights, together, fdr, control, kind, asked, notes)


def _driven(
    forest: Any,
    features: Features,
    names: tuple[str, ...],
    y: Any,
    weights: np.ndarray | None,
    together: np.ndarray | None,
    fdr: float,
    control: str,
    groups: str | FeatureBranches | None,
    asked: dict[str, Any],
    notes: list[str],
) -> Discoveries:
    """Claims of drive: what is tested, with the notes on rows and weights that go with it."""
    n_features = features.values.shape[1]
    _refuse_few(features.values.shape[0])
    weights = _capped(weights, notes)
    table, rows = _together(_Table(features, y, weights), forest, together, asked["seed"], notes)
    features, y, weights = table.features, table.y, table.weights
    _refuse_few_groups(rows, weights, notes)
    # Claims without regard to the hierarchy can be of a label alone, where the whole of y says nothing.
    level = None if control == "flat" else fdr
    question = Question(forest, "others", groups == "auto", level=level, **asked)
    units: list[tuple[int, ...]] | None = None
    if groups is None:
        units = [(feature,) for feature in range(n_features)]
    elif isinstance(groups, FeatureBranches):
        units = groups.members
    found = survey(question, features, y, weights, units, rows)
    nested = groups if isinstance(groups, FeatureBranches) else None
    return replace(_discovered(found, names, nested, features, y, weights, fdr, control), notes=tuple(notes))


def _discovered(
    found: Survey,
    names: tuple[str, ...],
    nested: FeatureBranches | None,
    features: Features,
    y: Any,
    weights: Any,
    fdr: float,
    control: str,
) -> Discoveries:
    outcome = found.outcome
    hypotheses = _hypotheses(found, names, nested)
    p_values = simes(hypotheses.p_values, outcome.members)
    q = q_values(p_values, hypotheses.graph, fdr, control)
    claims = np.argwhere(q <= fdr)
    effects = np.full((len(claims), 3), np.nan)
    beyond: list[bool | None] = [None] * len(claims)
    # A branch of features may be claimed by what is known of those below it, without a redraw of its own.
    redrawn = np.flatnonzero(hypotheses.unit[claims[:, 0]] >= 0)
    own = np.column_stack([hypotheses.unit[claims[redrawn, 0]], claims[redrawn, 1]])
    effects[redrawn] = claim_effects(found, own)
    for k, answer in zip(redrawn.tolist(), beyond_parents(found, own, features, y, weights, fdr), strict=True):
        beyond[k] = answer
    listed = []
    for k, (unit, branch) in enumerate(claims.tolist()):
        effect, low, high = (None if np.isnan(value) else float(value) for value in effects[k])
        p, level = float(p_values[unit, branch]), float(q[unit, branch])
        rows = int(outcome.rows[branch])
        name, label = hypotheses.names[unit], outcome.branches[branch]
        listed.append(Claim(name, label, effect, low, high, p, level, rows, beyond[k]))
    called = {unit: hypotheses.names[k] for k, unit in enumerate(hypotheses.unit.tolist()) if unit >= 0}
    several = {
        called[k]: tuple(names[feature] for feature in unit.features)
        for k, unit in enumerate(found.units)
        if len(unit.features) > 1
    }
    branches = {} if nested is None else dict(zip(nested.names, nested.members, strict=True))
    return Discoveries(
        claims=tuple(sorted(listed, key=lambda claim: (claim.q, claim.p, claim.feature, claim.branch))),
        groups=several if nested is None else {},
        feature_branches={
            name: tuple(names[feature] for feature in members) for name, members in branches.items() if len(members) > 1
        },
        untested=outcome.untested,
        doubtful={called[k]: unit.doubt for k, unit in enumerate(found.units) if unit.doubt},
        branches=outcome.branches,
        given=found.question.given,
        control=control,
        fdr=fdr,
        n_draws=found.question.n_draws,
        n_rows=found.predictors.n_rows,
        n_units=hypotheses.graph.n_units,
        features=names,
    )


@dataclass(frozen=True)
class _Hypotheses:
    """What is asked: names, p-values, what is above what, and the position of each in the survey (-1: none)."""

    names: list[str]
    p_values: np.ndarray
    graph: Graph
    unit: np.ndarray


def _hypotheses(found: Survey, names: tuple[str, ...], nested: FeatureBranches | None) -> _Hypotheses:
    parents, n_units = found.outcome.parents, len(found.units)
    if nested is None:
        called = [unit_name([names[feature] for feature in unit.features]) for unit in found.units]
        return _Hypotheses(called, found.p_values, Graph.of(parents, n_units, found.n_unused), np.arange(n_units))
    place = {members: k for k, members in enumerate(nested.members)}
    unit = np.full(len(nested.members), -1)
    p_values = np.ones((len(unit), found.p_values.shape[1]))
    for k, own in enumerate(found.units):
        unit[place[own.features]] = k
        p_values[place[own.features]] = found.p_values[k]
    graph = Graph.of(parents, len(unit), above=nested.above)
    return _Hypotheses(list(nested.names), inherited(p_values, nested.above), graph, unit)


def _associated(
    forest: Any,
    features: Features,
    names: tuple[str, ...],
    y: Any,
    weights: np.ndarray | None,
    fdr: float,
    control: str,
    **running: Any,
) -> Discoveries:
    n_rows = features.values.shape[0]
    if n_rows < _FEWEST_ASSOCIATED:
        raise Untestable(f"association needs at least {_FEWEST_ASSOCIATED} rows. Got {n_rows}.")
    notes: list[str] = []
    table = _Table(features, y, weights)
    table, rows = _together(table, forest, running["row_groups"], running["seed"], notes)
    if rows.given:
        kept = of_even_sizes(rows.of_row, running["seed"])
        if len(kept) < len(rows.of_row):
            notes.append(
                f"{len(rows.of_row) - len(kept):,} rows are left out, so that groups change places with groups of as "
                "many rows."
            )
            table, rows = table.take(kept), rows.take(kept)
    features, y, weights = table.features, table.y, table.weights
    n_rows, running = features.values.shape[0], {**running, "row_groups": rows.kernel_groups}
    target = forest.encode_target(y, sample_weight=weights, n_samples=n_rows)
    refuse_unknown(target)
    outcome = outcome_of(target, np.ones(n_rows, dtype=bool))
    with threadpool_limits(limits=1, user_api="blas"):
        found = association(features, outcome, row_weights=weights, **running)
        q = q_values(found.p_values, Graph.of(outcome.parents, len(names)), fdr, control)
        claims = np.argwhere(q <= fdr)
        effects = _largest_shares(found, outcome, claims)
    listed = [
        Claim(names[feature], outcome.branches[branch], effect, None, None, p, level, rows, None)
        for (feature, branch), effect, p, level, rows in zip(
            claims.tolist(),
            effects,
            found.p_values[*claims.T].tolist(),
            q[*claims.T].tolist(),
            outcome.rows[claims[:, 1]].tolist(),
            strict=True,
        )
    ]
    return Discoveries(
        claims=tuple(sorted(listed, key=lambda claim: (claim.q, claim.p, claim.feature, claim.branch))),
        untested=outcome.untested,
        branches=outcome.branches,
        given="nothing",
        control=control,
        fdr=fdr,
        n_draws=0,
        n_rows=n_rows,
        n_units=len(names),
        features=names,
        notes=tuple(notes),
    )


def _largest_shares(found: Association, outcome: Outcome, claims: np.ndarray) -> list[float]:
    """For each claim the largest share among the outputs of its branch."""
    members = outcome.members
    outputs = [members.indices[members.indptr[b] : members.indptr[b + 1]] for b in claims[:, 1].tolist()]
    owner = np.repeat(np.arange(len(claims)), [len(own) for own in outputs])
    largest = np.zeros(len(claims))
    if len(claims):
        np.maximum.at(largest, owner, found.share(claims[owner, 0], np.concatenate(outputs)))
    shares: list[float] = largest.tolist()
    return shares


def _checked_groups(row_groups: Any, weighing: np.ndarray | None, n_rows: int) -> np.ndarray | None:
    """Numbers of the groups of the rows that take part."""
    n_given = n_rows if weighing is None else len(np.asarray(row_groups)) if row_groups is not None else 0
    groups = checked_row_groups("discoveries", row_groups, n_given)
    return groups if groups is None or weighing is None else checked_row_groups("discoveries", groups[weighing], n_rows)


def _some_rows(
    n_rows: int, together: np.ndarray | None, max_rows: int | None, seed: int, notes: list[str]
) -> np.ndarray | None:
    """Rows to test, ascending, where there are too many; None for all."""
    if max_rows is None or n_rows <= max_rows:
        return None
    random = np.random.default_rng([seed, 6])
    if together is None:
        rows = random.permutation(n_rows)[:max_rows]
    else:
        order = random.permutation(int(together.max()) + 1)
        n_so_far = np.cumsum(np.bincount(together)[order])
        rows = np.flatnonzero(np.isin(together, order[: max(1, int((n_so_far <= max_rows).sum()))]))
    notes.append(
        f"{len(rows):,} of {n_rows:,} rows, drawn at random, are tested; more find little more. max_rows=None "
        "(--all-rows) tests all."
    )
    return np.sort(rows)


def _capped(weights: np.ndarray | None, notes: list[str]) -> np.ndarray | None:
    """Weights of at most 5 medians: a test over few heavy rows is no test."""
    if weights is None:
        return None
    most = _MOST_MEDIANS * float(np.median(weights))
    n_capped = int((weights > most).sum())
    if n_capped:
        notes.append(f"{n_capped:,} rows weigh more than {_MOST_MEDIANS} medians and count as {_MOST_MEDIANS}.")
    capped: np.ndarray = np.minimum(weights, most)
    n_effective = effective_number(capped)
    if n_effective < _FEWEST_ROWS:
        raise Untestable(
            f"The weights leave as much as {n_effective:.0f} rows of equal weight tell, and discoveries needs "
            f"{_FEWEST_ROWS}. Use more even weights, or none."
        )
    return capped


@dataclass(frozen=True)
class _Table:
    """Features, target and weights of the same rows."""

    features: Features
    y: Any
    weights: np.ndarray | None

    def take(self, rows: np.ndarray) -> _Table:
        weights = None if self.weights is None else self.weights[rows]
        return _Table(self.features.take(rows), take_rows(self.y, rows), weights)


def _together(
    table: _Table, forest: Any, together: np.ndarray | None, seed: int, notes: list[str]
) -> tuple[_Table, RowGroups]:
    """The rows that take part and their groups: those that were given, else blocks in order, else copies."""
    if together is not None:
        return table, RowGroups(together)
    rows, n_copied = copies(table.features, seed)
    if n_copied:
        notes.append(
            f"{n_copied:,} rows are copies or near copies of others. Copies are kept together and count as one in "
            "tests."
        )
    blocks = _blocks(table.features, forest, table.y, rows, notes)
    if blocks is None:
        return table, rows
    kept, rows = blocks
    return table.take(kept), rows


def _refuse_few_groups(rows: RowGroups, weights: np.ndarray | None, notes: list[str]) -> None:
    if not rows.given:
        return
    sizes = rows.sums(np.ones(len(rows.of_row)) if weights is None else weights)
    n_effective = effective_number(sizes)
    if n_effective < _FEWEST_GROUPS:
        raise Untestable(
            f"The rows are {rows.n_groups:,} groups that tell as much as {n_effective:.0f} groups of equal size, and "
            f"discoveries needs {_FEWEST_GROUPS} to keep its error rate. Ask for association (given='nothing'), or "
            "for a ranking, which makes no promise."
        )
    if n_effective < _ENOUGH_GROUPS:
        notes.append(
            f"The rows tell as much as {n_effective:.0f} independent groups: with fewer than {_ENOUGH_GROUPS} few "
            "drivers are found."
        )


def _blocks(
    features: Features, forest: Any, y: Any, rows: RowGroups, notes: list[str]
) -> tuple[np.ndarray, RowGroups] | None:
    """Rows that take part, and their blocks, where rows follow an order of time, place or batch; else None."""
    n_rows = features.values.shape[0]
    target = forest.encode_target(y, n_samples=n_rows)
    refuse_unknown(target)
    found = blocks_in_order(features, outcome_of(target, np.ones(n_rows, dtype=bool)).truth, rows)
    if found is None:
        return None
    n_blocks = int(found.of_row.max()) + 1
    alike = (
        f"Neighbouring rows are alike (median correlation {found.of_features:.2f} of features, {found.of_truth:.2f} of "
        "labels), as rows in the order of time, place or batch are"
    )
    if n_blocks < _FEWEST_GROUPS:
        raise Untestable(
            f"{alike}. They make {n_blocks} blocks of {found.length} rows that tell something of their own, and "
            f"discoveries needs {_FEWEST_GROUPS} to keep its error rate. Pass batches or sites as row_groups "
            "(--groups), or another group for each row if their order means nothing."
        )
    notes.append(
        f"{alike}: {n_blocks} blocks of {found.length} rows are tested as one row each would be, without the "
        f"{found.gap} rows between two blocks. Pass batches or sites as row_groups (--groups), or another group for "
        "each row if their order means nothing."
    )
    kept = np.flatnonzero(found.of_row >= 0)
    return kept, RowGroups(found.of_row[kept])


def checked_estimator(estimator: Any, y: Any, given: str) -> Any:
    """The forest to grow, or the one that was tried."""
    if estimator is None:
        return forest_for(kind_of(y), n_estimators=200, min_samples_leaf=3)
    if given == "nothing":
        return check_forest("discoveries", estimator, boosted=True)
    if not check_forest("discoveries", estimator).bootstrap:
        raise ValueError(
            "discoveries tests out-of-bag predictions, and a forest with bootstrap=False (extra trees) has none. Use "
            "bootstrap=True."
        )
    return estimator


def _check_nested(feature_hierarchy: Any, given: str, control: str) -> None:
    if feature_hierarchy is None:
        return
    if not isinstance(feature_hierarchy, Hierarchy):
        raise TypeError(
            "The 'feature_hierarchy' parameter of discoveries must be a Hierarchy over the names of features. Got "
            f"{type(feature_hierarchy).__name__} instead."
        )
    if given != "others" or control != "joint":
        raise ValueError(
            "feature_hierarchy asks what branches of features tell beyond the features outside of them, at one error "
            f"rate: it needs given='others' and control='joint'. Got {given!r} and {control!r}."
        )


def _nominal(forest: Any, X: Any) -> Any:
    """Which features the forest takes for nominal."""
    return forest.categorical_features if X is not None else None


def _refuse_few(n_rows: int) -> None:
    if n_rows < _FEWEST_ROWS:
        raise Untestable(
            f"discoveries needs at least {_FEWEST_ROWS} rows to keep its error rate. Got {n_rows}; a ranking "
            "(ForestRanker, ReliefRanker) makes no such promise and takes fewer."
        )
