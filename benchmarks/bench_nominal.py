"""Nominal features with many values: what pooling the rare ones in each node changes.

    python benchmarks/bench_nominal.py [--rows 1500] [--trees 200] [--runs 5] [--seed 100] [--jobs 2]

Five numeric features drive the target. Beside them stand nominal features of 2 to 1,000 values, in one of two designs:

- noise: they say nothing;
- effects: each value has an effect of its own on the target, drawn once from a normal distribution.

Forests, extra trees and boosted trees are fitted without these features, and with them for `min_category_rows` of 1
(any values are parted, as before pooling) to 20. The measures are R2 on as many held-out rows and, for the noise,
their share of the feature importances (Genie3) and that of the feature of 1,000 values. All runs have fresh seeds. The
page is docs/benchmarks/nominal.md.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from ramify.ensemble import BoostedRegressor, ForestRegressor

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "nominal.md"
N_VALUES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
N_REAL = 5
POOLED_BELOW = (1, 3, 5, 10, 20)
DESIGNS = ("noise", "effects")
COLUMNS = ["design", "run", "method", "min_category_rows", "R2", "share", "share of 1,000 values", "CPU seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    results = [
        (design, run, *result)
        for design in DESIGNS
        for run in range(arguments.runs)
        for result in results_of(design, arguments.seed + run, arguments)
    ]
    write_page(pd.DataFrame(results, columns=COLUMNS), arguments)


def drawn(design: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, the nominal ones as codes behind the real ones, and the target."""
    rng = np.random.default_rng(seed)
    real = rng.normal(size=(n_rows, N_REAL))
    codes = np.column_stack([rng.integers(0, k, n_rows) for k in N_VALUES])
    y = real[:, 0] + np.sin(2 * real[:, 1]) + real[:, 2] * real[:, 3] + 0.5 * real[:, 4] + rng.normal(size=n_rows)
    if design == "effects":
        for column, k in enumerate(N_VALUES):
            y += 0.4 * rng.normal(size=k)[codes[:, column]]
    return np.hstack([real, codes.astype(np.float64)]), y


def methods(n_trees: int, seed: int, n_jobs: int, **parameters: object) -> dict[str, object]:
    common = {"n_jobs": n_jobs, "random_state": seed, **parameters}
    extra = {"splitter": "random", "bootstrap": False, "max_features": 0.3}
    return {
        "forest": ForestRegressor(n_trees, **common),
        "extra trees": ForestRegressor(n_trees, **extra, **common),
        "boosted": BoostedRegressor(**common),
    }


def results_of(design: str, seed: int, arguments: argparse.Namespace) -> list[tuple]:
    X, y = drawn(design, 2 * arguments.rows, seed)
    train, test = np.arange(arguments.rows), np.arange(arguments.rows, len(X))
    nominal = {"categorical_features": list(range(N_REAL, X.shape[1]))}
    rows = []
    for pooled_below in (None, *POOLED_BELOW):
        given = X[:, :N_REAL] if pooled_below is None else X
        parameters = {} if pooled_below is None else {**nominal, "min_category_rows": pooled_below}
        for name, model in methods(arguments.trees, seed, arguments.jobs, **parameters).items():
            start = time.process_time()
            model.fit(given[train], y[train])
            seconds = time.process_time() - start
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # values that the training rows lack
                reached = model.score(given[test], y[test])
            shares = model.feature_importances_[N_REAL:]
            last = shares[-1] if len(shares) else np.nan
            rows.append((name, pooled_below or 0, reached, shares.sum(), last, seconds))
    return rows


def write_page(results: pd.DataFrame, arguments: argparse.Namespace) -> None:
    lines = [
        "# Nominal features with many values",
        "",
        f"Five real features beside nominal ones of {', '.join(map(str, N_VALUES[:-1]))} and {N_VALUES[-1]:,} values;",
        f"{arguments.rows:,} training rows, {arguments.trees} trees (boosted: the default), means of",
        f"{arguments.runs} runs with the standard error of R2. `benchmarks/bench_nominal.py` wrote this page and says",
        "what is compared.",
    ]
    titles = {
        "noise": "The nominal features are noise",
        "effects": "Every value has an effect",
    }
    for design in DESIGNS:
        lines += [
            "",
            f"## {titles[design]}",
            "",
            "| method | min_category_rows | R2 | SE | share | of 1,000 values | CPU s |",
        ]
        lines.append("|---|---|---|---|---|---|---|")
        part = results[results["design"] == design]
        for (method, pooled_below), group in part.groupby(["method", "min_category_rows"], sort=False):
            error = group["R2"].std(ddof=1) / np.sqrt(len(group)) if len(group) > 1 else np.nan
            shares = "- | -"
            if pooled_below:
                shares = f"{group['share'].mean():.3f} | {group['share of 1,000 values'].mean():.3f}"
            shown = pooled_below or "without them"
            reached, seconds = group["R2"].mean(), group["CPU seconds"].mean()
            lines.append(f"| {method} | {shown} | {reached:.3f} | {error:.3f} | {shares} | {seconds:.2f} |")
    PAGE.write_text("\n".join([*lines, ""]))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
