"""Classifier chains and their relatives for label sets."""

from ramify.chains.binary_relevance import BinaryRelevance
from ramify.chains.chain import ClassifierChain
from ramify.chains.ensembles import EnsembleOfChains, LClassifierChains
from ramify.chains.importance import global_importance, importance_frame, importance_index, top_predictors
from ramify.chains.neighbors import MLkNN
from ramify.chains.pairwise import PairwiseLabels
from ramify.chains.powerset import LabelPowerset, RAkEL
from ramify.chains.screening import R2Screening, screening_sweep
from ramify.chains.statistics import label_statistics
from ramify.chains.stratification import IterativeStratification, stratified_parts

__all__ = [
    "BinaryRelevance",
    "ClassifierChain",
    "EnsembleOfChains",
    "IterativeStratification",
    "LClassifierChains",
    "LabelPowerset",
    "MLkNN",
    "PairwiseLabels",
    "R2Screening",
    "RAkEL",
    "global_importance",
    "importance_frame",
    "importance_index",
    "label_statistics",
    "screening_sweep",
    "stratified_parts",
    "top_predictors",
]
