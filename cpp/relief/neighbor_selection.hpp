/// The nearest rows of a query, group by group, from approximate distances and a few exact ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "relief/relief_neighbors.hpp"

namespace ramify {

/// Rows in the order of their groups: a position is a place in that order.
struct GroupedRows {
  std::vector<std::int64_t> row_at;       ///< row of each position; ascending within a group
  std::vector<std::int64_t> position_of;  ///< position of each row
  std::vector<std::int64_t> offsets;      ///< of each group into the positions

  GroupedRows(const NeighborQuery& query, std::int64_t n_rows)
      : row_at(static_cast<std::size_t>(n_rows)),
        position_of(row_at.size()),
        offsets(static_cast<std::size_t>(query.n_groups) + 1, 0) {
    for (std::int64_t row = 0; row < n_rows; ++row) ++offsets[static_cast<std::size_t>(query.groups[row]) + 1];
    for (std::size_t group = 1; group < offsets.size(); ++group) offsets[group] += offsets[group - 1];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const std::int64_t position = next[static_cast<std::size_t>(query.groups[row])]++;
      row_at[static_cast<std::size_t>(position)] = row;
      position_of[static_cast<std::size_t>(row)] = position;
    }
  }

  std::int64_t n_groups() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// How far approximate distances may be off: `absolute + relative * distance`.
struct Tolerance {
  double absolute, relative;
};

/// The candidates of one query. Each group keeps those that may be among its nearest, and forgets the others from time
/// to time, so that memory and work stay small whatever the order of the distances.
template <class Number>
class NearestRows {
 public:
  NearestRows(const GroupedRows& grouped, std::int64_t n_neighbors, Tolerance tolerance)
      : grouped_(grouped),
        n_neighbors_(static_cast<std::size_t>(n_neighbors)),
        tolerance_(tolerance),
        groups_(static_cast<std::size_t>(grouped.n_groups())) {}

  /// Begin a query that is itself at `own_position`, or nowhere (-1).
  void restart(std::int64_t own_position) {
    own_position_ = own_position;
    group_ = 0;
    for (Group& group : groups_) {
      group.found.clear();
      if (n_neighbors_ <= most_sorted) group.smallest.assign(n_neighbors_, std::numeric_limits<Number>::infinity());
      group.bound = std::numeric_limits<Number>::infinity();
      group.limit = 2 * n_neighbors_ + 64;
    }
  }

  /// Look at the distances of positions [first, last); calls come in ascending order.
  void look(const Number* distances, std::int64_t first, std::int64_t last) {
    while (first < last) {
      while (grouped_.offsets[group_ + 1] <= first) ++group_;
      const std::int64_t end = std::min(last, grouped_.offsets[group_ + 1]);
      look(groups_[group_], distances, first, end);
      distances += end - first;
      first = end;
    }
  }

  /// Store the nearest rows of each group, nearest first, at `out`; `exact(rows, n, distances)` gives exact distances.
  template <class Exact>
  void finish(const Exact& exact, std::int64_t* out) {
    for (Group& group : groups_) {
      forget(group);
      rows_.clear();
      for (const auto& [distance, position] : group.found)
        rows_.push_back(grouped_.row_at[static_cast<std::size_t>(position)]);
      distances_.resize(rows_.size());
      exact(rows_.data(), static_cast<std::int64_t>(rows_.size()), distances_.data());
      nearest_.clear();
      for (std::size_t k = 0; k < rows_.size(); ++k) nearest_.emplace_back(distances_[k], rows_[k]);
      out = store_nearest(nearest_, [](std::int64_t row) { return row; }, out);
    }
  }

  /// The same where the distances that were looked at are exact; positions of a group are in the order of its rows.
  void finish(std::int64_t* out) {
    for (Group& group : groups_) {
      forget(group);
      out = store_nearest(
          group.found, [this](std::int64_t position) { return grouped_.row_at[static_cast<std::size_t>(position)]; },
          out);
    }
  }

 private:
  struct Group {
    std::vector<std::pair<Number, std::int64_t>> found;  ///< approximate distance and position
    std::vector<Number> smallest;                        ///< approximate distances of the nearest
    Number bound;                                        ///< beyond it no row can be among the nearest
    std::size_t limit;                                   ///< forget when so many have been found
  };

  static constexpr std::int64_t at_once = 8;
  static constexpr std::size_t most_sorted = 64;

  void look(Group& group, const Number* distances, std::int64_t first, std::int64_t last) {
    for (; first + at_once <= last; first += at_once, distances += at_once) {
      if (any_within(distances, group.bound)) look_one_by_one(group, distances, first, at_once);
    }
    look_one_by_one(group, distances, first, last - first);
  }

  static bool any_within(const Number* distances, Number bound) {
    int found = 0;
    for (int k = 0; k < at_once; ++k) found |= distances[k] <= bound;
    return found != 0;
  }

  void look_one_by_one(Group& group, const Number* distances, std::int64_t first, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
      if (!(distances[k] <= group.bound) || first + k == own_position_) continue;
      group.found.emplace_back(distances[k], first + k);
      if (n_neighbors_ <= most_sorted) insert(group, distances[k]);
      if (group.found.size() < group.limit) continue;
      forget(group);
      group.limit = std::max(group.limit, 2 * group.found.size());
    }
  }

  /// Keep the smallest distances of a few neighbours sorted: cheaper than to find them again and again. No branch
  /// depends on where the new one goes.
  void insert(Group& group, Number distance) {
    Number* const smallest = group.smallest.data();
    for (std::size_t k = n_neighbors_ - 1; k > 0; --k)
      smallest[k] = std::max(smallest[k - 1], std::min(distance, smallest[k]));
    smallest[0] = std::min(distance, smallest[0]);
    group.bound = bound_beyond(smallest[n_neighbors_ - 1]);
  }

  /// Drop what cannot be among the nearest, given all that was found.
  void forget(Group& group) {
    auto& found = group.found;
    if (found.size() <= n_neighbors_) return;
    if (n_neighbors_ > most_sorted) {
      auto& distances = group.smallest;
      distances.clear();
      for (const auto& one : found) distances.push_back(one.first);
      const auto last = distances.begin() + static_cast<std::ptrdiff_t>(n_neighbors_ - 1);
      std::nth_element(distances.begin(), last, distances.end());
      group.bound = bound_beyond(*last);
    }
    found.erase(std::remove_if(found.begin(), found.end(), [&](const auto& one) { return one.first > group.bound; }),
                found.end());
  }

  template <class Pairs, class RowOf>
  std::int64_t* store_nearest(Pairs& pairs, const RowOf& row_of, std::int64_t* out) const {
    const std::size_t n_kept = std::min(pairs.size(), n_neighbors_);
    std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(n_kept), pairs.end());
    for (std::size_t k = 0; k < n_neighbors_; ++k) *out++ = k < n_kept ? row_of(pairs[k].second) : -1;
    return out;
  }

  Number bound_beyond(Number last) const {
    if (!(last < std::numeric_limits<Number>::infinity())) return last;  // not all have been found yet
    const double bound = last + 2 * (tolerance_.absolute + tolerance_.relative * last);
    return static_cast<Number>(bound *
                               (1 + 2 * static_cast<double>(std::numeric_limits<Number>::epsilon())));  // rounded up
  }

  const GroupedRows& grouped_;
  std::size_t n_neighbors_;
  Tolerance tolerance_;
  std::int64_t own_position_ = -1;
  std::size_t group_ = 0;
  std::vector<Group> groups_;
  std::vector<std::int64_t> rows_;
  std::vector<double> distances_;
  std::vector<std::pair<double, std::int64_t>> nearest_;
};

}  // namespace ramify
