"""Tables of results as files: data sets by methods, or a line per value; CSV of any separator, TSV, Excel."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ramify.compare.result_table import check_table

_DATASET = ("dataset", "data set", "data", "set", "fold")
_METHOD = ("method", "algorithm", "model", "classifier", "learner")
_NO_VALUES = ("split", "fold", "seed", "run", "repeat", "seconds", "cpu_seconds", "peak_megabytes")

_DATA = "To compare methods on data instead, name its target (--target) or say what the target is (--kind)."


def read_results(path: str | Path, *, measure: str | None = None) -> pd.DataFrame:
    """A table of results with a row per data set and a column per method.

    Parameters
    ----------
    path : path
        A CSV file (any of the usual separators, points or decimal commas), TSV or Excel. Either wide, the first column
        the data sets and every other one a method; or long, with columns `dataset` and `method` and one per measure,
        as `ramify study export` writes it, of which means over splits are taken.
    measure : str, optional
        Which measure of a long table, where it has several.

    Returns
    -------
    frame of shape (n_datasets, n_methods)
    """
    file = Path(path)
    frame = _read(file)
    lower = {str(name).strip().lower(): name for name in frame.columns}
    dataset = next((lower[name] for name in _DATASET if name in lower), None)
    method = next((lower[name] for name in _METHOD if name in lower), None)
    if method is not None and dataset is not None:
        return check_table(_from_lines(frame, dataset, method, measure, file))
    if measure is not None:
        raise ValueError(f"{file} has a column per method, not per measure; leave --measure out.")
    first = frame.columns[0]
    if frame[first].isna().any() or frame[first].duplicated().any():
        fault = "a row without a name" if frame[first].isna().any() else f"'{_twice(frame[first])}' twice"
        raise ValueError(
            f"The first column of {file} must name the data sets, each once; it has {fault}. A table with a line per "
            f"value needs columns called dataset and method. {_DATA}"
        )
    table = frame.set_index(first)
    table.index = table.index.map(str)
    return check_table(table.apply(lambda column: _numbers(column, file)))


def _read(file: Path) -> pd.DataFrame:
    try:
        if file.suffix.lower() in (".xlsx", ".xls", ".xlsm"):
            frame = pd.read_excel(file)
        else:
            frame = pd.read_csv(file, sep=_separator(file), encoding="utf-8-sig")
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{file} cannot be read as a table of results: {error}") from None
    frame = frame.dropna(how="all").dropna(axis="columns", how="all")
    if frame.shape[1] < 3:
        raise ValueError(
            f"{file} must have a column that names the data sets and one for each of at least two methods. It has "
            f"{frame.shape[1]} columns."
        )
    return frame


def _separator(file: Path) -> str:
    """The separator that the first line has most of."""
    with file.open(encoding="utf-8-sig") as lines:
        head = lines.readline()
    return max(",;\t|", key=head.count)


def _from_lines(frame: pd.DataFrame, dataset: str, method: str, measure: str | None, file: Path) -> pd.DataFrame:
    kept = frame[frame["status"] == "done"] if "status" in frame.columns else frame
    others = [
        name
        for name in kept.columns
        if name not in (dataset, method)
        and str(name).lower() not in _NO_VALUES
        and pd.api.types.is_numeric_dtype(kept[name])
    ]
    if measure is None and len(others) != 1:
        raise ValueError(f"{file} has several measures, {', '.join(map(str, others))}; choose one with --measure.")
    chosen = others[0] if measure is None else measure
    if chosen not in kept.columns:
        raise ValueError(f"{file} has no column {chosen!r}; it has {', '.join(map(str, others))}.")
    return kept.pivot_table(index=dataset, columns=method, values=chosen, aggfunc="mean", sort=False)


def _numbers(column: pd.Series, file: Path) -> pd.Series:
    """A method's values; decimal commas and a percent sign are understood."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    text = column.astype(str).str.strip().str.rstrip("%").str.replace(",", ".", regex=False)
    numbers = pd.to_numeric(text, errors="coerce")
    wrong = numbers.isna() & column.notna()
    if wrong.any():
        raise ValueError(
            f"{file} holds {column[wrong].iloc[0]!r} for {column.name!r} on {column.index[wrong][0]!r}, which is no "
            f"number, and a table of results has numbers only. {_DATA}"
        )
    return numbers


def _twice(names: pd.Series) -> object:
    return names[names.duplicated()].iloc[0]
