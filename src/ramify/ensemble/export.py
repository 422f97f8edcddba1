"""A tree of a forest as text, flat JSON or Graphviz; loops only, so that depth does not matter."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ramify.features import feature_names
from ramify.parameters import check_integer, check_option
from ramify.targets import target_type
from ramify.targets.rankings import order_text

_SHOWN_LABELS = 5
_SHOWN_CATEGORIES = 8


def export_tree(
    forest: Any,
    index: int = 0,
    *,
    format: Literal["text", "json", "dot"] = "text",
    max_depth: int | None = None,
) -> str:
    """One tree of a fitted forest in a form to read, to draw or to process.

    Parameters
    ----------
    forest : ForestClassifier, ForestRegressor, LabelRankingForest, BoostedClassifier or BoostedRegressor
        A fitted forest; the leaves of boosted trees show their steps.
    index : int, default=0
        Which tree.
    format : {"text", "json", "dot"}, default="text"
        Indented text, flat JSON (one list of nodes, children by number; a threshold of null parts all values from
        missing ones), or a Graphviz drawing.
    max_depth : int or None, default=None
        Show nodes down to this depth only (the root has depth 0); None shows all.

    Returns
    -------
    str

    Examples
    --------
    >>> from ramify import ForestClassifier
    >>> from ramify.ensemble import export_tree
    >>> forest = ForestClassifier(1, bootstrap=False, random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    >>> print(export_tree(forest))
    x0 <= 0.5 or missing  [2]
      yes: no 1  [1]
      no: yes 1  [1]
    """
    check_is_fitted(forest, "trees_")
    check_integer("export_tree", "index", index, low=0, high=forest.trees_.n_trees - 1)
    check_option("export_tree", "format", format, ("text", "json", "dot"))
    if max_depth is not None:
        check_integer("export_tree", "max_depth", max_depth, low=0)
    tree = _Tree.of(forest, int(index))
    if format == "text":
        return "\n".join(_text_lines(tree, max_depth))
    if format == "dot":
        return "\n".join(_dot_lines(tree, max_depth))
    return json.dumps(_flat(tree, max_depth), allow_nan=False)


@dataclass(frozen=True)
class _Tree:
    """One tree in plain lists, with the names that its numbers stand for."""

    feature: list[int]
    threshold: list[float]
    child: list[int]
    subset: list[int]
    missing_left: list[int]
    weight: list[float]
    decrease: list[float]
    subsets: list[np.ndarray]
    sums: list[list[tuple[Any, ...]]]
    leaf: Callable[[int, float], dict[str, float]]
    feature_names: tuple[str, ...]
    categories: list[Any]
    ranks_labels: bool

    @classmethod
    def of(cls, forest: Any, index: int) -> _Tree:
        arrays = forest.trees_.first(index + 1).arrays()
        nodes = slice(*arrays["tree_nodes"][index : index + 2].tolist())
        columns = {
            name: arrays[name][nodes].tolist()
            for name in ("feature", "threshold", "child", "subset", "missing_left", "weight", "decrease")
        }
        return cls(
            **columns,
            subsets=_subsets(arrays, index),
            sums=_sums(arrays, index),
            leaf=_leaf_reader(forest, arrays, index),
            feature_names=feature_names(forest),
            categories=list(forest.categories_),
            ranks_labels=target_type(forest.target_kind_).ranks_labels,
        )

    def prediction(self, node: int) -> dict[str, float]:
        """What a leaf predicts, by name."""
        return self.leaf(self.child[node], self.weight[node])

    def terms(self, node: int) -> list[tuple[Any, ...]]:
        """Feature, weight, centre and scale of each term of the sum that a node tests."""
        return self.sums[-2 - self.subset[node]]

    def left_categories(self, node: int) -> list[str]:
        """Nominal values that go left."""
        values = self.categories[self.feature[node]]
        words = self.subsets[self.subset[node]].tolist()
        return [str(value) for code, value in enumerate(values) if words[code // 64] >> code % 64 & 1]

    def test(self, node: int) -> str:
        """The node's question in words; the left child answers it with yes."""
        if self.subset[node] < -1:
            terms = " ".join(
                f"{weight:+.4g} * ({self.feature_names[feature]} {-centre:+.6g}) / {scale:.6g}"
                for feature, weight, centre, scale in self.terms(node)
            )
            return f"{terms.removeprefix('+')} <= {self.threshold[node]:.6g}"
        name = self.feature_names[self.feature[node]]
        if self.subset[node] < 0:
            return f"{name} <= {self.threshold[node]:.6g}"
        left = self.left_categories(node)
        shown = ", ".join(left[:_SHOWN_CATEGORIES])
        return f"{name} in {{{shown}{', ...' if len(left) > _SHOWN_CATEGORIES else ''}}}"

    def outcome(self, node: int) -> str:
        """What a leaf predicts in words: the order of the labels, or the most probable ones first."""
        if self.ranks_labels:
            return order_text(self.prediction(node))
        best = sorted(self.prediction(node).items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {value:.4g}" for name, value in best[:_SHOWN_LABELS])
        return f"{shown}{', ...' if len(best) > _SHOWN_LABELS else ''}" or "no label"


def _subsets(arrays: dict[str, np.ndarray], index: int) -> list[np.ndarray]:
    first, last = arrays["tree_subsets"][index : index + 2].tolist()
    offsets = arrays["subset_offsets"][first : last + 1].tolist()
    return [arrays["subset_words"][a:b] for a, b in itertools.pairwise(offsets)]


def _sums(arrays: dict[str, np.ndarray], index: int) -> list[list[tuple[Any, ...]]]:
    if "tree_combinations" not in arrays:
        return []
    first, last = arrays["tree_combinations"][index : index + 2].tolist()
    offsets = arrays["combination_offsets"][first : last + 1].tolist()
    columns = [arrays[f"combination_{part}"].tolist() for part in ("features", "weights", "centres", "scales")]
    return [list(zip(*(column[a:b] for column in columns), strict=True)) for a, b in itertools.pairwise(offsets)]


def _leaf_reader(forest: Any, arrays: dict[str, np.ndarray], index: int) -> Callable[[int, float], dict[str, float]]:
    """A function that gives the prediction of a leaf, by its number in the tree and its weight."""
    names, first = forest.label_names_, int(arrays["tree_leaves"][index])
    if forest.trees_.outcome == "steps":
        return _step_reader(forest, arrays, first)
    kind = target_type(forest.target_kind_)
    if not kind.has_labels:
        if kind.ranks_labels:
            values = forest.leaf_rankings(index).tolist()
        else:
            outputs = [forest._output(output) for output in range(len(names))]
            scale, offset = (np.array([getattr(one, part) for one in outputs]) for part in ("factor", "offset"))
            values = (arrays["leaf_values"][first:] * scale + offset).tolist()
        return lambda leaf, _: dict(zip(names, values[leaf], strict=True))
    ends, partial = arrays["leaf_offsets"].tolist(), arrays["leaf_partial"].tolist()
    labels, counts = arrays["leaf_labels"].tolist(), arrays["leaf_counts"].tolist()

    def shares(leaf: int, weight: float) -> dict[str, float]:
        at = first + leaf
        some = counts[partial[at] : partial[at + 1]]
        certain = ends[at + 1] - len(some)
        found = {names[label]: 1.0 for label in labels[ends[at] : certain]}
        for label, count in zip(labels[certain : ends[at + 1]], some, strict=True):
            found[names[label]] = count / weight
        return found

    return shares


def _step_reader(forest: Any, arrays: dict[str, np.ndarray], first: int) -> Callable[[int, float], dict[str, float]]:
    """A function that gives the steps of a leaf: of log-odds, or in units of the targets."""
    names, ends = forest.label_names_, arrays["leaf_offsets"].tolist()
    labels = arrays["leaf_labels"].tolist()
    scale = getattr(forest, "scale_", np.ones(len(names)))
    steps = (arrays["leaf_values"] * scale[arrays["leaf_labels"]]).tolist()

    def of_leaf(leaf: int, _: float) -> dict[str, float]:
        part = slice(ends[first + leaf], ends[first + leaf + 1])
        return {names[label]: step for label, step in zip(labels[part], steps[part], strict=True)}

    return of_leaf


def _walk(tree: _Tree, max_depth: int | None) -> Iterator[tuple[int, int, str]]:
    """Nodes with their depth and the answer that leads to them, each before its children and left before right."""
    stack = [(0, 0, "")]
    while stack:
        node, depth, answer = stack.pop()
        yield node, depth, answer
        if tree.feature[node] >= 0 and (max_depth is None or depth < max_depth):
            left = tree.child[node]
            stack += [(left + 1, depth + 1, "no"), (left, depth + 1, "yes")]


def _text_lines(tree: _Tree, max_depth: int | None) -> Iterator[str]:
    for node, depth, answer in _walk(tree, max_depth):
        is_leaf = tree.feature[node] < 0
        content = tree.outcome(node) if is_leaf else tree.test(node)
        if not is_leaf and depth == max_depth:
            content += " ..."
        missing = " or missing" if not is_leaf and tree.missing_left[node] else ""
        yield f"{'  ' * depth}{answer + ': ' if answer else ''}{content}{missing}  [{tree.weight[node]:.6g}]"


def _dot_lines(tree: _Tree, max_depth: int | None) -> Iterator[str]:
    yield "digraph tree {"
    yield '  node [shape=box, style="rounded", fontname="sans-serif"];'
    for node, depth, _ in _walk(tree, max_depth):
        is_leaf = tree.feature[node] < 0
        content = tree.outcome(node) if is_leaf else tree.test(node)
        yield f'  n{node} [label="{_quoted(content)}\\n{tree.weight[node]:.6g}"{", style=filled" if is_leaf else ""}];'
        if not is_leaf and (max_depth is None or depth < max_depth):
            left = tree.child[node]
            yield f'  n{node} -> n{left} [label="yes"];'
            yield f'  n{node} -> n{left + 1} [label="no"];'
    yield "}"


def _quoted(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _flat(tree: _Tree, max_depth: int | None) -> dict[str, Any]:
    nodes = []
    for node, depth, _ in _walk(tree, max_depth):
        entry: dict[str, Any] = {"id": node, "depth": depth, "weight": tree.weight[node]}
        if tree.feature[node] < 0:
            entry["prediction"] = tree.prediction(node)
        else:
            is_sum = tree.subset[node] < -1
            if is_sum:
                keys = ("feature", "weight", "centre", "scale")
                entry["sum"] = [dict(zip(keys, term, strict=True)) for term in tree.terms(node)]
            else:
                entry["feature"] = tree.feature[node]
            if tree.subset[node] < 0:
                cuts = np.isfinite(tree.threshold[node])  # else all values go left, and missing ones right
                entry["threshold"] = tree.threshold[node] if cuts else None
            else:
                entry["left_values"] = tree.left_categories(node)
            entry["missing"] = "mean" if is_sum else "left" if tree.missing_left[node] else "right"
            entry["decrease"] = tree.decrease[node]
            entry["left"], entry["right"] = tree.child[node], tree.child[node] + 1
        nodes.append(entry)
    return {"features": list(tree.feature_names), "nodes": nodes}
