/// Sums of gains per feature and output over the nodes of trees, cut into tasks by output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "forest/forest.hpp"
#include "scores/importances.hpp"

namespace ramify {

/// Outputs [first, last) of one task, and where each feature's row lies in its dense sums.
struct OutputRange {
  std::int32_t first, last;
};

/// The features that some node tests.
inline std::vector<std::int32_t> used_features(const Forest& forest, std::vector<std::int32_t>& row_of_feature) {
  row_of_feature.assign(forest.n_categories.size(), -1);
  for (const auto& tree : forest.trees) {
    for (const std::int32_t feature : tree->feature) {
      if (feature >= 0) row_of_feature[static_cast<std::size_t>(feature)] = 0;
    }
    for (const CombinedFeature& one : tree->combined) row_of_feature[static_cast<std::size_t>(one.feature)] = 0;
  }
  std::vector<std::int32_t> used;
  for (std::size_t f = 0; f < row_of_feature.size(); ++f) {
    if (row_of_feature[f] < 0) continue;
    row_of_feature[f] = static_cast<std::int32_t>(used.size());
    used.push_back(static_cast<std::int32_t>(f));
  }
  return used;
}

/// One over the weight of each side of a split, of both, and of all examples measured on.
struct SideShares {
  double left, right, node, total;
};

/// Sums a tree's gains from the leaves upwards; lists of counts are handed from children to parents. An entry has a
/// label and a sum with others of the label; gain_alone and gain_of_both, found by its type, say what a split gains.
template <class Entry>
class GainSummer {
 public:
  /// `leaf_entries(node, list)` fills a leaf's entries by ascending label; gains are divided by `total`.
  template <class LeafEntries>
  void add_tree(const Tree& tree, double total, const std::vector<std::int32_t>& row_of_feature,
                const double* label_weights, OutputRange range, LeafEntries leaf_entries, std::vector<double>& sums) {
    if (!(total > 0)) return;
    const std::int64_t width = range.last - range.first;
    at_.resize(tree.feature.size());
    for (std::size_t i = tree.feature.size(); i-- > 0;) {
      at_[i] = take();
      std::vector<Entry>& list = lists_[at_[i]];
      if (tree.feature[i] < 0) {
        leaf_entries(static_cast<std::int32_t>(i), list);
        continue;
      }
      const auto left = static_cast<std::size_t>(tree.child[i]);
      const auto row_of = [&](std::int32_t feature) {
        return sums.data() + row_of_feature[static_cast<std::size_t>(feature)] * width - range.first;
      };
      const bool combines = tree.subset[i] < -1;
      if (combines) together_.resize(static_cast<std::size_t>(width), 0.0);
      double* const row = combines ? together_.data() - range.first : row_of(tree.feature[i]);
      const double n_left = tree.weight[left], n_right = tree.weight[left + 1];
      list.resize(lists_[at_[left]].size() + lists_[at_[left + 1]].size());
      list.resize(merge(lists_[at_[left]], lists_[at_[left + 1]],
                        {1 / n_left, 1 / n_right, 1 / (n_left + n_right), 1 / total}, label_weights, row, list.data()));
      free_.push_back(at_[left]);
      free_.push_back(at_[left + 1]);
      if (!combines) continue;
      for (const Entry& entry : list) {
        tree.each_tested(static_cast<std::int32_t>(i), [&](std::int32_t feature, double share) {
          row_of(feature)[entry.label] += share * row[entry.label];
        });
        row[entry.label] = 0;
      }
    }
    free_.push_back(at_[0]);
  }

 private:
  /// Write the entries of both sides to `out`, which has room for all, and return how many there are.
  static std::size_t merge(const std::vector<Entry>& a, const std::vector<Entry>& b, const SideShares& per,
                           const double* label_weights, double* row, Entry* const begin) {
    Entry* out = begin;
    const auto one_sided = [&](const Entry& entry, bool left) {
      *out++ = entry;
      row[entry.label] += gain_alone(entry, label_weights[entry.label], left, per);
    };
    std::size_t p = 0, q = 0;
    while (p < a.size() && q < b.size()) {
      if (a[p].label < b[q].label) {
        one_sided(a[p++], true);
      } else if (b[q].label < a[p].label) {
        one_sided(b[q++], false);
      } else {
        row[a[p].label] += gain_of_both(a[p], b[q], label_weights[a[p].label], per);
        *out++ = a[p++] + b[q++];
      }
    }
    for (; p < a.size(); ++p) one_sided(a[p], true);
    for (; q < b.size(); ++q) one_sided(b[q], false);
    return static_cast<std::size_t>(out - begin);
  }

  std::size_t take() {
    if (free_.empty()) {
      lists_.emplace_back();
      return lists_.size() - 1;
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    lists_[slot].clear();
    return slot;
  }

  std::vector<std::vector<Entry>> lists_;
  std::vector<std::size_t> free_, at_;
  std::vector<double> together_;  ///< gains that several features share, per output of the range; else 0
};

/// Cut the outputs into tasks of bounded memory, at least one per thread; the cut does not change any bit.
inline std::vector<OutputRange> cut_outputs(std::int64_t n_outputs, std::int64_t n_used, int n_threads) {
  constexpr std::int64_t max_cells = 1 << 23;
  const std::int64_t by_memory = std::max<std::int64_t>(1, max_cells / std::max<std::int64_t>(1, n_used));
  const std::int64_t width = std::max<std::int64_t>(1, std::min(by_memory, (n_outputs + n_threads - 1) / n_threads));
  std::vector<OutputRange> ranges;
  for (std::int64_t first = 0; first < n_outputs; first += width) {
    ranges.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(std::min(first + width, n_outputs))});
  }
  return ranges;
}

/// Run `sum(range, sums)` for every range of outputs and put the non-zeros side by side.
template <class Sum>
ScoreMatrix collect(const Forest& forest, const std::vector<std::int32_t>& used, int n_threads, const Poll& poll,
                    Sum sum) {
  const std::vector<OutputRange> ranges =
      cut_outputs(forest.n_outputs, static_cast<std::int64_t>(used.size()), n_threads);
  std::vector<ScoreMatrix> parts(ranges.size());
  run_tasks(
      static_cast<std::int64_t>(ranges.size()), n_threads,
      [&](std::int64_t task, int, const Control& control) {
        const OutputRange range = ranges[static_cast<std::size_t>(task)];
        const std::int64_t width = range.last - range.first;
        std::vector<double> sums(used.size() * static_cast<std::size_t>(width), 0.0);
        sum(range, control, sums);
        ScoreMatrix& part = parts[static_cast<std::size_t>(task)];
        part.offsets.push_back(0);
        for (std::size_t row = 0; row < used.size(); ++row) {
          for (std::int64_t j = 0; j < width; ++j) {
            const double value = sums[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(j)];
            if (value == 0) continue;
            part.outputs.push_back(range.first + static_cast<std::int32_t>(j));
            part.values.push_back(value / static_cast<double>(forest.n_trees()));
          }
          part.offsets.push_back(static_cast<std::int64_t>(part.outputs.size()));
        }
      },
      poll);
  ScoreMatrix whole;
  whole.offsets.push_back(0);
  std::size_t row = 0;
  for (std::int64_t f = 0; f < forest.n_features(); ++f) {
    if (row < used.size() && used[row] == f) {
      for (const ScoreMatrix& part : parts) {
        const std::int64_t first = part.offsets[row], last = part.offsets[row + 1];
        whole.outputs.insert(whole.outputs.end(), part.outputs.begin() + first, part.outputs.begin() + last);
        whole.values.insert(whole.values.end(), part.values.begin() + first, part.values.begin() + last);
      }
      ++row;
    }
    whole.offsets.push_back(static_cast<std::int64_t>(whole.outputs.size()));
  }
  return whole;
}

}  // namespace ramify
