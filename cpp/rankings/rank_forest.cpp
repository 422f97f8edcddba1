#include "rankings/rank_forest.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "base/bits.hpp"
#include "forest/grower.hpp"
#include "forest/predictor.hpp"
#include "rankings/rank_target.hpp"

namespace ramify {

namespace {

constexpr double tie_tolerance = 1e-9;

/// Mean signs of every node, children before parents.
std::vector<double> node_means(const Tree& tree, std::int64_t n_pairs) {
  std::vector<double> means(static_cast<std::size_t>(tree.n_nodes() * n_pairs));
  for (std::int64_t node = tree.n_nodes(); node-- > 0;) {
    double* mean = means.data() + node * n_pairs;
    const std::int64_t child = tree.child[static_cast<std::size_t>(node)];
    if (tree.feature[static_cast<std::size_t>(node)] < 0) {
      std::copy_n(tree.leaf_values.data() + child * n_pairs, n_pairs, mean);
      continue;
    }
    const double left = tree.weight[static_cast<std::size_t>(child)],
                 right = tree.weight[static_cast<std::size_t>(child) + 1];
    const double* from = means.data() + child * n_pairs;
    for (std::int64_t p = 0; p < n_pairs; ++p) mean[p] = (left * from[p] + right * from[n_pairs + p]) / (left + right);
  }
  return means;
}

/// Weight times variance of the pairs' signs in each node, less that of its children, averaged over the pairs.
void set_decreases(Tree& tree, std::int64_t n_pairs) {
  const std::vector<double> means = node_means(tree, n_pairs);
  for (std::int64_t node = 0; node < tree.n_nodes(); ++node) {
    if (tree.feature[static_cast<std::size_t>(node)] < 0) continue;
    const std::int64_t child = tree.child[static_cast<std::size_t>(node)];
    const double left = tree.weight[static_cast<std::size_t>(child)],
                 right = tree.weight[static_cast<std::size_t>(child) + 1];
    double squares = 0;
    for (std::int64_t p = 0; p < n_pairs; ++p) {
      const double apart = means[static_cast<std::size_t>(child * n_pairs + p)] -
                           means[static_cast<std::size_t>((child + 1) * n_pairs + p)];
      squares += apart * apart;
    }
    tree.decrease[static_cast<std::size_t>(node)] =
        left * right / (left + right) * squares / static_cast<double>(n_pairs);
  }
}

template <class Criterion>
Forest grow_with(const FeatureTable& table, const RankingProblem& problem, const Examples& examples,
                 const GrowParams& params, const Poll& poll) {
  return grow_forest<RankTarget<Criterion>>(table, problem, Outcome::numbers, problem.rows.n_pairs, examples, params,
                                            poll);
}

Forest grow_by(RankCriterion criterion, const FeatureTable& table, const RankingProblem& problem,
               const Examples& examples, const GrowParams& params, const Poll& poll) {
  if (criterion == RankCriterion::entropy) return grow_with<EntropyCriterion>(table, problem, examples, params, poll);
  if (criterion == RankCriterion::mallows) return grow_with<MallowsCriterion>(table, problem, examples, params, poll);
  return grow_with<CorrelationCriterion>(table, problem, examples, params, poll);
}

void add_ranking(const double* ranks, std::int64_t n_labels, bool as_signs, double* sums) {
  if (!as_signs) {
    for (std::int64_t label = 0; label < n_labels; ++label) sums[label] += ranks[label];
    return;
  }
  for (std::int64_t a = 0; a < n_labels; ++a) {
    for (std::int64_t b = a + 1; b < n_labels; ++b) *sums++ += (ranks[a] < ranks[b]) - (ranks[a] > ranks[b]);
  }
}

}  // namespace

Forest grow_rankings(const FeatureTable& table, const RankingRows& target, RankCriterion criterion, double gamma,
                     const Examples& examples, const GrowParams& params, const Poll& poll) {
  const RankingProblem problem{target,
                               criterion == RankCriterion::mallows
                                   ? VectorRows(target.signs, target.n_rows, target.n_pairs)
                                   : VectorRows(target.vectors, target.n_rows, target.n_dimensions),
                               gamma, target.n_rows};
  Forest forest = grow_by(criterion, table, problem, examples, params, poll);
  for (std::shared_ptr<const Tree>& shared : forest.trees) {
    set_decreases(*std::const_pointer_cast<Tree>(shared), target.n_pairs);  // grown above, not shared yet
  }
  return forest;
}

LabelRanker::LabelRanker(std::int64_t n_labels) : n_labels_(n_labels), wins_(static_cast<std::size_t>(n_labels)) {}

void LabelRanker::rank(const double* pair_means, double* ranks) {
  std::fill(wins_.begin(), wins_.end(), 0.0);
  const double* pair = pair_means;
  for (std::size_t a = 0; a < wins_.size(); ++a) {
    for (std::size_t b = a + 1; b < wins_.size(); ++b, ++pair) {
      wins_[a] += *pair;
      wins_[b] -= *pair;
    }
  }
  std::fill(ranks, ranks + n_labels_, 1.0);  // a label ties with itself
  for (std::int64_t a = 0; a < n_labels_; ++a) {
    const double own = wins_[static_cast<std::size_t>(a)];
    double behind = 0;
    for (std::int64_t b = a + 1; b < n_labels_; ++b) {
      const double lead = wins_[static_cast<std::size_t>(b)] - own;
      behind += (lead > tie_tolerance ? 0.5 : 0.0) + (lead >= -tie_tolerance ? 0.5 : 0.0);
      ranks[b] += (lead < -tie_tolerance ? 0.5 : 0.0) + (lead <= tie_tolerance ? 0.5 : 0.0);
    }
    ranks[a] += behind;
  }
}

std::int64_t n_pairs_of(std::int64_t n_labels) {
  if (n_labels < 2 || n_labels > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("Rankings are of two labels or more.");
  return n_labels * (n_labels - 1) / 2;
}

std::vector<double> leaf_rankings(const Tree& tree, std::int64_t n_labels) {
  const std::int64_t n_pairs = n_pairs_of(n_labels);
  const auto n_leaves = static_cast<std::int64_t>(tree.leaf_values.size()) / n_pairs;
  std::vector<double> rankings(static_cast<std::size_t>(n_leaves * n_labels));
  LabelRanker ranker(n_labels);
  for (std::int64_t leaf = 0; leaf < n_leaves; ++leaf) {
    ranker.rank(tree.leaf_values.data() + leaf * n_pairs, rankings.data() + leaf * n_labels);
  }
  return rankings;
}

SummedRankings sum_rankings(const Forest& forest, std::int64_t n_labels, const FeatureRows& rows,
                            const Examples* examples, bool as_signs, int n_threads, const Poll& poll) {
  check_features(forest, rows);
  const std::int64_t n_pairs = n_pairs_of(n_labels);
  if (forest.outcome != Outcome::numbers || forest.n_outputs != n_pairs)
    throw std::invalid_argument("The forest does not hold the pairs of so many labels.");
  const std::int64_t n_cells = as_signs ? n_pairs : n_labels;
  SummedRankings result;
  result.sums.assign(static_cast<std::size_t>(rows.n_rows() * n_cells), 0.0);
  result.n_trees.assign(static_cast<std::size_t>(rows.n_rows()), 0);
  std::vector<std::vector<double>> leaves(forest.trees.size());
  std::vector<std::vector<std::uint64_t>> bags(examples == nullptr ? 0 : forest.trees.size());
  // Few rows rank the leaves that they reach, many rows find all leaves ranked.
  std::int64_t n_leaves = 0;
  for (const auto& tree : forest.trees) n_leaves += tree->n_leaves(forest.outcome, n_pairs);
  const bool ranks_ahead = rows.n_rows() * forest.n_trees() >= n_leaves;
  const auto prepare = [&](std::int64_t t, int, const Control&) {
    const Tree& tree = *forest.trees[static_cast<std::size_t>(t)];
    if (ranks_ahead) leaves[static_cast<std::size_t>(t)] = leaf_rankings(tree, n_labels);
    if (examples != nullptr) bags[static_cast<std::size_t>(t)] = in_bag(tree, *examples, rows.n_rows());
  };
  run_tasks(forest.n_trees(), n_threads, prepare, poll);

  // Large blocks, since each block walks through the memory of all trees.
  const std::int64_t size = std::max(
      rows.rows_per_block(), std::min<std::int64_t>(4096, (1 << 17) / std::max<std::int64_t>(1, rows.n_features())));
  const std::int64_t n_blocks = (rows.n_rows() + size - 1) / size;
  std::vector<std::vector<double>> blocks(static_cast<std::size_t>(n_threads));
  const auto sum_block = [&](std::int64_t task, int thread, const Control&) {
    std::vector<double>& block = blocks[static_cast<std::size_t>(thread)];
    if (block.empty()) block.assign(static_cast<std::size_t>(size * rows.n_features()), 0.0);
    const std::int64_t first = task * size, last = std::min(first + size, rows.n_rows());
    rows.load(first, last, block.data());
    std::vector<std::int32_t> reached(static_cast<std::size_t>(last - first));
    std::vector<double> own(static_cast<std::size_t>(n_labels));
    LabelRanker ranker(n_labels);
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      const Tree& tree = *forest.trees[t];
      find_leaves(
          tree, last - first, [&](std::int64_t row) { return block.data() + row * rows.n_features(); }, reached.data());
      for (std::int64_t row = first; row < last; ++row) {
        if (examples != nullptr && has_bit(bags[t], row)) continue;
        const auto leaf = static_cast<std::size_t>(reached[static_cast<std::size_t>(row - first)]);
        const std::int64_t place = tree.child[leaf];
        if (!ranks_ahead) ranker.rank(tree.leaf_values.data() + place * n_pairs, own.data());
        const double* const ranks = ranks_ahead ? leaves[t].data() + place * n_labels : own.data();
        add_ranking(ranks, n_labels, as_signs, result.sums.data() + row * n_cells);
        ++result.n_trees[static_cast<std::size_t>(row)];
      }
    }
    rows.unload(first, last, block.data());
  };
  run_tasks(n_blocks, n_threads, sum_block, poll);
  return result;
}

}  // namespace ramify
