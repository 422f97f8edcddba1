"""Reader of Mulan data sets: ARFF rows and an XML list or tree of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from xml.parsers import expat

from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.arff_header import read_header
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, plain_name, read_pieces, sha256_of, shown
from ramify.hierarchy import Hierarchy
from ramify.targets.closure import closed_cells

_NAMESPACE = "http://mulan.sourceforge.net/labels"
_DEEPEST = 1000


def read_mulan(
    files: PathLike | Sequence[PathLike],
    *,
    labels: PathLike | None = None,
    identifier: str | int | None = "auto",
    ignore: str | int | Sequence[str | int] = (),
    positive: str | None = None,
    index_base: Literal[0, 1] | None = 0,
    storage: Literal["auto", "dense", "sparse"] = "auto",
    encoding: str = "utf-8",
) -> Dataset:
    r"""Read a Mulan data set: ARFF files whose label columns an XML file names.

    Parameters
    ----------
    files : path or sequence of paths
        The ARFF file, or the train and test files of one set. The XML file may stand among them.
    labels : path, optional
        The XML file. By default the one among `files`, else the one beside the first ARFF file that has its name, up
        to endings such as `-train`.
    identifier, ignore, positive, storage, encoding
        As of `read_arff`.
    index_base : {0, 1}, default=0
        Number of the first column in sparse rows. Mulan counts from 0.

    Returns
    -------
    Dataset
        Labels are found by name and stand in the order of the ARFF columns. Nested labels in the XML give a hierarchy;
        then columns follow `hierarchy.names` and rows are closed under ancestors.

    References
    ----------
    G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek, I. Vlahavas. Mulan: a Java library for multi-label learning.
    Journal of Machine Learning Research 12, 2411-2414, 2011.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.mulan import read_mulan
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "songs.arff").write_text("@relation songs\n@attribute beat numeric\n@attribute calm {0,1}\n"
    ...     "@attribute happy {0,1}\n@data\n{0 2.5,2 1}\n{1 1}\n")
    >>> _ = (folder / "songs.xml").write_text('<labels xmlns="http://mulan.sourceforge.net/labels">'
    ...     '<label name="happy"/><label name="calm"/></labels>')
    >>> data = read_mulan(folder / "songs.arff")
    >>> data.label_names, data.y.toarray().tolist()
    (('calm', 'happy'), [[0, 1], [1, 0]])
    """
    paths = file_paths(files)
    given_xml = [path for path in paths if plain_name(path).lower().endswith(".xml")]
    arff_paths = [path for path in paths if path not in given_xml]
    if not arff_paths or len(given_xml) > 1 or (given_xml and labels is not None):
        raise ValueError("Give at least one ARFF file and exactly one XML file of labels.")
    if labels is not None:
        xml_path = file_paths(labels)[0]
    else:
        found = given_xml[0] if given_xml else label_file_of(arff_paths[0])
        if found is None:
            raise FileError(
                arff_paths[0], "there is no XML file of labels beside it", advice="Name it with labels=...."
            )
        xml_path = found
    tree = read_label_xml(xml_path)
    data = read_arff(
        arff_paths,
        target=_label_columns(xml_path, tree, arff_paths[0], encoding),
        identifier=identifier,
        ignore=ignore,
        positive=positive,
        index_base=index_base,
        storage=storage,
        encoding=encoding,
        as_labels=True,
    )
    sources = [*arff_paths, xml_path]
    data = replace(data, source=", ".join(map(str, sources)), sha256=sha256_of(sources))
    return _with_hierarchy(data, tree) if tree.edges else data


@dataclass
class LabelTree:
    """Labels of an XML file in document order, the line of each, and (parent, child) edges where they are nested."""

    lines: dict[str, int] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)


def label_file_of(path: PathLike) -> Path | None:
    """The XML file beside an ARFF file that has its name, up to endings such as `-train` or `-test-sparse`."""
    path = Path(path)
    stem = plain_name(path).rsplit(".", 1)[0]
    while stem:
        for suffix in (".xml", ".xml.gz", ".xml.bz2", ".xml.xz", ".xml.zip"):
            beside = path.with_name(stem + suffix)
            if beside.is_file():
                return beside
        cut = max(stem.rfind("-"), stem.rfind("_"), stem.rfind("."))
        stem = stem[:cut] if cut > 0 else ""
    return None


def read_label_xml(path: PathLike) -> LabelTree:
    """Labels of a Mulan XML file. Document type declarations are refused, so no entity can expand."""
    tree = LabelTree()
    open_labels: list[str] = []
    depth = 0
    parser = expat.ParserCreate(namespace_separator=" ")

    def refuse(fault: str, advice: str) -> None:
        raise FileError(
            path, fault, line=parser.CurrentLineNumber, column=parser.CurrentColumnNumber + 1, advice=advice
        )

    def doctype(*_: object) -> None:
        refuse("the XML has a document type declaration", "Remove <!DOCTYPE ...>; a list of labels needs none.")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        name = tag.removeprefix(_NAMESPACE + " ")
        depth += 1
        if depth == 1 and name == "labels":
            return
        if depth == 1 or name != "label":
            refuse(f"<{shown(name)[1:-1]}> is not expected here", "Write <labels> with <label name='...'> inside.")
        if depth > _DEEPEST:
            refuse(f"labels are nested deeper than {_DEEPEST}", "Is this a list of labels?")
        label = attributes.get("name", "")
        if not label:
            refuse("the label has no name", "Write <label name='...'>.")
        if label in tree.lines:
            refuse(f"the label {shown(label)} stands twice", "List every label once.")
        tree.lines[label] = parser.CurrentLineNumber
        if open_labels:
            tree.edges.append((open_labels[-1], label))
        open_labels.append(label)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1
        if open_labels:
            open_labels.pop()

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        for piece in read_pieces(path):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise FileError(
            path,
            f"this is not well-formed XML: {expat.ErrorString(error.code)}",
            line=error.lineno,
            column=error.offset + 1,
            advice="Correct the file, or name the right one with labels=....",
        ) from None
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"the XML cannot be decoded: {error}", line=1, advice="Convert it to UTF-8.") from None
    if not tree.lines:
        raise FileError(path, "the XML names no label", line=1, advice="Write <labels> with <label name='...'> inside.")
    return tree


def _label_columns(xml_path: Path, tree: LabelTree, arff_path: Path, encoding: str) -> list[int]:
    """Positions of the ARFF columns that the XML names, in the order of the columns."""
    header, _ = read_header(arff_path, encoding)
    column_of = {attribute.name: position for position, attribute in enumerate(header.attributes)}
    for label, line in tree.lines.items():
        if label not in column_of:
            raise FileError(
                xml_path,
                f"the label {shown(label)} is no attribute of {arff_path}",
                line=line,
                advice="The XML and the ARFF file must belong together.",
            )
    return sorted(column_of[label] for label in tree.lines)


def _with_hierarchy(data: Dataset, tree: LabelTree) -> Dataset:
    hierarchy = Hierarchy.from_edges(tree.edges, nodes=tree.lines)
    column_of = {name: column for column, name in enumerate(data.label_names)}
    order = [column_of[name] for name in hierarchy.names]
    given = sparse.csr_array(sparse.csc_array(data.y)[:, order])
    Y = closed_cells(given, hierarchy)
    return replace(data, y=Y, target="hierarchy", label_names=hierarchy.names, hierarchy=hierarchy)
