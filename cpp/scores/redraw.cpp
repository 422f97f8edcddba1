#include "scores/redraw.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/bits.hpp"
#include "base/indexing.hpp"
#include "forest/predictor.hpp"
#include "scores/row_values.hpp"

namespace ramify {

namespace {

/// Label sets: what a leaf says and what is true.
class LabelOutputs {
 public:
  LabelOutputs(const LabelRows& rows, const RedrawScope& scope) : rows_(rows), place_of_(at(rows.n_labels), -1) {
    for (std::size_t k = 0; k < scope.outputs.size(); ++k)
      place_of_[at(scope.outputs[k])] = static_cast<std::int32_t>(k);
  }

  template <class Add>
  void read_leaf(const Tree& tree, std::int32_t node, Add add) const {
    const std::size_t leaf = at(tree.child[at(node)]);
    const std::int64_t first = tree.leaf_offsets[leaf], last = tree.leaf_offsets[leaf + 1];
    const std::int64_t partial = tree.leaf_partial[leaf], certain = last - (tree.leaf_partial[leaf + 1] - partial);
    const double weight = tree.weight[at(node)];
    for (std::int64_t p = first; p < last; ++p) {
      const std::int32_t place = place_of_[at(tree.leaf_labels[at(p)])];
      if (place >= 0) add(at(place), p < certain ? 1.0 : tree.leaf_counts[at(partial + p - certain)] / weight);
    }
  }

  void read_truth(std::uint32_t row, std::vector<double>& truth) const {
    std::fill(truth.begin(), truth.end(), 0.0);
    for (std::int64_t p = rows_.offsets[row]; p < rows_.offsets[row + 1]; ++p) {
      const std::int32_t place = place_of_[at(rows_.labels[p])];
      if (place >= 0) truth[at(place)] = 1.0;
    }
    if (!rows_.partly_known()) return;
    for (std::int64_t p = rows_.unknown_offsets[row]; p < rows_.unknown_offsets[row + 1]; ++p) {
      const std::int32_t place = place_of_[at(rows_.unknown[p])];
      if (place >= 0) truth[at(place)] = std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  const LabelRows& rows_;
  std::vector<std::int32_t> place_of_;  ///< of each label within the scope, or -1
};

/// Numbers: the same.
class NumberOutputs {
 public:
  NumberOutputs(const NumberRows& rows, const RedrawScope& scope) : rows_(rows), scope_(scope) {}

  template <class Add>
  void read_leaf(const Tree& tree, std::int32_t node, Add add) const {
    const double* const means = tree.leaf_values.data() + tree.child[at(node)] * rows_.n_targets;
    for (std::size_t k = 0; k < scope_.outputs.size(); ++k) add(k, means[scope_.outputs[k]]);
  }

  void read_truth(std::uint32_t row, std::vector<double>& truth) const {
    const double* const values = rows_.values + static_cast<std::int64_t>(row) * rows_.n_targets;
    for (std::size_t k = 0; k < scope_.outputs.size(); ++k) truth[k] = values[scope_.outputs[k]];
  }

 private:
  const NumberRows& rows_;
  const RedrawScope& scope_;
};

/// What happens to one row after the other.
template <class Outputs>
class RowChanges {
 public:
  RowChanges(const Forest& forest, const FeatureTable& table, const Outputs& outputs,
             const std::vector<std::vector<std::uint64_t>>& bags, const Redraws& redraws, std::size_t n_outputs)
      : forest_(forest),
        outputs_(outputs),
        bags_(bags),
        redraws_(redraws),
        values_(table),
        unit_of_(at(table.n_features()), -1),
        column_of_(unit_of_.size(), -1),
        predicted_(n_outputs),
        truth_(n_outputs),
        moves_(at(redraws.n_units * redraws.n_draws)),
        moved_(at(redraws.n_units), 0),
        shifts_(n_outputs * at(redraws.n_draws), 0.0),
        is_touched_(n_outputs, 0) {
    for (std::int64_t unit = 0; unit < redraws.n_units; ++unit) {
      for (std::int64_t c = redraws.offsets[unit]; c < redraws.offsets[unit + 1]; ++c) {
        unit_of_[at(redraws.features[c])] = static_cast<std::int32_t>(unit);
        column_of_[at(redraws.features[c])] = static_cast<std::int32_t>(c);
      }
    }
  }

  /// Call `changed(unit, output, D, d, p)` for every unit and output whose prediction some draw may change.
  template <class Changed>
  void visit(std::uint32_t row, Changed changed) {
    const std::int64_t n_trees = move_through_trees(row);
    outputs_.read_truth(row, truth_);
    for (double& value : predicted_) value /= static_cast<double>(n_trees);
    for (const std::int32_t unit : moved_units_) {
      shift(unit);
      for (const std::uint32_t k : touched_) {
        double change = 0, mean = 0;
        for (std::int64_t draw = 0; draw < redraws_.n_draws; ++draw) {
          double& cell = shifts_[k * at(redraws_.n_draws) + at(draw)];
          const double shift = cell / static_cast<double>(n_trees);
          change += shift * (shift + 2 * (predicted_[k] - truth_[k]));
          mean += shift;
          cell = 0;
        }
        is_touched_[k] = 0;
        const auto n_draws = static_cast<double>(redraws_.n_draws);
        if (truth_[k] == truth_[k]) changed(unit, k, change / n_draws, mean / n_draws, predicted_[k]);
      }
    }
  }

 private:
  struct Move {
    std::int32_t tree, from, to;
  };

  /// Predict the row out of bag and note which units move it to other leaves; the number of trees.
  std::int64_t move_through_trees(std::uint32_t row) {
    for (const std::int32_t unit : moved_units_) {
      moved_[at(unit)] = 0;
      for (std::int64_t draw = 0; draw < redraws_.n_draws; ++draw) moves_[at(unit * redraws_.n_draws + draw)].clear();
    }
    moved_units_.clear();
    std::fill(predicted_.begin(), predicted_.end(), 0.0);
    values_.begin(row);
    std::int64_t n_trees = 0;
    for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
      if (has_bit(bags_[t], row)) continue;
      ++n_trees;
      const Tree& tree = *forest_.trees[t];
      follow(tree, values_, path_);
      outputs_.read_leaf(tree, path_.back(), [&](std::size_t k, double value) { predicted_[k] += value; });
      list_units(tree);
      for (const std::int32_t unit : units_on_path_) move(row, static_cast<std::int32_t>(t), unit);
    }
    return n_trees;
  }

  void list_units(const Tree& tree) {
    units_on_path_.clear();
    for (std::size_t step = 0; step + 1 < path_.size(); ++step) {
      tree.each_tested(path_[step], [&](std::int32_t feature, double) {
        if (unit_of_[at(feature)] >= 0) units_on_path_.push_back(unit_of_[at(feature)]);
      });
    }
    std::sort(units_on_path_.begin(), units_on_path_.end());
    units_on_path_.erase(std::unique(units_on_path_.begin(), units_on_path_.end()), units_on_path_.end());
  }

  void move(std::uint32_t row, std::int32_t t, std::int32_t unit) {
    const Tree& tree = *forest_.trees[at(t)];
    for (std::int64_t draw = 0; draw < redraws_.n_draws; ++draw) {
      const std::int32_t leaf = leaf_with(
          tree, values_, path_, [&](std::int32_t feature) { return unit_of_[at(feature)] == unit; },
          [&](std::int32_t feature) { return redraws_.value(draw, column_of_[at(feature)], row); });
      if (leaf == path_.back()) continue;
      moves_[at(unit * redraws_.n_draws + draw)].push_back({t, path_.back(), leaf});
      if (moved_[at(unit)]) continue;
      moved_[at(unit)] = 1;
      moved_units_.push_back(unit);
    }
  }

  /// Sum what the moves of a unit add to the row's predictions, by output and draw.
  void shift(std::int32_t unit) {
    touched_.clear();
    for (std::int64_t draw = 0; draw < redraws_.n_draws; ++draw) {
      const auto add = [&](double sign) {
        return [this, sign, draw](std::size_t k, double value) {
          if (!is_touched_[k]) {
            is_touched_[k] = 1;
            touched_.push_back(static_cast<std::uint32_t>(k));
          }
          shifts_[k * at(redraws_.n_draws) + at(draw)] += sign * value;
        };
      };
      for (const Move& moved : moves_[at(unit * redraws_.n_draws + draw)]) {
        outputs_.read_leaf(*forest_.trees[at(moved.tree)], moved.to, add(1.0));
        outputs_.read_leaf(*forest_.trees[at(moved.tree)], moved.from, add(-1.0));
      }
    }
  }

  const Forest& forest_;
  const Outputs& outputs_;
  const std::vector<std::vector<std::uint64_t>>& bags_;
  const Redraws& redraws_;
  RowValues values_;
  std::vector<std::int32_t> unit_of_, column_of_;  ///< by feature, -1 = in no unit
  std::vector<double> predicted_, truth_;          ///< by output of the scope
  std::vector<std::int32_t> path_, units_on_path_, moved_units_;
  std::vector<std::vector<Move>> moves_;  ///< by unit and draw
  std::vector<char> moved_;
  std::vector<double> shifts_;  ///< outputs x draws
  std::vector<std::uint32_t> touched_;
  std::vector<char> is_touched_;
};

void check(const Forest& forest, const FeatureTable& table, Outcome outcome, std::int64_t n_rows,
           std::int64_t n_outputs, const Redraws& redraws, const RedrawScope& scope) {
  if (forest.outcome != outcome || forest.n_outputs != n_outputs)
    throw std::invalid_argument("The forest was grown for another kind of target.");
  if (table.n_categories() != forest.n_categories)
    throw std::invalid_argument("The forest was grown on other features.");
  if (table.n_rows() != n_rows || redraws.n_rows != n_rows)
    throw std::invalid_argument("Features, targets and redrawn columns must have the same number of rows.");
  if (forest.trees.empty()) throw std::invalid_argument("The forest has no tree.");
  for (std::int64_t c = 0; c < redraws.n_columns; ++c) {
    if (redraws.features[c] < 0 || redraws.features[c] >= forest.n_features())
      throw std::invalid_argument("A redrawn column is of a feature that the forest does not have.");
  }
  for (std::size_t k = 0; k < scope.outputs.size(); ++k) {
    if (scope.outputs[k] < 0 || scope.outputs[k] >= n_outputs || (k > 0 && scope.outputs[k] <= scope.outputs[k - 1]))
      throw std::invalid_argument("The outputs to look at must ascend and be outputs of the forest.");
  }
}

std::vector<std::vector<std::uint64_t>> bags_of(const Forest& forest, const Examples& examples, std::int64_t n_rows,
                                                int n_threads, const Poll& poll) {
  std::vector<std::vector<std::uint64_t>> bags(forest.trees.size());
  const Poll quiet = poll ? Poll([&](std::int64_t) { return poll(0); }) : Poll();
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) { bags[at(t)] = in_bag(*forest.trees[at(t)], examples, n_rows); },
      quiet);
  return bags;
}

/// Rows that some tree has not seen, and where each group of them ends; a row alone is a group.
struct GroupedRows {
  std::vector<std::uint32_t> rows;
  std::vector<std::size_t> ends;
};

GroupedRows rows_outside(const std::vector<std::vector<std::uint64_t>>& bags, const Examples& examples,
                         RowRange range) {
  GroupedRows found;
  const auto add = [&](std::uint32_t row) {
    if (row < range.first || row >= range.last) return;
    const auto outside = [row](const std::vector<std::uint64_t>& bag) { return !has_bit(bag, row); };
    if (std::any_of(bags.begin(), bags.end(), outside)) found.rows.push_back(row);
  };
  const auto end_group = [&] {
    const std::size_t before = found.ends.empty() ? 0 : found.ends.back();
    if (found.rows.size() > before) found.ends.push_back(found.rows.size());
  };
  if (examples.group_offsets.empty()) {
    for (const std::uint32_t row : examples.rows) {
      add(row);
      end_group();
    }
    return found;
  }
  for (std::size_t group = 0; group + 1 < examples.group_offsets.size(); ++group) {
    for (std::size_t i = examples.group_offsets[group]; i < examples.group_offsets[group + 1]; ++i)
      add(examples.grouped_rows[i]);
    end_group();
  }
  return found;
}

/// Call `changed(block, row, unit, output, D, d, p)` row by row, and `ended(block, first, last)` after the rows of each
/// group; a fixed number of blocks of whole groups, whatever the threads.
template <class Outputs, class Changed, class Ended>
void for_each_change(const Forest& forest, const FeatureTable& table, const Outputs& outputs, const Examples& examples,
                     const Redraws& redraws, const RedrawScope& scope, RowRange range, std::int64_t n_blocks,
                     int n_threads, const Poll& poll, Changed changed, Ended ended) {
  const auto bags = bags_of(forest, examples, table.n_rows(), n_threads, poll);
  const GroupedRows grouped = rows_outside(bags, examples, range);
  const auto n_groups = static_cast<std::int64_t>(grouped.ends.size());
  run_tasks(
      n_blocks, n_threads,
      [&](std::int64_t block, int, const Control& control) {
        RowChanges<Outputs> changes(forest, table, outputs, bags, redraws, scope.outputs.size());
        for (std::int64_t g = n_groups * block / n_blocks; g < n_groups * (block + 1) / n_blocks; ++g) {
          const std::size_t first = g == 0 ? 0 : grouped.ends[at(g - 1)], last = grouped.ends[at(g)];
          for (std::size_t i = first; i < last; ++i) {
            control.check();
            const std::uint32_t row = grouped.rows[i];
            changes.visit(row, [&](std::int32_t unit, std::uint32_t k, double change, double shift, double predicted) {
              changed(block, row, unit, k, change, shift, predicted);
            });
          }
          ended(block, grouped.rows.data() + first, grouped.rows.data() + last);
        }
      },
      poll);
}

constexpr std::int64_t blocks_of_sums = 16;

/// Sums of one block of groups.
struct BlockSums {
  std::vector<double> cells;         ///< by unit, output and sum
  std::vector<double> of_group;      ///< w D of the group at hand, by unit and output
  std::vector<std::size_t> touched;  ///< cells of `of_group` that the group at hand changes
  std::vector<char> is_touched;
};

template <class Outputs>
RedrawSums sums_of(const Forest& forest, const FeatureTable& table, const Outputs& outputs, const Examples& examples,
                   const Redraws& redraws, const RedrawScope& scope, const double* residuals, int n_threads,
                   const Poll& poll) {
  const std::size_t n_outputs = scope.outputs.size(), n_cells = at(redraws.n_units) * n_outputs;
  constexpr std::size_t n_sums = 6;
  std::vector<BlockSums> blocks(at(blocks_of_sums), {std::vector<double>(n_cells * n_sums, 0.0),
                                                     std::vector<double>(n_cells, 0.0),
                                                     {},
                                                     std::vector<char>(n_cells, 0)});
  for_each_change(
      forest, table, outputs, examples, redraws, scope, {0, table.n_rows()}, blocks_of_sums, n_threads, poll,
      [&](std::int64_t b, std::uint32_t row, std::int32_t unit, std::uint32_t k, double change, double shift,
          double predicted) {
        BlockSums& block = blocks[at(b)];
        const std::size_t index = at(unit) * n_outputs + k;
        if (!block.is_touched[index]) {
          block.is_touched[index] = 1;
          block.touched.push_back(index);
        }
        block.of_group[index] += scope.row_weights[row] * change;
        double* const cell = block.cells.data() + index * n_sums;
        cell[3] += residuals[at(unit) * at(redraws.n_rows) + row] * shift;
        cell[4] += shift;
        cell[5] += shift * (2 * predicted + shift);
      },
      [&](std::int64_t b, const std::uint32_t* first, const std::uint32_t* last) {
        BlockSums& block = blocks[at(b)];
        double weight = 0;
        for (const std::uint32_t* row = first; row != last; ++row) weight += scope.row_weights[*row];
        for (const std::size_t index : block.touched) {
          double* const cell = block.cells.data() + index * n_sums;
          const double change = block.of_group[index];
          cell[0] += change;
          cell[1] += weight * change;
          cell[2] += change * change;
          block.of_group[index] = 0;
          block.is_touched[index] = 0;
        }
        block.touched.clear();
      });
  RedrawSums sums;
  std::vector<double>* const parts[n_sums] = {&sums.change,   &sums.weighted_change, &sums.square,
                                              &sums.residual, &sums.shift,           &sums.spread};
  for (std::size_t s = 0; s < n_sums; ++s) {
    parts[s]->assign(n_cells, 0.0);
    for (const BlockSums& block : blocks) {
      for (std::size_t cell = 0; cell < n_cells; ++cell) (*parts[s])[cell] += block.cells[cell * n_sums + s];
    }
  }
  return sums;
}

template <class Outputs>
std::vector<double> rows_of(const Forest& forest, const FeatureTable& table, const Outputs& outputs,
                            const Examples& examples, const Redraws& redraws, const RedrawScope& scope, RowRange range,
                            int n_threads, const Poll& poll) {
  if (range.first < 0 || range.last > table.n_rows() || range.first > range.last)
    throw std::invalid_argument("The range of rows lies outside the table.");
  const std::size_t n_outputs = scope.outputs.size(), n_rows = at(range.last - range.first);
  std::vector<double> changes(at(redraws.n_units) * n_rows * n_outputs, 0.0);
  for_each_change(
      forest, table, outputs, examples, redraws, scope, range, blocks_of_sums, n_threads, poll,
      [&](std::int64_t, std::uint32_t row, std::int32_t unit, std::uint32_t k, double change, double, double) {
        changes[(at(unit) * n_rows + at(row - range.first)) * n_outputs + k] = change;
      },
      [](std::int64_t, const std::uint32_t*, const std::uint32_t*) {});
  return changes;
}

}  // namespace

RedrawSums redraw_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                         const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                         const double* residuals, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::labels, labels.n_rows, labels.n_labels, redraws, scope);
  return sums_of(forest, table, LabelOutputs(labels, scope), examples, redraws, scope, residuals, n_threads, poll);
}

RedrawSums redraw_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                          const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                          const double* residuals, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::numbers, numbers.n_rows, numbers.n_targets, redraws, scope);
  return sums_of(forest, table, NumberOutputs(numbers, scope), examples, redraws, scope, residuals, n_threads, poll);
}

std::vector<double> redraw_rows_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                                       const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                                       std::int64_t first_row, std::int64_t last_row, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::labels, labels.n_rows, labels.n_labels, redraws, scope);
  return rows_of(forest, table, LabelOutputs(labels, scope), examples, redraws, scope, {first_row, last_row}, n_threads,
                 poll);
}

std::vector<double> redraw_rows_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                                        const Examples& examples, const Redraws& redraws, const RedrawScope& scope,
                                        std::int64_t first_row, std::int64_t last_row, int n_threads,
                                        const Poll& poll) {
  check(forest, table, Outcome::numbers, numbers.n_rows, numbers.n_targets, redraws, scope);
  return rows_of(forest, table, NumberOutputs(numbers, scope), examples, redraws, scope, {first_row, last_row},
                 n_threads, poll);
}

}  // namespace ramify
