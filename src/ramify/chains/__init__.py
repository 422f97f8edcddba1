"""Classifier chains and their relatives for label sets."""

from ramify.chains.binary_relevance import BinaryRelevance
from ramify.chains.chain import ClassifierChain
from ramify.chains.ensembles import EnsembleOfChains, LClassifierChains
from ramify.chains.mlknn import MLkNN
from ramify.chains.pairwise import PairwiseLabels
from ramify.chains.powerset import LabelPowerset, RAkEL
from ramify.chains.screening import R2Screening
from ramify.chains.stratification import IterativeStratification

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
]
