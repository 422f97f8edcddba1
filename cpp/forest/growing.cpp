#include "forest/growing.hpp"

#include "forest/grower.hpp"
#include "targets/label_target.hpp"
#include "targets/number_target.hpp"
#include "targets/one_label_target.hpp"

namespace ramify {

namespace {

/// Does every row have exactly one of two labels?
bool two_classes(const LabelRows& target) {
  if (target.n_labels != 2) return false;
  for (std::int64_t row = 0; row < target.n_rows; ++row) {
    if (target.offsets[row + 1] - target.offsets[row] != 1) return false;
  }
  return true;
}

}  // namespace

Forest grow_labels(const FeatureTable& table, const LabelRows& target, const Examples& examples,
                   const GrowParams& params, const Poll& poll) {
  if (target.partly_known())
    return grow_forest<LabelTarget<true>>(table, target, Outcome::labels, target.n_labels, examples, params, poll);
  if (target.n_labels == 1 || two_classes(target))
    return grow_forest<OneLabelTarget>(table, target, Outcome::labels, target.n_labels, examples, params, poll);
  return grow_forest<LabelTarget<false>>(table, target, Outcome::labels, target.n_labels, examples, params, poll);
}

Forest grow_numbers(const FeatureTable& table, const NumberRows& target, const Examples& examples,
                    const GrowParams& params, const Poll& poll) {
  if (target.partly_known)
    return grow_forest<NumberTarget<true>>(table, target, Outcome::numbers, target.n_targets, examples, params, poll);
  return grow_forest<NumberTarget<false>>(table, target, Outcome::numbers, target.n_targets, examples, params, poll);
}

}  // namespace ramify
