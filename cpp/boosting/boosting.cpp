#include "boosting/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/random.hpp"
#include "base/team.hpp"
#include "boosting/exact_sums.hpp"
#include "boosting/histogram.hpp"
#include "boosting/histogram_grower.hpp"
#include "boosting/leaf_steps.hpp"
#include "boosting/losses.hpp"
#include "boosting/sketch.hpp"
#include "forest/bagging.hpp"

namespace ramify {

namespace {

constexpr std::int64_t rows_together = 1024;       ///< rows of a task
constexpr std::int64_t leaf_rows_together = 2048;  ///< rows of a leaf in a task
constexpr std::int64_t outputs_together = 128;     ///< outputs of a task
constexpr std::uint64_t subset_stream = 5, rounding_stream = 6;

/// `n` of the rows, drawn without replacement, ascending.
std::vector<std::uint32_t> drawn_rows(std::vector<std::uint32_t> rows, std::size_t n, std::uint64_t seed) {
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
  Rounds(const FeatureTable& table, Loss loss, const Examples& examples, const BoostParams& params, const Parts& parts,
         const Poll& poll)
      : table_(table),
        loss_(std::move(loss)),
        params_(params),
        parts_(parts),
        poll_([this, &poll](std::int64_t) { return !poll || poll(round_); }),
        team_(params.growth.n_threads, poll_),
        n_outputs_(loss_.n_outputs()),
        sketch_(n_outputs_, loss_.output_weights(), params.n_projections),
        lanes_(static_cast<int>(sketch_.n_columns()), !examples.weights.empty()),
        grower_(table, lanes_, params.growth, parts, team_),
        gains_(table.n_features(), n_outputs_) {
    part_rows(examples);
    base_ = loss_.base(learning_, parts_);
    const auto n_cells = static_cast<std::size_t>(table.n_rows() * n_outputs_);
    scores_.resize(n_cells);
    responses_.resize(n_cells);
    for (std::size_t c = 0; c < n_cells; ++c)
      scores_[c] = static_cast<float>(base_[c % static_cast<std::size_t>(n_outputs_)]);
    blocks_.resize(static_cast<std::size_t>(n_blocks_of(learning_.rows.size())));
    in_bag_.resize(learning_.rows.size());
    bag_.resize(learning_.rows.size());
    projected_.resize(learning_.rows.size() * static_cast<std::size_t>(lanes_.n_dims));
    row_losses_.resize(held_back_.size());
    weigh_held_back();
  }

  Boosted run() {
    Boosted found;
    found.forest.outcome = Outcome::steps;
    found.forest.n_outputs = n_outputs_;
    found.forest.n_categories = table_.n_categories();
    if (!held_back_.empty()) found.history.push_back(mean_loss());
    std::int64_t best = 0;
    for (round_ = 0; round_ < params_.growth.n_trees; ++round_) {
      found.forest.trees.push_back(std::make_shared<Tree>(grow()));
      if (!held_back_.empty()) found.history.push_back(mean_loss());
      if (held_back_.empty() || best == 0 || found.history.back() < found.history[static_cast<std::size_t>(best)]) {
        best = round_ + 1;
        gains_.keep_waiting();
      }
      if (round_ + 1 - best >= params_.patience) break;
    }
    if (!poll_(round_)) throw Cancelled();
    found.forest.trees.resize(static_cast<std::size_t>(best));
    found.base = base_;
    found.gains = gains_.matrix();
    found.held_back.assign(held_back_.begin(), held_back_.end());
    return found;
  }

 private:
  /// Some of the rows to learn from.
  struct Block {
    std::int64_t n_drawn = 0, first = 0;  ///< rows of the round's tree, and the place of the first among all
    float largest_projected = 0;          ///< absolute values of the drawn rows
    double largest_gradient = 0;
  };

  static std::int64_t n_blocks_of(std::size_t n_rows) {
    return (static_cast<std::int64_t>(n_rows) + rows_together - 1) / rows_together;
  }

  double weight_of(std::uint32_t row) const { return learning_.weights.empty() ? 1.0 : learning_.weights[row]; }

  void part_rows(const Examples& examples) {
    const auto n_held_back = static_cast<std::size_t>(params_.held_back * static_cast<double>(examples.rows.size()));
    held_back_ = drawn_rows(examples.rows, n_held_back, params_.growth.seed);
    std::set_difference(examples.rows.begin(), examples.rows.end(), held_back_.begin(), held_back_.end(),
                        std::back_inserter(learning_.rows));
    learning_.weights = examples.weights;
    const double n_rows = parts_.sum(static_cast<double>(examples.rows.size()));
    if (n_rows > static_cast<double>(std::int64_t{1} << 30))
      throw std::invalid_argument("Trees are grown on at most 2^30 rows.");
    total_weight_ = parts_.sum(static_cast<double>(learning_.rows.size()));
    if (learning_.weights.empty()) return;
    std::vector<double> largest{0};
    for (const double weight : learning_.weights) largest[0] = std::max(largest[0], weight);
    parts_.largest(largest);
    const Grid grid(2 * n_rows * largest[0]);  // sums of weights are the same in any order from here on
    total_weight_ = 0;
    for (double& weight : learning_.weights) weight = grid.rounded(weight);
    for (const std::uint32_t row : learning_.rows) total_weight_ += weight_of(row);
    total_weight_ = parts_.sum(total_weight_);
    largest_weight_ = grid.rounded(largest[0]);
  }

  /// What the summed losses of the rows held back are divided by.
  void weigh_held_back() {
    double total = 0, unknown = 0, all = 0;
    for (const std::uint32_t row : held_back_) {
      total += weight_of(row);
      loss_.each_unknown(row, 0, n_outputs_,
                         [&](std::int64_t j) { unknown += weight_of(row) * loss_.output_weights()[j]; });
    }
    for (std::int64_t j = 0; j < n_outputs_; ++j) all += loss_.output_weights()[j];
    held_back_weight_ = total * all - unknown;
  }

  double mean_loss() {
    team_.run(n_blocks_of(held_back_.size()), [&](std::int64_t task, int) {
      const std::size_t end = std::min(held_back_.size(), static_cast<std::size_t>((task + 1) * rows_together));
      for (auto i = static_cast<std::size_t>(task * rows_together); i < end; ++i) {
        const std::int64_t row = held_back_[i];
        row_losses_[i] = loss_.loss(row, scores_.data() + row * n_outputs_);
      }
    });
    double sum = 0;
    for (std::size_t i = 0; i < held_back_.size(); ++i) sum += weight_of(held_back_[i]) * row_losses_[i];
    return held_back_weight_ > 0 ? sum / held_back_weight_ : 0.0;
  }

  Tree grow() {
    const std::uint64_t seed = tree_seed(params_.growth.seed, round_);
    sketch_.draw(seed);
    if (project(seed, params_.max_samples) == 0) project(seed, 1.0);
    round_gradients(seed);
    Tree tree = grower_.grow(seed);
    step(tree);
    advance(tree);
    return tree;
  }

  /// Draw the rows of the round and project their gradients; returns how many there are in all parts. Whether a row is
  /// drawn depends on nothing but the seed and the row.
  std::int64_t project(std::uint64_t seed, double share) {
    const RandomBits draws(seed, subset_stream);
    constexpr double n_draws = 9007199254740992.0;  // 2^53
    const auto below = static_cast<std::uint64_t>(share * n_draws);
    const auto n_dims = static_cast<std::size_t>(lanes_.n_dims);
    team_.run(static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t task, int) {
      const auto begin = static_cast<std::size_t>(task * rows_together);
      const std::size_t end = std::min(learning_.rows.size(), begin + static_cast<std::size_t>(rows_together));
      Block block;
      std::size_t at = begin;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t row = learning_.rows[i];
        in_bag_[i] = draws(number_of(row)) >> 11 < below;
        if (!in_bag_[i]) continue;
        bag_[at] = row;
        project_row(row, projected_.data() + at * n_dims, block);
        ++at;
      }
      block.n_drawn = static_cast<std::int64_t>(at - begin);
      blocks_[static_cast<std::size_t>(task)] = block;
    });
    std::vector<double> largest{0, 0};
    n_drawn_ = 0;
    for (Block& block : blocks_) {
      block.first = n_drawn_;
      n_drawn_ += block.n_drawn;
      largest = {std::max<double>(largest[0], block.largest_projected), std::max(largest[1], block.largest_gradient)};
    }
    parts_.largest(largest);
    largest_projected_ = largest[0];
    largest_gradient_ = largest[1];
    n_drawn_in_all_ = static_cast<std::int64_t>(parts_.sum(static_cast<double>(n_drawn_)));
    return n_drawn_in_all_;
  }

  void project_row(std::int64_t row, float* out, Block& block) {
    float* const responses = responses_.data() + row * n_outputs_;
    Loss::respond(scores_.data() + row * n_outputs_, n_outputs_, responses);
    block.largest_gradient = std::max(block.largest_gradient, loss_.largest_gradient(row, responses));
    std::fill(out, out + lanes_.n_dims, 0.0f);
    loss_.each_target(row, 0, n_outputs_,
                      [&](std::int64_t j, double value) { sketch_.add(j, static_cast<float>(value), out); });
    loss_.each_unknown(row, 0, n_outputs_, [&](std::int64_t j) { sketch_.add(j, responses[j], out); });
    sketch_.subtract(responses, out);
    const auto weight = static_cast<float>(weight_of(static_cast<std::uint32_t>(row)));
    for (int c = 0; c < lanes_.n_dims; ++c) {
      out[c] *= weight;
      block.largest_projected = std::max(block.largest_projected, std::abs(out[c]));
    }
  }

  /// Hand the grower its rows, with gradients as whole numbers: scaled to the widest range whose sums fit, and rounded
  /// up or down by chance, which leaves their mean.
  void round_gradients(std::uint64_t seed) {
    grower_.make_room(n_drawn_, n_drawn_in_all_);
    const std::int32_t range = gradient_range(n_drawn_in_all_);
    const double scale = largest_projected_ > 0 ? range / largest_projected_ : 0.0;
    const double weight_scale = range / largest_weight_;
    const int n_numbers = lanes_.n_dims + (lanes_.weighted ? 1 : 0);
    const RandomBits draws(seed, rounding_stream);
    team_.run(static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t task, int) {
      const Block& block = blocks_[static_cast<std::size_t>(task)];
      for (std::int64_t i = 0; i < block.n_drawn; ++i) {
        const auto from = static_cast<std::size_t>(task * rows_together + i);
        const std::uint32_t row = bag_[from];
        grower_.rows()[block.first + i] = row;
        std::int16_t* const values = grower_.values() + (block.first + i) * lanes_.stride;
        const float* const projected = projected_.data() + from * static_cast<std::size_t>(lanes_.n_dims);
        std::uint64_t bits = 0;
        for (int c = 0; c < lanes_.stride; ++c) values[c] = 0;
        for (int c = 0; c < n_numbers; ++c) {
          if (c % 4 == 0) bits = draws(number_of(row) << 24 | static_cast<std::uint64_t>(c));
          const bool is_gradient = c < lanes_.n_dims;
          const double value = is_gradient ? projected[c] * scale : weight_of(row) * weight_scale;
          const auto draw = static_cast<std::uint32_t>(bits >> (c % 4 * 16) & 0xFFFF);
          values[is_gradient ? c : lanes_.weight_lane()] =
              static_cast<std::int16_t>(rounded_by_chance(value, draw, range));
        }
        values[lanes_.count_lane()] = 1;
      }
    });
  }

  /// Write the steps of the leaves and the gains of the splits.
  void step(Tree& tree) {
    sum_leaves(tree);
    const std::int64_t n_blocks = (n_outputs_ + outputs_together - 1) / outputs_together;
    std::vector<StepBlock> blocks(static_cast<std::size_t>(n_blocks));
    FeatureGains gains;
    gains.features = tested_features(tree);
    gains.values.assign(gains.features.size() * static_cast<std::size_t>(n_outputs_), 0.0);
    team_.run(n_blocks, [&](std::int64_t task, int) {
      StepBlock& block = blocks[static_cast<std::size_t>(task)];
      const std::int64_t first = task * outputs_together, last = std::min(first + outputs_together, n_outputs_);
      sum_gradients(tree, leaf_sums_, first, last, block);
      find_steps(tree, params_, first, last, block);
      find_gains(tree, loss_.output_weights(), params_.l2, first, last, n_outputs_, block, gains);
      block.gradients = block.curvatures = {};
    });
    write_steps(blocks, tree);
    gains_.add(std::move(gains));
  }

  /// Gradients, curvatures and weights of the rows of leaves, in pieces.
  void sum_leaves(Tree& tree) {
    pieces_.clear();
    for (const RowsOfLeaf& leaf : grower_.leaves()) {
      for (std::int64_t first = 0; first < leaf.n_rows; first += leaf_rows_together)
        pieces_.push_back({leaf.node, leaf.rows + first, std::min(leaf_rows_together, leaf.n_rows - first)});
    }
    const Grid grid(2 * total_weight_ * largest_gradient_), curvature_grid(2 * total_weight_);
    sums_.resize(pieces_.size() * static_cast<std::size_t>(2 * n_outputs_));
    leaf_sums_.resize(pieces_.size());
    const std::int64_t n_blocks = (n_outputs_ + outputs_together - 1) / outputs_together;
    team_.run(static_cast<std::int64_t>(pieces_.size()) * n_blocks, [&](std::int64_t task, int) {
      const auto at = static_cast<std::size_t>(task / n_blocks);
      const RowsOfLeaf& piece = pieces_[at];
      const std::int64_t first = task % n_blocks * outputs_together,
                         last = std::min(first + outputs_together, n_outputs_);
      double* const g = sums_.data() + static_cast<std::int64_t>(at) * 2 * n_outputs_;
      double* const h = g + n_outputs_;
      std::fill(g + first, g + last, 0.0);
      std::fill(h + first, h + last, 0.0);
      leaf_sums_[at] = {piece.node, g, h};
      for (std::int64_t i = 0; i < piece.n_rows; ++i) {
        const std::uint32_t row = piece.rows[i];
        loss_.add_gradients(row, weight_of(row), responses_.data() + std::int64_t{row} * n_outputs_, first, last, grid,
                            curvature_grid, g + first, h + first);
      }
    });
    if (parts_.are_several()) sum_leaves_of_parts(tree);
    if (lanes_.weighted) weigh_nodes(tree);
  }

  /// The same of all parts, leaf by leaf.
  void sum_leaves_of_parts(const Tree& tree) {
    const std::int64_t width = 2 * n_outputs_, n_leaves = (tree.n_nodes() + 1) / 2;
    sums_of_leaves_.assign(static_cast<std::size_t>(n_leaves * width), 0.0);
    for (const LeafSums& piece : leaf_sums_) {
      double* const leaf = sums_of_leaves_.data() + tree.child[static_cast<std::size_t>(piece.node)] * width;
      for (std::int64_t j = 0; j < width; ++j) leaf[j] += piece.gradients[j];
    }
    parts_.sum(sums_of_leaves_);
    leaf_sums_.clear();
    for (std::size_t node = 0; node < tree.feature.size(); ++node) {
      if (tree.feature[node] >= 0) continue;
      const double* const leaf = sums_of_leaves_.data() + tree.child[node] * width;
      leaf_sums_.push_back({static_cast<std::int32_t>(node), leaf, leaf + n_outputs_});
    }
  }

  void weigh_nodes(Tree& tree) const {
    std::fill(tree.weight.begin(), tree.weight.end(), 0.0);
    for (const RowsOfLeaf& leaf : grower_.leaves()) {
      for (std::int64_t i = 0; i < leaf.n_rows; ++i)
        tree.weight[static_cast<std::size_t>(leaf.node)] += weight_of(leaf.rows[i]);
    }
    parts_.sum(tree.weight);
    for (std::size_t i = tree.feature.size(); i-- > 0;) {
      const auto child = static_cast<std::size_t>(tree.child[i]);
      if (tree.feature[i] >= 0) tree.weight[i] = tree.weight[child] + tree.weight[child + 1];
    }
  }

  /// Add the steps to the scores of all rows: those the tree was grown on are known by leaf, the others look for
  /// theirs.
  void advance(const Tree& tree) {
    const auto n_pieces = static_cast<std::int64_t>(pieces_.size());
    const std::int64_t n_learning = n_blocks_of(learning_.rows.size()), n_held_back = n_blocks_of(held_back_.size());
    team_.run(n_pieces + n_learning + n_held_back, [&](std::int64_t task, int) {
      if (task < n_pieces) {
        const RowsOfLeaf& piece = pieces_[static_cast<std::size_t>(task)];
        for (std::int64_t i = 0; i < piece.n_rows; ++i) add_steps(tree, piece.node, piece.rows[i]);
        return;
      }
      const bool is_learning = task < n_pieces + n_learning;
      const std::vector<std::uint32_t>& rows = is_learning ? learning_.rows : held_back_;
      const std::int64_t block = task - n_pieces - (is_learning ? 0 : n_learning);
      const std::size_t end = std::min(rows.size(), static_cast<std::size_t>((block + 1) * rows_together));
      for (auto i = static_cast<std::size_t>(block * rows_together); i < end; ++i) {
        if (!is_learning || !in_bag_[i]) add_steps(tree, grower_.leaf_of(tree, rows[i]), rows[i]);
      }
    });
  }

  void add_steps(const Tree& tree, std::int32_t node, std::int64_t row) {
    const auto leaf = static_cast<std::size_t>(tree.child[static_cast<std::size_t>(node)]);
    const std::int64_t first = tree.leaf_offsets[leaf], n = tree.leaf_offsets[leaf + 1] - first;
    const std::int32_t* const outputs = tree.leaf_labels.data() + first;
    const double* const steps = tree.leaf_values.data() + first;
    float* const scores = scores_.data() + row * n_outputs_;
    if (n == n_outputs_) {
      for (std::int64_t j = 0; j < n; ++j) scores[j] = static_cast<float>(scores[j] + steps[j]);
    } else {
      for (std::int64_t k = 0; k < n; ++k) scores[outputs[k]] = static_cast<float>(scores[outputs[k]] + steps[k]);
    }
  }

  /// The number of a row among those of all parts.
  std::uint64_t number_of(std::uint32_t row) const { return static_cast<std::uint64_t>(parts_.first_row()) + row; }

  const FeatureTable& table_;
  const Loss loss_;
  const BoostParams& params_;
  const Parts& parts_;
  const Poll poll_;
  Team team_;
  const std::int64_t n_outputs_;
  Sketch sketch_;
  const Lanes lanes_;
  HistogramGrower grower_;
  GainSums gains_;
  Examples learning_;                     ///< all rows but those held back; their weights, rounded to a grid
  std::vector<std::uint32_t> held_back_;  ///< ascending
  double total_weight_ = 0, largest_weight_ = 1, held_back_weight_ = 0;
  std::vector<double> base_;
  std::vector<float> scores_, responses_;          ///< rows x outputs; responses of the rows of the round's tree
  std::int64_t n_drawn_ = 0, n_drawn_in_all_ = 0;  ///< rows of the round's tree here, and in all parts
  double largest_projected_ = 0, largest_gradient_ = 0;
  std::vector<Block> blocks_;
  std::vector<char> in_bag_;         ///< by place among the rows to learn from: is it drawn?
  std::vector<std::uint32_t> bag_;   ///< by block: the rows drawn
  std::vector<float> projected_;     ///< and their gradients
  std::vector<RowsOfLeaf> pieces_;   ///< of leaves
  std::vector<double> sums_;         ///< by piece: gradients, then curvatures
  std::vector<LeafSums> leaf_sums_;  ///< by piece, or by leaf where rows are parted
  std::vector<double> sums_of_leaves_;
  std::vector<double> row_losses_;  ///< of the rows held back
  std::int64_t round_ = 0;
};

template <class Loss>
Boosted boost(const FeatureTable& table, Loss loss, const Examples& examples, const BoostParams& params,
              const Parts& parts, const Poll& poll) {
  if (loss.n_rows() != table.n_rows())
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (loss.n_outputs() < 1 || params.growth.n_trees < 1 || params.n_projections < 1)
    throw std::invalid_argument("Boosting needs an output, a round and a projection.");
  if (parts.are_several() && (params.held_back > 0 || table.has_sparse()))
    throw std::invalid_argument("Rows in parts are all learnt from, and dense.");
  return Rounds<Loss>(table, std::move(loss), examples, params, parts, poll).run();
}

}  // namespace

Boosted boost_labels(const FeatureTable& table, const LabelRows& target, const Examples& examples,
                     const BoostParams& params, const Parts& parts, const Poll& poll) {
  return boost(table, LogisticLoss(target), examples, params, parts, poll);
}

Boosted boost_numbers(const FeatureTable& table, const NumberRows& target, const Examples& examples,
                      const BoostParams& params, const Parts& parts, const Poll& poll) {
  return boost(table, SquaredLoss(target), examples, params, parts, poll);
}

}  // namespace ramify
