/// An order of categories in which prefix cuts are good subsets.
#pragma once

#include <cstdint>
#include <vector>

namespace ramify {

/// Sums of the target vectors per category, as compressed rows over the node's dimensions.
struct CategorySums {
  std::vector<double> weight;         ///< total example weight per category
  std::vector<double> own;            ///< sum of m^2 w over dimensions that only one example has, per category
  std::vector<std::int64_t> offsets;  ///< categories + 1
  std::vector<std::int32_t> dimensions;
  std::vector<double> sums;
  std::vector<double> dimension_weight;

  void clear() {
    weight.clear();
    own.clear();
    offsets.assign(1, 0);
    dimensions.clear();
    sums.clear();
    dimension_weight.clear();
  }
};

/// Place of each category's mean along the first principal direction of the means (weighted by examples and
/// dimensions), by eight power steps from the mean that deviates most. With one dimension this is the order of the
/// means, which makes prefix cuts optimal (Breiman et al., 1984).
void principal_places(const CategorySums& categories, std::vector<double>& places);

}  // namespace ramify
