"""Figures that studies share: what they draw, and how wide they get."""

import sys

import numpy as np
import pandas as pd
import pytest

from ramify.study.study_files import load_study_file

load_study_file("label_ranking")
load_study_file("hmlc_ranking")
plots = sys.modules["ramify_studies.figures"]


def test_quality_by_size_draws_a_line_per_ranking_and_the_baseline():
    values = pd.DataFrame({"Genie3": [0.5, 0.52, 0.53], "Symbolic": [0.49, 0.5, None]}, index=[10, 50, 250])
    axes = plots.quality_by_size(values, baseline=0.48, title="spo_FUN").axes[0]
    baseline, first, second = axes.get_lines()
    assert baseline.get_ydata()[0] == 0.48
    np.testing.assert_array_equal(first.get_xdata(), [10, 50, 250])
    np.testing.assert_array_equal(first.get_ydata(), [0.5, 0.52, 0.53])
    assert np.isnan(second.get_ydata()[-1])
    assert axes.get_title() == "spo_FUN"


def test_bars_by_dataset_have_the_height_of_the_value_side_by_side():
    values = pd.DataFrame({"a": [1.0, -2.0], "b": [3.0, np.nan]}, index=["iris", "wine"])
    axes = plots.bars_by_dataset(values, measure="gain").axes[0]
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    np.testing.assert_array_equal(heights, [[1.0, -2.0], [3.0, np.nan]])
    first, second = (bars[0] for bars in axes.containers)
    assert first.get_x() + first.get_width() == pytest.approx(second.get_x())
    assert [text.get_text() for text in axes.get_xticklabels()] == ["iris", "wine"]


@pytest.mark.parametrize(("n_sets", "width"), [(2, 4.0), (16, 8.0), (100, 17.0)])
def test_bars_by_dataset_are_no_wider_than_a_page_unless_their_names_need_it(n_sets, width):
    figure = plots.bars_by_dataset(pd.DataFrame(np.ones((n_sets, 5))), measure="share")
    assert figure.get_figwidth() == width
