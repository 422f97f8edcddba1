"""A study of many small cells, for tests that stop it: the numbers depend on the data, the split and the seed alone."""

import os
import time
from functools import partial
from pathlib import Path

import numpy as np

from ramify.datasets import Dataset
from ramify.study import Study


def make_data(seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    return Dataset(rng.normal(size=(40, 3)), y=rng.integers(0, 2, 40), target="classes", label_names=("0", "1"))


def noisy_mean(train: Dataset, test: Dataset, seed: int, *, power: float, log: str | None = None) -> dict[str, float]:
    time.sleep(float(os.environ.get("TOY_SLEEP", "0")))
    if log is not None:
        with Path(log).open("a") as file:
            file.write(f"{power} {seed}\n")
    noise = np.random.default_rng(seed).normal()
    return {"mean": float(np.mean(train.X) ** power + noise), "spread": float(np.std(test.X)), "missing": float("nan")}


def study(data=None, folder="study", quick=True) -> Study:
    log = os.environ.get("TOY_LOG")
    return Study(
        {f"set{i}": partial(make_data, i) for i in range(4)},
        {f"power{p}": partial(noisy_mean, power=p, log=log) for p in (1, 2, 3, 4, 5)},
        splits=5 if quick else 10,
        folder=folder,
        missing=["lost"],
        gains=["mean", "spread"],
    )


def run(folder: str, sleep: float) -> None:
    os.environ["TOY_SLEEP"] = str(sleep)
    study(folder=folder, quick=False).run()


def findings(study: Study) -> str:
    return f"{len(study.results())} cells"
