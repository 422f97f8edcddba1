/// Boosted trees: each round grows one tree for all outputs on random projections of the gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/parts.hpp"
#include "features/feature_table.hpp"
#include "forest/growing.hpp"
#include "scores/importances.hpp"

namespace ramify {

/// How rounds are done; `growth` says how many and how their trees are grown, and has the seed of everything.
struct BoostParams {
  GrowParams growth;
  double learning_rate = 0.1;
  std::int64_t n_projections = 10;  ///< none is drawn where there are not more outputs
  double max_samples = 1.0;         ///< share of the rows that a tree is grown on
  double l2 = 1.0;                  ///< added to the curvature of a leaf
  double tolerance = 0.0;           ///< steps smaller than this, before shrinkage, are not stored
  double held_back = 0.0;           ///< share of the rows to stop by; 0 = no stopping
  std::int64_t patience = 1;        ///< rounds without a smaller loss on the rows held back, then stop
};

/// What boosting gives.
struct Boosted {
  Forest forest;                        ///< leaves hold steps; a node's decrease is its gain, weighted over the outputs
  std::vector<double> base;             ///< per output, what the steps are added to
  std::vector<double> history;          ///< mean loss of the rows held back, before the first and after each round
  ScoreMatrix gains;                    ///< features x outputs: sums over the splits of the trees kept
  std::vector<std::int64_t> held_back;  ///< rows to stop by, ascending
};

/// The logistic loss of every label: steps are log-odds. Where rows are parted, every part gets the same model, that of
/// all rows in one place; tables are dense then, and coded alike.
Boosted boost_labels(const FeatureTable& table, const LabelRows& target, const Examples& examples,
                     const BoostParams& params, const Parts& parts, const Poll& poll);

/// The squared loss of every target, standardised by the caller.
Boosted boost_numbers(const FeatureTable& table, const NumberRows& target, const Examples& examples,
                      const BoostParams& params, const Parts& parts, const Poll& poll);

}  // namespace ramify
