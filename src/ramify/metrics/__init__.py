"""How good are predictions: plain functions, one file per kind of target."""

from ramify.metrics.confusion import (
    confusion,
    false_negative_rate,
    false_positive_rate,
    geometric_mean,
    true_negative_rate,
    true_positive_rate,
)
from ramify.metrics.curves import auprc, auroc, average_precision, gini
from ramify.metrics.hierarchical import (
    fmax,
    hierarchical_f,
    hierarchical_precision,
    hierarchical_recall,
    label_information,
    smin,
)
from ramify.metrics.label_rankings import kendall_tau, spearman_footrule, spearman_rho, top_k_overlap
from ramify.metrics.label_sets import (
    f_score,
    hamming,
    harmonic_f,
    jaccard,
    label_set_measures,
    precision,
    recall,
    subset_accuracy,
)
from ramify.metrics.measure_table import measure_table
from ramify.metrics.measures import larger_is_better, measure, takes
from ramify.metrics.numbers import r2, rmse, rrmse
from ramify.metrics.reliability import calibration_error, reliability_bins
from ramify.metrics.score import Score
from ramify.metrics.target_measure import part_score, target_score
from ramify.metrics.top_labels import label_propensities, precision_at

__all__ = [
    "Score",
    "auprc",
    "auroc",
    "average_precision",
    "calibration_error",
    "confusion",
    "f_score",
    "false_negative_rate",
    "false_positive_rate",
    "fmax",
    "geometric_mean",
    "gini",
    "hamming",
    "harmonic_f",
    "hierarchical_f",
    "hierarchical_precision",
    "hierarchical_recall",
    "jaccard",
    "kendall_tau",
    "label_information",
    "label_propensities",
    "label_set_measures",
    "larger_is_better",
    "measure",
    "measure_table",
    "part_score",
    "precision",
    "precision_at",
    "r2",
    "recall",
    "reliability_bins",
    "rmse",
    "rrmse",
    "smin",
    "spearman_footrule",
    "spearman_rho",
    "subset_accuracy",
    "takes",
    "target_score",
    "top_k_overlap",
    "true_negative_rate",
    "true_positive_rate",
]
