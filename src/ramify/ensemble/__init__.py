"""Tree ensembles for every kind of target."""

from ramify.ensemble.boosted_classifier import BoostedClassifier
from ramify.ensemble.boosted_regressor import BoostedRegressor
from ramify.ensemble.calibrated import Calibrated
from ramify.ensemble.classifier import ForestClassifier
from ramify.ensemble.conformal import ConformalSets
from ramify.ensemble.export import export_tree
from ramify.ensemble.kernel import KernelClassifier, KernelRegressor
from ramify.ensemble.label_ranking import LabelRankingForest
from ramify.ensemble.mixed import MixedForest
from ramify.ensemble.neighbors import NeighborsClassifier
from ramify.ensemble.network import NetworkClassifier
from ramify.ensemble.portfolio import Portfolio
from ramify.ensemble.regressor import ForestRegressor

__all__ = [
    "BoostedClassifier",
    "BoostedRegressor",
    "Calibrated",
    "ConformalSets",
    "ForestClassifier",
    "ForestRegressor",
    "KernelClassifier",
    "KernelRegressor",
    "LabelRankingForest",
    "MixedForest",
    "NeighborsClassifier",
    "NetworkClassifier",
    "Portfolio",
    "export_tree",
]
