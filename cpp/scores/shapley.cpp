#include "scores/shapley.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scores/shapley_sums.hpp"

namespace ramify {

namespace {

constexpr std::int64_t max_cells = std::int64_t{1} << 22;  ///< of the sums of one thread, unless one column has more

/// What all rows share: which features the trees test, and the quadrature that is exact for each tree.
struct Plan {
  const Forest& forest;
  const FeatureRows& rows;
  const FeatureRows* background;
  std::vector<std::int32_t> used, place_of_feature;
  std::vector<Quadrature> quadratures;  ///< by tree
  std::vector<double> others;           ///< the background, row-major

  std::int64_t n_places() const { return static_cast<std::int64_t>(used.size()); }
};

Plan make_plan(const Forest& forest, const FeatureRows& rows, const FeatureRows* background, int n_threads,
               const Poll& poll) {
  check_features(forest, rows);
  Plan plan{forest, rows, background, {}, {}, {}, {}};
  plan.place_of_feature.assign(static_cast<std::size_t>(forest.n_features()), -1);
  for (const auto& tree : forest.trees) {
    if (!tree->combined.empty())
      throw std::invalid_argument(
          "Shapley values are of trees that test one feature per node, but these test sums of features (oblique). Use "
          "contributions, which shares each step among the features of the sum, or grow a forest with oblique=0.");
    for (const std::int32_t feature : tree->feature) {
      if (feature >= 0) plan.place_of_feature[static_cast<std::size_t>(feature)] = 0;
    }
  }
  for (std::size_t f = 0; f < plan.place_of_feature.size(); ++f) {
    if (plan.place_of_feature[f] < 0) continue;
    plan.place_of_feature[f] = static_cast<std::int32_t>(plan.used.size());
    plan.used.push_back(static_cast<std::int32_t>(f));
  }
  if (background != nullptr) {
    check_features(forest, *background);
    if (background->n_rows() == 0) throw std::invalid_argument("The background has no rows.");
    plan.others.assign(static_cast<std::size_t>(background->n_rows() * background->n_features()), 0.0);
    background->load(0, background->n_rows(), plan.others.data());
    return plan;
  }
  plan.quadratures.resize(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) {
        const std::int64_t most =
            most_features_on_a_path(*forest.trees[static_cast<std::size_t>(t)], forest.n_features());
        plan.quadratures[static_cast<std::size_t>(t)] = gauss_legendre(std::max<std::int64_t>(1, (most + 1) / 2));
      },
      poll);
  return plan;
}

/// A few rows, row by row and feature by feature.
struct RowLanes {
  std::vector<double> by_row, by_feature;

  void load(const FeatureRows& rows, std::int64_t first, std::int64_t last) {
    const std::int64_t n_features = rows.n_features();
    by_row.assign(static_cast<std::size_t>(shapley_lanes * n_features), 0.0);
    by_feature.resize(by_row.size());
    rows.load(first, last, by_row.data());
    for (std::int64_t r = 0; r < shapley_lanes; ++r) {
      for (std::int64_t f = 0; f < n_features; ++f)
        by_feature[static_cast<std::size_t>(f * shapley_lanes + r)] =
            by_row[static_cast<std::size_t>(r * n_features + f)];
    }
  }
};

/// Sum the values of `n_rows` loaded rows over the trees; `columns_of` is as in LeafEntries.
template <class ColumnsOf>
void sum_trees(const Plan& plan, const RowLanes& lanes, std::int64_t n_rows, ColumnsOf columns_of,
               const Control& control, ShapleySums& sums) {
  const Forest& forest = plan.forest;
  const std::int64_t n_features = forest.n_features();
  LeafEntries leaves;
  LeafWeights weights;
  std::vector<std::int8_t> side_of(static_cast<std::size_t>(n_features), 0);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    control.check();
    const Tree& tree = *forest.trees[t];
    leaves.collect(forest, tree, columns_of);
    if (plan.background == nullptr) {
      WeightedPaths(tree, plan.quadratures[t], n_features).add(lanes.by_feature.data(), leaves, weights, sums, control);
      continue;
    }
    const std::int64_t n_others = plan.background->n_rows();
    for (std::int64_t r = 0; r < n_rows; ++r) {
      for (std::int64_t b = 0; b < n_others; ++b) {
        if ((b & 0xff) == 0) control.check();
        add_against(tree, lanes.by_row.data() + r * n_features, plan.others.data() + b * n_features,
                    1 / static_cast<double>(n_others), r, leaves, side_of, sums);
      }
    }
  }
}

std::int64_t n_blocks(const FeatureRows& rows) { return (rows.n_rows() + shapley_lanes - 1) / shapley_lanes; }

/// Add one row's wanted outputs to a part of the result.
void keep_top(const Plan& plan, ShapleySums& sums, std::int64_t column, std::int64_t lane, std::int64_t top,
              SparseShapley& part) {
  const double divisor = plan.forest.divisor();
  std::vector<std::int64_t> places;
  const auto value = [&](std::int64_t place) { return sums.at(column, place)[lane]; };
  for (std::int64_t place = 0; place < plan.n_places(); ++place) {
    if (value(place) != 0) places.push_back(place);
  }
  if (top > 0 && static_cast<std::int64_t>(places.size()) > top) {
    std::nth_element(places.begin(), places.begin() + top, places.end(), [&](std::int64_t a, std::int64_t b) {
      const double of_a = std::fabs(value(a)), of_b = std::fabs(value(b));
      return of_a != of_b ? of_a > of_b : a < b;
    });
    places.resize(static_cast<std::size_t>(top));
    std::sort(places.begin(), places.end());
  }
  for (const std::int64_t place : places) {
    part.features.push_back(plan.used[static_cast<std::size_t>(place)]);
    part.values.push_back(value(place) / divisor);
  }
  part.offsets.push_back(static_cast<std::int64_t>(part.features.size()));
}

SparseShapley joined(const std::vector<SparseShapley>& parts) {
  SparseShapley whole;
  for (const SparseShapley& part : parts) {
    const auto before = static_cast<std::int64_t>(whole.features.size());
    for (std::size_t p = 1; p < part.offsets.size(); ++p) whole.offsets.push_back(before + part.offsets[p]);
    whole.features.insert(whole.features.end(), part.features.begin(), part.features.end());
    whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  }
  return whole;
}

}  // namespace

std::vector<double> shapley_base(const Forest& forest, const OutputColumns& columns) {
  std::vector<double> base(static_cast<std::size_t>(columns.n_columns), 0.0), reach;
  for (const auto& tree : forest.trees) {
    reach.assign(tree->feature.size(), 1.0);
    for (std::size_t i = 0; i < tree->feature.size(); ++i) {
      if (tree->feature[i] >= 0) {
        const auto left = static_cast<std::size_t>(tree->child[i]);
        const double whole = tree->weight[left] + tree->weight[left + 1];
        for (const std::size_t child : {left, left + 1}) reach[child] = reach[i] * tree->weight[child] / whole;
        continue;
      }
      read_leaf(forest, *tree, static_cast<std::int32_t>(i), [&](std::int32_t output, double value) {
        for (std::int64_t p = columns.offsets[output]; p < columns.offsets[output + 1]; ++p)
          base[static_cast<std::size_t>(columns.columns[p])] += reach[i] * value * columns.factors[p];
      });
    }
  }
  for (double& value : base) value /= forest.divisor();
  return base;
}

void shapley(const Forest& forest, const FeatureRows& rows, const FeatureRows* background, const OutputColumns& columns,
             int n_threads, const Poll& poll, double* out) {
  const Plan plan = make_plan(forest, rows, background, n_threads, poll);
  if (plan.used.empty()) return;
  const double divisor = forest.divisor();
  const std::int64_t width = std::max<std::int64_t>(1, max_cells / (plan.n_places() * shapley_lanes));
  const std::int64_t n_chunks = (columns.n_columns + width - 1) / width;
  run_tasks(
      n_blocks(rows) * n_chunks, n_threads,
      [&](std::int64_t task, int, const Control& control) {
        const std::int64_t start = task / n_chunks * shapley_lanes,
                           stop = std::min(start + shapley_lanes, rows.n_rows());
        const std::int64_t low = task % n_chunks * width, high = std::min(low + width, columns.n_columns);
        RowLanes lanes;
        lanes.load(rows, start, stop);
        ShapleySums sums{plan.place_of_feature, plan.n_places(), {}};
        sums.cells.assign(static_cast<std::size_t>((high - low) * plan.n_places() * shapley_lanes), 0.0);
        const auto columns_of = [&](std::int32_t output, const auto& add) {
          for (std::int64_t p = columns.offsets[output]; p < columns.offsets[output + 1]; ++p) {
            const std::int32_t column = columns.columns[p];
            if (column >= low && column < high) add(column - static_cast<std::int32_t>(low), columns.factors[p]);
          }
        };
        sum_trees(plan, lanes, stop - start, columns_of, control, sums);
        for (std::int64_t row = start; row < stop; ++row) {
          for (std::int64_t place = 0; place < plan.n_places(); ++place) {
            double* const cells =
                out + (row * forest.n_features() + plan.used[static_cast<std::size_t>(place)]) * columns.n_columns;
            for (std::int64_t column = low; column < high; ++column)
              cells[column] = sums.at(column - low, place)[row - start] / divisor;
          }
        }
      },
      poll);
}

SparseShapley shapley_sparse(const Forest& forest, const FeatureRows& rows, const FeatureRows* background,
                             const WantedOutputs& wanted, std::int64_t top, int n_threads, const Poll& poll) {
  const Plan plan = make_plan(forest, rows, background, n_threads, poll);
  std::vector<SparseShapley> parts(static_cast<std::size_t>(n_blocks(rows)));
  run_tasks(
      n_blocks(rows), n_threads,
      [&](std::int64_t task, int, const Control& control) {
        const std::int64_t start = task * shapley_lanes, stop = std::min(start + shapley_lanes, rows.n_rows());
        std::vector<std::int32_t> outputs(wanted.outputs + wanted.offsets[start],
                                          wanted.outputs + wanted.offsets[stop]);
        std::sort(outputs.begin(), outputs.end());
        outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
        std::vector<std::int32_t> column_of(static_cast<std::size_t>(forest.n_outputs), -1);
        for (std::size_t c = 0; c < outputs.size(); ++c)
          column_of[static_cast<std::size_t>(outputs[c])] = static_cast<std::int32_t>(c);
        RowLanes lanes;
        ShapleySums sums{plan.place_of_feature, plan.n_places(), {}};
        sums.cells.assign(outputs.size() * plan.used.size() * static_cast<std::size_t>(shapley_lanes), 0.0);
        const auto columns_of = [&](std::int32_t output, const auto& add) {
          if (column_of[static_cast<std::size_t>(output)] >= 0) add(column_of[static_cast<std::size_t>(output)], 1.0);
        };
        if (!sums.cells.empty()) {
          lanes.load(rows, start, stop);
          sum_trees(plan, lanes, stop - start, columns_of, control, sums);
        }
        for (std::int64_t row = start; row < stop; ++row) {
          for (std::int64_t p = wanted.offsets[row]; p < wanted.offsets[row + 1]; ++p) {
            const std::int32_t column = column_of[static_cast<std::size_t>(wanted.outputs[p])];
            keep_top(plan, sums, column, row - start, top, parts[static_cast<std::size_t>(task)]);
          }
        }
      },
      poll);
  return joined(parts);
}

}  // namespace ramify
