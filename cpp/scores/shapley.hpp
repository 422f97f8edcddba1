/// Shapley values of a forest's predictions: what each feature added, the order of the features averaged out.
///
/// The weight of a feature in a leaf depends on the tree and the row, not on the output, so it is computed once per
/// (row, leaf) and scattered to the outputs that the leaf stores. With z the share of training weight and o (0 or 1)
/// the row's own answer at the tests of a path's features, feature i has the weight
///
///     (o_i - z_i) * integral over t in (0, 1) of the product over the other features of t o_j + (1 - t) z_j
///
/// (Lundberg et al., "From local explanations to global understanding with explainable AI for trees", 2020, as an
/// integral). The integrand is a polynomial: Gauss-Legendre quadrature is exact, all its terms are of one sign, and a
/// leaf costs (features on its path) x (points).
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_rows.hpp"
#include "features/feature_table.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"

namespace ramify {

/// What is explained: output o adds factor[p] times itself to columns[p] for p in [offsets[o], offsets[o + 1]).
struct OutputColumns {
  const std::int64_t* offsets;
  const std::int32_t* columns;
  const double* factors;
  std::int64_t n_columns;
};

/// Which outputs of each row are explained, as compressed rows.
struct WantedOutputs {
  const std::int64_t* offsets;
  const std::int32_t* outputs;
};

/// One list of (feature, value) per wanted output, features ascending.
struct SparseShapley {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> features;
  std::vector<double> values;
};

/// The mean over trees of every column where no feature is known, by the training weights of the nodes.
std::vector<double> shapley_base(const Forest& forest, const OutputColumns& columns);

/// Values of every row, feature and column: `out` has n_rows x n_features x n_columns cells and starts as zeros.
/// Unknown features follow the training weights of the nodes or, with `background`, the values of its rows
/// (interventional). The result is the same for every `n_threads`.
void shapley(const Forest& forest, const FeatureRows& rows, const FeatureRows* background, const OutputColumns& columns,
             int n_threads, const Poll& poll, double* out);

/// The same for each row's own outputs, of which the `top` features of largest absolute value are kept (0: all that are
/// not 0); memory by what is kept.
SparseShapley shapley_sparse(const Forest& forest, const FeatureRows& rows, const FeatureRows* background,
                             const WantedOutputs& wanted, std::int64_t top, int n_threads, const Poll& poll);

}  // namespace ramify
