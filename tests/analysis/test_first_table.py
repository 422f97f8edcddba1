"""The first table: claimed features before associated ones before the others; noise is not said to matter."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify.analysis import analyse
from ramify.analysis.first_table import STANDINGS, beside, branch_sentences, unclaimed_reasons, untested
from ramify.cli.rank_output import claims_lines
from ramify.datasets import make_hierarchical, make_multilabel, read
from ramify.ensemble import ForestClassifier
from ramify.ranking import ForestRanker
from ramify.report.content import report_content
from ramify.report.sections.drivers import driving


@pytest.fixture(scope="module")
def go_like():
    """Few rows for a tree of many labels, correlated measurements, as of genes and their functions."""
    data = make_hierarchical(250, depth=3, n_features=40, random_state=2)
    X, Y = np.asarray(data.X).copy(), data.y.toarray() if sparse.issparse(data.y) else np.asarray(data.y).copy()
    X[:, 30] = X[:, data.truth.any(axis=1).argmax()] + 0.1 * np.random.default_rng(0).standard_normal(250)
    rare = int(Y.sum(axis=0).argmin())
    Y[np.flatnonzero(Y[:, rare])[2:], rare] = 0
    return replace(data, X=X, y=Y), data.hierarchy.names[rare]


@pytest.fixture(scope="module")
def results(go_like):
    return analyse(go_like[0], n_estimators=50)


def test_standings_come_in_order(results):
    seen = set()
    for label in results.label_ranking.label_names:
        features = beside(results, label, 8)
        standings = [STANDINGS.index(one.standing) for one in features]
        assert standings == sorted(standings)
        assert len({one.name for one in features}) == len(features) <= 8
        seen.update(one.standing for one in features)
        for one in features:
            assert (one.claim is None) == (one.standing == "ranked")
    assert "associated" in seen


def test_nothing_is_said_of_a_label_of_two_rows(go_like, results):
    rare = go_like[1]
    assert beside(results, rare, 5) == []
    assert "2 rows with it" in untested(results)[rare]
    content = report_content(results)
    label = content["labels"]["names"].index(rare)
    assert driving(content, content["methods"][0], label) == []
    assert content["labels"]["untested"][label].startswith("only 2 rows")
    assert label not in content["methods"][0]["drives"]
    assert any(rare in sentence and "would help" in sentence for sentence in unclaimed_reasons(results))


def test_terminal_and_page_say_the_same(results):
    content = report_content(results)
    for label, name in enumerate(results.label_ranking.label_names):
        told = [(one.name, one.standing) for one in beside(results, name, 3) if one.standing == "claimed"]
        shown = [line for line in driving(content, content["methods"][0], label) if line[1] == "claimed"]
        assert shown[:3] == told


def test_noise_is_told_to_be_noise():
    random = np.random.default_rng(1)
    data = replace(make_multilabel(150, n_labels=4, random_state=0), truth=None)
    said = 0
    for seed in range(10):
        noise = replace(data, y=data.y[random.permutation(150)])
        content = report_content(analyse(noise, n_estimators=20, random_state=seed, ensemble="extra-trees"))
        sentences = content["verdict"] + content["summary"]
        shown = any([*(content["features"]["claims"] or ()), *(content["features"]["associations"] or ())])
        said += shown
        if not shown:
            assert any("No feature is associated with any branch" in sentence for sentence in sentences)
            assert not any("leads with" in sentence for sentence in sentences)
    assert said <= 3


@pytest.mark.hostile
def test_the_first_table_of_a_real_set_is_not_blank(data_folder):
    path = data_folder / "hmc" / "go" / "eisen_GO.train.arff.gz"
    results = analyse(read(str(path)), ensemble="extra-trees", n_estimators=10)
    names = results.label_ranking.label_names
    n_filled = sum(any(one.standing == "associated" for one in beside(results, name, 3)) for name in names)
    assert n_filled > 0.2 * sum(name not in untested(results) for name in names)


def test_default_scores_favour_no_noise():
    """Beside a permuted copy of every column, the default ranking puts what matters first; Genie3 some noise."""
    found = {"default": [], "genie3": []}
    for seed in range(3):
        random = np.random.default_rng([3, seed])
        X = random.standard_normal((400, 30))
        X[:, ::2] = random.integers(0, 2, (400, 15))
        drivers = random.choice(30, 8, replace=False)
        score = ((X - X.mean(axis=0)) / X.std(axis=0))[:, drivers].sum(axis=1) + 1.5 * random.standard_normal(400)
        both = np.hstack([X, random.permuted(X, axis=0)])
        for name, scores in (("default", None), ("genie3", "genie3")):
            ranker = ForestRanker(ForestClassifier(60), scores=scores, random_state=seed).fit(both, score > 0)
            found[name].append(np.isin(drivers, ranker.ranking_.order[:10]).mean())
    assert np.mean(found["default"]) > 0.9
    assert np.mean(found["default"]) > np.mean(found["genie3"])


def test_branches_of_features_that_names_tell_are_claimed_and_said():
    random = np.random.default_rng(0)
    hidden = random.standard_normal((300, 4))
    X = np.repeat(hidden, 3, axis=1) + 0.3 * random.standard_normal((300, 12))
    frame = pd.DataFrame(X, columns=[f"meta|p{j // 3}|x{j}" for j in range(12)])
    frame["ill"] = np.where(random.random(300) < 1 / (1 + np.exp(-3 * hidden[:, 0])), "yes", "no")
    found = analyse(read(frame, target="ill"), n_estimators=50, random_state=0)
    claimed = {claim.feature for claim in found.discoveries.claims}
    assert {"meta|p0 and below", "meta and below"} <= claimed
    assert not claimed & {"meta|p1 and below", "meta|p2 and below", "meta|p3 and below"}
    (sentence,) = branch_sentences(found.discoveries)
    assert sentence.startswith("5 branches of features were tested beside single features. 2 of them")
    assert any(sentence in own for own in (claims_lines(found), report_content(found)["claims"]["sentences"]))
