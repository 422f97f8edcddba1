"""The words in which a class declares what its fitted estimators hold; files are checked against the declaration.

A class says ``fitted_state = {"prior_": numbers("n_labels"), ...}``. Sizes are names: the first part that has one says
how large it is, all others must agree. What ties several parts together is said by a method `state_rules`, which yields
pairs of whether a rule holds and the rule in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

NOTED = "_read_after_fit"
"""Where an estimator notes its parameters at fit; files hold the parameters themselves."""

Size = str | int
Sizes = dict[str, int]


@dataclass(frozen=True)
class Part:
    """What one attribute may be.

    Attributes
    ----------
    words : str
        What it must be, after the words "must be".
    holds : callable
        Whether a value is that, given the sizes known so far.
    may_lack : bool
        Whether an estimator may be without it.
    """

    words: str
    holds: Callable[[Any, Sizes], bool]
    may_lack: bool = False


State = dict[str, Part]


def fitted_names(estimator: Any) -> list[str]:
    """Names of what fitting left on an estimator: they end in an underscore, or its class declares them.

    Examples
    --------
    >>> from ramify.ranking import ReliefRanker
    >>> from ramify.state import fitted_names
    >>> fitted_names(ReliefRanker())
    []
    """
    declared = getattr(type(estimator), "fitted_state", {})
    return [name for name in vars(estimator) if name in declared or (name.endswith("_") and not name.endswith("__"))]


@contextmanager
def fitting(estimator: Any, *, keeping: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Fit from a clean slate: what an earlier fit left is gone, and is back if this one fails or is interrupted.

    Parameters
    ----------
    estimator : estimator
        What is fitted.
    keeping : collection of str
        Attributes of the earlier fit to go on from.

    Yields
    ------
    dict
        What the estimator held before.
    """
    before = dict(vars(estimator))
    for name in fitted_names(estimator):
        if name not in keeping:
            delattr(estimator, name)
    try:
        yield before
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
    note_parameters(estimator)


def note_parameters(estimator: Any) -> None:
    """Note what the parameters that a class lists in `read_after_fit` are, so that a later change of them is told."""
    noted = {name: getattr(estimator, name, None) for name in getattr(type(estimator), "read_after_fit", ())}
    if noted:
        setattr(estimator, NOTED, noted)


def changed_parameter(estimator: Any) -> str | None:
    """The parameter that results depend on and that is no longer what it was at fit, in words; None where all are."""
    for name, at_fit in getattr(estimator, NOTED, {}).items():
        now: Any = getattr(estimator, name, None)
        if now is not at_fit and not (type(now) is type(at_fit) and np.array_equal(now, at_fit)):
            return f"{name} was {at_fit!r} at fit and is {now!r} now"
    return None


def refuse_changed(estimator: Any) -> None:
    """Refuse results of an estimator whose parameters no longer belong to what it learnt."""
    changed = changed_parameter(estimator)
    if changed is not None:
        raise ValueError(
            f"The parameters of this {type(estimator).__name__} were changed after fit: {changed}. "
            "Fit it again, or set the parameter back."
        )


def count(size: str | None = None, *, low: int = 1) -> Part:
    """A whole number, which may say how large a size is."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return type(value) is int and value >= low and (size is None or _agrees(sizes, size, value))

    return Part(f"a whole number of at least {low}" + (f", {size}" if size else ""), holds)


def number(*, low: float = -np.inf, high: float = np.inf, nan: bool = False) -> Part:
    """A number."""

    def holds(value: Any, _: Sizes) -> bool:
        plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return plain and _in_range(np.asarray(value, dtype=np.float64), low, high, nan)

    return Part("a number" + _range_words(low, high), holds)


def numbers(*shape: Size, low: float = -np.inf, high: float = np.inf, nan: bool = False) -> Part:
    """An array of numbers, finite unless NaN may be among them."""

    def holds(value: Any, sizes: Sizes) -> bool:
        right = isinstance(value, np.ndarray) and value.dtype.kind == "f" and _has_shape(sizes, value.shape, shape)
        return bool(right and _in_range(value, low, high, nan))

    return Part(f"numbers{_range_words(low, high)} of shape {_shape_words(shape)}", holds)


def integers(*shape: Size, low: int = 0, below: Size | None = None) -> Part:
    """An array of whole numbers, from `low` to below a size."""

    def holds(value: Any, sizes: Sizes) -> bool:
        right = isinstance(value, np.ndarray) and value.dtype.kind in "iu" and _has_shape(sizes, value.shape, shape)
        high = sizes.get(below, 0) if isinstance(below, str) else below
        return bool(right and (value >= low).all() and (high is None or (value < high).all()))

    limit = "" if below is None else f" below {below}"
    return Part(f"whole numbers{limit} of shape {_shape_words(shape)}", holds)


def flag() -> Part:
    """True or false."""
    return Part("true or false", lambda value, _: isinstance(value, bool))


def flags(*shape: Size) -> Part:
    """An array of true and false."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, np.ndarray) and value.dtype == bool and _has_shape(sizes, value.shape, shape)

    return Part(f"true and false of shape {_shape_words(shape)}", holds)


def matrix(*shape: Size, nan: bool = False) -> Part:
    """Finite numbers (or NaN, if allowed), dense or sparse."""

    def holds(value: Any, sizes: Sizes) -> bool:
        is_matrix = sparse.issparse(value) or isinstance(value, np.ndarray)
        if not is_matrix or value.dtype.kind not in "biuf" or not _has_shape(sizes, value.shape, shape):
            return False
        cells = value.data if sparse.issparse(value) else value
        return bool((np.isfinite(cells) | (nan & np.isnan(cells))).all())

    return Part(f"a matrix of numbers of shape {_shape_words(shape)}", holds)


def one_of(*values: Any) -> Part:
    """One of some values."""
    listed = ", ".join(map(repr, values))
    return Part(f"one of {listed}", lambda value, _: any(type(value) is type(v) and value == v for v in values))


def texts(size: Size | None = None) -> Part:
    """A tuple of texts."""

    def holds(value: Any, sizes: Sizes) -> bool:
        right = isinstance(value, tuple) and all(isinstance(text, str) for text in value)
        return right and (size is None or _agrees(sizes, size, len(value)))

    return Part(f"texts, {size} of them" if size is not None else "texts", holds)


def value_row(size: Size) -> Part:
    """A row of values of any kind, such as names or classes."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, np.ndarray) and _has_shape(sizes, value.shape, (size,))

    return Part(f"a row of {size} values", holds)


def categories(size: Size) -> Part:
    """Per feature None, or the values of a nominal one."""

    def known(entry: Any) -> bool:
        return entry is None or (isinstance(entry, np.ndarray) and entry.ndim == 1 and entry.dtype.kind in "OUf")

    def holds(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, list) and _agrees(sizes, size, len(value)) and all(known(entry) for entry in value)

    return Part(f"values of nominal features, {size} entries", holds)


def items(size: Size | None = None) -> Part:
    """A list."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, list) and (size is None or _agrees(sizes, size, len(value)))

    return Part("a list" + (f" of {size}" if size is not None else ""), holds)


def instance(*kinds: type) -> Part:
    """An object of a class."""
    named = " or ".join(kind.__name__ for kind in kinds)
    return Part(f"of type {named}", lambda value, _: isinstance(value, kinds))


def nothing_or(part: Part) -> Part:
    """None, or what another part says."""
    return Part(f"None or {part.words}", lambda value, sizes: value is None or part.holds(value, sizes), part.may_lack)


def perhaps(part: Part) -> Part:
    """What another part says, where an estimator has it at all."""
    return replace(part, may_lack=True)


def text_of_texts() -> Part:
    """A dict from text to text."""

    def holds(value: Any, _: Sizes) -> bool:
        return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)

    return Part("a text per name", holds)


def plain_values() -> Part:
    """A dict of plain values: texts, numbers, truth values, None, and lists and dicts of these."""

    def known(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return all(map(known, value))
        if isinstance(value, dict):
            return all(isinstance(name, str) and known(part) for name, part in value.items())
        return value is None or isinstance(value, (str, bool, int, float))

    return Part("plain values by name", lambda value, _: isinstance(value, dict) and known(value))


def text_values() -> Part:
    """Texts, None, tuples of texts and dicts from text to text, by name."""

    def known(value: Any) -> bool:
        texts = value if isinstance(value, tuple) else sum(value.items(), ()) if isinstance(value, dict) else (value,)
        return all(text is None or isinstance(text, str) for text in texts)

    def holds(value: Any, _: Sizes) -> bool:
        return isinstance(value, dict) and all(isinstance(name, str) and known(part) for name, part in value.items())

    return Part("texts by name", holds)


def _agrees(sizes: Sizes, size: Size, n: int) -> bool:
    return n == (sizes.setdefault(size, n) if isinstance(size, str) else size)


def _has_shape(sizes: Sizes, shape: tuple[int, ...], wanted: tuple[Size, ...]) -> bool:
    return len(shape) == len(wanted) and all(_agrees(sizes, size, n) for size, n in zip(wanted, shape, strict=True))


def _in_range(values: np.ndarray, low: float, high: float, nan: bool) -> bool:
    known = values[~np.isnan(values)] if nan else values
    return bool(np.isfinite(known).all() and (known >= low).all() and (known <= high).all())


def _shape_words(shape: tuple[Size, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _range_words(low: float, high: float) -> str:
    return "" if low == -np.inf and high == np.inf else f" from {low:g} to {high:g}"


N_SUMMARY = 12
"""What a model may keep of each column: eleven deciles, from the smallest value to the largest, and what is missing."""

FEATURES: State = {
    "n_features_in_": count("n_features"),
    "feature_names_in_": perhaps(value_row("n_features")),
    "inspection_": perhaps(plain_values()),
    "titles_": perhaps(text_of_texts()),
    "file_columns_": perhaps(instance(str)),
    "column_labels_": perhaps(texts("n_features")),
    "feature_summary_": perhaps(numbers("n_features", N_SUMMARY, nan=True)),
}
"""What every estimator knows of its features."""

ENCODED_FEATURES: State = {**FEATURES, "categories_": categories("n_features")}
"""What is known of features with nominal ones among them."""
