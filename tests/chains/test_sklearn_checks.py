"""scikit-learn's own checks over every chain estimator and the screening selector (R1).

The checks of weights are expected to fail: forests draw bootstrap rows and MLkNN counts neighbours as rows. What is
promised of weights is tested in `tests/metamorphic/test_weights.py`.

The forest is kept small and shallow: one check wants probabilities strictly between 0 and 1, which full trees and votes
need not give. Thresholds are one half where a check compares rounded probabilities with predictions.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ramify.chains import (
    BinaryRelevance,
    ClassifierChain,
    EnsembleOfChains,
    LabelPowerset,
    LClassifierChains,
    MLkNN,
    PairwiseLabels,
    R2Screening,
    RAkEL,
)
from ramify.ensemble import ForestClassifier

ROWS_ARE_COUNTED = {
    f"check_sample_weight_equivalence_on_{form}_data": "bootstrap rows, leaves and neighbours are counted, not weighed"
    for form in ("dense", "sparse")
}
FOREST = ForestClassifier(15, max_depth=2, min_samples_leaf=5, random_state=0)


@parametrize_with_checks(
    [
        BinaryRelevance(FOREST),
        LabelPowerset(FOREST, threshold=0.5),
        PairwiseLabels(FOREST, threshold=0.5, combine="mean"),
        ClassifierChain(FOREST),
        EnsembleOfChains(FOREST, threshold=0.5, combine="mean"),
        LClassifierChains(FOREST, threshold=0.5, combine="mean"),
        RAkEL(FOREST, combine="mean"),
        MLkNN(n_neighbors=3),
        R2Screening(50),
    ],
    expected_failed_checks=lambda estimator: {} if isinstance(estimator, R2Screening) else ROWS_ARE_COUNTED,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
