"""Relief as the papers write it, one pair at a time: slow, and the oracle of the kernel."""

import numpy as np


def difference(column, a, b, *, nominal, n_values, ramp=None):
    if nominal:
        return 1 - 1 / n_values if np.isnan(a) or np.isnan(b) else float(a != b)
    low, high = np.nanmin(column), np.nanmax(column)
    if np.isnan(a) and np.isnan(b):
        return 1.0
    if np.isnan(a) or np.isnan(b):
        known = b if np.isnan(a) else a
        place = (known - low) / (high - low) if high > low else 0.0
        return max(place, 1 - place)
    share = abs(a - b) / (high - low) if high > low else 0.0
    if ramp is None:
        return share
    return min(1.0, max(0.0, (share - ramp[0]) / (ramp[1] - ramp[0])))


def differences(X, nominal=None, n_values=None, ramp=None):
    """Features x rows x rows."""
    n, p = X.shape
    nominal = np.zeros(p, dtype=bool) if nominal is None else nominal
    n_values = np.ones(p) if n_values is None else n_values
    D = np.zeros((p, n, n))
    for f in range(p):
        for i in range(n):
            for j in range(n):
                D[f, i, j] = difference(X[:, f], X[i, f], X[j, f], nominal=nominal[f], n_values=n_values[f], ramp=ramp)
    return D


def nearest(D, i, k, among=None):
    total = np.zeros(D.shape[1])
    for d in D:
        total = total + d[i]
    order = [j for j in np.lexsort((np.arange(len(total)), total)) if j != i and (among is None or among[j])]
    return order[:k]


def neighbor_weights(k, sigma, rows=None):
    """Weights of the first k neighbours, which may have row weights of their own."""
    weights = np.exp(-(((0 if sigma is None else sigma) * np.arange(k)) ** 2)) * (1 if rows is None else rows)
    return weights / weights.sum()


def relief(D, target_distance, k, sigma=None, rows=None, queries=None):
    """Eq. 4 of the HMLC paper, lines 1-15 of Algorithm 1 of HMC-ReliefF; `rows` are weights of the rows."""
    rows = np.ones(D.shape[1]) if rows is None else rows
    queries = np.arange(D.shape[1]) if queries is None else queries
    target, attribute, both = 0.0, np.zeros(len(D)), np.zeros(len(D))
    for i in queries:
        near = nearest(D, i, k)
        for weight, j in zip(neighbor_weights(k, sigma, rows[near]), near, strict=True):
            share = weight * rows[i] / rows[queries].sum()
            target += share * target_distance[i, j]
            attribute += share * D[:, i, j]
            both += share * D[:, i, j] * target_distance[i, j]
    return both / target - (attribute - both) / (1 - target)


def relieff(D, codes, k, sigma=None, rows=None):
    """ReliefF of Robnik-Sikonja and Kononenko; `rows` are weights of the rows."""
    n = len(codes)
    rows = np.ones(n) if rows is None else rows
    share = np.array([rows[codes == group].sum() for group in range(codes.max() + 1)]) / rows.sum()
    scores = np.zeros(len(D))
    for i in range(n):
        for group in range(len(share)):
            found = nearest(D, i, k, among=codes == group)
            sign = -1 if group == codes[i] else share[group] / (1 - share[codes[i]])
            for weight, j in zip(neighbor_weights(len(found), sigma, rows[found]), found, strict=True):
                scores += sign * weight * D[:, i, j] * rows[i] / rows.sum()
    return scores
