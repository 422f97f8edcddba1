"""How good are predictions: plain functions, one file per kind of target."""

from ramify.metrics.cafa import cafa_measures
from ramify.metrics.curves import auprc, average_precision_score, roc_auc_score
from ramify.metrics.geometric_mean import geometric_mean
from ramify.metrics.hierarchical import (
    fmax,
    hierarchical_f,
    hierarchical_precision,
    hierarchical_recall,
    smin,
)
from ramify.metrics.label_rankings import kendall_tau, spearman_footrule, spearman_rho, top_k_overlap
from ramify.metrics.label_sets import (
    accuracy_score,
    f1_score,
    hamming_loss,
    jaccard_score,
    precision_score,
    recall_score,
)
from ramify.metrics.measure_table import measure_table
from ramify.metrics.measures import larger_is_better, measure
from ramify.metrics.numbers import r2_score, root_mean_squared_error, rrmse
from ramify.metrics.reliability import calibration_error, reliability_bins
from ramify.metrics.top_labels import label_propensities, one_error, precision_at

__all__ = [
    "accuracy_score",
    "auprc",
    "average_precision_score",
    "cafa_measures",
    "calibration_error",
    "f1_score",
    "fmax",
    "geometric_mean",
    "hamming_loss",
    "hierarchical_f",
    "hierarchical_precision",
    "hierarchical_recall",
    "jaccard_score",
    "kendall_tau",
    "label_propensities",
    "larger_is_better",
    "measure",
    "measure_table",
    "one_error",
    "precision_at",
    "precision_score",
    "r2_score",
    "recall_score",
    "reliability_bins",
    "roc_auc_score",
    "root_mean_squared_error",
    "rrmse",
    "smin",
    "spearman_footrule",
    "spearman_rho",
    "top_k_overlap",
]
