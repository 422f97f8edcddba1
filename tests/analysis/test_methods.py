import pytest

from ramify.analysis.methods import (
    MODEL_METHODS,
    OWN_METHOD,
    RANKING_METHODS,
    SELECTION_METHODS,
    method_meaning,
    papers,
)
from ramify.ranking.forest_ranker import SCORES
from ramify.selection.methods import METHODS

ALL = [*RANKING_METHODS.values(), *SELECTION_METHODS.values(), *MODEL_METHODS.values()]


@pytest.mark.parametrize("method", ALL, ids=lambda method: method.name)
def test_every_method_has_a_meaning_and_a_paper(method):
    assert method.meaning.endswith(".")
    assert method.paper.endswith(".")
    assert any(character.isdigit() for character in method.paper)


def test_tables_hold_all_that_the_library_has():
    assert set(SCORES) == {name for name, method in RANKING_METHODS.items() if method.of_forest}
    assert set(SELECTION_METHODS) == set(METHODS) - {"none"}


def test_a_method_is_explained_by_its_whole_name():
    assert "L-classifier chains" in method_meaning("lcc")
    assert method_meaning("primrose") == OWN_METHOD
    assert method_meaning("Genie3") == RANKING_METHODS["genie3"].meaning
    assert method_meaning("hip-mr") != method_meaning("mr")


def test_papers_are_named_once():
    assert papers(["genie3", "symbolic", "primrose"]) == [RANKING_METHODS["genie3"].paper]
