"""How good are predictions: plain functions, one file per kind of target."""

from ramify.metrics.rankings import kendall_tau, spearman_footrule, spearman_rho, top_k_overlap

__all__ = ["kendall_tau", "spearman_footrule", "spearman_rho", "top_k_overlap"]
