#include <algorithm>
#include <cmath>

#include "scores/shapley_lanes.hpp"
#include "scores/shapley_sums.hpp"

namespace ramify {

namespace {

/// The products of a node from those of its parent, point by point: those rows that still answer yes are kept, those
/// that no longer do have lost the feature, and the others have the factor `same`.
struct Factors {
  EightNumbers now, lost, same;
};
RAMIFY_WIDE_VECTORS void multiply(const double* above, const Factors& of_rows, const double* kept,
                                  const double* dropped, std::size_t n_points, double* product) {
  for (std::size_t k = 0; k < n_points; ++k) {
    const EightNumbers after =
        load(above + k * n_lanes) * (of_rows.now * kept[k] + of_rows.lost * dropped[k] + of_rows.same);
    store(after, product + k * n_lanes);
  }
}

/// Weights of a leaf's features: a row's answer says which of two sums over the points it has.
RAMIFY_WIDE_VECTORS void weigh(const double* product, const std::vector<std::int32_t>& depths, const double* effects,
                               const double* zero_answer, const double* answers, std::size_t n_points,
                               double* weights) {
  const EightNumbers ones = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  EightNumbers absent = {};
  for (std::size_t k = 0; k < n_points; ++k) {
    absent = absent + load(product + k * n_lanes) * zero_answer[k];
  }
  for (std::size_t s = 0; s < depths.size(); ++s) {
    const auto depth = static_cast<std::size_t>(depths[s]);
    const double* const effect = effects + depth * n_points;
    EightNumbers present = {};
    for (std::size_t k = 0; k < n_points; ++k) {
      present = present + load(product + k * n_lanes) * effect[k];
    }
    const EightNumbers answer = load(answers + depth * n_lanes);
    store(answer * present + (answer * -1.0 + ones) * absent, weights + s * n_lanes);
  }
}

/// The share of a node's training weight that goes to its child.
double share_of(const Tree& tree, std::int32_t parent, std::int32_t node) {
  const auto left = static_cast<std::size_t>(tree.child[static_cast<std::size_t>(parent)]);
  return tree.weight[static_cast<std::size_t>(node)] / (tree.weight[left] + tree.weight[left + 1]);
}

}  // namespace

Quadrature gauss_legendre(std::int64_t n_points) {
  const auto n = static_cast<std::size_t>(n_points);
  Quadrature found{std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t k = 0; k < n; ++k) {  // Newton's steps towards the k-th root of the Legendre polynomial
    double root = std::cos(std::acos(-1.0) * (static_cast<double>(k) + 0.75) / (static_cast<double>(n) + 0.5));
    double slope = 1;
    for (int step = 0; step < 100; ++step) {
      double before = 1, value = root;
      for (std::size_t j = 2; j <= n; ++j) {
        const auto order = static_cast<double>(j);
        const double next = ((2 * order - 1) * root * value - (order - 1) * before) / order;
        before = value;
        value = next;
      }
      slope = static_cast<double>(n) * (root * value - before) / (root * root - 1);
      const double change = value / slope;
      root -= change;
      if (std::fabs(change) < 1e-15) break;
    }
    found.points[k] = (1 + root) / 2;
    found.weights[k] = 1 / ((1 - root * root) * slope * slope);
  }
  return found;
}

std::int64_t most_features_on_a_path(const Tree& tree, std::int64_t n_features) {
  std::vector<std::int32_t> n_tests(static_cast<std::size_t>(n_features), 0);
  std::vector<std::int32_t> stack{0};
  std::int64_t n_now = 0, most = 0;
  while (!stack.empty()) {
    const std::int32_t top = stack.back();
    stack.pop_back();
    const std::int32_t node = top < 0 ? ~top : top;
    const std::int32_t feature = tree.feature[static_cast<std::size_t>(node)];
    if (feature < 0) {
      most = std::max(most, n_now);
      continue;
    }
    std::int32_t& count = n_tests[static_cast<std::size_t>(feature)];
    if (top < 0) {
      if (--count == 0) --n_now;
      continue;
    }
    if (count++ == 0) ++n_now;
    const std::int32_t left = tree.child[static_cast<std::size_t>(node)];
    stack.insert(stack.end(), {~node, left, left + 1});
  }
  return most;
}

WeightedPaths::WeightedPaths(const Tree& tree, const Quadrature& quadrature, std::int64_t n_features)
    : tree_(tree),
      quadrature_(quadrature),
      n_points_(quadrature.points.size()),
      parent_(tree.feature.size(), -1),
      depth_(tree.feature.size(), 0),
      slot_of_(static_cast<std::size_t>(n_features), -1) {
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    deepest = std::max(deepest, static_cast<std::size_t>(depth_[i]));
    if (tree.feature[i] < 0) continue;
    for (int side = 0; side < 2; ++side) {
      const auto child = static_cast<std::size_t>(tree.child[i] + side);
      parent_[child] = static_cast<std::int32_t>(i);
      depth_[child] = depth_[i] + 1;
    }
  }
  const std::size_t n_depths = deepest + 1;
  before_.resize(n_depths);
  goes_left_.resize(n_depths);
  share_.resize(n_depths);
  answer_.resize(n_depths * n_lanes);
  inverse_.resize(n_depths * n_points_);
  effect_.resize(n_depths * n_points_);
  product_.assign(n_depths * n_points_ * n_lanes, 1.0);
  kept_.resize(n_points_);
  dropped_.resize(n_points_);
  for (std::size_t k = 0; k < n_points_; ++k)
    zero_answer_.push_back(-quadrature.weights[k] / (1 - quadrature.points[k]));
}

void WeightedPaths::add(const double* lanes, const LeafEntries& leaves, LeafWeights& weights, ShapleySums& sums,
                        const Control& control) {
  if (tree_.feature[0] < 0 || leaves.leads[0] == 0) return;
  std::vector<std::int32_t> stack{0};
  std::int64_t n_visited = 0;
  while (!stack.empty()) {
    const std::int32_t top = stack.back();
    stack.pop_back();
    if (top < 0) {
      leave(~top);
      continue;
    }
    if ((++n_visited & 0xfff) == 0) control.check();
    enter(top, lanes);
    if (tree_.feature[static_cast<std::size_t>(top)] < 0) {
      add_leaf(top, leaves, weights, sums);
      leave(top);
      continue;
    }
    stack.push_back(~top);
    const std::int32_t left = tree_.child[static_cast<std::size_t>(top)];
    for (const std::int32_t child : {left + 1, left}) {
      if (leaves.leads[static_cast<std::size_t>(child)] != 0) stack.push_back(child);
    }
  }
  weights.scatter(sums);
}

void WeightedPaths::enter(std::int32_t node, const double* lanes) {
  const auto depth = static_cast<std::size_t>(depth_[static_cast<std::size_t>(node)]);
  const std::int32_t tested = tree_.feature[static_cast<std::size_t>(node)];
  if (tested >= 0) {
    const double* const values = lanes + static_cast<std::size_t>(tested) * n_lanes;
    const std::int32_t left = tree_.child[static_cast<std::size_t>(node)];
    unsigned bits = 0;
    for (std::size_t r = 0; r < n_lanes; ++r) bits |= unsigned{tree_.next(node, values[r]) == left} << r;
    goes_left_[depth] = static_cast<std::uint8_t>(bits);
  }
  if (depth == 0) return;
  const std::int32_t parent = parent_[static_cast<std::size_t>(node)];
  const auto feature = static_cast<std::size_t>(tree_.feature[static_cast<std::size_t>(parent)]);
  const bool is_left = node == tree_.child[static_cast<std::size_t>(parent)];
  const unsigned arrive = is_left ? goes_left_[depth - 1] : ~static_cast<unsigned>(goes_left_[depth - 1]);
  const double step = share_of(tree_, parent, node);

  std::int32_t& slot = slot_of_[feature];
  before_[depth] = slot < 0 ? -1 : slots_[static_cast<std::size_t>(slot)];
  if (slot < 0) {
    slot = static_cast<std::int32_t>(slots_.size());
    slots_.push_back(static_cast<std::int32_t>(depth));
    slot_features_.push_back(feature);
  } else {
    slots_[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(depth);
  }

  // the factor that turns the product of the parent into that of the node, by the answers before and now
  double now[n_lanes], lost[n_lanes], never[n_lanes];
  const auto before = static_cast<std::size_t>(before_[depth]);
  const bool again = before_[depth] >= 0;
  for (std::size_t r = 0; r < n_lanes; ++r) {
    const double was = again ? answer_[before * n_lanes + r] : 1.0;
    now[r] = (arrive >> r & 1) != 0 ? was : 0.0;
    lost[r] = was - now[r];
    never[r] = (1 - was) * step;
  }
  std::copy_n(now, n_lanes, answer_.data() + depth * n_lanes);
  const double share = again ? share_[before] * step : step;
  share_[depth] = share;
  for (std::size_t k = 0; k < n_points_; ++k) {
    const double t = quadrature_.points[k], rest = (1 - t) * share, whole = t + rest, inverse = 1 / whole;
    const double divisor = again ? inverse_[before * n_points_ + k] : 1.0;
    inverse_[depth * n_points_ + k] = inverse;
    effect_[depth * n_points_ + k] = quadrature_.weights[k] * (1 - share) * inverse;
    kept_[k] = whole * divisor;
    dropped_[k] = rest * divisor;
  }
  multiply(product_.data() + (depth - 1) * n_points_ * n_lanes, {load(now), load(lost), load(never)}, kept_.data(),
           dropped_.data(), n_points_, product_.data() + depth * n_points_ * n_lanes);
}

void WeightedPaths::leave(std::int32_t node) {
  const auto depth = static_cast<std::size_t>(depth_[static_cast<std::size_t>(node)]);
  if (depth == 0) return;
  std::int32_t& slot = slot_of_[static_cast<std::size_t>(
      tree_.feature[static_cast<std::size_t>(parent_[static_cast<std::size_t>(node)])])];
  if (before_[depth] >= 0) {
    slots_[static_cast<std::size_t>(slot)] = before_[depth];
  } else {
    slots_.pop_back();
    slot_features_.pop_back();
    slot = -1;
  }
}

void WeightedPaths::add_leaf(std::int32_t node, const LeafEntries& leaves, LeafWeights& kept, ShapleySums& sums) {
  const double* const product =
      product_.data() + static_cast<std::size_t>(depth_[static_cast<std::size_t>(node)]) * n_points_ * n_lanes;
  weigh(product, slots_, effect_.data(), zero_answer_.data(), answer_.data(), n_points_,
        kept.next_leaf(slot_features_, sums));
  for (auto p = leaves.offsets[static_cast<std::size_t>(node)]; p < leaves.offsets[static_cast<std::size_t>(node) + 1];
       ++p) {
    const LeafEntries::Entry entry = leaves.entries[static_cast<std::size_t>(p)];
    kept.add(entry.column, entry.value);
  }
}

}  // namespace ramify
