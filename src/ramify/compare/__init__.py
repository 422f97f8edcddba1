"""Sound statistics for comparing methods over data sets."""

from ramify.compare.comparison import Comparison, compare
from ramify.compare.omnibus import FriedmanResult, friedman, friedman_of_ranks
from ramify.compare.posthoc import (
    bonferroni_dunn,
    bonferroni_dunn_of_ranks,
    critical_distance,
    dunn,
    holm,
    holm_of_ranks,
    nemenyi,
    wilcoxon_bh,
)
from ramify.compare.result_table import average_ranks, rank_methods, wins

__all__ = [
    "Comparison",
    "FriedmanResult",
    "average_ranks",
    "bonferroni_dunn",
    "bonferroni_dunn_of_ranks",
    "compare",
    "critical_distance",
    "dunn",
    "friedman",
    "friedman_of_ranks",
    "holm",
    "holm_of_ranks",
    "nemenyi",
    "rank_methods",
    "wilcoxon_bh",
    "wins",
]
