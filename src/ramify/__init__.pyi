from ramify import analysis as analysis
from ramify import chains as chains
from ramify import compare as compare
from ramify import datasets as datasets
from ramify import ensemble as ensemble
from ramify import metrics as metrics
from ramify import plots as plots
from ramify import ranking as ranking
from ramify import report as report
from ramify import selection as selection
from ramify import study as study
from ramify.datasets import Dataset as Dataset
from ramify.datasets import read as read
from ramify.ensemble import ForestClassifier as ForestClassifier
from ramify.ensemble import ForestRegressor as ForestRegressor
from ramify.ensemble import LabelRankingForest as LabelRankingForest
from ramify.ensemble import MixedForest as MixedForest
from ramify.hierarchy import Hierarchy as Hierarchy
from ramify.models import load as load
from ramify.models import save as save
from ramify.ranking import FeatureRanking as FeatureRanking
from ramify.ranking import ForestRanker as ForestRanker
from ramify.ranking import ReliefRanker as ReliefRanker
from ramify.report import write_report as write_report
from ramify.selection import SelectTop as SelectTop
from ramify.study import Study as Study

__version__: str
