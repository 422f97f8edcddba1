/// The driver that grows trees for any target (forest/target_concept.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "forest/bagging.hpp"
#include "forest/combining.hpp"
#include "forest/feature_drawing.hpp"
#include "forest/growing.hpp"
#include "forest/splitting.hpp"
#include "forest/target_concept.hpp"
#include "targets/inherited_values.hpp"

namespace ramify {

/// Grows one tree after another; the memory is used again.
template <class Target>
class TreeGrower {
  static_assert(is_target<Target>, "A target has every function of forest/target_concept.hpp.");

 public:
  TreeGrower(const FeatureTable& table, Target target, const Examples& examples, const GrowParams& params)
      : table_(table),
        examples_(examples),
        params_(params),
        target_(std::move(target)),
        splitter_(target_),
        drawing_(table, params.max_features),
        combining_(table, params.oblique),
        draws_of_row_(static_cast<std::size_t>(table.n_rows()), 0) {
    if (table.has_sparse()) positions_.assign(static_cast<std::size_t>(table.n_rows()), 0xFFFFFFFFu);
    if constexpr (follows_paths<Target>) target_.learn(examples);
  }

  TreeGrower(const TreeGrower&) = delete;
  TreeGrower& operator=(const TreeGrower&) = delete;

  Tree grow(std::int64_t index, const Control& control) {
    Tree tree;
    tree.seed = tree_seed(params_.seed, index);
    Random random(tree.seed, growth_stream);
    fill_bag(tree.seed);
    target_.begin_tree();
    drawing_.begin_tree();
    n_leaves_ = 0;
    add_node(tree);
    stack_.assign(1, Open{0, static_cast<std::uint32_t>(rows_.size()), 0, 0, 0, -1});
    while (!stack_.empty()) {
      control.check();
      const Open node = stack_.back();
      stack_.pop_back();
      grow_node(node, random, control, tree);
    }
    release_bag();
    shrink(tree);
    return tree;
  }

 private:
  static constexpr std::int64_t many_rows = 4096;  ///< so many take long enough to ask after each feature

  /// A node that waits: its slice of rows_, its depth, the features known to be constant in it and its target level.
  struct Open {
    std::uint32_t begin, end;
    std::int32_t id;
    std::int64_t depth;
    std::int64_t n_constant;
    int level;
  };

  /// A node on the way from the root to the node that is grown.
  struct Ancestor {
    std::uint32_t begin, end;
    std::int64_t n_draws;
    double weight;
  };

  void fill_bag(std::uint64_t seed) {
    if (params_.bootstrap) {
      draw_bag(seed, examples_, draws_of_row_);
    } else {
      for (const std::uint32_t row : examples_.rows) draws_of_row_[row] = 1;
    }
    rows_.clear();
    for (const std::uint32_t row : examples_.rows) {
      if (draws_of_row_[row] > 0) rows_.push_back(row);
    }
    slots_.resize(rows_.size());
    if (!positions_.empty()) {
      for (std::size_t i = 0; i < rows_.size(); ++i) positions_[rows_[i]] = static_cast<std::uint32_t>(i);
    }
  }

  void release_bag() {
    for (const std::uint32_t row : rows_) draws_of_row_[row] = 0;
    if (!positions_.empty()) {
      for (const std::uint32_t row : rows_) positions_[row] = 0xFFFFFFFFu;
    }
  }

  static void add_node(Tree& tree) {
    tree.feature.push_back(-1);
    tree.threshold.push_back(0);
    tree.child.push_back(0);
    tree.subset.push_back(-1);
    tree.missing_left.push_back(0);
    tree.weight.push_back(0);
    tree.decrease.push_back(0);
  }

  void grow_node(const Open& node, Random& random, const Control& control, Tree& tree) {
    const std::uint32_t* const rows = rows_.data() + node.begin;
    const std::int64_t n = node.end - node.begin;
    if constexpr (follows_paths<Target>) target_.follow(node.depth);
    double total = 0;
    std::int64_t n_draws = 0;
    weights_.resize(static_cast<std::size_t>(n));
    draws_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint32_t draws = draws_of_row_[rows[i]];
      const double weight = examples_.weights.empty() ? draws : draws * examples_.weights[rows[i]];
      weights_[static_cast<std::size_t>(i)] = weight;
      draws_[static_cast<std::size_t>(i)] = draws;
      total += weight;
      n_draws += draws;
    }
    tree.weight[static_cast<std::size_t>(node.id)] = total;
    if (params_.backing > 0) {
      path_.resize(static_cast<std::size_t>(node.depth));
      path_.push_back({node.begin, node.end, n_draws, total});
    }
    const bool too_small = n < 2 || n_draws < params_.min_samples_split || n_draws / 2 < params_.min_samples_leaf;
    const double min_weight = params_.min_weight_fraction_leaf * tree.weight[0];
    if (too_small || total < 2 * min_weight || (params_.max_depth >= 0 && node.depth >= params_.max_depth))
      return make_leaf(node, total, tree);

    const int level = target_.begin_node(rows, slots_.data() + node.begin, n, weights_.data(), node.level);
    if (target_.pure()) return make_leaf(node, total, tree);
    const NodeSlice slice{rows, n, positions_.data(), node.begin};
    SideLimits limits{draws_.data(), n_draws, params_.min_samples_leaf};
    limits.draws_are_weights = examples_.weights.empty();
    limits.min_category_rows = params_.min_category_rows;
    if (min_weight > 0) {
      limits.weights = weights_.data();
      limits.weight = total;
      limits.min_weight = min_weight;
    }
    splitter_.begin_node(limits, params_.random_splits || params_.oblique > 0);
    combining_.begin_node(n, weights_.data());
    best_.found = false;
    std::int64_t n_constant = node.n_constant;
    drawing_.begin_node(slice, n_constant);
    const std::int64_t first_fixed = table_.n_features() - table_.n_fixed();
    std::int64_t n_drawn = look_at_fixed(first_fixed, slice, random);
    const std::int64_t enough = n_drawn > 0 ? std::max(params_.max_features, n_drawn + 1) : params_.max_features;
    const auto draws_on = [&] {
      if (best_.found && target_.perfect(best_.score)) return false;  // no feature can be better
      return n_drawn < enough || (params_.all_features_at_root && node.id == 0 && !best_.found);
    };
    while (draws_on() && drawing_.draw(random, splitter_.entries)) {
      if (n > many_rows) control.check();
      if (drawing_.feature() >= first_fixed) continue;
      if (drawing_.repeated()) {  // as good as a feature drawn before, which stays
        ++n_drawn;
        continue;
      }
      combining_.take(drawing_.feature(), splitter_.entries);
      n_drawn += look_at(drawing_.feature(), n, random);
    }
    look_at_combinations(n, random, control);
    n_constant = drawing_.n_constant();
    if (!best_.found) return make_leaf(node, total, tree);
    const double decrease = std::max(0.0, target_.decrease(best_.score));
    if (decrease < params_.min_impurity_decrease * tree.weight[0]) return make_leaf(node, total, tree);
    split_node(node, slice, decrease, total, level, n_constant, tree);
  }

  /// Find the best split of the feature in the splitter's entries; false where it is as good as constant.
  bool look_at(std::int64_t feature, std::int64_t n, Random& random) {
    if (params_.random_splits) return splitter_.random(feature, table_.column(feature), random, best_);
    return splitter_.best(feature, table_.head(feature), n, best_);
  }

  /// Look at the features that need no luck; returns how many of them are not constant.
  std::int64_t look_at_fixed(std::int64_t first, const NodeSlice& slice, Random& random) {
    std::int64_t n_looked_at = 0;
    for (std::int64_t feature = first; feature < table_.n_features(); ++feature) {
      gather(table_, feature, slice, splitter_.entries);
      if (splitter_.entries.constant()) continue;
      n_looked_at += look_at(feature, slice.n, random);
    }
    return n_looked_at;
  }

  /// As many combinations as there are features to combine; they count as features beyond those of the table.
  void look_at_combinations(std::int64_t n, Random& random, const Control& control) {
    NodeEntries& entries = splitter_.entries;
    const std::size_t n_combinations = combining_.n_taken() > 1 ? combining_.n_taken() : 0;
    for (std::size_t c = 0; c < n_combinations; ++c) {
      if (best_.found && target_.perfect(best_.score)) return;
      if (n > many_rows) control.check();
      if (!combining_.combine(c, drawing_, random, entries)) continue;
      const std::int64_t feature = table_.n_features() + static_cast<std::int64_t>(c);
      if (params_.random_splits) {
        const double threshold = random_between(combining_.least(), combining_.most(), random);
        combining_.write_sides(threshold, entries);
        splitter_.at_threshold(feature, threshold, 0, 1, best_);
      } else {
        const Column& ranks = combining_.write_ranks(entries);
        splitter_.best(feature, FeatureTable::head_of(ranks), n, best_);
        if (best_.found && best_.feature == feature) {
          best_.threshold = threshold_of(ranks);
          best_.has_threshold = true;
        }
      }
      if (best_.found && best_.feature == feature) combining_.keep();
    }
  }

  bool is_combination() const { return best_.feature >= table_.n_features(); }

  void make_leaf(const Open& node, double total, Tree& tree) {
    tree.child[static_cast<std::size_t>(node.id)] = n_leaves_++;
    if (params_.backing > 0) return write_backed_leaf(tree);
    target_.write_leaf(rows_.data() + node.begin, node.end - node.begin, weights_.data(), total, tree);
  }

  /// Of a leaf's estimate the share n / (n + 1) is its own, with n draws, of the rest as much its parent's, and so on
  /// up to the widest ancestor of at most `backing` draws, or to where the rest no longer matters. Means of nodes are
  /// sums over their rows: the leaf is written from the rows of the widest ancestor, each as heavy as the nodes say
  /// that hold it.
  void write_backed_leaf(Tree& tree) {
    constexpr double negligible = 1e-4;
    std::size_t top = path_.size() - 1;
    const double total = path_[top].weight;
    shares_.assign(1, 1.0);
    while (top > 0 && path_[top - 1].n_draws <= params_.backing && shares_.back() > negligible) {
      const double rest = shares_.back() / (static_cast<double>(path_[top].n_draws) + 1);
      shares_.back() -= rest;
      shares_.push_back(rest);
      --top;
    }
    const Ancestor& widest = path_[top];
    weights_.assign(widest.end - widest.begin, 0.0);
    for (std::size_t up = 0; up < shares_.size(); ++up) {
      const Ancestor& node = path_[path_.size() - 1 - up];
      const double each = shares_[up] * total / node.weight;
      for (std::uint32_t i = node.begin; i < node.end; ++i) weights_[i - widest.begin] += each;
    }
    double sum = 0;
    for (std::uint32_t i = widest.begin; i < widest.end; ++i) {
      const std::uint32_t row = rows_[i];
      double& weight = weights_[i - widest.begin];
      weight *= examples_.weights.empty() ? draws_of_row_[row] : draws_of_row_[row] * examples_.weights[row];
      sum += weight;
    }
    const std::size_t before = tree.leaf_counts.size();
    target_.write_leaf(rows_.data() + widest.begin, widest.end - widest.begin, weights_.data(), sum, tree);
    for (std::size_t at = before; at < tree.leaf_counts.size(); ++at)  // the sum is the total but for rounding
      tree.leaf_counts[at] = std::clamp(tree.leaf_counts[at], std::numeric_limits<double>::min(), total);
  }

  void split_node(const Open& node, const NodeSlice& slice, double decrease, double total, int level,
                  std::int64_t n_constant, Tree& tree) {
    const double left_weight = mark_left(slice);
    if (!best_.any_missing) best_.missing_left = !is_combination() && 2 * left_weight >= total;
    const std::uint32_t middle = part(node);
    const auto at = static_cast<std::size_t>(node.id);
    const auto child = static_cast<std::int32_t>(tree.n_nodes());
    tree.decrease[at] = decrease;
    tree.missing_left[at] = best_.missing_left;
    tree.child[at] = child;
    if (is_combination()) {
      combining_.write(at, tree);
      tree.threshold[at] = best_.threshold;
    } else {
      const Column& column = table_.column(best_.feature);
      tree.feature[at] = static_cast<std::int32_t>(best_.feature);
      if (best_.nominal) {
        write_subset(column, 2 * left_weight >= total, at, tree);
      } else {
        tree.threshold[at] = threshold_of(column);
      }
    }
    add_node(tree);
    add_node(tree);
    stack_.push_back({middle, node.end, child + 1, node.depth + 1, n_constant, level});
    stack_.push_back({node.begin, middle, child, node.depth + 1, n_constant, level});
  }

  double threshold_of(const Column& column) const {
    if (best_.has_threshold) return best_.threshold;
    return best_.high < 0 ? std::numeric_limits<double>::infinity() : column.threshold_between(best_.low, best_.high);
  }

  /// Note the side of every local row; returns the weight that goes left.
  double mark_left(const NodeSlice& slice) {
    if (is_combination()) {
      left_.clear();
      for (const double value : combining_.kept_values()) left_.push_back(value <= best_.threshold);
      return weight_left();
    }
    NodeEntries& entries = splitter_.entries;
    drawing_.read(best_.feature, entries);
    const auto goes_left = [&](std::int32_t code) {
      if (!best_.nominal) return code <= best_.low;
      return ((best_.left_codes[static_cast<std::size_t>(code) / 64] >> (code % 64)) & 1) != 0;
    };
    if (entries.by_code) {
      mark_left_by_code(entries);
    } else {
      left_.assign(static_cast<std::size_t>(slice.n), entries.n_default > 0 && goes_left(entries.default_code));
      for (const std::uint64_t key : entries.keys)
        left_[NodeEntries::row_of(key)] = goes_left(NodeEntries::code_of(key));
      for (const std::uint32_t row : entries.missing) left_[row] = best_.missing_left;
    }
    return weight_left();
  }

  double weight_left() const {
    double weight = 0;
    for (std::size_t i = 0; i < left_.size(); ++i) weight += left_[i] ? weights_[i] : 0.0;
    return weight;
  }

  /// Columns that are read by code have an order, or two values.
  void mark_left_by_code(const NodeEntries& entries) {
    left_.resize(static_cast<std::size_t>(entries.n_rows));
    if (best_.nominal) {
      for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = best_.left_codes[0] >> entries.codes[i] & 1;
    } else {
      for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = entries.codes[i] <= best_.low;
    }
    if (entries.n_missing == 0) return;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (entries.codes[i] == entries.missing_code) left_[i] = best_.missing_left;
    }
  }

  /// Stable partition of the node's slice; returns where the right part begins.
  std::uint32_t part(const Open& node) {
    spare_.clear();
    spare_slots_.clear();
    std::uint32_t next = node.begin;
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      if (left_[i - node.begin]) {
        rows_[next] = rows_[i];
        slots_[next++] = slots_[i];
      } else {
        spare_.push_back(rows_[i]);
        spare_slots_.push_back(slots_[i]);
      }
    }
    if (next == node.begin || next == node.end) throw std::logic_error("A split left one side empty.");
    std::copy(spare_.begin(), spare_.end(), rows_.begin() + next);
    std::copy(spare_slots_.begin(), spare_slots_.end(), slots_.begin() + next);
    if (!positions_.empty()) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) positions_[rows_[i]] = i;
    }
    return next;
  }

  /// Categories that the node has not seen follow the larger child.
  void write_subset(const Column& column, bool larger_is_left, std::size_t at, Tree& tree) {
    tree.subset[at] = static_cast<std::int32_t>(tree.subset_offsets.size()) - 1;
    for (std::size_t word = 0; word < best_.left_codes.size(); ++word) {
      std::uint64_t bits = best_.left_codes[word];
      if (larger_is_left) bits |= ~best_.present_codes[word];
      const std::int64_t n_bits = column.n_codes - static_cast<std::int64_t>(word) * 64;
      if (n_bits < 64) bits &= (std::uint64_t(1) << n_bits) - 1;
      tree.subset_words.push_back(bits);
    }
    tree.subset_offsets.push_back(static_cast<std::int64_t>(tree.subset_words.size()));
  }

  static void shrink(Tree& tree) {
    tree.feature.shrink_to_fit();
    tree.threshold.shrink_to_fit();
    tree.child.shrink_to_fit();
    tree.subset.shrink_to_fit();
    tree.missing_left.shrink_to_fit();
    tree.weight.shrink_to_fit();
    tree.decrease.shrink_to_fit();
    tree.subset_offsets.shrink_to_fit();
    tree.subset_words.shrink_to_fit();
    tree.combination_offsets.shrink_to_fit();
    tree.combined.shrink_to_fit();
    tree.leaf_offsets.shrink_to_fit();
    tree.leaf_labels.shrink_to_fit();
    tree.leaf_partial.shrink_to_fit();
    tree.leaf_counts.shrink_to_fit();
    tree.leaf_values.shrink_to_fit();
  }

  const FeatureTable& table_;
  const Examples& examples_;
  const GrowParams& params_;
  Target target_;
  Splitter<Target> splitter_;
  FeatureDrawing drawing_;
  Combining combining_;
  Split best_;
  std::int32_t n_leaves_ = 0;

  std::vector<std::uint32_t> draws_of_row_;  ///< by row of the table
  std::vector<std::uint32_t> rows_, slots_;  ///< the tree's row order and where each row stands in its level
  std::vector<std::uint32_t> positions_;     ///< inverse of rows_, only with sparse columns
  std::vector<Open> stack_;
  std::vector<Ancestor> path_;   ///< by depth, only where leaves are backed
  std::vector<double> shares_;   ///< of a leaf's estimate: its own, its parent's, ...
  std::vector<double> weights_;  ///< per local row
  std::vector<std::uint32_t> draws_;
  std::vector<char> left_;
  std::vector<std::uint32_t> spare_, spare_slots_;
};

/// Grow the trees of `params`, one per task; `data` is what Target is made from.
template <class Target, class Data>
Forest grow_forest(const FeatureTable& table, const Data& data, Outcome outcome, std::int64_t n_outputs,
                   const Examples& examples, const GrowParams& params, const Poll& poll) {
  if (data.n_rows != table.n_rows())
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (table.n_rows() > (std::int64_t(1) << 30)) throw std::invalid_argument("Trees are grown on at most 2^30 rows.");
  if (params.oblique > 0 && table.has_bins())
    throw std::invalid_argument("Features are combined by their values, not by bins of them.");
  Forest forest;
  forest.outcome = outcome;
  forest.n_outputs = n_outputs;
  forest.n_categories = table.n_categories();
  forest.trees.resize(static_cast<std::size_t>(params.n_trees));
  std::vector<std::unique_ptr<TreeGrower<Target>>> growers(static_cast<std::size_t>(params.n_threads));
  const auto grow_tree = [&](std::int64_t task, int thread, const Control& control) {
    auto& grower = growers[static_cast<std::size_t>(thread)];
    if (!grower) grower = std::make_unique<TreeGrower<Target>>(table, Target(data), examples, params);
    forest.trees[static_cast<std::size_t>(task)] =
        std::make_shared<Tree>(grower->grow(params.first_tree + task, control));
  };
  run_tasks(params.n_trees, params.n_threads, grow_tree, poll);
  return forest;
}

}  // namespace ramify
