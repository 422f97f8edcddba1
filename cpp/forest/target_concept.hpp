/// What the grower asks of a target, checked when a target is used.
///
/// A target serves one thread. The grower calls begin_tree, then per node begin_node; per feature it moves local rows
/// to the accumulated side with clear / add, and score compares that side with the rest (larger is better; minus
/// infinity: not admissible). Rows whose value is missing are declared by set_missing before clear;
/// add_tracking_missing then keeps what score_with_missing, the score of accumulated and missing rows against the rest,
/// needs. worthwhile is a stopping rule for the cut that was scored last. category_sums and write_leaf serve nominal
/// features and leaves.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "forest/forest.hpp"
#include "forest/node_entries.hpp"
#include "forest/nominal.hpp"

namespace ramify {

namespace target_concept {

template <class Expected, class Found>
using Is = std::enable_if_t<std::is_same_v<Expected, Found>>;

template <class T>
using Rows = const std::vector<T>&;

}  // namespace target_concept

template <class Target, class = void>
inline constexpr bool is_target = false;

template <class Target>
inline constexpr bool is_target<
    Target,
    std::void_t<target_concept::Is<void, decltype(std::declval<Target&>().begin_tree())>,
                target_concept::Is<int, decltype(std::declval<Target&>().begin_node(
                                            std::declval<const std::uint32_t*>(), std::declval<std::uint32_t*>(),
                                            std::int64_t{}, std::declval<const double*>(), int{}))>,
                target_concept::Is<bool, decltype(std::declval<const Target&>().pure())>,
                target_concept::Is<double, decltype(std::declval<const Target&>().decrease(double{}))>,
                target_concept::Is<bool, decltype(std::declval<const Target&>().perfect(double{}))>,
                target_concept::Is<void, decltype(std::declval<Target&>().clear())>,
                target_concept::Is<void, decltype(std::declval<Target&>().add(std::uint32_t{}))>,
                target_concept::Is<double, decltype(std::declval<Target&>().score())>,
                target_concept::Is<bool, decltype(std::declval<Target&>().worthwhile())>,
                target_concept::Is<void, decltype(std::declval<Target&>().set_missing(
                                             std::declval<target_concept::Rows<std::uint32_t>>()))>,
                target_concept::Is<void, decltype(std::declval<Target&>().add_tracking_missing(std::uint32_t{}))>,
                target_concept::Is<double, decltype(std::declval<Target&>().score_with_missing())>,
                target_concept::Is<void, decltype(std::declval<Target&>().category_sums(
                                             std::declval<const KeyBuffer&>(), std::declval<CategorySums&>()))>,
                target_concept::Is<void, decltype(std::declval<Target&>().write_leaf(
                                             std::declval<const std::uint32_t*>(), std::int64_t{},
                                             std::declval<const double*>(), double{}, std::declval<Tree&>()))>>> = true;

}  // namespace ramify
