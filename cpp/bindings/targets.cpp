// What is learnt: label sets, numbers and rankings, one row per example.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "checks.hpp"
#include "held.hpp"

using namespace ramify;

namespace {

void require_weights(const InArray<double>& weights) {
  for (std::size_t j = 0; j < weights.size(); ++j)
    require(weights(j) >= 0 && weights(j) <= 1e300, "Output weights must be finite and at least 0.");
}

using OptionalOffsets = std::optional<InArray<std::int64_t>>;
using OptionalLabels = std::optional<InArray<std::int32_t>>;

void require_unknown(const LabelRows& rows, const InArray<std::int64_t>& indptr, const InArray<std::int32_t>& indices) {
  require_compressed(indptr, indices, rows.n_labels, "the unknown labels");
  require(static_cast<std::int64_t>(indptr.size()) == rows.n_rows + 1, "unknown labels need one list per row.");
  for (std::int64_t row = 0; row < rows.n_rows; ++row) {
    const std::int32_t *label = rows.labels + rows.offsets[row], *const end = rows.labels + rows.offsets[row + 1];
    for (std::int64_t p = indptr(static_cast<std::size_t>(row)); p < indptr(static_cast<std::size_t>(row) + 1); ++p) {
      while (label != end && *label < indices(static_cast<std::size_t>(p))) ++label;
      require(label == end || *label != indices(static_cast<std::size_t>(p)), "a label is known or unknown, not both.");
    }
  }
}

HeldLabels held_labels(InArray<std::int64_t> indptr, InArray<std::int32_t> indices, InArray<double> weights,
                       OptionalOffsets unknown_indptr, OptionalLabels unknown_indices) {
  require_compressed(indptr, indices, static_cast<std::int64_t>(weights.size()), "the label sets");
  require_weights(weights);
  LabelRows rows{indptr.data(), indices.data(), static_cast<std::int64_t>(indptr.size()) - 1,
                 static_cast<std::int64_t>(weights.size()), weights.data()};
  require(unknown_indptr.has_value() == unknown_indices.has_value(), "unknown labels need both of their arrays.");
  if (unknown_indptr) {
    require_unknown(rows, *unknown_indptr, *unknown_indices);
    rows.unknown_offsets = unknown_indptr->data();
    rows.unknown = unknown_indices->data();
  }
  return {std::move(indptr),         std::move(indices),         std::move(weights),
          std::move(unknown_indptr), std::move(unknown_indices), rows};
}

HeldNumbers held_numbers(WholeRows<double> values, InArray<double> weights) {
  require(values.shape(1) == weights.size(), "weights needs one entry per target.");
  require_weights(weights);
  NumberRows rows{values.data(), static_cast<std::int64_t>(values.shape(0)), static_cast<std::int64_t>(values.shape(1)),
                  weights.data()};
  rows.partly_known = std::any_of(rows.values, rows.values + rows.n_rows * rows.n_targets,
                                  [](double value) { return std::isnan(value); });
  return {std::move(values), std::move(weights), rows};
}

RankCriterion criterion_of(const std::string& name) {
  if (name == "correlation") return RankCriterion::correlation;
  if (name == "entropy") return RankCriterion::entropy;
  if (name == "mallows") return RankCriterion::mallows;
  throw nb::value_error("criterion must be correlation, entropy or mallows.");
}

HeldRankings held_rankings(WholeRows<std::int8_t> signs, std::optional<WholeRows<std::uint8_t>> compared,
                           WholeRows<double> vectors, InArray<std::int32_t> kinds, std::int64_t n_labels, double square,
                           std::string criterion, double gamma) {
  const std::size_t n_rows = signs.shape(0);
  const std::int64_t n_pairs = n_pairs_of(n_labels);
  require(static_cast<std::int64_t>(signs.shape(1)) == n_pairs, "signs needs one column per pair of labels.");
  require(vectors.shape(0) == n_rows && kinds.size() == n_rows &&
              (!compared || (compared->shape(0) == n_rows && compared->shape(1) == signs.shape(1))),
          "signs, compared, vectors and kinds must have the same rows.");
  require(square > 0 && std::isfinite(square), "square must be positive and finite.");
  require_within(kinds, 0, static_cast<std::int64_t>(n_rows), "kinds");
  std::int32_t n_kinds = 0;
  for (std::size_t i = 0; i < n_rows; ++i) n_kinds = std::max(n_kinds, kinds(i) + 1);
  const RankCriterion by = criterion_of(criterion);
  const RankingRows rows{signs.data(), compared ? compared->data() : nullptr,       vectors.data(),
                         kinds.data(), static_cast<std::int64_t>(n_rows),           n_labels,
                         n_pairs,      static_cast<std::int64_t>(vectors.shape(1)), n_kinds,
                         square};
  return {std::move(signs),
          std::move(compared),
          std::move(vectors),
          std::move(kinds),
          std::move(criterion),
          gamma,
          by,
          rows};
}

}  // namespace

void bind_targets(nb::module_& m) {
  nb::class_<HeldLabels>(m, "LabelRows",
                         "Label sets or classes, one row per example; impurity sum of w p (1 - p). Copies nothing.")
      .def(
          "__init__",
          [](HeldLabels* self, InArray<std::int64_t> indptr, InArray<std::int32_t> indices, InArray<double> weights,
             OptionalOffsets unknown_indptr, OptionalLabels unknown_indices) {
            new (self) HeldLabels(held_labels(std::move(indptr), std::move(indices), std::move(weights),
                                              std::move(unknown_indptr), std::move(unknown_indices)));
          },
          "indptr"_a.noconvert(), "indices"_a.noconvert(), "weights"_a.noconvert(), nb::kw_only(),
          "unknown_indptr"_a.noconvert().none() = nb::none(), "unknown_indices"_a.noconvert().none() = nb::none(),
          "``indptr`` (n + 1,) and ``indices``, ascending within a row, are the labels of each row; ``weights`` are "
          "the\n"
          "labels' weights in the impurity. ``unknown_indptr`` and ``unknown_indices`` are the labels of which it is "
          "not\n"
          "known whether a row has them.")
      .def_ro("indptr", &HeldLabels::indptr)
      .def_ro("indices", &HeldLabels::indices)
      .def_ro("weights", &HeldLabels::weights)
      .def_ro("unknown_indptr", &HeldLabels::unknown_indptr)
      .def_ro("unknown_indices", &HeldLabels::unknown_indices);
  nb::class_<HeldNumbers>(m, "NumberRows",
                          "Numbers, one row per example, standardised by the caller; impurity sum of w Var.")
      .def(
          "__init__",
          [](HeldNumbers* self, WholeRows<double> values, InArray<double> weights) {
            new (self) HeldNumbers(held_numbers(std::move(values), std::move(weights)));
          },
          "values"_a.noconvert(), "weights"_a.noconvert(),
          "``values`` (n, n_targets) in C order, NaN where unknown; ``weights`` are the targets' weights in the "
          "impurity.")
      .def_ro("values", &HeldNumbers::values)
      .def_ro("weights", &HeldNumbers::weights);
  nb::class_<HeldRankings>(m, "RankingRows", "Rankings as vectors, one row per example, and how trees split them.")
      .def(
          "__init__",
          [](HeldRankings* self, WholeRows<std::int8_t> signs, std::optional<WholeRows<std::uint8_t>> compared,
             WholeRows<double> vectors, InArray<std::int32_t> kinds, std::int64_t n_labels, double square,
             std::string criterion, double gamma) {
            new (self) HeldRankings(held_rankings(std::move(signs), std::move(compared), std::move(vectors),
                                                  std::move(kinds), n_labels, square, std::move(criterion), gamma));
          },
          "signs"_a.noconvert(), "compared"_a.noconvert().none(), "vectors"_a.noconvert(), "kinds"_a.noconvert(),
          nb::kw_only(), "n_labels"_a, "square"_a, "criterion"_a, "gamma"_a,
          R"(Pairs of labels stand in the order (0, 1), (0, 2), ..., (1, 2), ...

``signs`` (n, n_pairs) are 1 where a pair's first label is preferred, -1 where its second is. ``compared`` is 1
where both labels of the pair are ranked, None if all are. ``vectors`` (n, dimensions) are the rankings to
correlate, of squared length ``square``. ``kinds`` are equal for equal rankings. ``criterion`` is "correlation",
"entropy" or "mallows"; a correlation above ``gamma`` stops growth.)")
      .def_ro("signs", &HeldRankings::signs)
      .def_ro("compared", &HeldRankings::compared)
      .def_ro("vectors", &HeldRankings::vectors)
      .def_ro("kinds", &HeldRankings::kinds)
      .def_prop_ro("n_labels", [](const HeldRankings& target) { return target.rows.n_labels; })
      .def_prop_ro("square", [](const HeldRankings& target) { return target.rows.square; })
      .def_ro("criterion", &HeldRankings::criterion)
      .def_ro("gamma", &HeldRankings::gamma);
}
