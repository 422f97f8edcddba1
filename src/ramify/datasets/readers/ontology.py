"""Reader of OBO ontologies: terms, their parents, obsolete terms and alternative ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, read_text, shown
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option

_Value = TypeVar("_Value")
_TAGS = frozenset({"id", "is_a", "relationship", "alt_id", "replaced_by", "is_obsolete", "name", "namespace"})


@dataclass(slots=True)
class Term:
    """A stanza [Term]: `parents` are (relation, id, line). What most terms lack is no list of its own."""

    id: str
    line: int
    parents: list[tuple[str, str, int]] | tuple[()] = ()
    alternative_ids: list[str] | tuple[()] = ()
    replaced_by: list[str] | tuple[()] = ()
    name: str = ""
    namespace: str = ""
    is_obsolete: bool = False


@dataclass(frozen=True)
class Ontology:
    """Terms of an OBO file by id."""

    path: Path
    terms: dict[str, Term]

    def current_id(self, name: str) -> str | None:
        """Id of the term in use that a name means: itself, the owner of an alternative id, or the only replacement."""
        term = self.terms.get(name) or self._by_alternative.get(name)
        for _ in range(len(self.terms)):
            if term is None or not term.is_obsolete:
                break
            term = self.terms.get(term.replaced_by[0]) if len(term.replaced_by) == 1 else None
        return None if term is None or term.is_obsolete else term.id

    @cached_property
    def _by_alternative(self) -> dict[str, Term]:
        return {name: term for term in self.terms.values() for name in term.alternative_ids}


def read_obo(
    file: PathLike,
    *,
    relations: Collection[str] = ("is_a",),
    namespace: str | None = None,
    names: Iterable[str] | None = None,
    obsolete: Literal["drop", "keep"] = "drop",
    dangling: Literal["raise", "drop"] = "raise",
    on_cycle: Literal["raise", "drop"] = "raise",
) -> Hierarchy:
    r"""Read the hierarchy of an OBO ontology.

    Parameters
    ----------
    file : path
        An OBO 1.2 or 1.4 file, plain or compressed.
    relations : collection of str, default=("is_a",)
        Which relations make a parent: `is_a`, and any of the ontology's relationships such as `part_of`.
    namespace : str, optional
        Keep only the terms of this namespace, e.g. `biological_process`.
    names : iterable of str, optional
        Keep only these terms, under these names and in this order, with an edge wherever one is a parent of another.
        A name may be an alternative id, or the id of an obsolete term that one other replaces.
    obsolete : {"drop", "keep"}, default="drop"
        Whether obsolete terms are nodes.
    dangling : {"raise", "drop"}, default="raise"
        What to do with a parent that is not in the file.
    on_cycle : {"raise", "drop"}, default="raise"
        Refuse cycles and print one, or drop the edges that close cycles with a warning that counts them.

    Returns
    -------
    Hierarchy
        Nodes are named by id.

    References
    ----------
    M. Ashburner and others. Gene Ontology: tool for the unification of biology. Nature Genetics 25, 25-29, 2000.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.ontology import read_obo
    >>> file = Path(mkdtemp()) / "small.obo"
    >>> _ = file.write_text("[Term]\nid: X:1\n\n[Term]\nid: X:2\nis_a: X:1 ! top\nrelationship: part_of X:1\n")
    >>> read_obo(file)
    Hierarchy(2 nodes, 1 edges, tree, depth 2)
    """
    check_option("read_obo", "obsolete", obsolete, ("drop", "keep"))
    check_option("read_obo", "dangling", dangling, ("raise", "drop"))
    check_option("read_obo", "on_cycle", on_cycle, ("raise", "drop"))
    return term_hierarchy(
        read_ontology(file),
        relations=relations,
        namespace=namespace,
        names=names,
        obsolete=obsolete,
        dangling=dangling,
        on_cycle=on_cycle,
    )


def term_hierarchy(
    ontology: Ontology,
    *,
    relations: Collection[str],
    namespace: str | None = None,
    names: Iterable[str] | None = None,
    obsolete: Literal["drop", "keep"] = "drop",
    dangling: Literal["raise", "drop"] = "raise",
    on_cycle: Literal["raise", "drop"] = "raise",
) -> Hierarchy:
    """The hierarchy of an ontology that was read; parameters are those of `read_obo`."""
    kept = {
        term.id: term
        for term in ontology.terms.values()
        if (obsolete == "keep" or not term.is_obsolete) and (namespace is None or term.namespace == namespace)
    }
    if namespace is not None and not kept:
        raise FileError(ontology.path, f"no term is of the namespace {shown(namespace)}", advice="Check its spelling.")
    edges = _edges(ontology, kept, frozenset(relations), dangling)
    try:
        if names is None:
            return Hierarchy.from_edges(edges, nodes=kept, on_cycle=on_cycle)
        by_id = _ids_of(ontology, kept, names)
        between = [(by_id[a], by_id[b]) for a, b in edges if a in by_id and b in by_id]
        return Hierarchy.from_edges(between, nodes=by_id.values(), on_cycle=on_cycle)
    except FileError:
        raise
    except ValueError as error:
        fault, _, advice = str(error).partition(". ")
        raise FileError(ontology.path, fault, advice=advice) from None


def read_ontology(file: PathLike) -> Ontology:
    """All terms of an OBO file, obsolete ones included."""
    path = file_paths(file)[0]
    terms: dict[str, Term] = {}
    term: Term | None = None
    stanza, stanza_line = "", 0
    has_header = False
    for number, raw in enumerate(read_text(path).split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] == "!":
            continue
        if line[0] == "[":
            if not line.endswith("]"):
                raise FileError(path, f"{shown(line)} is no stanza", line=number, column=1, advice="Write [Term].")
            _check_named(path, stanza, stanza_line, term)
            stanza, stanza_line, term = line[1:-1], number, None
            continue
        tag, colon, value = line.partition(":")
        if not colon:
            raise FileError(path, f"{shown(line)} has no tag", line=number, column=1, advice="Write tag: value.")
        has_header = has_header or not stanza
        if stanza != "Term" or tag not in _TAGS:
            continue
        value = _value(value)
        if tag == "id":
            if term is not None or not value or value in terms:
                fault = "the id is empty" if not value else f"the id {shown(value)} is given twice"
                raise FileError(path, fault, line=number, column=1, advice="Give every term one id of its own.")
            term = terms[value] = Term(value, stanza_line)
        elif term is None:
            fault = f"the tag {shown(tag)} stands before the term's id"
            raise FileError(path, fault, line=number, column=1, advice="Put id: first.")
        else:
            _add_tag(path, term, tag, value, number)
    _check_named(path, stanza, stanza_line, term)
    if not terms:
        raise FileError(
            path, "there is no [Term]" if has_header else "this is no OBO file", line=1, advice="Name an OBO file."
        )
    return Ontology(path, terms)


def _check_named(path: PathLike, stanza: str, line: int, term: Term | None) -> None:
    if stanza == "Term" and term is None:
        raise FileError(path, "the term has no id", line=line, column=1, advice="Add id: ... to the stanza.")


def _value(text: str) -> str:
    """A tag's value without trailing modifiers {...} and comments ! ...; quoted values are left as they are."""
    value = text.strip()
    if value[:1] == '"':
        return value
    if " !" in value:
        value = value.partition(" !")[0].rstrip()
    if value[-1:] == "}" and " {" in value:
        value = value[: value.rindex(" {")].rstrip()
    return value


def _add_tag(path: PathLike, term: Term, tag: str, value: str, line: int) -> None:
    if tag in {"is_a", "relationship"}:
        words = value.split()
        if tag == "is_a":
            words = ["is_a", *words]
        if len(words) != 2:
            raise FileError(
                path,
                f"{shown(tag + ': ' + value)} names no parent",
                line=line,
                column=1,
                advice="Write is_a: ID or relationship: RELATION ID.",
            )
        term.parents = _with(term.parents, (words[0], words[1], line))
    elif tag == "alt_id":
        term.alternative_ids = _with(term.alternative_ids, value)
    elif tag == "replaced_by":
        term.replaced_by = _with(term.replaced_by, value)
    elif tag == "name":
        term.name = value
    elif tag == "namespace":
        term.namespace = value
    elif tag == "is_obsolete":
        term.is_obsolete = value == "true"


def _with(values: list[_Value] | tuple[()], value: _Value) -> list[_Value]:
    if not isinstance(values, list):
        return [value]
    values.append(value)
    return values


def _edges(
    ontology: Ontology, kept: dict[str, Term], relations: frozenset[str], dangling: str
) -> list[tuple[str, str]]:
    edges = []
    for term in kept.values():
        for relation, parent, line in term.parents:
            if relation not in relations:
                continue
            known = ontology.terms.get(parent)
            if known is None and dangling == "raise":
                raise FileError(
                    ontology.path,
                    f"the parent {shown(parent)} of {shown(term.id)} is not in the file",
                    line=line,
                    column=1,
                    advice="Add the term, or pass dangling='drop' to leave such parents out.",
                )
            if known is not None and parent in kept:
                edges.append((parent, term.id))
    return edges


def _ids_of(ontology: Ontology, kept: dict[str, Term], names: Iterable[str]) -> dict[str, str]:
    """The caller's name of each term that the caller names."""
    by_id: dict[str, str] = {}
    for name in names:
        found = name if name in kept else ontology.current_id(name)
        if found is None or found not in kept:
            raise FileError(
                ontology.path, f"{shown(name)} is no term in use", advice="Use the ontology of the data's own date."
            )
        if found in by_id:
            raise FileError(
                ontology.path,
                f"{shown(name)} and {shown(by_id[found])} are the same term {found}",
                advice="Keep one of them.",
            )
        by_id[found] = name
    return by_id
