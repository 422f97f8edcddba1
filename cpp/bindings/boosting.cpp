// Boosted trees.
#include "boosting/boosting.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "checks.hpp"
#include "held.hpp"
#include "score_matrix.hpp"

using namespace ramify;

namespace {

Boosted boosted(const FeatureTable& table, const HeldLabels& target, const Examples& examples,
                const BoostParams& params, const Parts& parts, const Poll& poll) {
  return boost_labels(table, target.rows, examples, params, parts, poll);
}

Boosted boosted(const FeatureTable& table, const HeldNumbers& target, const Examples& examples,
                const BoostParams& params, const Parts& parts, const Poll& poll) {
  return boost_numbers(table, target.rows, examples, params, parts, poll);
}

/// Rows in parts: `together(operation, numbers)` puts the numbers of all parts together in place; it may raise.
Parts parts_of(std::int64_t first_row, const std::optional<nb::callable>& together, nb::object& raised) {
  require(first_row >= 0, "first_row must not be negative.");
  if (!together) return Parts();
  return Parts(first_row, [&together, &raised](Parts::Operation operation, void* numbers, std::int64_t n) {
    nb::gil_scoped_acquire gil;
    const auto size = static_cast<std::size_t>(n);
    try {
      if (operation == Parts::Operation::sum_of_whole) {
        (*together)("sum", nb::ndarray<nb::numpy, std::int32_t>(numbers, {size}, nb::none()));
      } else {
        (*together)(operation == Parts::Operation::sum ? "sum" : "largest",
                    nb::ndarray<nb::numpy, double>(numbers, {size}, nb::none()));
      }
    } catch (nb::python_error& error) {
      raised = nb::borrow(error.value());
      throw Cancelled();
    }
  });
}

bool has_weight(const OptionalWeights& weights) {
  return !weights || std::any_of(weights->data(), weights->data() + weights->size(), [](double w) { return w > 0; });
}

using Result = std::tuple<Forest, OutArray<double>, OutArray<double>, CompressedScores, OutArray<std::int64_t>>;

template <class Target>
Result bind_boost(const FeatureTable& table, const Target& target, const GrowParams& growth, BoostParams boosting,
                  const OptionalWeights& sample_weight, std::int64_t first_row,
                  const std::optional<nb::callable>& together, int n_threads, OptionalProgress progress) {
  require(growth.n_trees >= 1 && !growth.bootstrap, "Boosting needs a round at least, and takes rows without repeats.");
  boosting.growth = growth;
  boosting.growth.n_threads = threads(n_threads);
  const bool has_rows = !together || (table.n_rows() > 0 && has_weight(sample_weight));  // a part may be without
  Examples examples;
  if (has_rows) {
    examples = examples_of(table.n_rows(), sample_weight);
  } else if (sample_weight) {
    examples.weights.assign(static_cast<std::size_t>(table.n_rows() + 1), 0.0);  // one more: rows are weighted
  }
  nb::object raised;
  const Parts parts = parts_of(first_row, together, raised);
  Boosted found;
  try {
    found = Patience(std::move(progress)).run([&](const Poll& poll) {
      return boosted(table, target, examples, boosting, parts, poll);
    });
  } catch (const Cancelled&) {
    if (!raised.is_valid()) throw;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw nb::python_error();
  }
  return std::make_tuple(std::move(found.forest), to_numpy(std::move(found.base)), to_numpy(std::move(found.history)),
                         compressed(std::move(found.gains)), to_numpy(std::move(found.held_back)));
}

template <class Target>
void def_boost(nb::module_& m, const char* text) {
  m.def("boost", &bind_boost<Target>, "table"_a, "target"_a, "growth"_a, "boosting"_a, nb::kw_only(),
        "sample_weight"_a.noconvert().none(), "first_row"_a, "together"_a.none(), "n_threads"_a, "progress"_a.none(),
        text);
}

}  // namespace

void bind_boosting(nb::module_& m) {
  nb::class_<BoostParams>(m, "Boosting", "What rounds of boosting need beyond the growth of their trees.")
      .def(
          "__init__",
          [](BoostParams* self, double learning_rate, std::int64_t n_projections, double max_samples, double l2,
             double tolerance, double held_back, std::int64_t patience) {
            require(n_projections >= 1 && patience >= 1, "n_projections and patience must be at least 1.");
            require(learning_rate > 0 && learning_rate <= 1 && l2 > 0 && l2 < 1e300 && tolerance >= 0,
                    "learning_rate must lie in (0, 1], l2 be positive and tolerance at least 0.");
            require(max_samples > 0 && max_samples <= 1 && held_back >= 0 && held_back < 1,
                    "max_samples must lie in (0, 1] and held_back in [0, 1).");
            BoostParams params;
            params.learning_rate = learning_rate;
            params.n_projections = n_projections;
            params.max_samples = max_samples;
            params.l2 = l2;
            params.tolerance = tolerance;
            params.held_back = held_back;
            params.patience = patience;
            new (self) BoostParams(params);
          },
          nb::kw_only(), "learning_rate"_a, "n_projections"_a, "max_samples"_a, "l2"_a, "tolerance"_a, "held_back"_a,
          "patience"_a)
      .def_ro("learning_rate", &BoostParams::learning_rate)
      .def_ro("n_projections", &BoostParams::n_projections, "None is drawn where there are not more outputs.")
      .def_ro("max_samples", &BoostParams::max_samples, "Share of the rows that a tree is grown on.")
      .def_ro("l2", &BoostParams::l2, "Added to the curvature of a leaf.")
      .def_ro("tolerance", &BoostParams::tolerance, "Steps smaller than this, before shrinkage, are not stored.")
      .def_ro("held_back", &BoostParams::held_back, "Share of the rows to stop by.")
      .def_ro("patience", &BoostParams::patience, "Rounds without a smaller loss on the rows held back, then stop.");
  def_boost<HeldLabels>(m, R"(Boost trees for all outputs at once, one tree per round and ``growth.n_trees`` rounds.

Returns a forest of steps, what they are added to (n_outputs,), the mean loss of the rows held back before the first and
after each round, the gains of features x outputs as data, indices and indptr of a CSR matrix, and the rows held back.

Where these rows are a part, beginning with row ``first_row`` of all, ``together(operation, numbers)`` turns numbers into
their "sum" or "largest" over all parts, in place; every part gets the model of all rows.)");
  def_boost<HeldNumbers>(m, "The same for the squared error of numbers, standardised by the caller.");
}
