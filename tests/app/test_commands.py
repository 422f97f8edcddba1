"""What the page asks for becomes a command that exists, and nothing else."""

import shlex
from inspect import signature

import pytest

from ramify.app.commands import KINDS, READING, arguments, asked, command_line
from ramify.app.suggestions import suggested_targets
from ramify.cli.main import ramify as group
from ramify.datasets import read


def test_every_option_is_one_of_the_command():
    for name, kind in KINDS.items():
        options = {flag for param in group.get_command(None, name).params for flag in param.opts}
        used = {*kind.options.values(), *(option for option, _ in kind.outputs)}
        used |= {word for word in kind.says if word.startswith("--")}
        used |= set() if kind.of_model or name == "demo" else {*READING.values(), "--target"}
        assert used <= options, name
    assert set(READING) <= set(signature(read).parameters)


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {"command": "study"},
        {"command": "rank"},
        {"command": "rank", "data": "a.csv"},
        {"command": "rank", "data": [1]},
        {"command": "rank", "data": ["a.csv"], "options": {"output": "/etc/passwd"}},
        {"command": "rank", "data": ["a.csv"], "options": {"trees": {"a": 1}}},
        {"command": "rank", "data": ["a.csv"], "reading": ["x"]},
        {"command": "rank", "data": ["a.csv"], "reading": {"hierarchy": "/etc/passwd"}},
        {"command": "rank", "data": ["a.csv"], "target": ["a\0b"]},
        {"command": "rank", "data": ["ranking.csv"]},
        {"command": "predict", "data": ["a.csv"]},
    ],
)
def test_what_is_no_run_is_refused_in_words(given):
    with pytest.raises(ValueError, match=r"\.$"):
        asked(given)


ODD = [
    None,
    True,
    0,
    -1.5,
    float("nan"),
    "",
    "\0",
    "\ud800",
    "-x",
    "a" * 9999,
    [],
    [[]],
    {},
    {"a": [1]},
    [None],
    {"": ""},
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
def test_whatever_is_asked_becomes_words_or_a_refusal(odd):
    good = {
        "command": "predict",
        "data": ["a.csv"],
        "others": {"hierarchy": "go.obo"},
        "model": "m.ramify",
        "model_of": "1",
        "target": ["y"],
        "reading": {"ignore": ["b"], "dates": "dmy"},
        "options": {"top": 3, "report": True},
    }
    tried = [{**good, name: odd} for name in good]
    tried += [{**good, name: {key: odd}} for name in ("others", "reading", "options") for key in good[name]]
    tried += [{**good, "command": name, "options": {}, "data": odd} for name in KINDS]
    for each in tried:
        try:
            run = asked(each)
        except ValueError as error:
            assert str(error).endswith(".")  # noqa: PT017
            continue
        assert all(isinstance(word, str) for word in arguments(run))
        " ".join(arguments(run)).encode()


def test_a_report_is_written_where_the_run_says(tmp_path):
    run = asked({"command": "predict", "data": ["a.csv"], "model": "m.ramify", "options": {"report": "/etc/passwd"}})
    assert "/etc/passwd" not in command_line(run)
    assert arguments(run)[-3:] == ["--output", "predicted.csv", "--json"]


def test_the_command_is_quoted_as_a_shell_reads_it():
    run = asked(
        {"command": "rank", "data": ["my songs.csv"], "target": ["mood_*", "it's"], "options": {"quality": True}}
    )
    words = shlex.split(command_line(run))[1:]
    assert words == arguments(run)
    assert words[:6] == ["rank", "my songs.csv", "--target", "mood_*", "--target", "it's"]
    assert "--quality" in words


def column(name, kind="number", n_values=90, role="feature", missing=0.0):
    return {"name": name, "role": role, "kind": kind, "n_values": n_values, "missing": missing}


def targets(*columns):
    return [one["target"] for one in suggested_targets(columns, 100)]


def test_columns_of_two_values_that_begin_alike_are_suggested_together():
    assert targets(column("size"), column("go_a", n_values=2), column("go_b", n_values=2), column("age")) == [
        ["go_*"],
        ["age"],
    ]


def test_a_family_with_other_values_is_not_one_of_labels():
    columns = [
        column("gene_a", n_values=2),
        column("gene_b", n_values=2),
        column("gene_c"),
        column("kind", "nominal", 3),
    ]
    assert targets(*columns) == [["kind"]]


def test_ticked_boxes_are_labels():
    ticked = [column(f"Which: {name}", "nominal", 1, missing=0.4) for name in "ab"]
    assert targets(*ticked, column("x")) == [["Which: *"], ["x"]]


def test_neighbours_of_yes_and_no_are_labels_however_they_are_called():
    labels = [column(name, n_values=2) for name in ("runs", "climbs", "eats")]
    assert targets(column("size"), *labels, column("age", "nominal", 2), column("x")) == [
        ["x"],
        ["runs", "climbs", "eats"],
        ["age"],
    ]


def test_texts_that_recur_may_be_label_sets_and_others_are_not():
    columns = [column("genres", "text", 15), column("plot", "text", 99), column("place", "nominal", 60)]
    assert targets(*columns, column("brew", "text", 20)) == [["genres"], ["brew"]]


def test_what_names_rows_or_is_left_out_is_no_target():
    assert targets(column("class", role="identifier"), column("type", role="left out"), column("text", "text")) == []
