"""What a fitted estimator holds is declared once, and a file that holds anything else is refused."""

import copy

import numpy as np
import pytest
from tests.models.test_every_estimator import FITTED, LABELS
from tests.models.test_hostile_files import taken_apart, written

import ramify
from ramify import chains
from ramify.models import ModelFileError
from ramify.models.fitted_state import check_state

MAY_BE_UNKNOWN = {"importances_", "label_share_", "oob_prediction_", "relevance_", "relevance_absent_"}
"""Numbers that `fit` itself may leave open."""


@pytest.fixture(scope="module")
def estimators():
    np.random.seed(0)  # noqa: NPY002
    return {name: make() for name, make in FITTED.items()}


def number_arrays(estimator):
    held = {name: value for name, value in vars(estimator).items() if name not in estimator.get_params(deep=False)}
    return {name: value for name, value in held.items() if isinstance(value, np.ndarray) and value.dtype.kind == "f"}


@pytest.mark.parametrize("name", FITTED)
def test_what_fit_leaves_is_what_the_class_declares(estimators, name):
    check_state(estimators[name])


@pytest.mark.parametrize("name", FITTED)
def test_a_lacking_or_unknown_part_is_refused(estimators, name):
    declared = type(estimators[name]).fitted_state
    lacking = copy.copy(estimators[name])
    part = next(part for part in vars(lacking) if part in declared and not declared[part].may_lack)
    del lacking.__dict__[part]
    with pytest.raises(ModelFileError, match=f"broken {type(lacking).__name__}: {part} must be"):
        check_state(lacking)
    more = copy.copy(estimators[name])
    more.sold_ = 1
    with pytest.raises(ModelFileError, match=f"sets 'sold_', which {type(more).__name__} does not learn"):
        check_state(more)


@pytest.mark.parametrize("name", FITTED)
def test_numbers_of_another_shape_or_without_a_value_are_refused(estimators, name):
    for part, values in number_arrays(estimators[name]).items():
        broken = copy.copy(estimators[name])
        setattr(broken, part, np.append(values.ravel(), 0.5)[:, None, None])
        with pytest.raises(ModelFileError, match=f"{part}.* must be|sets"):
            check_state(broken)
        if part in MAY_BE_UNKNOWN or (name, part) == ("HierarchicalSelector", "scores_"):
            continue
        unknown = values.copy()
        unknown.ravel()[0] = np.nan
        setattr(broken, part, unknown)
        with pytest.raises(ModelFileError, match=part):
            check_state(broken)


@pytest.mark.parametrize("part", ["_rows", "label_prior_", "with_label_", "without_label_", "prior_"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1e300])
def test_tampered_neighbours_are_refused_and_never_predict_nan(tmp_path, part, value):
    path = tmp_path / "model.ramify"
    ramify.save(chains.MLkNN(5).fit(LABELS.X, LABELS.y), path)
    model, arrays = taken_apart(path.read_bytes())
    arrays[model["fitted"][part]["array"]].ravel()[0] = value
    path.write_bytes(written(model, arrays))
    if part == "_rows" and np.isfinite(value):
        assert np.isfinite(ramify.load(path).predict_proba(LABELS.X)).all()
        return
    with pytest.raises(ModelFileError, match=f"broken MLkNN: {part} must be"):
        ramify.load(path)


def test_counts_that_are_no_distribution_are_refused(tmp_path):
    path = tmp_path / "model.ramify"
    ramify.save(chains.MLkNN(5).fit(LABELS.X, LABELS.y), path)
    model, arrays = taken_apart(path.read_bytes())
    arrays[model["fitted"]["with_label_"]["array"]][:, 0] = 0.0
    arrays[model["fitted"]["without_label_"]["array"]][:, 0] = 0.0
    path.write_bytes(written(model, arrays))
    with pytest.raises(ModelFileError, match="a distribution of counts must be positive and sum to one"):
        ramify.load(path)


@pytest.mark.parametrize("titles", [{"a": 1}, {"a": None}, {"a": ("b",)}, ["a"], "a", {"a": {"b": "c"}}])
def test_names_of_terms_that_are_no_texts_are_refused(estimators, titles):
    named = copy.copy(estimators["ForestClassifier"])
    named.titles_ = {"a": "alpha"}
    check_state(named)
    named.titles_ = titles
    with pytest.raises(ModelFileError, match="titles_ must be a text per name"):
        check_state(named)
