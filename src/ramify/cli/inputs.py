"""Data as the commands read it: files by name, targets by column, hierarchies from files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.datasets import Dataset
    from ramify.hierarchy import Hierarchy

Path = str | PathLike[str]


def read_data(
    files: Sequence[Path],
    target: Sequence[str] = (),
    hierarchy: Path | None = None,
    feature_hierarchy: Path | None = None,
) -> Dataset:
    """Read the files of a command line.

    Parameters
    ----------
    files : sequence of paths
        One data set: a file, or its parts.
    target : sequence of str
        Columns of the target; one that ends with `*` stands for all columns that start so.
    hierarchy : path, optional
        Order of the labels, OBO or edges. Labels that the data do not have are left out, unless they lie above one.
    feature_hierarchy : path, optional
        Order of the features, OBO or edges.
    """
    from ramify.datasets import read

    data = read(list(files), **_target(files, target))
    if hierarchy is not None:
        if data.target not in ("labels", "hierarchy"):
            raise ValueError("--hierarchy orders labels, but the data has no label sets; name them with --target.")
        data = _with_labels_ordered(data, read_hierarchy(hierarchy))
    if feature_hierarchy is not None:
        known = read_hierarchy(feature_hierarchy)
        names = [name for name in dict.fromkeys(data.feature_names) if name in known]
        if not names:
            raise ValueError(f"No feature is named in {feature_hierarchy}; its terms must be the names of features.")
        data = replace(data, feature_hierarchy=known.subset(names))
    return data


def _target(files: Sequence[Path], target: Sequence[str]) -> dict[str, Any]:
    from ramify.datasets import read
    from ramify.datasets.files import plain_name

    if not target:
        return {}
    is_arff = any(plain_name(path).lower().endswith("arff") for path in files)
    if len(target) == 1 and target[0].endswith("*") and not is_arff:
        return {"target_prefix": target[0][:-1]}
    if not any(name.endswith("*") for name in target):
        return {"target": target[0] if len(target) == 1 else list(target)}
    columns = read(list(files), target=[]).feature_names
    chosen: dict[str, None] = {}
    for name in target:
        found = [column for column in columns if column.startswith(name[:-1])] if name.endswith("*") else [name]
        if not found:
            raise ValueError(f"No column starts with {name[:-1]!r}; the last one is {columns[-1]!r}.")
        chosen.update(dict.fromkeys(found))
    return {"target": list(chosen)}


def read_hierarchy(path: Path) -> Hierarchy:
    """A hierarchy from an OBO file or a file of edges."""
    from ramify.datasets import read_edges, read_obo

    hierarchy: Hierarchy = read_obo(path) if _is_obo(path) else read_edges(path)
    return hierarchy


def term_titles(*paths: Path | None) -> dict[str, str]:
    """What the terms of OBO files are called, for people who do not know their ids."""
    from ramify.datasets.ontology import read_ontology

    titles: dict[str, str] = {}
    for path in paths:
        if path is not None and _is_obo(path):
            terms = read_ontology(path).terms
            titles.update({name: term.name for name, term in terms.items() if term.name})
    return titles


def _is_obo(path: Path) -> bool:
    from ramify.datasets.files import plain_name

    return plain_name(path).lower().endswith(".obo")


def _with_labels_ordered(data: Dataset, order: Hierarchy) -> Dataset:
    """The data's labels and all that lie above them, closed."""
    from scipy import sparse

    unknown = [name for name in data.label_names if name not in order]
    if unknown:
        raise ValueError(
            f"{len(unknown)} labels of the data are not in the hierarchy, the first is {unknown[0]!r}. "
            "Use the hierarchy's own names, or its edition of the data's date."
        )
    wanted = {above for name in data.label_names for above in (name, *order.ancestors(name))}
    kept = order.subset([name for name in order.names if name in wanted])
    cells = sparse.coo_array(data.y)
    columns = [kept.index(data.label_names[j]) for j in cells.coords[1].tolist()]
    y = sparse.csr_array((cells.data, (cells.coords[0], columns)), shape=(data.n_samples, len(kept)))
    return replace(data, y=kept.close(y), target="hierarchy", label_names=kept.names, hierarchy=kept)
