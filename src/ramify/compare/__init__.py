"""Sound statistics for comparing methods: over data sets, or over the folds of one."""

from ramify.compare.all_tests import all_tests
from ramify.compare.bayesian import signed_rank_probabilities
from ramify.compare.comparison import Comparison, compare
from ramify.compare.omnibus import friedman
from ramify.compare.posthoc import bonferroni_dunn, dunn, holm, nemenyi, wilcoxon
from ramify.compare.resampled import corrected_t, methods
from ramify.compare.result_table import average_ranks
from ramify.compare.results_file import read_results

__all__ = [
    "Comparison",
    "all_tests",
    "average_ranks",
    "bonferroni_dunn",
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
