"""The same features in everything that can hold them: arrays, sparse matrices, frames and files."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from ramify.datasets import read
from tests.metamorphic.cases import NAMES, Data

CODES = ["0", "1", "2", "10"]


def text(values: np.ndarray) -> list[str]:
    return [f"{value:g}" for value in values.tolist()]


def frame(data: Data, numbers: Any = None, nominal: Any = None) -> pd.DataFrame:
    """A pandas frame with one dtype for numbers and a way to hold nominal columns."""
    columns = {}
    for j, name in enumerate(NAMES):
        column = pd.Series(data.X[:, j])
        if j in data.nominal:
            columns[name] = (nominal or (lambda c: pd.Categorical(text(c.to_numpy()), categories=CODES)))(column)
        else:
            columns[name] = column if numbers is None else column.astype(numbers)
    return pd.DataFrame(columns)


def polars(data: Data, nominal: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {
            name: pl.Series(text(data.X[:, j]), dtype=nominal) if j in data.nominal else pl.Series(data.X[:, j])
            for j, name in enumerate(NAMES)
        }
    )


def through_file(suffix: str, write: Callable[[Data, Path], None]) -> Callable[[Data], pd.DataFrame]:
    """What comes out of a file that the values went into."""

    def form(data: Data) -> pd.DataFrame:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"data{suffix}"
            write(data, path)
            options = {"index_base": 0} if suffix == ".arff" else {"roles": None}  # constants stay features
            return read(path, target=[], **options).to_frame()

    return form


def write_arff(data: Data, path: Path, *, nominal: str = "{0,1,2,10}", is_sparse: bool = False) -> None:
    kinds = [nominal if j in data.nominal else "numeric" for j in range(len(NAMES))]
    lines = ["@relation r", *(f"@attribute {name} {kind}" for name, kind in zip(NAMES, kinds, strict=True)), "@data"]
    for row in data.X:
        cells = [f"{value!r}" if j not in data.nominal else f"{value:g}" for j, value in enumerate(row.tolist())]
        if is_sparse:
            stored = [f"{j} {cell}" for j, (cell, value) in enumerate(zip(cells, row, strict=True)) if value != 0]
            lines.append("{" + ",".join(stored) + "}")
        else:
            lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_csv(data: Data, path: Path, *, decimals: bool = False) -> None:
    table = frame(data, nominal=lambda column: column if decimals else column.astype(int))
    table.to_csv(path, index=False)


def write_parquet(data: Data, path: Path, *, nominal: Any = None) -> None:
    frame(data, nominal=nominal or (lambda column: column.astype(int))).to_parquet(path)


DECLARED: dict[str, Callable[[Data], Any]] = {
    "pandas category": frame,
    "pandas category of numbers": lambda data: frame(data, nominal=lambda c: pd.Categorical(c.astype(int))),
    "pandas text": lambda data: frame(data, nominal=lambda c: pd.Series(text(c.to_numpy()), dtype=object)),
    "pandas nullable": lambda data: frame(data, "Float64", lambda c: pd.Series(text(c.to_numpy()), dtype="string")),
    "pandas arrow": lambda data: frame(
        data, "double[pyarrow]", lambda c: pd.Series(text(c.to_numpy()), dtype="string[pyarrow]")
    ),
    "polars enum": lambda data: polars(data, pl.Enum(CODES)),
    "polars text": lambda data: polars(data, pl.String),
    "polars category": lambda data: polars(data, pl.Categorical),
    "ARFF": through_file(".arff", write_arff),
    "sparse ARFF": through_file(".arff", lambda data, path: write_arff(data, path, is_sparse=True)),
    "Parquet category": through_file(
        ".parquet", lambda data, path: write_parquet(data, path, nominal=lambda c: pd.Categorical(text(c.to_numpy())))
    ),
}
"""Forms that say themselves which columns are nominal; the first is what the others are compared with."""

UNDECLARED: dict[str, Callable[[Data], Any]] = {
    "dense": lambda data: data.X,
    "dense by column": lambda data: np.asfortranarray(data.X),
    "float32": lambda data: data.X.astype(np.float32),
    "objects": lambda data: data.X.astype(object),
    "CSR": lambda data: sparse.csr_array(data.X),
    "CSC": lambda data: sparse.csc_array(data.X),
    "CSR matrix": lambda data: sparse.csr_matrix(data.X),
    "pandas": lambda data: frame(data, nominal=lambda column: column),
    "pandas integers": lambda data: frame(data, nominal=lambda column: column.astype(int)),
    "pandas Int64": lambda data: frame(data, "Float64", lambda column: column.astype("Int64")),
    "pandas int64[pyarrow]": lambda data: frame(data, "double[pyarrow]", lambda c: c.astype("int64[pyarrow]")),
    "pandas sparse": lambda data: frame(data, nominal=lambda column: column).astype(pd.SparseDtype(float, 0.0)),
    "polars": lambda data: pl.DataFrame({name: data.X[:, j] for j, name in enumerate(NAMES)}),
    "CSV": through_file(".csv", write_csv),
    "CSV with decimals": through_file(".csv", lambda data, path: write_csv(data, path, decimals=True)),
    "numeric ARFF": through_file(".arff", lambda data, path: write_arff(data, path, nominal="numeric")),
    "numeric sparse ARFF": through_file(
        ".arff", lambda data, path: write_arff(data, path, nominal="numeric", is_sparse=True)
    ),
    "Parquet": through_file(".parquet", write_parquet),
}
"""Forms that hold nominal values as numbers; `categorical_features` says which they are."""
