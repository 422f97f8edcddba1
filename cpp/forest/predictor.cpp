#include "forest/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/bits.hpp"
#include "forest/bagging.hpp"

namespace ramify {

void check_features(const Forest& forest, const FeatureRows& rows) {
  if (rows.n_features() != forest.n_features()) {
    throw std::invalid_argument("The forest was grown on " + std::to_string(forest.n_features()) +
                                " features, the rows have " + std::to_string(rows.n_features()) + ".");
  }
  if (forest.trees.empty()) throw std::invalid_argument("The forest has no tree.");
}

namespace {

/// Call `visit(first, last, block, task, thread)` for blocks of loaded rows.
template <class Visit>
void for_each_block(const FeatureRows& rows, RowRange range, int n_threads, const Poll& poll, Visit visit) {
  if (range.first < 0 || range.last > rows.n_rows() || range.first > range.last)
    throw std::invalid_argument("The range of rows lies outside the matrix.");
  const std::int64_t size = rows.rows_per_block();
  const std::int64_t n_blocks = (range.last - range.first + size - 1) / size;
  std::vector<std::vector<double>> blocks(static_cast<std::size_t>(n_threads));
  run_tasks(
      n_blocks, n_threads,
      [&](std::int64_t task, int thread, const Control&) {
        std::vector<double>& block = blocks[static_cast<std::size_t>(thread)];
        if (block.empty()) block.assign(static_cast<std::size_t>(size * rows.n_features()), 0.0);
        const std::int64_t first = range.first + task * size, last = std::min(first + size, range.last);
        rows.load(first, last, block.data());
        visit(first, last, block.data(), task, thread);
        rows.unload(first, last, block.data());
      },
      poll);
}

}  // namespace

namespace {

/// Sums over trees of what the leaves of a row hold: one array per thread, of which only what was added to is read and
/// cleared.
class RowSums {
 public:
  explicit RowSums(std::int64_t n_outputs)
      : sums_(static_cast<std::size_t>(n_outputs), 0.0), is_touched_(static_cast<std::size_t>(n_outputs), 0) {}

  /// Call `visit(output, sum)` for what the row's leaves hold, outputs ascending.
  template <class Visit>
  void take(const Forest& forest, const double* row, Visit visit) {
    for (const auto& tree : forest.trees) {
      read_leaf(forest, *tree, find_leaf(*tree, row), [this](std::int32_t output, double value) {
        const auto at = static_cast<std::size_t>(output);
        if (!is_touched_[at]) touched_.push_back(output);
        is_touched_[at] = 1;
        sums_[at] += value;
      });
    }
    std::sort(touched_.begin(), touched_.end());
    for (const std::int32_t output : touched_) {
      const auto at = static_cast<std::size_t>(output);
      visit(output, sums_[at]);
      sums_[at] = 0;
      is_touched_[at] = 0;
    }
    touched_.clear();
  }

 private:
  std::vector<double> sums_;
  std::vector<std::uint8_t> is_touched_;
  std::vector<std::int32_t> touched_;
};

}  // namespace

void predict(const Forest& forest, const FeatureRows& rows, RowRange range, int n_threads, const Poll& poll,
             double* out) {
  check_features(forest, rows);
  const std::int64_t n_features = rows.n_features();
  const double divisor = forest.divisor();
  for_each_block(rows, range, n_threads, poll,
                 [&](std::int64_t first, std::int64_t last, const double* block, std::int64_t, int) {
                   double* const sums = out + (first - range.first) * forest.n_outputs;
                   std::fill(sums, sums + (last - first) * forest.n_outputs, 0.0);
                   const auto row_at = [block, n_features](std::int64_t row) { return block + row * n_features; };
                   std::vector<std::int32_t> leaves(static_cast<std::size_t>(last - first));
                   for (const auto& tree : forest.trees) {
                     find_leaves(*tree, last - first, row_at, leaves.data());
                     for (std::int64_t row = 0; row < last - first; ++row) {
                       double* const sum = sums + row * forest.n_outputs;
                       read_leaf(forest, *tree, leaves[static_cast<std::size_t>(row)],
                                 [sum](std::int32_t output, double value) { sum[output] += value; });
                     }
                   }
                   for (double* sum = sums; sum < sums + (last - first) * forest.n_outputs; ++sum) *sum /= divisor;
                 });
}

SparsePrediction predict_sparse(const Forest& forest, const FeatureRows& rows, RowRange range, double threshold,
                                int n_threads, const Poll& poll) {
  check_features(forest, rows);
  const double divisor = forest.divisor();
  const std::int64_t size = rows.rows_per_block();
  std::vector<SparsePrediction> parts(static_cast<std::size_t>((range.last - range.first + size - 1) / size));
  std::vector<RowSums> sums(static_cast<std::size_t>(n_threads), RowSums(forest.n_outputs));
  for_each_block(rows, range, n_threads, poll,
                 [&](std::int64_t first, std::int64_t last, const double* block, std::int64_t task, int thread) {
                   SparsePrediction& part = parts[static_cast<std::size_t>(task)];
                   for (std::int64_t row = 0; row < last - first; ++row) {
                     sums[static_cast<std::size_t>(thread)].take(forest, block + row * forest.n_features(),
                                                                 [&](std::int32_t output, double sum) {
                                                                   const double value = sum / divisor;
                                                                   if (value == 0 || !(value >= threshold)) return;
                                                                   part.labels.push_back(output);
                                                                   part.values.push_back(value);
                                                                 });
                     part.offsets.push_back(static_cast<std::int64_t>(part.labels.size()));
                   }
                 });
  SparsePrediction whole;
  whole.offsets.push_back(0);
  for (const SparsePrediction& part : parts) {
    const auto before = static_cast<std::int64_t>(whole.labels.size());
    for (const std::int64_t offset : part.offsets) whole.offsets.push_back(before + offset);
    whole.labels.insert(whole.labels.end(), part.labels.begin(), part.labels.end());
    whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  }
  return whole;
}

void predict_top(const Forest& forest, const FeatureRows& rows, RowRange range, std::int64_t n_top, int n_threads,
                 const Poll& poll, std::int32_t* outputs, double* values) {
  check_features(forest, rows);
  if (forest.outcome != Outcome::labels) throw std::invalid_argument("The largest outputs are those of label forests.");
  if (n_top < 1 || n_top > forest.n_outputs) throw std::invalid_argument("There are fewer outputs than are asked for.");
  const double divisor = forest.divisor();
  struct Label {
    double value;
    std::int32_t output;
  };
  const auto better = [](const Label& a, const Label& b) {
    return a.value != b.value ? a.value > b.value : a.output < b.output;
  };
  std::vector<RowSums> sums(static_cast<std::size_t>(n_threads), RowSums(forest.n_outputs));
  std::vector<std::vector<Label>> found(static_cast<std::size_t>(n_threads));
  for_each_block(rows, range, n_threads, poll,
                 [&](std::int64_t first, std::int64_t last, const double* block, std::int64_t, int thread) {
                   std::vector<Label>& labels = found[static_cast<std::size_t>(thread)];
                   for (std::int64_t row = 0; row < last - first; ++row) {
                     labels.clear();
                     std::int32_t lacking = 0;  // outputs that no leaf holds are worth 0: as many as can be needed
                     std::int64_t n_lacking = 0;
                     sums[static_cast<std::size_t>(thread)].take(
                         forest, block + row * forest.n_features(), [&](std::int32_t output, double sum) {
                           for (; lacking < output && n_lacking < n_top; ++lacking, ++n_lacking)
                             labels.push_back({0.0, lacking});
                           lacking = std::max(lacking, output + 1);
                           labels.push_back({sum / divisor, output});
                         });
                     for (; lacking < forest.n_outputs && n_lacking < n_top; ++lacking, ++n_lacking)
                       labels.push_back({0.0, lacking});
                     std::partial_sort(labels.begin(), labels.begin() + n_top, labels.end(), better);
                     const std::int64_t at = (first + row - range.first) * n_top;
                     for (std::int64_t i = 0; i < n_top; ++i) {
                       outputs[at + i] = labels[static_cast<std::size_t>(i)].output;
                       values[at + i] = labels[static_cast<std::size_t>(i)].value;
                     }
                   }
                 });
}

void apply(const Forest& forest, const FeatureRows& rows, int n_threads, const Poll& poll, std::int32_t* out) {
  check_features(forest, rows);
  const std::int64_t n_features = rows.n_features();
  for_each_block(rows, {0, rows.n_rows()}, n_threads, poll,
                 [&](std::int64_t first, std::int64_t last, const double* block, std::int64_t, int) {
                   const auto row_at = [block, n_features](std::int64_t row) { return block + row * n_features; };
                   std::vector<std::int32_t> leaves(static_cast<std::size_t>(last - first));
                   for (std::int64_t t = 0; t < forest.n_trees(); ++t) {
                     find_leaves(*forest.trees[static_cast<std::size_t>(t)], last - first, row_at, leaves.data());
                     for (std::int64_t row = first; row < last; ++row)
                       out[row * forest.n_trees() + t] = leaves[static_cast<std::size_t>(row - first)];
                   }
                 });
}

std::vector<StepNode> step_nodes(const Tree& tree) {
  std::vector<StepNode> nodes(tree.feature.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int32_t feature = tree.feature[i];
    if (feature < 0) {
      nodes[i] = {std::numeric_limits<double>::infinity(), 1, static_cast<std::int32_t>(i)};
    } else {
      nodes[i] = {tree.threshold[i], 2 * feature + tree.missing_left[i], tree.child[i]};
    }
  }
  return nodes;
}

std::vector<std::uint64_t> in_bag(const Tree& tree, const Examples& examples, std::int64_t n_rows) {
  std::vector<std::uint32_t> draws(static_cast<std::size_t>(n_rows), 0);
  draw_bag(tree.seed, examples, draws);
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(n_rows + 63) / 64, 0);
  for (std::size_t row = 0; row < draws.size(); ++row) {
    if (draws[row] > 0) bits[row / 64] |= std::uint64_t(1) << (row % 64);
  }
  return bits;
}

std::vector<OutsideRow> rows_outside(const Tree& tree, const FeatureRows& rows, const Examples& examples) {
  const std::vector<std::uint64_t> bag = in_bag(tree, examples, rows.n_rows());
  const std::int64_t size = rows.rows_per_block();
  std::vector<double> block(static_cast<std::size_t>(size * rows.n_features()), 0.0);
  std::vector<OutsideRow> outside;
  std::size_t next = 0;
  for (std::int64_t first = 0; first < rows.n_rows(); first += size) {
    const std::int64_t last = std::min(first + size, rows.n_rows());
    rows.load(first, last, block.data());
    for (; next < examples.rows.size() && examples.rows[next] < last; ++next) {
      const std::int64_t row = examples.rows[next];
      if (has_bit(bag, row)) continue;
      const double weight = examples.weights.empty() ? 1.0 : examples.weights[static_cast<std::size_t>(row)];
      outside.push_back({row, find_leaf(tree, block.data() + (row - first) * rows.n_features()), weight});
    }
    rows.unload(first, last, block.data());
  }
  return outside;
}

void predict_oob(const Forest& forest, const FeatureRows& rows, const Examples& examples, RowRange range, int n_threads,
                 const Poll& poll, double* out, std::int32_t* n_trees) {
  check_features(forest, rows);
  if (forest.outcome == Outcome::steps)
    throw std::invalid_argument("Steps belong together: no row is outside the bags of some of them.");
  const std::int64_t n_features = rows.n_features();
  std::vector<std::vector<std::uint64_t>> bags(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) {
        bags[static_cast<std::size_t>(t)] = in_bag(*forest.trees[static_cast<std::size_t>(t)], examples, rows.n_rows());
      },
      poll);
  for_each_block(rows, range, n_threads, poll,
                 [&](std::int64_t first, std::int64_t last, const double* block, std::int64_t, int) {
                   double* const sums = out + (first - range.first) * forest.n_outputs;
                   std::int32_t* const counts = n_trees + (first - range.first);
                   std::fill(sums, sums + (last - first) * forest.n_outputs, 0.0);
                   std::fill(counts, counts + (last - first), 0);
                   std::vector<std::int64_t> outside;
                   std::vector<std::int32_t> leaves(static_cast<std::size_t>(last - first));
                   const auto row_at = [block, n_features, &outside](std::int64_t i) {
                     return block + outside[static_cast<std::size_t>(i)] * n_features;
                   };
                   for (std::size_t t = 0; t < forest.trees.size(); ++t) {
                     outside.clear();
                     for (std::int64_t row = first; row < last; ++row) {
                       if (!has_bit(bags[t], row)) outside.push_back(row - first);
                     }
                     find_leaves(*forest.trees[t], static_cast<std::int64_t>(outside.size()), row_at, leaves.data());
                     for (std::size_t i = 0; i < outside.size(); ++i) {
                       ++counts[outside[i]];
                       double* const sum = sums + outside[i] * forest.n_outputs;
                       read_leaf(forest, *forest.trees[t], leaves[i],
                                 [sum](std::int32_t output, double value) { sum[output] += value; });
                     }
                   }
                   for (std::int64_t row = 0; row < last - first; ++row) {
                     double* const sum = sums + row * forest.n_outputs;
                     const double divisor = counts[row] > 0 ? counts[row] : std::numeric_limits<double>::quiet_NaN();
                     for (std::int64_t j = 0; j < forest.n_outputs; ++j) sum[j] /= divisor;
                   }
                 });
}

std::vector<double> node_values(const Forest& forest, const Tree& tree, std::int64_t output) {
  std::vector<double> values(tree.feature.size(), 0.0);
  for (std::size_t i = values.size(); i-- > 0;) {
    if (tree.feature[i] < 0) {
      read_leaf(forest, tree, static_cast<std::int32_t>(i), [&](std::int32_t at, double value) {
        if (at == output) values[i] = value;
      });
      continue;
    }
    const auto left = static_cast<std::size_t>(tree.child[i]);
    values[i] = (tree.weight[left] * values[left] + tree.weight[left + 1] * values[left + 1]) /
                (tree.weight[left] + tree.weight[left + 1]);
  }
  return values;
}

double contributions(const Forest& forest, const FeatureRows& rows, std::int64_t output, int n_threads,
                     const Poll& poll, double* out) {
  check_features(forest, rows);
  if (output < 0 || output >= forest.n_outputs) throw std::invalid_argument("The forest has no such output.");
  const double divisor = forest.divisor();
  std::vector<std::vector<double>> values(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) {
        values[static_cast<std::size_t>(t)] = node_values(forest, *forest.trees[static_cast<std::size_t>(t)], output);
      },
      poll);
  double roots = 0;
  for (const auto& of_tree : values) roots += of_tree[0];
  for_each_block(
      rows, {0, rows.n_rows()}, n_threads, poll,
      [&](std::int64_t first, std::int64_t last, const double* block, std::int64_t, int) {
        for (std::size_t t = 0; t < forest.trees.size(); ++t) {
          const Tree& tree = *forest.trees[t];
          for (std::int64_t row = first; row < last; ++row) {
            const double* const x = block + (row - first) * forest.n_features();
            double* const added = out + row * forest.n_features();
            std::int32_t node = 0;
            while (tree.feature[static_cast<std::size_t>(node)] >= 0) {
              const std::int32_t next = tree.next_by(node, [x](std::int32_t feature) { return x[feature]; });
              const double change =
                  (values[t][static_cast<std::size_t>(next)] - values[t][static_cast<std::size_t>(node)]) / divisor;
              tree.each_tested(
                  node, [added, change](std::int32_t feature, double share) { added[feature] += share * change; });
              node = next;
            }
          }
        }
      });
  return roots / divisor;
}

}  // namespace ramify
