/// What a leaf says of outputs that none of its rows knows: the value in the nearest node above whose rows do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ramify {

/// Values along the path to the node that a tree is grown in. Nodes come depth first, so that going on to another node
/// is taking back what the nodes below its parent said.
class InheritedValues {
 public:
  /// What all examples together say, for outputs that no row of a tree's bag knows.
  void start_from(std::vector<double> values) {
    values_ = std::move(values);
    changes_.clear();
    nodes_.clear();
  }

  /// Go to a node at this depth, below the node that was last visited one level higher.
  void go_to(std::int64_t depth) {
    while (static_cast<std::int64_t>(nodes_.size()) > depth) {
      for (; changes_.size() > nodes_.back(); changes_.pop_back())
        values_[static_cast<std::size_t>(changes_.back().first)] = changes_.back().second;
      nodes_.pop_back();
    }
    nodes_.push_back(changes_.size());
  }

  void set(std::int32_t output, double value) {
    double& now = values_[static_cast<std::size_t>(output)];
    if (now == value) return;
    changes_.emplace_back(output, now);
    now = value;
  }

  double operator[](std::int32_t output) const { return values_[static_cast<std::size_t>(output)]; }

 private:
  std::vector<double> values_;
  std::vector<std::pair<std::int32_t, double>> changes_;  ///< outputs and what they were before
  std::vector<std::size_t> nodes_;                        ///< of the path: how many changes there were before each
};

/// Whether a target must be told where in the tree it is: learn(const Examples&) once, follow(depth) per node.
template <class Target>
inline constexpr bool follows_paths = false;

}  // namespace ramify
