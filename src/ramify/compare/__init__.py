"""Sound statistics for comparing methods: over data sets, or over the folds of one."""

from ramify.compare.bayesian import signed_rank_probabilities
from ramify.compare.comparison import Comparison, compare
from ramify.compare.omnibus import friedman
from ramify.compare.posthoc import dunn, holm, nemenyi, wilcoxon
from ramify.compare.resampled import corrected_t, methods
from ramify.compare.results_file import read_results

__all__ = [
    "Comparison",
    "compare",
    "corrected_t",
    "dunn",
    "friedman",
    "holm",
    "methods",
    "nemenyi",
    "read_results",
    "signed_rank_probabilities",
    "wilcoxon",
]
