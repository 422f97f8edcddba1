import gzip
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import average_precision_score
from tests.ranking import relief_reference as slow

from ramify import Hierarchy
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.datasets.readers.arff import read_arff
from ramify.ranking import FeatureRanking, ReliefRanker
from ramify.ranking.relief import relief_path
from ramify.targets import encode_labels


@pytest.fixture(scope="module")
def table():
    """Numeric, nominal, constant and missing columns, with ties."""
    random = np.random.RandomState(0)
    X = random.randint(0, 6, size=(45, 7)).astype(float)
    X[:, 0] = random.standard_normal(45)
    X[:, 6] = 3.0
    X[random.random_sample(X.shape) < 0.1] = np.nan
    nominal = np.array([False, False, False, True, True, False, False])
    n_values = np.array([len(np.unique(column[~np.isnan(column)])) for column in X.T])
    return X, nominal, n_values


def label_distance(Y, weights, *, root=True, bound=None):
    summed = (weights * np.abs(Y[:, None] - Y[None])).sum(axis=2)
    distance = np.sqrt(summed) if root else summed
    return distance / (distance.max() if bound is None else bound)


@pytest.mark.parametrize("kind", ["classes", "labels"])
def test_weighted_rows_equal_the_weighted_formula(table, kind):
    X, nominal, n_values = table
    random = np.random.RandomState(2)
    D, rows = slow.differences(X, nominal, n_values), random.choice([0.5, 1.0, 3.0], 45)
    if kind == "classes":
        y = random.choice(["a", "b", "c"], 45, p=[0.2, 0.3, 0.5])
        expected = slow.relieff(D, np.unique(y, return_inverse=True)[1], 4, 0.3, rows)
    else:
        y = random.randint(0, 2, size=(45, 6))
        expected = slow.relief(D, label_distance(y, np.ones(6)), 4, 0.3, rows)
    ranker = ReliefRanker(4, sigma=0.3, categorical_features=nominal).fit(X, y, sample_weight=rows)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-12)
    assert np.abs(ReliefRanker(4, sigma=0.3, categorical_features=nominal).fit(X, y).scores_ - expected).max() > 1e-3


@pytest.mark.parametrize("sigma", [None, 0.4])
@pytest.mark.parametrize("ramp", [None, (0.05, 0.4)])
@pytest.mark.parametrize("kind", ["classes", "numbers", "several numbers", "labels", "rankings"])
def test_equals_the_papers_formula(table, kind, sigma, ramp):
    X, nominal, n_values = table
    random = np.random.RandomState(1)
    D = slow.differences(X, nominal, n_values, ramp)
    target = "auto"
    if kind == "classes":
        y = random.choice(["a", "b", "c"], 45, p=[0.2, 0.3, 0.5])
        expected = slow.relieff(D, np.unique(y, return_inverse=True)[1], 4, sigma)
    elif kind == "labels":
        y = random.randint(0, 2, size=(45, 6))
        expected = slow.relief(D, label_distance(y, np.ones(6)), 4, sigma)
    elif kind == "rankings":
        target, y = "rankings", np.array([random.permutation(4) + 1 for _ in range(45)])
        pairs = [(a, b) for a in range(4) for b in range(a)]
        signs = np.array([[np.sign(row[a] - row[b]) for a, b in pairs] for row in y])
        expected = slow.relief(D, (signs[:, None] != signs[None]).mean(axis=2), 4, sigma)
    else:
        y = random.standard_normal((45, 1 if kind == "numbers" else 3))
        share = np.abs(y[:, None] - y[None]) / (y.max(axis=0) - y.min(axis=0))
        expected = slow.relief(D, share.mean(axis=2), 4, sigma)
        y = y[:, 0] if kind == "numbers" else y
    ranker = ReliefRanker(4, sigma=sigma, ramp=ramp, target=target, categorical_features=nominal).fit(X, y)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-12)


@pytest.mark.parametrize("extra_parents", [0.0, 0.5])
@pytest.mark.parametrize("bound", ["observed", None])
def test_hierarchies_equal_the_papers_formula(extra_parents, bound):
    data = make_hierarchical(60, n_features=15, extra_parents=extra_parents, missing=0.05, random_state=1)
    assert data.hierarchy.is_tree == (extra_parents == 0)
    weights = data.hierarchy.weights * (1 if bound else data.hierarchy.w0)
    distance = label_distance(data.y.toarray().astype(float), weights, bound=None if bound else 1)
    expected = slow.relief(slow.differences(data.X), distance, 5)
    ranker = ReliefRanker(5, hierarchy=data.hierarchy, bound=bound).fit(data.X, data.y)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-12)


def test_mixed_targets_take_the_mean_distance(table):
    X, nominal, n_values = table
    random = np.random.RandomState(2)
    y = pd.DataFrame({"class": random.choice(["a", "b"], 45), "number": random.standard_normal(45)})
    classes, numbers = y["class"].to_numpy(), y["number"].to_numpy()
    distance = (classes[:, None] != classes[None]) / 2
    distance = distance + np.abs(numbers[:, None] - numbers[None]) / np.ptp(numbers) / 2
    expected = slow.relief(slow.differences(X, nominal, n_values), distance, 3)
    ranker = ReliefRanker(3, categorical_features=nominal, target="mixed").fit(X, y)
    np.testing.assert_allclose(ranker.scores_, expected, atol=1e-12)


def test_several_neighbours_and_iterations_come_from_one_pass():
    data = make_hierarchical(80, n_features=20, random_state=0)
    common = {"hierarchy": data.hierarchy, "random_state": 7}
    path = relief_path(data.X, data.y, n_neighbors=[3, 10], n_iterations=[0.25, 1.0, 40], **common)
    assert [(r.origin["n_iterations"], r.origin["n_neighbors"]) for r in path] == [
        (m, k) for m in (20, 80, 40) for k in (3, 10)
    ]
    for ranking in path:
        m, k = ranking.origin["n_iterations"], ranking.origin["n_neighbors"]
        alone = ReliefRanker(k, n_iterations=m, **common).fit(data.X, data.y)
        np.testing.assert_allclose(ranking.scores, alone.scores_, atol=1e-13)


def test_smaller_draws_are_parts_of_larger_ones():
    data = make_hierarchical(60, n_features=14, random_state=0)
    draw = np.random.RandomState(np.random.RandomState(5).randint(np.iinfo(np.int32).max)).permutation(60)[:20]
    Y = data.y.toarray().astype(float)
    expected = slow.relief(slow.differences(data.X), label_distance(Y, np.ones(Y.shape[1])), 4, queries=draw)
    found = ReliefRanker(4, n_iterations=20, random_state=5).fit(data.X, data.y).scores_
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["binary", "numeric", "missing"])
def test_sparse_features_give_the_scores_of_dense_ones(kind):
    data = make_hierarchical(120, density=0.15, n_features=40, random_state=0)
    X = data.X.copy()
    if kind != "binary":
        X.data = np.random.RandomState(0).standard_normal(X.nnz)
    if kind == "missing":
        X.data[::7] = np.nan
    nominal = np.arange(10) if kind == "binary" else None
    common = {"hierarchy": data.hierarchy, "categorical_features": nominal, "per_label": True}
    from_sparse = ReliefRanker(**common).fit(X, data.y)
    from_dense = ReliefRanker(**common).fit(X.toarray(), data.y)
    np.testing.assert_allclose(from_sparse.scores_, from_dense.scores_, atol=1e-13)
    np.testing.assert_allclose(
        from_sparse.scores_per_label_.toarray(), from_dense.scores_per_label_.toarray(), atol=1e-13
    )


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_do_not_change_a_bit(n_jobs):
    data = make_hierarchical(150, missing=0.05, random_state=0)
    scores = [
        ReliefRanker(hierarchy=data.hierarchy, per_label=True, n_jobs=jobs).fit(data.X, data.y).scores_
        for jobs in (1, n_jobs)
    ]
    np.testing.assert_array_equal(*scores)


def test_scale_of_a_feature_does_not_matter():
    data = make_hierarchical(100, n_features=14, random_state=0)
    plain = ReliefRanker().fit(data.X, data.y).scores_
    scaled = ReliefRanker().fit(data.X * 2.0 ** np.arange(14), data.y).scores_
    np.testing.assert_allclose(scaled, plain, atol=1e-12)


def test_per_label_scores_are_those_of_the_label_alone_with_the_same_neighbours():
    data = make_hierarchical(70, n_features=14, depth=2, random_state=3)
    Y = data.y.toarray().astype(float)
    ranker = ReliefRanker(6, per_label=True).fit(data.X, data.y)
    D = slow.differences(data.X)
    for label in range(Y.shape[1]):
        expected = slow.relief(D, np.abs(Y[:, [label]] - Y[:, label]), 6)
        np.testing.assert_allclose(ranker.scores_per_label_[:, [label]].toarray()[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("density", [None, 0.15])
def test_planted_features_come_first_globally_and_per_label(density):
    data = make_hierarchical(1500, depth=2, n_features=30, noise=0.0, density=density, random_state=0)
    ranker = ReliefRanker(15, hierarchy=data.hierarchy, per_label=True).fit(data.X, data.y)
    assert average_precision_score(data.truth.any(axis=1), ranker.scores_) > 0.95
    for label in range(data.n_labels):
        scores = ranker.scores_per_label_[:, [label]].toarray()[:, 0]
        assert average_precision_score(data.truth[:, label], scores) > 0.95


CLUS = [
    ("testSTC-RealWorld", "testSTC-RealWorld", ["class"], (1, 5, 10), 150, 0.4),
    ("testMTR", "testMTR", ["tar1", "tar2", "tar3", "tar4"], (1, 3), 13, 0.5),
    ("testMixed", "testMixed", ["tar1", "tar2", "tar3", "tar4"], (1, 3), 13, 0.5),
    ("testMLC", "testMLCHammingLoss", ["tar1", "tar2", "tar3", "tar4"], (1, 3), 13, 0.5),
]


@pytest.mark.parametrize(("data", "truth", "targets", "neighbours", "n", "sigma"), CLUS)
def test_equals_clus(data_folder, data, truth, targets, neighbours, n, sigma):
    folder = data_folder / "clus_expected" / "ranking"
    X, columns = clus_table(folder / f"{data}.arff", targets)
    if data == "testMLC":
        overall = {"y": columns.astype(int).to_numpy(), "distance": "hamming", "bound": "paths"}
    else:
        kind = "mixed" if data == "testMixed" else "auto"
        overall = {"y": columns if len(targets) > 1 else columns["class"], "target": kind}
    for k in neighbours:
        expected = FeatureRanking.read(folder / f"{truth}.fimpTruth", column=f"overallIter{n}Neigh{k}")
        y = overall["y"]
        options = {name: value for name, value in overall.items() if name != "y"}
        found = ReliefRanker(k, sigma=sigma, **options).fit(X, y)
        np.testing.assert_allclose(found.scores_, expected.scores, atol=1e-9)
        for target in targets if len(targets) > 1 else []:
            expected = FeatureRanking.read(folder / f"{truth}.fimpTruth", column=f"{target}Iter{n}Neigh{k}")
            found = ReliefRanker(k, sigma=sigma).fit(X, columns[target])
            np.testing.assert_allclose(found.scores_, expected.scores, atol=1e-9)


def test_equals_clus_where_a_feature_and_a_target_are_hierarchical(data_folder):
    folder = data_folder / "clus_expected" / "ranking"
    X, columns = clus_table(folder / "testTreeHMLC.arff", ["tar1", "tar2", "tar3"])
    hierarchy = Hierarchy.from_paths(X["feat2"].cat.categories, separator="/", w0=0.9)
    options = {
        "sigma": 0.5,
        "distance": "hamming",
        "bound": "paths",
        "value_hierarchies": {"feat2": hierarchy},
    }
    for k in (1, 3):
        expected = clus_columns(folder / "testTreeHMLC.fimpTruth", 7, k)
        both = {**options, "value_hierarchies": {"feat2": hierarchy, "tar2": hierarchy}}
        found = ReliefRanker(k, target="mixed", **both).fit(X, columns)
        np.testing.assert_allclose(found.scores_, expected("overall"), atol=1e-9)
        found = ReliefRanker(k, hierarchy=hierarchy, **options).fit(X, hierarchy.encode(columns[["tar2"]].to_numpy()))
        np.testing.assert_allclose(found.scores_, expected("tar2"), atol=1e-9)
        found = ReliefRanker(k, **options).fit(X, columns["tar3"])
        np.testing.assert_allclose(found.scores_, expected("tar3"), atol=1e-9)
        if k == 1:  # for k = 3 CLUS leaves out the hits of the class that has three rows; we take the two there are
            found = ReliefRanker(k, **options).fit(X, columns["tar1"])
            np.testing.assert_allclose(found.scores_, expected("tar1"), atol=1e-9)


def clus_columns(path, n, k):
    return lambda target: FeatureRanking.read(path, column=f"{target}Iter{n}Neigh{k}").scores


@pytest.mark.parametrize("bound", ["observed", "paths", None])
@pytest.mark.parametrize("distance", ["euclidean", "hamming"])
def test_values_of_a_hierarchy_differ_as_label_sets_do(distance, bound):
    random = np.random.RandomState(3)
    hierarchy = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g"], separator="/")
    nodes = np.array(hierarchy.names, dtype=object)[random.randint(len(hierarchy), size=50)]
    X = pd.DataFrame({"node": nodes, "number": random.random_sample(50)})
    X.loc[::9, "node"] = None
    y = random.random_sample(50) + X["number"]
    options = {"value_hierarchies": {"node": hierarchy}, "distance": distance, "bound": bound}
    known = hierarchy.encode([[node] for node in X["node"].dropna()]).toarray()
    weights = hierarchy.weights * (hierarchy.w0 if bound is None else 1)
    between = (known[:, None] != known) @ weights
    between = between if distance == "hamming" else np.sqrt(between)
    D = np.full((50, 50), 1 - 1 / X["node"].nunique())
    where = np.flatnonzero(X["node"].notna())
    D[np.ix_(where, where)] = between / (between.max() if bound else 1)
    spread = np.abs(X["number"].to_numpy()[:, None] - X["number"].to_numpy())
    target = np.abs(y.to_numpy()[:, None] - y.to_numpy())
    expected = slow.relief(np.stack([D, spread / spread.max()]), target / target.max(), 5)
    np.testing.assert_allclose(ReliefRanker(5, **options).fit(X, y).scores_, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("hierarchies", "error", "message"),
    [
        ({"other": Hierarchy(["a", "b"])}, ValueError, "names 'other', which is not a nominal feature"),
        ({"number": Hierarchy(["a", "b"])}, ValueError, "names 'number', which is not a nominal feature"),
        ({"node": Hierarchy(["a"])}, ValueError, "Column 'node' has the value 'b', which is not a node"),
        ({"node": "a/b"}, TypeError, "must map names of columns to hierarchies. Got str for 'node'"),
        ([Hierarchy(["a"])], TypeError, "must be None or map names of columns to hierarchies. Got list"),
    ],
)
def test_hierarchies_of_other_values_are_refused(hierarchies, error, message):
    X = pd.DataFrame({"node": ["a", "b"] * 5, "number": np.arange(10.0)})
    with pytest.raises(error, match=message):
        ReliefRanker(2, value_hierarchies=hierarchies).fit(X, np.arange(10.0) / 3)


def clus_table(path, targets):
    """Features and targets of a small ARFF file as frames, nominal columns as categories."""
    lines = [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("%")]
    start = [line.lower() for line in lines].index("@data")
    declared = [line.split(None, 2)[1:] for line in lines[1:start]]
    rows = [line.split(",") for line in lines[start + 1 :]]
    frame = pd.DataFrame(rows, columns=[name for name, _ in declared])
    for name, kind in declared:
        if kind.startswith(("{", "hierarchical")):
            values = kind.removeprefix("hierarchical").strip(" {}").split(",")
            frame[name] = pd.Categorical(frame[name], categories=[value.strip() for value in values])
        else:
            frame[name] = frame[name].astype(float)
    return frame.drop(columns=targets), frame[targets]


def test_equals_clus_on_a_dag_with_missing_values(data_folder, tmp_path):
    folder = data_folder / "clus_expected" / "ranking"
    data = read_arff(folder / "testDagHMLC-RealWorld.arff.gz")
    summed = Hierarchy(data.hierarchy.names, data.hierarchy.edges, aggregate="sum")
    truth = tmp_path / "truth.fimp"
    truth.write_bytes(gzip.decompress((folder / "testDagHMLC-RealWorld.fimpTruth.gz").read_bytes()))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = relief_path(
            data.to_frame(),
            data.y,
            n_neighbors=[1, 5, 10],
            sigma=0.4,
            hierarchy=summed,
            distance="hamming",
            bound="paths",
        )
    assert "times the bound of single paths" in str(caught[0].message)
    for ranking in path:
        expected = FeatureRanking.read(truth, column=f"overallIter440Neigh{ranking.origin['n_neighbors']}")
        np.testing.assert_allclose(ranking.scores, expected.scores, atol=1e-9)


def test_progress_is_shown_when_asked_for(capsys):
    data = make_hierarchical(60, random_state=0)
    for verbose, shown in ((0, ""), (1, "Comparing examples")):
        relief_path(data.X, data.y, n_iterations=[0.5, 1.0], n_neighbors=[3], verbose=verbose, random_state=0)
        output = capsys.readouterr()
        assert output.out == ""
        assert shown in output.err
        assert bool(output.err) == bool(verbose)
    with pytest.raises(ValueError, match="'verbose' parameter"):
        ReliefRanker(verbose=-1).fit(data.X, data.y)


def test_as_many_categories_as_rows_are_no_burden():
    random = np.random.RandomState(0)
    X = np.column_stack([np.arange(50_000.0), random.random_sample(50_000)])
    ranker = ReliefRanker(5, n_iterations=50, categorical_features=[0], random_state=0)
    scores = ranker.fit(X, (X[:, 1] > 0.5).astype(int)).scores_
    assert abs(scores[0]) < 1e-12  # a name differs between all rows, so it tells nothing
    assert scores[1] > 0.1


def test_works_in_select_from_model():
    data = make_hierarchical(100, random_state=0)
    selector = SelectFromModel(ReliefRanker(), importance_getter="scores_", max_features=5, threshold=-np.inf)
    assert selector.fit_transform(data.X, data.y).shape == (100, 5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of ReliefRanker must be an int >= 1. Got 0 instead"),
        ({"n_neighbors": 20}, r"'n_neighbors' parameter of ReliefRanker must be an int in \[1, 19\]"),
        ({"n_iterations": 0.0}, "'n_iterations' parameter of ReliefRanker must be a number in"),
        ({"n_iterations": 21}, r"'n_iterations' parameter of ReliefRanker must be an int in \[1, 20\]"),
        ({"n_iterations": 1.5}, "'n_iterations' parameter"),
        ({"sigma": -1.0}, "'sigma' parameter"),
        ({"ramp": (0.5, 0.1)}, "'ramp' parameter of ReliefRanker must be None, True or two shares"),
        ({"ramp": 3}, "'ramp' parameter"),
        ({"distance": "manhattan"}, "'distance' parameter of ReliefRanker must be one of"),
        ({"bound": "tight"}, "'bound' parameter"),
        ({"target": "sets"}, "'target' parameter"),
        ({"per_label": True}, "'per_label' parameter of ReliefRanker is for label sets"),
        ({"target": "labels"}, "Label sets are a 0/1 matrix"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    random = np.random.RandomState(0)
    with pytest.raises(ValueError, match=message):
        ReliefRanker(**{"n_neighbors": 3, **parameters}).fit(random.random_sample((20, 3)), [0, 1] * 10)


def test_bad_targets_are_refused():
    X = np.random.RandomState(0).random_sample((20, 3))
    ranker = ReliefRanker(3)
    with pytest.raises(ValueError, match="the target y is None"):
        ranker.fit(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ranker.fit(X, [0.5, 1.5])
    with pytest.raises(ValueError, match="y has one class"):
        ranker.fit(X, np.zeros(20, dtype=int))
    with pytest.raises(ValueError, match="needs at least 2"):
        ranker.fit(X[:1], [1])
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(X, np.append(np.arange(19) + 0.5, np.nan))
    with pytest.raises(ValueError, match="Leave one of them out"):
        ReliefRanker(3, hierarchy=Hierarchy(["a"]), target="numbers").fit(X, np.ones((20, 1)))


@pytest.mark.parametrize(
    ("y", "options"),
    [
        (np.full(20, 0.5), {"target": "numbers"}),
        (np.zeros((20, 3), dtype=int), {}),
        (np.ones((20, 3), dtype=int), {}),
        (np.tile([1, 2, 3], (20, 1)), {"target": "rankings"}),
        (pd.DataFrame({"a": ["x"] * 20, "b": [1.5] * 20}), {"target": "mixed"}),
    ],
)
def test_a_target_that_is_always_the_same_is_refused(y, options):
    X = np.random.RandomState(0).random_sample((20, 3))
    with pytest.raises(ValueError, match="All rows of y are the same"):
        ReliefRanker(3, **options).fit(X, y)


def test_a_label_that_never_or_always_occurs_has_no_scores():
    data = make_multilabel(60, n_features=6, n_labels=4, random_state=0)
    Y = np.asarray(data.y.todense() if sparse.issparse(data.y) else data.y).copy()
    Y[:, 1], Y[:, 2] = 0, 1
    ranking = ReliefRanker(5, per_label=True).fit(data.X, Y).ranking_
    assert ranking.per_label[:, [0, 3]].count_nonzero() == 12
    for label in ranking.label_names[1:3]:
        with pytest.raises(ValueError, match="every example of the training data agrees on it"):
            ranking.for_label(label)


def test_sparse_labels_are_label_sets():
    data = make_hierarchical(50, depth=1, random_state=0)
    dense = ReliefRanker(5).fit(data.X, data.y.toarray())
    np.testing.assert_array_equal(ReliefRanker(5).fit(data.X, sparse.csr_matrix(data.y)).scores_, dense.scores_)


@pytest.mark.parametrize("metric", ["jaccard", "simgic"])
def test_overlap_distances_are_those_of_sets(metric):
    data = make_hierarchical(60, depth=3, random_state=1)
    target = encode_labels(data.y, hierarchy=data.hierarchy)
    Y = target.Y.toarray().astype(bool)
    content = np.ones(Y.shape[1])
    if metric == "simgic":
        content = np.array([-np.log2(share) if share > 0 else 0.0 for share in Y.mean(axis=0)])
    first, second = np.divmod(np.arange(3600), 60)
    found = target.distance(metric)(first, second)
    for a, b, value in zip(first, second, found, strict=True):
        union, both = content[Y[a] | Y[b]].sum(), content[Y[a] & Y[b]].sum()
        assert value == pytest.approx(0.0 if union == 0 else 1 - both / union)
    assert found.max() <= 1.0
    ranking = ReliefRanker(5, hierarchy=data.hierarchy, distance=metric).fit(data.X, data.y).ranking_
    drives = np.asarray(data.truth).any(axis=1)
    assert ranking.scores[drives].mean() > ranking.scores[~drives].mean()
