"""Data sets whose labels or features get their order from a hierarchy in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.ontology import read_obo, read_ontology, term_hierarchy
from ramify.datasets.readers.raw_files import PathLike, advice_for_name, plain_name
from ramify.datasets.term_names import known_spelling, meant_terms
from ramify.hierarchy import Hierarchy
from ramify.targets.closure import closed_cells


def read_hierarchy(file: PathLike, **options: Any) -> Hierarchy:
    r"""Read a hierarchy with the reader that its file name calls for.

    Parameters
    ----------
    file : path
        `.obo` is an ontology, anything else holds edges.
    **options
        Of an ontology `relations=("is_a",)`, `namespace=None`, `names=None` (the terms to keep, in this
        order) and `obsolete="drop"`; of edges `layout="auto"`, `relations`, `names`, `repeated="merge"` and
        `separator=None`; of both `on_cycle="raise"`.

    Returns
    -------
    Hierarchy
        The hierarchy.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ramify.datasets import read_hierarchy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "terms.txt"
    ...     _ = file.write_text("parent,child\nanimal,cat\nanimal,dog\n")
    ...     read_hierarchy(file).names
    ('animal', 'cat', 'dog')
    """
    reader: Callable[..., Hierarchy] = read_obo if is_ontology(file) else read_edges
    if unknown := [name for name in options if name not in signature(reader).parameters]:
        known = ", ".join(name for name in signature(reader).parameters if name != "file")
        raise ValueError(f"This kind of hierarchy takes no {unknown[0]!r}. It takes {known}.")
    return reader(file, **options)


def is_ontology(file: PathLike) -> bool:
    """Whether a file's name says that it holds an OBO ontology."""
    return plain_name(file).lower().endswith(".obo")


def with_labels_ordered(data: Dataset, hierarchy: Hierarchy | Terms | PathLike) -> Dataset:
    """The data's labels and all that lie above them in the hierarchy, closed.

    Labels that are written otherwise in the hierarchy get its names. Where it lacks some and the data has a hierarchy
    of its own, that one is kept, and the other only says what the labels are called.
    """
    if data.target_type.has_one_label and data.y is not None:  # a class is a set of one label, until it is closed
        y = sparse.csr_array((np.ones(data.n_samples, dtype=np.int8), data.y, np.arange(data.n_samples + 1)),
                             shape=(data.n_samples, data.n_labels))  # fmt: skip
        data = replace(data, y=y, target="labels")
    if not data.target_type.has_sets:
        raise ValueError("A hierarchy orders labels, but the data has no label sets; name them as the target.")
    terms = terms_of(hierarchy)
    meant = meant_terms(data.label_names, terms.order.names, terms.titles, terms.current)
    unknown = [name for name in data.label_names if name not in meant]
    notes = (*data.notes, *_spelling_notes(meant, terms))
    if unknown and data.hierarchy is not None and len(meant) > 0:
        notes += (
            f"{len(unknown)} of {data.n_labels} labels are not in {terms.source} ({_listed(unknown)}): the data's own "
            "hierarchy is kept, and names are taken from there.",
        )
        obsolete = meant_terms(unknown, list(terms.titles), {})  # they have no place in the hierarchy, but a name
        return replace(data, titles={**data.titles, **_titles({**obsolete, **meant}, terms)}, notes=notes)
    if unknown:
        raise ValueError(
            f"{len(unknown)} of {data.n_labels} labels of the data are not in {terms.source}, the first is "
            f"{unknown[0]!r}. {advice_for_name(unknown[0], terms.order.names)} "
            "Use the hierarchy's own names, or its edition of the data's date."
        )
    order = terms.order
    kept = order.subset(order.decode(order.encode([meant.values()]))[0])
    cells = sparse.coo_array(data.y)
    column_of = np.array([kept.index(meant[name]) for name in data.label_names], dtype=np.int64)
    columns = column_of[cells.coords[1]]
    y = sparse.csr_array((cells.data, (cells.coords[0], columns)), shape=(data.n_samples, len(kept)))
    y.data = np.minimum(y.data, 1)  # a row may have two labels that are one term
    closed = closed_cells(y, kept, np.setdiff1d(np.arange(len(kept)), column_of))
    titles = {**data.titles, **{name: terms.titles[name] for name in kept.names if name in terms.titles}}
    return replace(
        data, y=closed, target="hierarchy", label_names=kept.names, hierarchy=kept, titles=titles, notes=notes
    )


def with_features_ordered(data: Dataset, hierarchy: Hierarchy | PathLike, *, ancestors: bool = False) -> Dataset:
    """The data with the hierarchy of those features that it names, under the features' own names.

    With `ancestors` it also holds all terms above them.
    """
    terms = terms_of(hierarchy)
    meant = meant_terms(dict.fromkeys(data.feature_names), terms.order.names, terms.titles, terms.current)
    names = {term: name for name, term in reversed(meant.items())}  # the first of several features that are one term
    if not names:
        raise ValueError(f"No feature is named in {terms.source}; its terms must be the names of features.")
    wanted = [term for name, term in meant.items() if names[term] == name]
    kept = terms.order.subset(terms.order.decode(terms.order.encode([wanted]))[0] if ancestors else wanted)
    own = Hierarchy([names.get(term, term) for term in kept.names], kept.edges, w0=kept.w0, aggregate=kept.aggregate)
    titles = {**data.titles, **_titles({name: term for term, name in names.items()}, terms)}
    notes = (*data.notes, *_spelling_notes(meant, terms, "feature"))
    return replace(data, feature_hierarchy=own, titles=titles, notes=notes)


def with_features_named(data: Dataset, hierarchy: PathLike) -> tuple[Dataset, Hierarchy]:
    """The data with its features named as the terms of a hierarchy that they mean, and the whole hierarchy."""
    terms = terms_of(hierarchy)
    meant = meant_terms(dict.fromkeys(data.feature_names), terms.order.names, terms.titles, terms.current)
    names = tuple(meant.get(name, name) for name in data.feature_names)
    notes = (*data.notes, *_spelling_notes(meant, terms, "feature"))
    titles = {**data.titles, **{name: terms.titles[name] for name in names if name in terms.titles}}
    return replace(data, feature_names=names, titles=titles, notes=notes), terms.order


def term_titles(names: Iterable[str], hierarchy: PathLike | None) -> dict[str, str]:
    """What the terms that names mean are called, by these names; nothing where the file is no ontology."""
    if hierarchy is None or not is_ontology(hierarchy):
        return {}
    terms = terms_of(hierarchy)
    return _titles(meant_terms(names, terms.order.names, terms.titles, terms.current), terms)


class Terms(NamedTuple):
    """A hierarchy, what its terms are called, which are in use, and where it is from."""

    order: Hierarchy
    titles: dict[str, str]
    current: Callable[[str], str | None]
    source: str


def terms_of(hierarchy: Hierarchy | Terms | PathLike) -> Terms:
    """A hierarchy, or what its file says of it."""
    if isinstance(hierarchy, Terms):
        return hierarchy
    if isinstance(hierarchy, Hierarchy):
        return Terms(hierarchy, {}, lambda _: None, "the hierarchy")
    source = Path(hierarchy).name
    if not is_ontology(hierarchy):
        return Terms(read_edges(hierarchy), {}, lambda _: None, source)
    ontology = read_ontology(hierarchy)
    titles = {name: term.name for name, term in ontology.terms.items() if term.name}
    return Terms(term_hierarchy(ontology, relations=("is_a",)), titles, ontology.current_id, source)


def _titles(meant: Mapping[str, str], terms: Terms) -> dict[str, str]:
    return {name: terms.titles[term] for name, term in meant.items() if term in terms.titles}


def _spelling_notes(meant: Mapping[str, str], terms: Terms, noun: str = "label") -> list[str]:
    """A sentence for each way in which names were matched that are not the terms' own."""
    ways: dict[str, list[tuple[str, str]]] = {"spelled": [], "called": [], "older": []}
    for name, term in meant.items():
        if name != term:
            same = known_spelling(name) is not None and known_spelling(name) == known_spelling(term)
            is_title = terms.titles.get(term, "").casefold() == name.strip().casefold()
            ways["spelled" if same else "called" if is_title else "older"].append((name, term))
    words = {"spelled": "in another spelling", "called": "by name", "older": "by an older identifier"}
    return [
        f"{len(found)} {noun}{'' if len(found) == 1 else 's'} matched with {terms.source} {words[way]}: "
        f"{found[0][0]} is {found[0][1]}."
        for way, found in ways.items()
        if found
    ]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
