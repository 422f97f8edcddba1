#include "scores/tree_errors.hpp"

#include <algorithm>
#include <functional>

namespace ramify {

namespace {

/// A leaf of labels: ids [first, certain) are certain, [certain, last) have the counts from `partial` on.
struct LeafView {
  std::int64_t first, certain, last, partial;
};

LeafView leaf_view(const Tree& tree, std::int64_t leaf) {
  const auto at = static_cast<std::size_t>(leaf);
  const std::int64_t partial = tree.leaf_partial[at], last = tree.leaf_offsets[at + 1];
  return {tree.leaf_offsets[at], last - (tree.leaf_partial[at + 1] - partial), last, partial};
}

std::int64_t leaf_of(const Tree& tree, std::int32_t node) { return tree.child[static_cast<std::size_t>(node)]; }

}  // namespace

double interpolated_area(const ScoreCounts& counts) {
  double above_positive = 0, above_negative = 0, area = 0;
  bool first = true;
  for (std::size_t i = 0; i < counts.positives.size(); ++i) {
    const std::int64_t n_positive = counts.positives[i];
    const auto negative = static_cast<double>(counts.negatives[i]);
    if (n_positive > 0) {
      const double slope = negative / static_cast<double>(n_positive);
      double before = above_positive + above_negative > 0 ? above_positive / (above_positive + above_negative) : 0.0;
      for (std::int64_t step = 1; step <= n_positive; ++step) {
        const double true_positive = above_positive + static_cast<double>(step);
        const double precision = true_positive / (true_positive + above_negative + slope * static_cast<double>(step));
        if (first && above_negative == 0) before = precision;
        first = false;
        area += (before + precision) / 2;
        before = precision;
      }
      above_positive += static_cast<double>(n_positive);
    }
    above_negative += negative;
  }
  return above_positive > 0 ? area / above_positive : 0.0;
}

AuprcError::AuprcError(const Forest& forest, const Tree& tree, const LabelRows& labels)
    : tree_(tree), labels_(labels), has_label_(static_cast<std::size_t>(forest.n_outputs), 0) {
  if (labels.partly_known()) may_have_.assign(has_label_.size(), 0);
  std::vector<double> frequency(tree.leaf_counts.size());
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] >= 0) continue;
    const auto leaf = static_cast<std::size_t>(tree.child[i]);
    for (std::int64_t p = tree.leaf_partial[leaf]; p < tree.leaf_partial[leaf + 1]; ++p) {
      frequency[static_cast<std::size_t>(p)] = tree.leaf_counts[static_cast<std::size_t>(p)] / tree.weight[i];
    }
  }
  std::vector<double> distinct = frequency;
  distinct.push_back(1.0);
  distinct.push_back(0.0);
  std::sort(distinct.begin(), distinct.end(), std::greater<double>());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const double value : frequency) {
    place_of_count_.push_back(static_cast<std::int32_t>(
        std::lower_bound(distinct.begin(), distinct.end(), value, std::greater<double>()) - distinct.begin()));
  }
  counts_.positives.assign(distinct.size(), 0);
  counts_.negatives.assign(distinct.size(), 0);
}

void AuprcError::begin(const OutOfBagPaths& paths) {
  for (std::size_t i = 0; i < paths.rows().size(); ++i) count(paths.rows()[i], paths.leaves()[i], 1);
  unpermuted_ = counts_;
}

void AuprcError::count(std::uint32_t row, std::int32_t leaf, std::int64_t sign) {
  ++stamp_;
  const std::int64_t n_own = labels_.offsets[row + 1] - labels_.offsets[row];
  for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p)
    has_label_[static_cast<std::size_t>(labels_.labels[p])] = stamp_;
  std::int64_t n_unknown = 0;
  if (labels_.partly_known()) {
    n_unknown = labels_.unknown_offsets[row + 1] - labels_.unknown_offsets[row];
    for (std::int64_t p = labels_.unknown_offsets[row]; p < labels_.unknown_offsets[row + 1]; ++p)
      may_have_[static_cast<std::size_t>(labels_.unknown[p])] = stamp_;
  }
  const LeafView view = leaf_view(tree_, leaf_of(tree_, leaf));
  std::int64_t n_found = 0, n_outside = n_unknown;  // unknown labels that the leaf does not list
  for (std::int64_t p = view.first; p < view.last; ++p) {
    const auto label = static_cast<std::size_t>(tree_.leaf_labels[static_cast<std::size_t>(p)]);
    if (n_unknown > 0 && may_have_[label] == stamp_) {
      --n_outside;
      continue;
    }
    const bool own = has_label_[label] == stamp_;
    const auto place =
        p < view.certain
            ? std::size_t(0)
            : static_cast<std::size_t>(place_of_count_[static_cast<std::size_t>(view.partial + p - view.certain)]);
    (own ? counts_.positives : counts_.negatives)[place] += sign;
    n_found += own;
  }
  counts_.positives.back() += sign * (n_own - n_found);
  counts_.negatives.back() +=
      sign * (static_cast<std::int64_t>(has_label_.size()) - (view.last - view.first) - (n_own - n_found) - n_outside);
}

template <class Loss>
void SummedLabelError<Loss>::begin(const OutOfBagPaths& paths) {
  for (std::size_t i = 0; i < paths.rows().size(); ++i) sum_ += error(paths.rows()[i], paths.leaves()[i]);
  n_rows_ = static_cast<std::int64_t>(paths.rows().size());
  unpermuted_ = sum_;
}

template <class Loss>
double SummedLabelError<Loss>::error(std::uint32_t row, std::int32_t leaf) {
  ++stamp_;
  for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p)
    has_label_[static_cast<std::size_t>(labels_.labels[p])] = stamp_;
  const LeafView view = leaf_view(tree_, leaf_of(tree_, leaf));
  const double weight = tree_.weight[static_cast<std::size_t>(leaf)];
  auto sum = static_cast<double>(labels_.offsets[row + 1] - labels_.offsets[row]);
  if (labels_.partly_known()) {
    for (std::int64_t p = labels_.unknown_offsets[row]; p < labels_.unknown_offsets[row + 1]; ++p)
      may_have_[static_cast<std::size_t>(labels_.unknown[p])] = stamp_;
  }
  for (std::int64_t p = view.first; p < view.last; ++p) {
    const auto label = static_cast<std::size_t>(tree_.leaf_labels[static_cast<std::size_t>(p)]);
    if (labels_.partly_known() && may_have_[label] == stamp_) continue;
    const bool own = has_label_[label] == stamp_;
    const double frequency =
        p < view.certain ? 1.0 : tree_.leaf_counts[static_cast<std::size_t>(view.partial + p - view.certain)] / weight;
    sum += Loss::added(frequency, own);
  }
  return sum;
}

template class SummedLabelError<BrierLoss>;
template class SummedLabelError<HammingLoss>;

MisclassificationError::MisclassificationError(const Forest& forest, const Tree& tree, const LabelRows& labels)
    : tree_(tree), labels_(labels) {
  const std::int64_t n_leaves = tree.n_leaves(forest.outcome, forest.n_outputs);
  for (std::int64_t leaf = 0; leaf < n_leaves; ++leaf) {
    const LeafView view = leaf_view(tree, leaf);
    std::int32_t winner = view.first < view.last ? tree.leaf_labels[static_cast<std::size_t>(view.first)] : -1;
    if (view.first == view.certain) {
      double most = 0;
      for (std::int64_t p = view.certain; p < view.last; ++p) {
        const double count = tree.leaf_counts[static_cast<std::size_t>(view.partial + p - view.certain)];
        if (count <= most) continue;
        most = count;
        winner = tree.leaf_labels[static_cast<std::size_t>(p)];
      }
    }
    winner_.push_back(winner);
  }
}

void MisclassificationError::begin(const OutOfBagPaths& paths) {
  for (std::size_t i = 0; i < paths.rows().size(); ++i) n_wrong_ += wrong(paths.rows()[i], paths.leaves()[i]);
  n_rows_ = static_cast<std::int64_t>(paths.rows().size());
  unpermuted_ = n_wrong_;
}

std::int64_t MisclassificationError::wrong(std::uint32_t row, std::int32_t leaf) const {
  const std::int32_t winner = winner_[static_cast<std::size_t>(leaf_of(tree_, leaf))];
  for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p) {
    if (labels_.labels[p] == winner) return 0;
  }
  return 1;
}

void SquaredError::begin(const OutOfBagPaths& paths) {
  for (std::size_t i = 0; i < paths.rows().size(); ++i) sum_ += error(paths.rows()[i], paths.leaves()[i]);
  n_rows_ = static_cast<std::int64_t>(paths.rows().size());
  unpermuted_ = sum_;
}

double SquaredError::error(std::uint32_t row, std::int32_t leaf) const {
  const double* const mean = tree_.leaf_values.data() + leaf_of(tree_, leaf) * n_outputs_;
  const double* const truth = numbers_.values + static_cast<std::int64_t>(row) * n_outputs_;
  double sum = 0;
  for (std::int64_t t = 0; t < n_outputs_; ++t) {
    if (truth[t] == truth[t]) sum += numbers_.target_weights[t] * (mean[t] - truth[t]) * (mean[t] - truth[t]);
  }
  return sum;
}

}  // namespace ramify
