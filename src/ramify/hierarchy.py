"""Hierarchy: labels or features above and below each other, a tree or a DAG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ramify.parameters import check_option, check_real
from ramify.topology import adjacency, topological_order, without_cycles

Aggregate = Literal["mean", "sum", "min", "max"] | None
_AGGREGATES: dict[str, Any] = {"mean": np.mean, "sum": np.sum, "min": np.min, "max": np.max}


class Hierarchy:
    """An immutable tree or DAG over named nodes, with one weight and one depth per node.

    Use `from_paths`, `from_columns`, `from_edges`, or `from_dict`, or a reader of `ramify.datasets`.

    Parameters
    ----------
    names : sequence of str
        Unique node names; columns of label matrices follow this order.
    edges : array of shape (n_edges, 2)
        Rows (parent, child), as positions in `names`.
    w0 : float, default=0.75
        Factor by which the weight shrinks from parents to child, in (0, 1].
    aggregate : {"mean", "sum", "min", "max", None}, default="mean"
        How the weights of several parents combine; None gives every node the weight 1.

    Notes
    -----
    Nodes without parents have weight 1 and depth 1; others have weight `w0 * aggregate(weights of parents)` and depth
    `1 + mean(depths of parents)`.

    References
    ----------
    C. Vens, J. Struyf, L. Schietgat, S. Dzeroski, H. Blockeel. Decision trees for hierarchical multi-label
    classification. Machine Learning 73, 185-214, 2008.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> animals = Hierarchy.from_edges([("African", "elephant"), ("Asian", "elephant"), ("Asian", "tiger")])
    >>> animals.ancestors("elephant")
    ('African', 'Asian')
    >>> animals.encode([["tiger"]]).toarray()
    array([[0, 0, 1, 1]], dtype=int8)
    """

    def __init__(
        self, names: Sequence[str], edges: Any = (), *, w0: float = 0.75, aggregate: Aggregate = "mean"
    ) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self.w0 = check_real("Hierarchy", "w0", w0, low=0, high=1, open_low=True)
        self.aggregate: Aggregate = check_option("Hierarchy", "aggregate", aggregate, (*_AGGREGATES, None))
        _check_names(self.names)
        self.edges: np.ndarray = _check_edges(edges, len(self.names))
        self.edges.flags.writeable = False
        self._order = topological_order(self.edges, self.names)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        *,
        nodes: Iterable[str] = (),
        on_cycle: Literal["raise", "drop"] = "raise",
        w0: float = 0.75,
        aggregate: Aggregate = "mean",
    ) -> Hierarchy:
        """Build from (parent, child) pairs of names.

        Parameters
        ----------
        edges : iterable of (str, str)
            Parent and child; repeated pairs count once.
        nodes : iterable of str
            Nodes to have even without an edge; they come first in `names`.
        on_cycle : {"raise", "drop"}, default="raise"
            What to do where following edges leads back: refuse and print the cycle, or drop the edges that close
            cycles and warn with their number.
        w0, aggregate
            As of the class.
        """
        check_option("Hierarchy.from_edges", "on_cycle", on_cycle, ("raise", "drop"))
        position: dict[str, int] = {}
        for name in nodes:
            position.setdefault(name, len(position))
        pairs = []
        for edge in edges:
            if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
                raise ValueError(f"Edges must be pairs of a parent and a child. Got {edge!r} instead.")
            parent, child = edge
            pairs.append((position.setdefault(parent, len(position)), position.setdefault(child, len(position))))
        unique = list(dict.fromkeys(pairs))
        if on_cycle == "drop":
            unique = without_cycles(unique, len(position))
        return cls(tuple(position), np.array(unique, dtype=np.int64).reshape(-1, 2), w0=w0, aggregate=aggregate)

    @classmethod
    def from_paths(
        cls, paths: Iterable[str], *, separator: str = "/", w0: float = 0.75, aggregate: Aggregate = "mean"
    ) -> Hierarchy:
        """Build a tree from paths such as `01/01/03`; a node's name is its whole path, missing ancestors are added.

        Parameters
        ----------
        paths : iterable of str
            Paths in any order, repeated or not.
        separator : str, default="/"
            What separates the steps of a path.
        w0, aggregate
            As of the class.
        """
        if isinstance(paths, str):
            raise TypeError(f"paths must be a list of paths. Got the str {paths!r}; write [{paths!r}].")
        position: dict[str, int] = {}
        parent_of: dict[str, str] = {}
        for path in paths:
            if not isinstance(path, str):
                raise TypeError(f"Paths must be texts such as a{separator}b{separator}c. Got {path!r} instead.")
            steps = path.split(separator)
            if not all(steps):
                raise ValueError(f"The path {path!r} has an empty step; write it as a{separator}b{separator}c.")
            for depth in range(1, len(steps) + 1):
                name = separator.join(steps[:depth])
                if name not in position:
                    position[name] = len(position)
                    if depth > 1:
                        parent_of[name] = separator.join(steps[: depth - 1])
        edges = [(position[parent], position[child]) for child, parent in parent_of.items()]
        return cls(tuple(position), np.array(edges, dtype=np.int64).reshape(-1, 2), w0=w0, aggregate=aggregate)

    @classmethod
    def from_columns(
        cls, frame: Any, *, separator: str = "/", w0: float = 0.75, aggregate: Aggregate = "mean"
    ) -> Hierarchy:
        """Build a tree from nested columns, the widest level first; a node's name is its path, as of `from_paths`.

        Parameters
        ----------
        frame : frame or sequence of rows
            A row per path, such as department, aisle, shelf; a missing or empty cell ends the path.
        separator : str, default="/"
            What the steps are joined by in the names of nodes.
        w0, aggregate
            As of the class.

        Examples
        --------
        >>> import pandas as pd
        >>> from ramify import Hierarchy
        >>> shelves = pd.DataFrame({"department": ["food", "food", "tools"], "aisle": ["bread", "fruit", None]})
        >>> Hierarchy.from_columns(shelves).names
        ('food', 'food/bread', 'food/fruit', 'tools')
        """
        rows = frame.to_numpy() if hasattr(frame, "to_numpy") else frame
        paths: dict[str, None] = {}
        for number, row in enumerate(rows, start=1):
            cells = ["" if cell is None or cell != cell else str(cell).strip() for cell in row]  # NaN is not itself
            steps = [cell for cell in cells if cell]
            if any(cells[len(steps) :]):
                raise ValueError(f"Row {number} has an empty cell above {steps[-1]!r}; fill in the level above it.")
            if wrong := [step for step in steps if separator in step]:
                raise ValueError(f"{wrong[0]!r} holds the separator {separator!r}. Name another separator.")
            if steps:
                paths[separator.join(steps)] = None
        return cls.from_paths(paths, separator=separator, w0=w0, aggregate=aggregate)

    @classmethod
    def from_dict(
        cls, children: Mapping[str, Iterable[str]], *, w0: float = 0.75, aggregate: Aggregate = "mean"
    ) -> Hierarchy:
        """Build from a mapping of each parent to its children; a node may map to nothing."""
        for parent, below in children.items():
            if isinstance(below, str):
                raise TypeError(f"The children of {parent!r} must be a list of names. Got the string {below!r}.")
        edges = [(parent, child) for parent, below in children.items() for child in below]
        return cls.from_edges(edges, nodes=children, w0=w0, aggregate=aggregate)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return (
            self.names == other.names
            and set(map(tuple, self.edges.tolist())) == set(map(tuple, other.edges.tolist()))
            and self.w0 == other.w0
            and self.aggregate == other.aggregate
        )

    def __hash__(self) -> int:
        return hash((self.names, len(self.edges)))

    def __repr__(self) -> str:
        shape = "tree" if self.is_tree else "DAG"
        deepest = float(self.depth.max()) if len(self) else 0.0
        return f"Hierarchy({len(self)} nodes, {len(self.edges)} edges, {shape}, depth {deepest:g})"

    def _repr_html_(self) -> str:
        from ramify.notebook import html_tree

        return html_tree(repr(self), self.roots, lambda name: self.children[name])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.names, np.array(self.edges), self.w0, self.aggregate)

    def __deepcopy__(self, memo: Any) -> Hierarchy:
        # Immutable: a clone of an estimator shares it, and with it what was computed from it.
        return self

    def index(self, name: str) -> int:
        """Position of a node in `names`."""
        try:
            return self._position[name]
        except (KeyError, TypeError):
            raise ValueError(f"{name!r} is not in the hierarchy, which has {_listed(self.names)}.") from None

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """Names of the direct parents of each node."""
        return self._neighbors(child_column=1)

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """Names of the direct children of each node."""
        return self._neighbors(child_column=0)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Nodes without parents."""
        return self._without(column=1)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children."""
        return self._without(column=0)

    @cached_property
    def is_tree(self) -> bool:
        """Whether no node has more than one parent (several roots are allowed)."""
        return len(np.unique(self.edges[:, 1])) == len(self.edges)

    @cached_property
    def depth(self) -> np.ndarray:
        """Depth of each node: 1 for roots, else 1 + the mean depth of its parents."""
        return self._down(np.mean, lambda of_parents: 1.0 + of_parents)

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each node: 1 for roots, else `w0 * aggregate(weights of its parents)`."""
        if self.aggregate is None:
            return _frozen(np.ones(len(self)))
        return self._down(_AGGREGATES[self.aggregate], lambda of_parents: self.w0 * of_parents)

    @cached_property
    def parent_matrix(self) -> sparse.csr_array:
        """0/1 matrix whose row is a node and whose columns are its direct parents."""
        ones = np.ones(len(self.edges), dtype=np.int8)
        shape = (len(self), len(self))
        return sparse.csr_array((ones, (self.edges[:, 1], self.edges[:, 0])), shape=shape)

    @cached_property
    def ancestor_matrix(self) -> sparse.csr_array:
        """0/1 matrix whose row is a node and whose columns are all its ancestors, itself left out."""
        offsets = np.concatenate([[0], np.cumsum(self._ancestor_counts())])
        indices = np.empty(offsets[-1], dtype=np.int32)  # written once: of deep hierarchies there are many
        for node in self._order.tolist():
            above = [(indices[offsets[p] : offsets[p + 1]], p) for p in self._parent_lists[node]]
            if above:
                indices[offsets[node] : offsets[node + 1]] = _united([_inserted(*one) for one in above])
        offsets = offsets.astype(np.int32 if len(indices) < 1 << 31 else np.int64)
        return sparse.csr_array((np.ones(len(indices), dtype=np.int8), indices, offsets), shape=(len(self), len(self)))

    @cached_property
    def topological_order(self) -> np.ndarray:
        """Positions of all nodes, every parent before its children."""
        return _frozen(self._order)

    def ancestors(self, name: str) -> tuple[str, ...]:
        """All nodes above `name`, itself left out, in the order of `names`."""
        return self._reachable(name, self._parent_lists)

    def descendants(self, name: str) -> tuple[str, ...]:
        """All nodes below `name`, itself left out, in the order of `names`."""
        return self._reachable(name, self._child_lists)

    def encode(self, label_sets: Iterable[Iterable[str]]) -> sparse.csr_array:
        """Label sets, each an iterable of names, as a 0/1 matrix closed under ancestors."""
        rows = []
        for number, labels in enumerate(label_sets):
            if isinstance(labels, str):
                raise TypeError(f"Label set {number} must be a list of names. Got the string {labels!r}.")
            positions = set()
            for label in labels:
                if label not in self._position:
                    raise ValueError(f"Label {label!r} of row {number} is not in the hierarchy.")
                positions.add(self._position[label])
            rows.append(np.array(sorted(positions), dtype=np.int64))
        return self._closed(_csr_of_rows(rows, len(self)))

    def decode(self, Y: Any) -> list[tuple[str, ...]]:
        """Names of the labels that each row of a 0/1 matrix has."""
        matrix = self._checked(Y)
        return [
            tuple(self.names[j] for j in matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]].tolist())
            for i in range(matrix.shape[0])
        ]

    def close(self, Y: Any) -> Any:
        """Add to every row all ancestors of its labels; sparse in, sparse out."""
        closed = self._closed(self._checked(Y))
        return closed if sparse.issparse(Y) else closed.toarray().astype(np.asarray(Y).dtype)

    def most_specific(self, Y: Any) -> Any:
        """Remove from every row the labels that are ancestors of another of its labels; the inverse of `close`."""
        matrix = self._checked(Y)
        above = self._closed(_product(matrix, self.parent_matrix))
        specific = _binary(matrix - matrix.multiply(above))
        return specific if sparse.issparse(Y) else specific.toarray().astype(np.asarray(Y).dtype)

    def violations(self, Y: Any) -> np.ndarray:
        """Cells that break the hierarchy: rows (sample, child, parent) where the child is set and the parent is not."""
        samples, labels = (part.astype(np.int64) for part in sparse.coo_array(self._checked(Y)).coords)
        parents = self.parent_matrix
        n_parents = np.diff(parents.indptr)[labels]
        first = np.repeat(parents.indptr[labels] - np.cumsum(n_parents) + n_parents, n_parents)
        asked = parents.indices[first + np.arange(len(first))].astype(np.int64)
        of_sample, child = np.repeat(samples, n_parents), np.repeat(labels, n_parents)
        lacking = ~np.isin(of_sample * len(self) + asked, samples * len(self) + labels)
        broken = np.column_stack([of_sample[lacking], child[lacking], asked[lacking]])
        return broken[np.lexsort(broken.T[::-1])]

    def subset(self, names: Iterable[str]) -> Hierarchy:
        """The hierarchy of the named nodes alone; a node's parents are its nearest ancestors among them."""
        kept = tuple(names)
        old = [self.index(name) for name in kept]
        is_kept = np.zeros(len(self), dtype=bool)
        is_kept[old] = True
        nearest: list[set[int]] = [set() for _ in range(len(self))]
        for node in self._order.tolist():
            for parent in self._parent_lists[node]:
                nearest[node] |= {parent} if is_kept[parent] else nearest[parent]
        new = {node: position for position, node in enumerate(old)}
        edges = [(new[parent], new[node]) for node in old for parent in sorted(nearest[node])]
        induced = Hierarchy(kept, np.array(edges).reshape(-1, 2), w0=self.w0, aggregate=self.aggregate)
        return induced if self.is_tree else induced._without_shortcuts_through(self, is_kept)

    def reduction(self) -> Hierarchy:
        """Transitive reduction: the fewest edges with the same ancestors (no edge that a longer path implies)."""
        above = self.ancestor_matrix
        implied = _product(self.parent_matrix, above)
        return self._with_edges(_binary(self.parent_matrix - self.parent_matrix.multiply(implied)))

    def closure(self) -> Hierarchy:
        """Transitive closure: every ancestor is a direct parent."""
        return self._with_edges(self.ancestor_matrix)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    @cached_property
    def _parent_lists(self) -> list[list[int]]:
        return adjacency(self.edges[:, 1], self.edges[:, 0], len(self))

    @cached_property
    def _child_lists(self) -> list[list[int]]:
        return adjacency(self.edges[:, 0], self.edges[:, 1], len(self))

    def _ancestor_counts(self) -> np.ndarray:
        """Number of ancestors of each node; of a DAG those of a node are kept until its last child has seen them."""
        if self.is_tree:
            return self.depth.astype(np.int64) - 1
        counts = np.zeros(len(self), dtype=np.int64)
        n_waiting = [len(children) for children in self._child_lists]
        kept: dict[int, np.ndarray] = {}
        for node in self._order.tolist():
            parents = self._parent_lists[node]
            above = _united([kept[p] for p in parents]) if parents else np.empty(0, dtype=np.int32)
            counts[node] = len(above)
            if n_waiting[node]:
                kept[node] = _inserted(above, node)
            for p in parents:
                n_waiting[p] -= 1
                if not n_waiting[p]:
                    del kept[p]
        return counts

    def _neighbors(self, child_column: int) -> dict[str, tuple[str, ...]]:
        lists = self._parent_lists if child_column == 1 else self._child_lists
        return {name: tuple(self.names[j] for j in near) for name, near in zip(self.names, lists, strict=True)}

    def _without(self, column: int) -> tuple[str, ...]:
        has = np.zeros(len(self), dtype=bool)
        has[self.edges[:, column]] = True
        return tuple(self.names[j] for j in np.flatnonzero(~has).tolist())

    def _down(self, combine: Any, next_value: Any) -> np.ndarray:
        """1 for roots; below, what follows from the combined values of the parents."""
        values = np.ones(len(self))
        for node in self._order.tolist():
            parents = self._parent_lists[node]
            if parents:
                values[node] = next_value(values[parents[0]] if len(parents) == 1 else combine(values[parents]))
        return _frozen(values)

    def _reachable(self, name: str, lists: list[list[int]]) -> tuple[str, ...]:
        seen: set[int] = set()
        waiting = list(lists[self.index(name)])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting.extend(lists[node])
        return tuple(self.names[j] for j in sorted(seen))

    def _checked(self, Y: Any) -> sparse.csr_array:
        """Y as a canonical 0/1 CSR matrix with one column per node."""
        shape = getattr(Y, "shape", np.asarray(Y).shape)
        if len(shape) != 2 or shape[1] != len(self):
            raise ValueError(f"Y must have one column per node of the hierarchy ({len(self)}). Got the shape {shape}.")
        matrix = sparse.csr_array(Y if sparse.issparse(Y) else np.asarray(Y))
        if matrix.nnz and not np.isin(np.unique(matrix.data), (0, 1)).all():
            raise ValueError("Y must hold 0 and 1 only.")
        return _binary(matrix)

    def _closed(self, matrix: sparse.csr_array) -> sparse.csr_array:
        """The closure of a canonical 0/1 matrix: each node's rows are its own and those of its children."""
        by_node = sparse.csc_array(matrix)
        starts = by_node.indptr.tolist()
        rows_of: list[np.ndarray] = [np.empty(0, dtype=by_node.indices.dtype)] * len(self)
        from_children: dict[int, list[np.ndarray]] = {}
        for node in self._order[::-1].tolist():
            children = from_children.pop(node, [])
            if starts[node] < starts[node + 1]:
                children.append(by_node.indices[starts[node] : starts[node + 1]])
            if not children:
                continue
            rows_of[node] = _united(children)
            for parent in self._parent_lists[node]:
                from_children.setdefault(parent, []).append(rows_of[node])
        return _csr_of_rows(rows_of, matrix.shape[0]).T.tocsr()

    def _with_edges(self, parent_matrix: sparse.csr_array) -> Hierarchy:
        child, parent = sparse.coo_array(parent_matrix).coords
        edges = np.column_stack([parent, child])
        return Hierarchy(self.names, edges, w0=self.w0, aggregate=self.aggregate)

    def _without_shortcuts_through(self, original: Hierarchy, is_kept: np.ndarray) -> Hierarchy:
        """Drop edges that exist only because a dropped node led there, where a longer kept path says the same."""
        if is_kept.all():
            return self
        reduced = set(map(tuple, self.reduction().edges.tolist()))
        direct = {(original.names[p], original.names[c]) for p, c in original.edges.tolist()}
        edges = [
            (p, c) for p, c in self.edges.tolist() if (p, c) in reduced or (self.names[p], self.names[c]) in direct
        ]
        return Hierarchy(self.names, np.array(edges).reshape(-1, 2), w0=self.w0, aggregate=self.aggregate)


def _rebuild(names: tuple[str, ...], edges: np.ndarray, w0: float, aggregate: Aggregate) -> Hierarchy:
    return Hierarchy(names, edges, w0=w0, aggregate=aggregate)


def _check_names(names: tuple[str, ...]) -> None:
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"The node {twice!r} is named twice; names must be unique.")
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"Node names must be non-empty strings. Got {name!r}.")


def _check_edges(edges: Any, n_nodes: int) -> np.ndarray:
    array = np.asarray(edges)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"edges must be rows (parent, child) of positions. Got an array of shape {array.shape}.")
    if array.min() < 0 or array.max() >= n_nodes:
        raise ValueError(f"edges must hold positions from 0 to {n_nodes - 1}. Got {array.min()} to {array.max()}.")
    return np.unique(array.astype(np.int64), axis=0)


def _csr_of_rows(rows: list[np.ndarray], n_columns: int) -> sparse.csr_array:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]) if rows else np.zeros(1, dtype=np.int64)
    indices = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    data = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array((data, indices, indptr), shape=(len(rows), n_columns))


def _inserted(ascending: np.ndarray, value: int) -> np.ndarray:
    """The list with one more value in its place."""
    at = int(ascending.searchsorted(value))
    longer = np.empty(len(ascending) + 1, dtype=ascending.dtype)  # np.insert costs several times as much
    longer[:at], longer[at], longer[at + 1 :] = ascending[:at], value, ascending[at:]
    return longer


def _united(ascending: list[np.ndarray]) -> np.ndarray:
    """What any of the lists holds, each of which ascends; a stable sort takes them for runs and merges them."""
    if len(ascending) == 1:
        return ascending[0]
    merged = np.concatenate(ascending)
    merged.sort(kind="stable")
    is_new = np.ones(len(merged), dtype=bool)
    np.not_equal(merged[1:], merged[:-1], out=is_new[1:])
    return merged[is_new]


def _binary(matrix: Any) -> sparse.csr_array:
    """Canonical CSR whose non-zeros are ones."""
    result = sparse.csr_array(matrix, copy=True)
    result.sum_duplicates()
    result.eliminate_zeros()
    return sparse.csr_array((np.ones(result.nnz, dtype=np.int8), result.indices, result.indptr), shape=result.shape)


def _product(left: sparse.csr_array, right: sparse.csr_array) -> sparse.csr_array:
    """0/1 product, summed in 32 bits so that many terms cannot wrap around to zero."""
    return _binary(left.astype(np.int32) @ right)


def _frozen(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


def _listed(names: Sequence[str]) -> str:
    """The first few names, for messages."""
    shown = ", ".join(repr(name) for name in names[:5])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > 5 else shown or "no nodes"
