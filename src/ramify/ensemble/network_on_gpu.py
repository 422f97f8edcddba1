"""Networks of a `NetworkClassifier` in training by PyTorch, all of them in one step."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from threading import Event
from typing import Any

import numpy as np
from scipy import sparse

_LOWEST = -(1 << 63)
_MAGNITUDE = 0x7FFFFFFF
_POSITION = 0xFFFFFFFF


def checked_torch(device: str) -> Any:
    """PyTorch, or an error that says why it cannot train on the device."""
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise ImportError(
            f"device={device!r} needs PyTorch: pip install 'ramify[cuda]'. device='cpu' needs nothing more."
        ) from error
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device={device!r} is not there for PyTorch ({error}). device='cpu' always is.") from error
    return torch


class DeviceNetworks:
    """Networks in training; the first axis of every tensor is that of the networks, each with batches of its own.

    Parameters
    ----------
    given : NetworkClassifier
        Its parameters are read.
    data : training data of the network module
        Rows, labels, weights and the maximum over descendants.
    parts : sequence of lists of array
        First weights of each network.
    seed : int
        Of batches and dropout.
    """

    def __init__(self, given: Any, data: Any, parts: Sequence[list[np.ndarray]], seed: int) -> None:
        self._torch = torch = checked_torch(given.device)
        self._given, self._is_one_of = given, data.is_one_of
        self._random = torch.Generator(given.device).manual_seed(seed)
        self._sparse_rows = data.rows if sparse.issparse(data.rows) else None
        self._rows: Any = None if self._sparse_rows is not None else self._held(data.rows)
        self._labels = self._held(data.labels.toarray())
        self._weights = None if data.weights is None else self._held(data.weights)
        levels = () if data.maximum is None else data.maximum.levels
        self._levels = [(self._held(children), self._held(above)) for _, children, _, above in levels]
        self._has_maximum = data.maximum is not None
        self._parts = [self._held(np.stack(part)).requires_grad_() for part in zip(*parts, strict=True)]
        self._steps = torch.optim.Adam(
            self._parts, lr=given.learning_rate, weight_decay=given.l2, fused=given.device != "cpu"
        )

    def _held(self, values: np.ndarray) -> Any:
        return self._torch.as_tensor(values, device=self._given.device)

    def copies(self) -> list[list[np.ndarray]]:
        """Weights of each network as they are now."""
        parts = [part.detach().cpu().numpy() for part in self._parts]
        return [[part[k].copy() for part in parts] for k in range(len(parts[0]))]

    def epoch(self, stop: Event | None) -> None:
        """One pass over the rows."""
        torch, size = self._torch, self._given.batch_size
        shape = (len(self._parts[0]), self._labels.shape[0])
        order = torch.rand(shape, generator=self._random, device=self._given.device).argsort(dim=1)
        for first in range(0, shape[1], size):
            if stop is not None and stop.is_set():
                return
            self._step(order[:, first : first + size])

    def _step(self, batch: Any) -> None:
        torch = self._torch
        first, first_bias, second, second_bias, last, last_bias = self._parts
        hidden = self._drop(torch.baddbmm(first_bias[:, None], self._rows_of(batch), first))
        hidden = self._drop(torch.baddbmm(second_bias[:, None], hidden, second.mT))
        loss = self._loss(torch.baddbmm(last_bias[:, None], hidden, last.mT), batch)
        self._steps.zero_grad(set_to_none=True)
        loss.backward()
        self._steps.step()

    def _rows_of(self, batch: Any) -> Any:
        if self._sparse_rows is None:
            return self._rows[batch]
        rows = self._sparse_rows[batch.ravel().cpu().numpy()].toarray()
        return self._held(rows).reshape(*batch.shape, -1)

    def _drop(self, hidden: Any) -> Any:
        """Leave out units and those below zero."""
        keep = 1.0 - self._given.dropout
        drawn = self._torch.rand(hidden.shape, generator=self._random, device=hidden.device)
        return hidden.relu() * ((drawn < keep) / keep)

    def _loss(self, scores: Any, batch: Any) -> Any:
        """Sum over the networks of the mean loss of their batches; its derivatives are those of each alone."""
        torch, labels = self._torch, self._labels[batch]
        if self._is_one_of:
            losses = -torch.where(labels == 1, scores.log_softmax(dim=2), 0.0)
        else:
            if self._has_maximum:
                scores = scores.gather(2, self._sources(scores.detach(), labels))
            truth = (labels == 1).to(scores.dtype)
            losses = torch.nn.functional.binary_cross_entropy_with_logits(scores, truth, reduction="none")
            losses = torch.where(labels == 2, 0.0, losses)
        if self._weights is not None:
            losses = losses * self._weights[batch][:, :, None]
        return losses.sum() / (batch.shape[1] * (1 if self._is_one_of else labels.shape[2]))

    def _sources(self, scores: Any, labels: Any) -> Any:
        """Positions of the largest scores within the labels of a row, as `LabelMaximum.within_labels` has them."""
        torch = self._torch
        ordered = scores.contiguous().view(torch.int32).long()
        ordered ^= (ordered >> 31) & _MAGNITUDE
        keys = (ordered << 32) | torch.arange(scores.shape[2], device=scores.device)
        for children, above in self._levels:
            below = keys[:, :, children]
            below.masked_fill_(labels[:, :, children] != labels[:, :, above], _LOWEST)
            keys.scatter_reduce_(2, above.expand_as(below), below, "amax")
        return keys & _POSITION
