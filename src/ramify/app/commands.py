"""What the page asks for, as the arguments of a command and as Python code that gives the same result."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

READING = {
    "identifier": "--id",
    "ignore": "--ignore",
    "keep": "--keep",
    "categorical": "--nominal",
    "kind": "--kind",
    "weight": "--weight",
    "groups": "--groups",
    "label_separator": "--label-separator",
    "path_separator": "--path-separator",
    "missing_target": "--missing-target",
    "dates": "--dates",
    "separator": "--separator",
    "decimal": "--decimal",
    "sheet": "--sheet",
    "min_rows": "--min-rows",
    "unknown": "--unknown",
}
"""Parameters of `ramify.read` that the page sets, and the options that they are."""

RANKING, MODEL, PREDICTED, FOLDS, REPORT = "ranking.csv", "model.ramify", "predicted.csv", "folds.csv", "report.html"
CONTRIBUTIONS, FIGURE, DEMO = "contributions.csv", "explained.svg", "data.arff"


@dataclass(frozen=True)
class Kind:
    """A command that the page runs.

    Attributes
    ----------
    options : mapping of str to str
        Its options by the names that the page uses; values are checked by the command itself.
    outputs : tuple of (str, str)
        Options that name the files it writes.
    says : tuple of str
        Further options.
    of_model : bool
        Whether it is given a model, which remembers how its data were read.
    is_quick : bool
        Whether it does not wait for other runs.
    """

    options: Mapping[str, str]
    outputs: tuple[tuple[str, str], ...]
    says: tuple[str, ...] = ("--verbose",)
    of_model: bool = False
    is_quick: bool = False


_GROWING = {"trees": "--trees", "seed": "--seed"}
KINDS = {
    "info": Kind({}, (), ("--together", "--json"), is_quick=True),
    "demo": Kind({"seed": "--seed"}, (), ("--only-data", "--output", "."), is_quick=True),
    "rank": Kind(
        {"methods": "--method", "fdr": "--fdr", "given": "--given", "quality": "--quality", **_GROWING},
        (("--output", RANKING), ("--report", REPORT)),
    ),
    "fit": Kind(
        {"method": "--method", "folds": "--folds", "minutes": "--minutes", "calibrate": "--calibrate", **_GROWING},
        (("--output", MODEL), ("--report", REPORT)),
    ),
    "compare": Kind(
        {"methods": "--method", "folds": "--folds", **_GROWING}, (("--output", FOLDS), ("--report", REPORT))
    ),
    "predict": Kind(
        {"probabilities": "--probabilities", "top": "--top", "report": "--report"},
        (("--output", PREDICTED),),
        ("--json",),
        of_model=True,
    ),
    "explain": Kind(
        {"row": "--row", "labels": "--label", "top": "--top"},
        (("--output", CONTRIBUTIONS), ("--plot", FIGURE)),
        ("--json",),
        of_model=True,
        is_quick=True,
    ),
}
"""Commands by name, as `ramify` has them."""


@dataclass(frozen=True)
class Asked:
    """A run that the page asks for, checked: what is left is for the command to check.

    Attributes
    ----------
    command : str
        Of `KINDS`.
    data : tuple of str
        Names of the files given that make the data set.
    others : mapping of {"hierarchy", "feature_hierarchy", "annotations"} to str
        Names of further files.
    model : str
        Name of the model file; empty for commands without one.
    model_of : str
        The run that wrote the model; empty where it was given as a file.
    target : tuple of str
        Target columns; none is the reader's choice.
    reading, options : mapping of str to value
        Of `READING` and of the command.
    """

    command: str
    data: tuple[str, ...] = ()
    others: Mapping[str, str] = ()  # type: ignore[assignment]
    model: str = ""
    model_of: str = ""
    target: tuple[str, ...] = ()
    reading: Mapping[str, Any] = ()  # type: ignore[assignment]
    options: Mapping[str, Any] = ()  # type: ignore[assignment]

    @property
    def kind(self) -> Kind:
        """The command's record."""
        return KINDS[self.command]

    @property
    def files(self) -> list[str]:
        """Names of the given files that the command reads."""
        model = [self.model] if self.model and not self.model_of else []
        return list(dict.fromkeys([*self.data, *dict(self.others).values(), *model]))


_OTHERS = {"hierarchy": "--hierarchy", "feature_hierarchy": "--feature-hierarchy", "annotations": "--annotations"}
_WITH_FEATURE_HIERARCHY = {"info", "rank"}


def asked(given: Any) -> Asked:
    """What the page sent, or a refusal in words.

    Parameters
    ----------
    given : object
        From JSON.
    """
    if not isinstance(given, Mapping) or given.get("command") not in list(KINDS):
        raise ValueError(f"A run is one of {', '.join(KINDS)}. Got {given!r:.80}.")
    kind = KINDS[given["command"]]
    reading, options = _values(given, "reading", READING), _values(given, "options", kind.options)
    if options.get("report"):
        options["report"] = REPORT  # a file in the run's own folder, whatever the page says
    others = {name: value for name, value in _values(given, "others", _OTHERS).items() if value}
    if given["command"] not in _WITH_FEATURE_HIERARCHY:
        others.pop("feature_hierarchy", None)
    found = Asked(
        given["command"],
        data=tuple(_texts(given.get("data", ()), "data")),
        others={name: _text(value, name) for name, value in others.items()},
        model=_text(given.get("model", ""), "model") if kind.of_model else "",
        model_of=_text(given.get("model_of", ""), "model_of") if kind.of_model else "",
        target=() if kind.of_model else tuple(_texts(given.get("target", ()), "target")),
        reading={} if kind.of_model else reading,
        options=options,
    )
    if given["command"] != "demo" and not found.data:
        raise ValueError("No data: drop a file first, or take the demo's.")
    if kind.of_model and not found.model:
        raise ValueError("No model: fit one first, or drop a .ramify file.")
    taken = {file for _, file in kind.outputs} & set(found.files)
    if taken:
        raise ValueError(f"This run writes a file called {min(taken)} itself. Rename the one that it reads.")
    return found


def arguments(run: Asked) -> list[str]:
    """The words after `ramify` of the command that does it."""
    words = [run.command, *([run.model] if run.model else []), *run.data]
    for name in run.target:
        words += _option("--target", name)
    for name, file in dict(run.others).items():
        words += _option(_OTHERS[name], file)
    for name, value in dict(run.reading).items():
        words += _option(READING[name], value)
    for name, value in dict(run.options).items():
        words += _option(run.kind.options[name], value)
    for option, file in run.kind.outputs:
        words += [option, file]
    return [*words, *run.kind.says]


def command_line(run: Asked) -> str:
    """The same as it is typed."""
    return shlex.join(["ramify", *arguments(run)])


def _option(flag: str, value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [word for each in value for word in _option(flag, each)]
    if value is True:
        return [flag]
    if value is False or value is None or value == "":
        return []
    text = str(value)
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]


def _values(given: Mapping[str, Any], part: str, known: Mapping[str, str]) -> dict[str, Any]:
    values = given.get(part, {})
    if not isinstance(values, Mapping):
        raise ValueError(f"The {part} of a run are a table of names. Got {values!r:.80}.")
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r:.60} is none of the {part}: {', '.join(known) or 'there are none here'}.")
    for name, value in values.items():
        each = value if isinstance(value, list) else [value]
        if any(not isinstance(one, (str, int, float, bool, type(None))) or not _is_word(str(one)) for one in each):
            raise ValueError(f"{name} is a text, a number or a list of them. Got {value!r:.80}.")
    return dict(values)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not _is_word(value):
        raise ValueError(f"{name} is a text. Got {value!r:.80}.")
    return value


def _is_word(text: str) -> bool:
    """Whether a command can be given it: no zero byte, and no half of a pair of surrogates."""
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _texts(values: Any, name: str) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(f"{name} is a list of texts. Got {values!r:.80}.")
    return [_text(value, name) for value in values]


# ------------------------------------------------------------------------------------------------------ as Python


def python_code(run: Asked) -> str:
    """Python that gives the same result; empty for commands that only look."""
    return _CODE[run.command](run) if run.command in _CODE else ""


def _reading_code(run: Asked, name: str = "data") -> str:
    given = {**dict(run.others), **dict(run.reading)}
    given = {key: value for key, value in given.items() if value not in ("", None, [], False)}
    if given.get("identifier") == "none":
        given["identifier"] = None
    if "missing_target" in given:
        given["missing_target"] = str(given["missing_target"]).replace("-", " ")
    target = list(run.target) if len(run.target) != 1 else run.target[0]
    words = [_of_one(run.data), *([repr(target)] if target else []), *_named(given)]
    return f"{name} = read({', '.join(words)})"


def _of_one(values: Sequence[str]) -> str:
    return repr(values[0]) if len(values) == 1 else repr(list(values))


def _named(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in values.items()]


def _chosen(run: Asked, names: Mapping[str, str]) -> list[str]:
    """Options of the page under the names of the Python function, as numbers where they are numbers."""
    values = {names[name]: value for name, value in dict(run.options).items() if name in names}
    return _named({name: _number(value) for name, value in values.items() if value not in ("", None, False, [])})


def _number(value: Any) -> Any:
    for kind in (int, float):
        try:
            return kind(value) if isinstance(value, str) else value
        except ValueError:
            continue
    return None if value == "none" else value


def _rank_code(run: Asked) -> str:
    names = {"methods": "methods", "trees": "n_estimators", "fdr": "fdr", "given": "given", "quality": "quality"}
    words = ["data", *_chosen(run, names), "explain=True", f"random_state={_seed(run)}", "n_jobs=-1", "verbose=1"]
    return f"""from ramify import FeatureRanking, read, write_report
from ramify.analysis import analyse

{_reading_code(run)}
results = analyse({", ".join(words)})
for ranking in list(results.rankings.values())[:1]:
    FeatureRanking(ranking.names, ranking.scores, origin=ranking.origin).save({RANKING!r})
if results.discoveries is not None:
    results.discoveries.save({RANKING.replace(".csv", ".claims.csv")!r})
write_report(results, {REPORT!r})
"""


def _fit_code(run: Asked) -> str:
    names = {"method": "method", "trees": "n_estimators", "folds": "n_folds", "minutes": "minutes"}
    names["calibrate"] = "calibrate"
    words = ["data", *_chosen(run, names), "explain=True", f"random_state={_seed(run)}", "n_jobs=-1", "verbose=1"]
    return f"""from ramify import read, save, write_report
from ramify.analysis import fit_model

{_reading_code(run)}
fitted = fit_model({", ".join(words)})
save(fitted.model, {MODEL!r})
write_report(fitted.results, {REPORT!r})
"""


def _compare_code(run: Asked) -> str:
    methods = list(dict(run.options).get("methods") or ("random-forest", "extra-trees", "bagging"))
    words = ["data", repr(methods), *_chosen(run, {"folds": "n_folds", "trees": "n_estimators"})]
    return f"""from ramify import read, write_report
from ramify.analysis import compare_methods

{_reading_code(run)}
results = compare_methods({", ".join([*words, f"random_state={_seed(run)}", "n_jobs=-1", "verbose=1"])})
for measure, comparison in results.comparisons.items():
    print(measure, comparison.sentence)
write_report(results, {REPORT!r})
"""


def _predict_code(run: Asked) -> str:
    return f"""from ramify import load, read
from ramify.analysis import new_rows

model = load({run.model!r})
data = read({_of_one(run.data)}, [], roles=getattr(model, "inspection_", "auto"))
predicted = model.predict(new_rows(model, data, fill=True).X)
"""


def _seed(run: Asked) -> Any:
    return _number(dict(run.options).get("seed") or 0)


_CODE = {"rank": _rank_code, "fit": _fit_code, "compare": _compare_code, "predict": _predict_code}
