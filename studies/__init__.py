"""The published experiments, run again: a study file per paper, and the figures that they share."""
