"""Order of the nodes of a directed graph: parents before children, and cycles found or cut."""

from __future__ import annotations

import warnings
from collections import deque

import numpy as np


def topological_order(edges: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Every parent before its children, by waves from the roots; a cycle is refused and printed."""
    n_nodes = len(names)
    children = edges[np.argsort(edges[:, 0], kind="stable"), 1].tolist()
    ends = np.cumsum(np.bincount(edges[:, 0], minlength=n_nodes)).tolist()
    n_waiting = np.bincount(edges[:, 1], minlength=n_nodes).tolist()
    ready = deque(node for node in range(n_nodes) if n_waiting[node] == 0)
    order = []
    while ready:
        node = ready.popleft()
        order.append(node)
        for child in children[ends[node - 1] if node else 0 : ends[node]]:
            n_waiting[child] -= 1
            if n_waiting[child] == 0:
                ready.append(child)
    if len(order) < n_nodes:
        cycle = _find_cycle(edges, {node for node in range(n_nodes) if n_waiting[node] > 0})
        shown = " -> ".join(names[node] for node in [*cycle[:20], *([cycle[0]] if len(cycle) <= 20 else [])])
        more = f" -> ... ({len(cycle)} nodes)" if len(cycle) > 20 else ""
        raise ValueError(
            f"A hierarchy cannot have a cycle, and this one has {shown}{more}. "
            "Correct the edges, or pass on_cycle='drop' to drop those that close cycles."
        )
    return np.array(order, dtype=np.int64)


def _find_cycle(edges: np.ndarray, stuck: set[int]) -> list[int]:
    """One cycle among the nodes that could not be ordered: go up along parents until one repeats."""
    a_parent = {child: parent for parent, child in edges.tolist() if parent in stuck and child in stuck}
    node = min(a_parent)
    seen: dict[int, int] = {}
    path: list[int] = []
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = a_parent[node]
    return path[seen[node] :][::-1]


def without_cycles(edges: list[tuple[int, int]], n_nodes: int) -> list[tuple[int, int]]:
    """Drop the edges by which a depth-first walk comes back to a node it is still below, and warn with their number."""
    children: list[list[int]] = [[] for _ in range(n_nodes)]
    for parent, child in edges:
        children[parent].append(child)
    unseen, on_path, done = 0, 1, 2
    state = [unseen] * n_nodes
    dropped: set[tuple[int, int]] = set()
    for start in range(n_nodes):
        if state[start] != unseen:
            continue
        state[start] = on_path
        path = [(start, iter(children[start]))]
        while path:
            node, remaining = path[-1]
            child = next(remaining, -1)
            if child < 0:
                state[node] = done
                path.pop()
            elif state[child] == on_path:
                dropped.add((node, child))
            elif state[child] == unseen:
                state[child] = on_path
                path.append((child, iter(children[child])))
    if dropped:
        warnings.warn(
            f"{len(dropped)} of {len(edges)} edges closed cycles and were dropped.", UserWarning, stacklevel=3
        )
    return [edge for edge in edges if edge not in dropped]


def adjacency(of: np.ndarray, to: np.ndarray, n_nodes: int) -> list[list[int]]:
    """For each node of `of`, the nodes of `to` that stand beside it."""
    lists: list[list[int]] = [[] for _ in range(n_nodes)]
    for a, b in zip(of.tolist(), to.tolist(), strict=True):
        lists[a].append(b)
    return lists
