"""Save a fitted estimator to one file, and load it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

import ramify
from ramify.models.container import ModelFileError, read_container, write_container
from ramify.models.values import Reader, Writer


def save(estimator: BaseEstimator, path: str | Path) -> None:
    """Write an estimator made of Ramify's own parts to one file.

    The file appears complete or not at all: a crash or a full disk leaves what was there before.

    Parameters
    ----------
    estimator : estimator
        Of `ramify.ensemble`, `ramify.ranking`, `ramify.selection` or `ramify.chains`. One that holds an estimator from
        elsewhere is refused; pickle, joblib or skops save those.
    path : str or Path
        Where to write. The usual suffix is `.ramify`.

    Raises
    ------
    TypeError
        If a part of the estimator cannot be held by a file.
    ValueError
        If parameters were changed after `fit` so that they no longer belong to what was learnt.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ramify
    >>> forest = ramify.ForestClassifier(5, random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ramify.save(forest, Path(folder) / "forest.ramify")
    ...     ramify.load(Path(folder) / "forest.ramify").n_estimators
    5
    """
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(f"ramify.save takes an estimator. Got a {type(estimator).__name__} instead.")
    writer = Writer()
    model = writer.value(estimator, type(estimator).__name__)
    write_container(Path(path), ramify.__version__, model, writer.arrays)


def load(path: str | Path) -> Any:
    """Read an estimator that `ramify.save` wrote.

    Everything in the file is checked before anything is built from it; a file from elsewhere can neither run code nor
    crash the process.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        Equal to the one that was saved, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged or breaks a rule of its format. It is a ValueError.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ramify import ForestClassifier, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1]), Path(folder) / "model.ramify")
    ...     load(Path(folder) / "model.ramify").n_estimators
    3
    """
    file = Path(path)
    if file.is_symlink() and not file.exists():
        raise FileNotFoundError(f"{file}: this link leads to no file. Mend the link, or name the file itself.")
    try:
        model, arrays = read_container(file)
        estimator = Reader(arrays).value(model)
        if not isinstance(estimator, BaseEstimator):
            raise ModelFileError("The model file holds something else than an estimator.")
    except ModelFileError as error:
        raise ModelFileError(f"{file}: {error}") from None
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{file}: there is no such model file. {_near(file)}Write one with ramify.save or 'ramify fit'."
        ) from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{file}: this is a folder. {_near(file)}Name a file.") from None
    return estimator


def _near(file: Path) -> str:
    """Which model files there are beside one that is not there."""
    folder = file if file.is_dir() else file.parent
    near = sorted(model_file.name for model_file in folder.glob("*.ramify"))[:3] if folder.is_dir() else []
    return f"In {folder} there is {', '.join(near)}. " if near else ""
