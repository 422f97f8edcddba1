/// Where one tree's out-of-bag rows go, as they are and with one feature permuted among them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_table.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"

namespace ramify {

class OutOfBagPaths {
 public:
  OutOfBagPaths(const Tree& tree, const FeatureTable& table, const Examples& examples, const Control& control);

  const std::vector<std::uint32_t>& rows() const { return rows_; }
  const std::vector<std::int32_t>& leaves() const { return leaves_; }      ///< node id per out-of-bag row
  const std::vector<std::int32_t>& features() const { return features_; }  ///< tested on some row's path, ascending

  /// Call `changed(i, leaf)` for every out-of-bag row i, ascending, that reaches another leaf when feature number k of
  /// `features()` is permuted.
  template <class Changed>
  void permute(std::size_t k, const Changed& changed) const {
    for (auto t = static_cast<std::size_t>(offsets_[k]); t < static_cast<std::size_t>(offsets_[k + 1]); ++t) {
      const std::size_t i = tested_by_[t];
      if (new_leaves_[t] != leaves_[i]) changed(i, new_leaves_[t]);
    }
  }

 private:
  std::vector<std::uint32_t> rows_;
  std::vector<std::int32_t> leaves_;
  std::vector<std::int32_t> features_;
  std::vector<std::int64_t> offsets_;     ///< of each feature into the next two
  std::vector<std::uint32_t> tested_by_;  ///< out-of-bag rows whose path tests the feature, ascending
  std::vector<std::int32_t> new_leaves_;  ///< where they go when it is permuted
};

}  // namespace ramify
