"""Reader of GAF 2 annotation files: genes x terms, closed under an ontology."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import Literal

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.ontology import Ontology, read_ontology, term_hierarchy
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, read_text, sha256_of, shown
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option

ASPECTS = {"P": "biological_process", "F": "molecular_function", "C": "cellular_component"}
"""Letters of GAF files and the namespaces of the Gene Ontology that they mean."""
_COLUMNS = {"id": 1, "symbol": 2}
_QUALIFIER, _TERM, _EVIDENCE, _ASPECT = 3, 4, 6, 8


def read_gaf(
    file: PathLike,
    *,
    ontology: PathLike | None = None,
    relations: Collection[str] = ("is_a",),
    aspect: Literal["P", "F", "C"] | None = None,
    evidence: Collection[str] | None = None,
    genes: Literal["id", "symbol"] = "id",
    unknown: Literal["raise", "drop"] = "raise",
) -> Dataset:
    r"""Read gene annotations as binary features, one per term.

    Parameters
    ----------
    file : path
        A GAF 2.0, 2.1 or 2.2 file, plain or compressed.
    ontology : path, optional
        OBO file. With it annotations are closed under ancestors, alternative ids and replaced terms are resolved, and
        `feature_hierarchy` is set.
    relations : collection of str, default=("is_a",)
        Relations of the ontology that make a parent.
    aspect : {"P", "F", "C"}, optional
        Only biological processes, molecular functions or cellular components.
    evidence : collection of str, optional
        Only annotations with these evidence codes, e.g. ("EXP", "IDA", "IMP"). By default all.
    genes : {"id", "symbol"}, default="id"
        Which column names a gene.
    unknown : {"raise", "drop"}, default="raise"
        What to do with an annotation whose term is not in the ontology or obsolete without one replacement.

    Returns
    -------
    Dataset
        `X` is CSC with values 0 and 1, `ids` the genes, no target. Annotations with the qualifier NOT are left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.gaf import read_gaf
    >>> file = Path(mkdtemp()) / "small.gaf"
    >>> row = "DB\tgene1\tG1\t\tGO:1\tPMID:1\tIDA\t\tP\t\t\tprotein\ttaxon:1\t20200101\tDB\t\t\n"
    >>> _ = file.write_text("!gaf-version: 2.2\n" + row)
    >>> data = read_gaf(file)
    >>> data.feature_names, data.ids.tolist()
    (('GO:1',), ['gene1'])
    """
    check_option("read_gaf", "aspect", aspect, (None, *ASPECTS))
    check_option("read_gaf", "genes", genes, tuple(_COLUMNS))
    check_option("read_gaf", "unknown", unknown, ("raise", "drop"))
    path = file_paths(file)[0]
    terms_of: dict[str, dict[str, int]] = {}
    for line, cells in gaf_lines(path):
        if (aspect is None or cells[_ASPECT] == aspect) and (evidence is None or cells[_EVIDENCE] in evidence):
            terms = terms_of.setdefault(cells[_COLUMNS[genes]], {})
            if "NOT" not in cells[_QUALIFIER].split("|"):
                terms.setdefault(cells[_TERM], line)
    if not terms_of:
        raise FileError(path, "no annotation is left", line=1, advice="Check `aspect` and `evidence`.")
    sources = [path]
    hierarchy = None
    if ontology is not None:
        known = read_ontology(ontology)
        sources.append(known.path)
        terms_of = _resolved(path, terms_of, known, unknown)
        hierarchy = term_hierarchy(
            known, relations=relations, namespace=None if aspect is None else ASPECTS[aspect], dangling="drop"
        )
    X, names, hierarchy = _matrix(path, terms_of, hierarchy)
    return Dataset(
        X=X,
        feature_names=names,
        categories=(("0", "1"),) * len(names),
        feature_hierarchy=hierarchy,
        ids=np.array(list(terms_of), dtype=object),
        source=", ".join(map(str, sources)),
        sha256=sha256_of(sources),
    )


def gaf_lines(path: PathLike) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each annotation of a GAF 2 file."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        line = line.rstrip("\r")
        if line.startswith("!gaf-version:"):
            version = line.partition(":")[2].strip()
            if not version.startswith("2"):
                raise FileError(path, f"this is GAF version {shown(version)}", line=number, advice="Convert it to 2.2.")
        if not line.strip() or line.startswith("!"):
            continue
        cells = line.split("\t")
        if not 15 <= len(cells) <= 17:
            raise FileError(
                path,
                f"the line has {len(cells)} columns and a GAF 2 line has 15 to 17",
                line=number,
                advice="Columns are separated by single tabs.",
            )
        for position, name in ((1, "object id"), (2, "symbol"), (_TERM, "term"), (_EVIDENCE, "evidence code")):
            if not cells[position].strip():
                raise FileError(
                    path,
                    f"the {name} is empty",
                    line=number,
                    column=len("\t".join(cells[:position])) + 2,
                    advice="Fill it in or remove the line.",
                )
        if cells[_ASPECT] not in ASPECTS:
            raise FileError(
                path,
                f"{shown(cells[_ASPECT])} is no aspect",
                line=number,
                column=len("\t".join(cells[:_ASPECT])) + 2,
                advice="It must be P, F or C.",
            )
        yield number, cells


def _resolved(
    path: PathLike, terms_of: dict[str, dict[str, int]], ontology: Ontology, unknown: str
) -> dict[str, dict[str, int]]:
    """Annotations by the ids in use."""
    resolved: dict[str, dict[str, int]] = {}
    n_dropped = 0
    for gene, terms in terms_of.items():
        resolved[gene] = {}
        for name, line in terms.items():
            found = ontology.current_id(name)
            if found is not None:
                resolved[gene].setdefault(found, line)
            elif unknown == "raise":
                raise FileError(
                    path,
                    f"the term {shown(name)} is not in use in {ontology.path}",
                    line=line,
                    advice="Use the ontology of the annotations' own date, or pass unknown='drop'.",
                )
            else:
                n_dropped += 1
    if n_dropped:
        warnings.warn(
            f"{path}: {n_dropped} annotations of terms that are not in use were dropped.", UserWarning, stacklevel=3
        )
    return resolved


def _matrix(
    path: PathLike, terms_of: dict[str, dict[str, int]], hierarchy: Hierarchy | None
) -> tuple[sparse.csc_array, tuple[str, ...], Hierarchy | None]:
    """Genes x terms; with a hierarchy closed and cut to the terms that occur."""
    if hierarchy is None:
        names = tuple(sorted({term for terms in terms_of.values() for term in terms}))
    else:
        names = hierarchy.names
    position = {name: k for k, name in enumerate(names)}
    indices, indptr = [], [0]
    for terms in terms_of.values():
        for name, line in terms.items():
            if name not in position:
                raise FileError(
                    path,
                    f"the term {shown(name)} is of another aspect in the ontology",
                    line=line,
                    advice="Use the ontology of the annotations' own date.",
                )
            indices.append(position[name])
        indptr.append(len(indices))
    X = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(terms_of), len(names)))
    X.sum_duplicates()
    if hierarchy is None:
        return sparse.csc_array(X), names, None
    closed = sparse.csc_array(hierarchy.close(X)).astype(float)
    occurring = np.flatnonzero(np.diff(closed.indptr))
    kept = tuple(names[k] for k in occurring.tolist())
    return closed[:, occurring], kept, hierarchy.subset(kept)
