/// What redrawing features does to the out-of-bag squared error of each row and output.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_table.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// Units of one or more features each, and other values for their columns.
struct Redraws {
  std::int64_t n_units, n_draws, n_columns, n_rows;
  const std::int64_t* offsets;   ///< of each unit into the columns: n_units + 1
  const std::int32_t* features;  ///< of each column; a feature belongs to one unit at most
  const double* values;          ///< n_draws x n_columns x n_rows

  double value(std::int64_t draw, std::int64_t column, std::uint32_t row) const {
    return values[(draw * n_columns + column) * n_rows + row];
  }
};

/// Which outputs are looked at, and what each row weighs.
struct RedrawScope {
  std::vector<std::int32_t> outputs;  ///< ascending
  const double* row_weights;          ///< by row of the table
};

/// Sums over out-of-bag rows, units x outputs of the scope. A row's change D is the mean over draws of its squared
/// error with the redrawn prediction less the squared error of its prediction p; d is the mean change of the
/// prediction. S is the sum of w D over a group of rows (each row is one where none are given), m that of w.
struct RedrawSums {
  std::vector<double> change;           ///< S, over groups
  std::vector<double> weighted_change;  ///< m S
  std::vector<double> square;           ///< S^2
  std::vector<double> residual;         ///< r d, with the residual r of the unit and row
  std::vector<double> shift;            ///< d
  std::vector<double> spread;           ///< 2 p d + d^2
};

/// Reduce the changes of all units; unknown labels change nothing. `residuals` is units x rows. A row's path through a
/// tree is followed once for all units; only rows whose path meets a unit are looked at again, and only outputs in
/// leaves that differ.
RedrawSums redraw_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                         const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                         const double* residuals, int n_threads, const Poll& poll);

/// The same for numbers; NaN is unknown and changes nothing.
RedrawSums redraw_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                          const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                          const double* residuals, int n_threads, const Poll& poll);

/// D of every row from `first_row` to before `last_row` and every output, units x rows x outputs; 0 where nothing
/// changes.
std::vector<double> redraw_rows_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                                       const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                                       std::int64_t first_row, std::int64_t last_row, int n_threads, const Poll& poll);

std::vector<double> redraw_rows_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                                        const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                                        std::int64_t first_row, std::int64_t last_row, int n_threads, const Poll& poll);

}  // namespace ramify
