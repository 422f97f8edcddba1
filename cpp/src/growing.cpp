#include "ramify/forest.hpp"
#include "ramify/grower.hpp"
#include "ramify/label_target.hpp"
#include "ramify/number_target.hpp"
#include "ramify/one_label_target.hpp"

namespace ramify {

Forest grow_labels(const FeatureTable& table, const LabelRows& target, const Examples& examples,
                   const GrowParams& params, const Poll& poll) {
  if (target.n_labels == 1)
    return grow_forest<OneLabelTarget>(table, target, Outcome::labels, 1, examples, params, poll);
  return grow_forest<LabelTarget>(table, target, Outcome::labels, target.n_labels, examples, params, poll);
}

Forest grow_numbers(const FeatureTable& table, const NumberRows& target, const Examples& examples,
                    const GrowParams& params, const Poll& poll) {
  return grow_forest<NumberTarget>(table, target, Outcome::numbers, target.n_targets, examples, params, poll);
}

}  // namespace ramify
