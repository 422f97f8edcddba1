#include "boosting/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/random.hpp"
#include "boosting/leaf_steps.hpp"
#include "boosting/losses.hpp"
#include "boosting/sketch.hpp"
#include "forest/bagging.hpp"
#include "forest/grower.hpp"
#include "targets/number_target.hpp"

namespace ramify {

namespace {

constexpr std::int64_t rows_together = 64;      ///< rows of a task
constexpr std::int64_t outputs_together = 128;  ///< outputs of a task

/// `n` of the rows, drawn without replacement, ascending.
std::vector<std::uint32_t> drawn_rows(std::vector<std::uint32_t> rows, std::size_t n, std::uint64_t seed) {
  constexpr std::uint64_t subset_stream = 5;
  if (n < rows.size()) {
    Random random(seed, subset_stream);
    for (std::size_t i = 0; i < n; ++i) std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    rows.resize(n);
    std::sort(rows.begin(), rows.end());
  }
  return rows;
}

/// The gains of the trees that stay. Those of rounds after the best one wait until a better one comes.
class GainSums {
 public:
  GainSums(std::int64_t n_features, std::int64_t n_outputs)
      : n_outputs_(n_outputs), sums_(static_cast<std::size_t>(n_features)) {}

  void add(FeatureGains gains) { waiting_.push_back(std::move(gains)); }

  void keep_waiting() {
    for (const FeatureGains& gains : waiting_) {
      for (std::size_t i = 0; i < gains.features.size(); ++i) {
        std::vector<double>& sum = sums_[static_cast<std::size_t>(gains.features[i])];
        sum.resize(static_cast<std::size_t>(n_outputs_), 0.0);
        const double* const more = gains.values.data() + static_cast<std::int64_t>(i) * n_outputs_;
        for (std::int64_t j = 0; j < n_outputs_; ++j) sum[static_cast<std::size_t>(j)] += more[j];
      }
    }
    waiting_.clear();
  }

  ScoreMatrix matrix() const {
    ScoreMatrix found;
    found.offsets.push_back(0);
    for (const std::vector<double>& sum : sums_) {
      for (std::size_t j = 0; j < sum.size(); ++j) {
        if (sum[j] == 0) continue;
        found.outputs.push_back(static_cast<std::int32_t>(j));
        found.values.push_back(sum[j]);
      }
      found.offsets.push_back(static_cast<std::int64_t>(found.outputs.size()));
    }
    return found;
  }

 private:
  std::int64_t n_outputs_;
  std::vector<std::vector<double>> sums_;
  std::vector<FeatureGains> waiting_;
};

/// The rounds of boosting over one loss.
template <class Loss>
class Rounds {
 public:
  Rounds(const FeatureTable& table, Loss loss, const Examples& examples, const BoostParams& params, const Poll& poll)
      : table_(table),
        loss_(std::move(loss)),
        params_(params),
        poll_(poll),
        sketch_(loss_.n_outputs(), loss_.output_weights(), params.n_projections),
        gains_(table.n_features(), loss_.n_outputs()) {
    part_rows(examples);
    const auto n_cells = static_cast<std::size_t>(table.n_rows() * loss_.n_outputs());
    base_ = loss_.base(learning_);
    scores_.resize(n_cells);
    responses_.resize(n_cells);
    const auto n_outputs = static_cast<std::size_t>(loss_.n_outputs());
    for (std::size_t c = 0; c < n_cells; ++c) {
      scores_[c] = static_cast<float>(base_[c % n_outputs]);
      responses_[c] = static_cast<float>(Loss::response(scores_[c]));
    }
    projected_.resize(static_cast<std::size_t>(table.n_rows() * sketch_.n_columns()));
    leaf_of_row_.resize(static_cast<std::size_t>(table.n_rows()));
    row_losses_.assign(static_cast<std::size_t>(table.n_rows()), 0.0);
    for (const std::uint32_t row : held_back_)
      row_losses_[row] = loss_.loss(row, scores_.data() + row * loss_.n_outputs());
  }

  Boosted run() {
    Boosted found;
    found.forest.outcome = Outcome::steps;
    found.forest.n_outputs = loss_.n_outputs();
    found.forest.n_categories = table_.n_categories();
    if (!held_back_.empty()) found.history.push_back(mean_loss());
    const std::vector<double> ones(static_cast<std::size_t>(sketch_.n_columns()), 1.0);
    const NumberRows target{projected_.data(), table_.n_rows(), sketch_.n_columns(), ones.data()};
    TreeGrower<NumberTarget<false>> grower(table_, NumberTarget<false>(target), grown_on_, params_.growth);
    std::int64_t best = 0;
    for (round_ = 0; round_ < params_.growth.n_trees; ++round_) {
      found.forest.trees.push_back(std::make_shared<Tree>(grow(grower)));
      if (!held_back_.empty()) found.history.push_back(mean_loss());
      if (held_back_.empty() || best == 0 || found.history.back() < found.history[static_cast<std::size_t>(best)]) {
        best = round_ + 1;
        gains_.keep_waiting();
      }
      if (round_ + 1 - best >= params_.patience) break;
    }
    found.forest.trees.resize(static_cast<std::size_t>(best));
    found.base = base_;
    found.gains = gains_.matrix();
    found.held_back.assign(held_back_.begin(), held_back_.end());
    return found;
  }

 private:
  void part_rows(const Examples& examples) {
    const auto n_held_back = static_cast<std::size_t>(params_.held_back * static_cast<double>(examples.rows.size()));
    held_back_ = drawn_rows(examples.rows, n_held_back, params_.growth.seed);
    std::set_difference(examples.rows.begin(), examples.rows.end(), held_back_.begin(), held_back_.end(),
                        std::back_inserter(learning_.rows));
    learning_.weights = grown_on_.weights = examples.weights;
  }

  double mean_loss() const {
    double sum = 0, total = 0, unknown = 0;
    for (const std::uint32_t row : held_back_) {
      const double weight = learning_.weights.empty() ? 1.0 : learning_.weights[row];
      sum += weight * row_losses_[row];
      total += weight;
      loss_.each_unknown(row, 0, loss_.n_outputs(),
                         [&](std::int64_t j) { unknown += weight * loss_.output_weights()[j]; });
    }
    double all = 0;
    for (std::int64_t j = 0; j < loss_.n_outputs(); ++j) all += loss_.output_weights()[j];
    all -= unknown / total;
    return all > 0 ? sum / total / all : 0.0;
  }

  template <class Work>
  void in_tasks(std::int64_t n_tasks, Work work) {
    run_tasks(n_tasks, params_.growth.n_threads, work, [this](std::int64_t) { return !poll_ || poll_(round_); });
  }

  Tree grow(TreeGrower<NumberTarget<false>>& grower) {
    const std::uint64_t seed = tree_seed(params_.growth.seed, round_);
    const double n_rows = params_.max_samples * static_cast<double>(learning_.rows.size());
    grown_on_.rows = drawn_rows(learning_.rows, std::max<std::size_t>(1, static_cast<std::size_t>(n_rows)), seed);
    project(seed);
    Tree tree;
    in_tasks(1, [&](std::int64_t, int, const Control& control) { tree = grower.grow(round_, control); });
    find_rows_of_leaves(tree);
    step(tree);
    advance(tree);
    return tree;
  }

  void project(std::uint64_t seed) {
    sketch_.draw(seed);
    const auto n_rows = static_cast<std::int64_t>(grown_on_.rows.size()), n_columns = sketch_.n_columns();
    in_tasks((n_rows + rows_together - 1) / rows_together, [&](std::int64_t task, int, const Control& control) {
      for (std::int64_t i = task * rows_together; i < std::min(n_rows, (task + 1) * rows_together); ++i) {
        control.check();
        const std::int64_t row = grown_on_.rows[static_cast<std::size_t>(i)];
        double* const out = projected_.data() + row * n_columns;
        std::fill(out, out + n_columns, 0.0);
        loss_.each_target(row, 0, loss_.n_outputs(), [&](std::int64_t j, double value) { sketch_.add(j, value, out); });
        const float* const responses = responses_.data() + row * loss_.n_outputs();
        loss_.each_unknown(row, 0, loss_.n_outputs(), [&](std::int64_t j) { sketch_.add(j, responses[j], out); });
        sketch_.subtract(responses, out);
      }
    });
  }

  /// The leaf of every row, and the rows the tree was grown on by leaf.
  void find_rows_of_leaves(const Tree& tree) {
    in_tasks((table_.n_rows() + rows_together - 1) / rows_together,
             [&](std::int64_t task, int, const Control& control) {
               control.check();
               for (std::int64_t row = task * rows_together;
                    row < std::min(table_.n_rows(), (task + 1) * rows_together); ++row) {
                 std::int32_t node = 0;
                 while (tree.feature[static_cast<std::size_t>(node)] >= 0)
                   node = tree.next(node, table_.column(tree.feature[static_cast<std::size_t>(node)]).value(row));
                 leaf_of_row_[static_cast<std::size_t>(row)] = node;
               }
             });
    leaf_rows_.offsets.assign(tree.feature.size() + 1, 0);
    for (const std::uint32_t row : grown_on_.rows)
      ++leaf_rows_.offsets[static_cast<std::size_t>(leaf_of_row_[row]) + 1];
    for (std::size_t i = 0; i < tree.feature.size(); ++i) leaf_rows_.offsets[i + 1] += leaf_rows_.offsets[i];
    std::vector<std::int64_t> next(leaf_rows_.offsets.begin(), leaf_rows_.offsets.end() - 1);
    leaf_rows_.rows.resize(grown_on_.rows.size());
    for (const std::uint32_t row : grown_on_.rows)
      leaf_rows_.rows[static_cast<std::size_t>(next[static_cast<std::size_t>(leaf_of_row_[row])]++)] = row;
  }

  /// Write the steps of the leaves and the gains of the splits.
  void step(Tree& tree) {
    const std::int64_t n_outputs = loss_.n_outputs();
    const std::int64_t n_blocks = (n_outputs + outputs_together - 1) / outputs_together;
    std::vector<StepBlock> blocks(static_cast<std::size_t>(n_blocks));
    FeatureGains gains;
    gains.features = tested_features(tree);
    gains.values.assign(gains.features.size() * static_cast<std::size_t>(n_outputs), 0.0);
    in_tasks(n_blocks, [&](std::int64_t task, int, const Control& control) {
      control.check();
      StepBlock& block = blocks[static_cast<std::size_t>(task)];
      const std::int64_t first = task * outputs_together, last = std::min(first + outputs_together, n_outputs);
      sum_gradients(loss_, tree, leaf_rows_, learning_.weights, responses_.data(), first, last, block);
      find_steps(tree, params_, first, last, block);
      find_gains(tree, loss_.output_weights(), params_.l2, first, last, n_outputs, block, gains);
      block.gradients = block.curvatures = {};
    });
    write_steps(blocks, tree);
    gains_.add(std::move(gains));
  }

  /// Add the steps to the scores of all rows.
  void advance(const Tree& tree) {
    std::vector<char> is_watched(row_losses_.size(), 0);
    for (const std::uint32_t row : held_back_) is_watched[row] = 1;
    const std::int64_t n_outputs = loss_.n_outputs();
    in_tasks((table_.n_rows() + rows_together - 1) / rows_together, [&](std::int64_t task, int,
                                                                        const Control& control) {
      for (std::int64_t row = task * rows_together; row < std::min(table_.n_rows(), (task + 1) * rows_together);
           ++row) {
        control.check();
        const auto leaf =
            static_cast<std::size_t>(tree.child[static_cast<std::size_t>(leaf_of_row_[static_cast<std::size_t>(row)])]);
        const std::int64_t first = tree.leaf_offsets[leaf];
        const Steps steps{tree.leaf_labels.data() + first, tree.leaf_values.data() + first,
                          tree.leaf_offsets[leaf + 1] - first};
        row_losses_[static_cast<std::size_t>(row)] +=
            loss_.advance(row, steps, is_watched[static_cast<std::size_t>(row)] != 0, scores_.data() + row * n_outputs,
                          responses_.data() + row * n_outputs);
      }
    });
  }

  const FeatureTable& table_;
  const Loss loss_;
  const BoostParams& params_;
  const Poll& poll_;
  Sketch sketch_;
  GainSums gains_;
  Examples learning_;                     ///< all rows but those held back
  Examples grown_on_;                     ///< the rows of this round's tree, which the grower looks at
  std::vector<std::uint32_t> held_back_;  ///< ascending
  std::vector<double> base_;
  std::vector<float> scores_, responses_;  ///< rows x outputs
  std::vector<double> projected_;          ///< rows x columns of the sketch: the gradients
  std::vector<double> row_losses_;
  std::vector<std::int32_t> leaf_of_row_;  ///< node ids
  LeafRows leaf_rows_;
  std::int64_t round_ = 0;
};

template <class Loss>
Boosted boost(const FeatureTable& table, Loss loss, const Examples& examples, const BoostParams& params,
              const Poll& poll) {
  if (loss.n_rows() != table.n_rows())
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (loss.n_outputs() < 1 || params.growth.n_trees < 1 || params.n_projections < 1)
    throw std::invalid_argument("Boosting needs an output, a round and a projection.");
  return Rounds<Loss>(table, std::move(loss), examples, params, poll).run();
}

}  // namespace

Boosted boost_labels(const FeatureTable& table, const LabelRows& target, const Examples& examples,
                     const BoostParams& params, const Poll& poll) {
  return boost(table, LogisticLoss(target), examples, params, poll);
}

Boosted boost_numbers(const FeatureTable& table, const NumberRows& target, const Examples& examples,
                      const BoostParams& params, const Poll& poll) {
  return boost(table, SquaredLoss(target), examples, params, poll);
}

}  // namespace ramify
