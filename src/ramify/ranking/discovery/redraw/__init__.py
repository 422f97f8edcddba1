"""Redraw models: the distribution of a column given the others, learnt without the row that it is for.

A column of numbers is learnt in stages, each in a module of its own: which features matter (`screening`), its
expectation (`location`), its spread and its shape (`spread`); columns of classes, and shapes, by the chances of states
(`classes`). `outside` grows the forests that stages end with, `column` puts all together, `drawing` draws.
"""

from ramify.ranking.discovery.redraw.column import ColumnModel, column_model
from ramify.ranking.discovery.redraw.drawing import draw_column, draw_group, shuffled_rows, unit_residual

__all__ = ["ColumnModel", "column_model", "draw_column", "draw_group", "shuffled_rows", "unit_residual"]
