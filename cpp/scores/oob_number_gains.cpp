#include "scores/oob_number_gains.hpp"

#include <stdexcept>

#include "forest/predictor.hpp"

namespace ramify {

std::vector<double> genie3_oob_numbers(const Forest& forest, const FeatureRows& rows, const NumberRows& numbers,
                                       const Examples& examples, int n_threads, const Poll& poll) {
  if (forest.outcome != Outcome::numbers)
    throw std::invalid_argument("Out-of-bag gains of numbers are defined for forests of numbers.");
  if (numbers.n_rows != rows.n_rows())
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (numbers.n_targets != forest.n_outputs)
    throw std::invalid_argument("The forest has another number of targets than the target.");
  check_features(forest, rows);
  std::vector<std::vector<OutsideRow>> outside(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) {
        outside[static_cast<std::size_t>(t)] = rows_outside(*forest.trees[static_cast<std::size_t>(t)], rows, examples);
      },
      poll);
  std::vector<double> scores(forest.n_categories.size() * static_cast<std::size_t>(forest.n_outputs), 0.0);
  run_tasks(
      forest.n_outputs, n_threads,
      [&](std::int64_t output, int, const Control& control) {
        for (std::size_t t = 0; t < forest.trees.size(); ++t) {
          control.check();
          const Tree& tree = *forest.trees[t];
          const std::vector<double> means = node_values(forest, tree, output);
          std::vector<double> sums(means.size(), 0.0);
          double total = 0;
          for (const OutsideRow& at : outside[t]) {
            sums[static_cast<std::size_t>(at.leaf)] += at.weight * numbers.values[at.row * numbers.n_targets + output];
            total += at.weight;
          }
          if (!(total > 0)) continue;
          for (std::size_t i = means.size(); i-- > 0;) {
            if (tree.feature[i] < 0) continue;
            const auto left = static_cast<std::size_t>(tree.child[i]);
            sums[i] = sums[left] + sums[left + 1];
            const double gain = means[left] * sums[left] + means[left + 1] * sums[left + 1] - means[i] * sums[i];
            tree.each_tested(static_cast<std::int32_t>(i), [&](std::int32_t feature, double share) {
              scores[static_cast<std::size_t>(feature * forest.n_outputs + output)] +=
                  share * (numbers.target_weights[output] * gain / total);
            });
          }
        }
      },
      poll);
  for (double& score : scores) score /= static_cast<double>(forest.n_trees());
  return scores;
}

}  // namespace ramify
