// How trees are grown, and growing them.
#include "forest/growing.hpp"

#include "checks.hpp"
#include "held.hpp"

using namespace ramify;

namespace {

GrowParams checked(GrowParams growth) {
  require(growth.n_trees >= 0 && growth.first_tree >= 0 && growth.max_features >= 1,
          "n_trees and first_tree must be at least 0, max_features at least 1.");
  require(growth.min_category_rows >= 1, "min_category_rows must be at least 1.");
  require(growth.oblique == 0 || growth.oblique >= 2, "oblique must be 0, or at least 2 features to combine.");
  return growth;
}

Forest grown(const FeatureTable& table, const HeldLabels& target, const Examples& examples, const GrowParams& growth,
             const Poll& poll) {
  return grow_labels(table, target.rows, examples, growth, poll);
}

Forest grown(const FeatureTable& table, const HeldNumbers& target, const Examples& examples, const GrowParams& growth,
             const Poll& poll) {
  return grow_numbers(table, target.rows, examples, growth, poll);
}

Forest grown(const FeatureTable& table, const HeldRankings& target, const Examples& examples, GrowParams growth,
             const Poll& poll) {
  growth.all_features_at_root = true;
  return grow_rankings(table, target.rows, target.by, target.gamma, examples, growth, poll);
}

template <class Target>
Forest bind_grow(const FeatureTable& table, const Target& target, GrowParams growth,
                 const OptionalWeights& sample_weight, const OptionalGroups& row_groups, int n_threads,
                 OptionalProgress progress) {
  growth.n_threads = threads(n_threads);
  const Examples examples = examples_of(table.n_rows(), sample_weight, row_groups);
  return Patience(std::move(progress)).run([&](const Poll& poll) {
    return grown(table, target, examples, growth, poll);
  });
}

template <class Target>
void def_grow(nb::module_& m, const char* text) {
  m.def("grow", &bind_grow<Target>, "table"_a, "target"_a, "growth"_a, nb::kw_only(),
        "sample_weight"_a.noconvert().none(), "row_groups"_a.noconvert().none(), "n_threads"_a, "progress"_a.none(),
        text);
}

}  // namespace

void bind_growing(nb::module_& m) {
  nb::class_<GrowParams>(m, "Growth", "How trees are grown.")
      .def(
          "__init__",
          [](GrowParams* self, std::uint64_t seed, std::int64_t first_tree, std::int64_t n_trees,
             std::int64_t max_features, bool bootstrap, bool random_splits, std::int64_t max_depth,
             std::int64_t min_samples_split, std::int64_t min_samples_leaf, double min_impurity_decrease,
             double min_weight_fraction_leaf, std::int64_t min_category_rows, std::int64_t oblique,
             std::int64_t backing) {
            GrowParams growth;
            growth.seed = seed;
            growth.first_tree = first_tree;
            growth.n_trees = n_trees;
            growth.max_features = max_features;
            growth.bootstrap = bootstrap;
            growth.random_splits = random_splits;
            growth.max_depth = max_depth;
            growth.min_samples_split = min_samples_split;
            growth.min_samples_leaf = min_samples_leaf;
            growth.min_impurity_decrease = min_impurity_decrease;
            growth.min_weight_fraction_leaf = min_weight_fraction_leaf;
            growth.min_category_rows = min_category_rows;
            growth.oblique = oblique;
            growth.backing = backing;
            new (self) GrowParams(checked(growth));
          },
          nb::kw_only(), "seed"_a, "first_tree"_a, "n_trees"_a, "max_features"_a, "bootstrap"_a, "random_splits"_a,
          "max_depth"_a, "min_samples_split"_a, "min_samples_leaf"_a, "min_impurity_decrease"_a,
          "min_weight_fraction_leaf"_a, "min_category_rows"_a, "oblique"_a, "backing"_a,
          "The trees first_tree .. first_tree + n_trees - 1 of the forest with this seed.")
      .def_ro("seed", &GrowParams::seed)
      .def_ro("first_tree", &GrowParams::first_tree)
      .def_ro("n_trees", &GrowParams::n_trees)
      .def_ro("max_features", &GrowParams::max_features, "Features looked at per node, constant ones not counted.")
      .def_ro("bootstrap", &GrowParams::bootstrap)
      .def_ro("random_splits", &GrowParams::random_splits, "Extra trees: one random cut per feature.")
      .def_ro("max_depth", &GrowParams::max_depth, "Below 0 there is no limit.")
      .def_ro("min_samples_split", &GrowParams::min_samples_split)
      .def_ro("min_samples_leaf", &GrowParams::min_samples_leaf)
      .def_ro("min_impurity_decrease", &GrowParams::min_impurity_decrease)
      .def_ro("min_weight_fraction_leaf", &GrowParams::min_weight_fraction_leaf)
      .def_ro("min_category_rows", &GrowParams::min_category_rows,
              "In a node, nominal values with fewer draws go to one side together.")
      .def_ro("oblique", &GrowParams::oblique, "Numeric features per combination that is looked at; 0: features alone.")
      .def_ro("backing", &GrowParams::backing, "Leaves are backed by ancestors of at most so many draws; 0: by none.")
      .def(
          "part",
          [](GrowParams growth, std::int64_t first_tree, std::int64_t last_tree) {
            require(first_tree >= 0 && first_tree <= last_tree && last_tree <= growth.n_trees,
                    "A part must lie within the trees to grow.");
            growth.first_tree += first_tree;
            growth.n_trees = last_tree - first_tree;
            return growth;
          },
          "first_tree"_a, "last_tree"_a, "Growth of the trees [first_tree, last_tree) of these.");
  def_grow<HeldLabels>(m,
                       R"(Grow trees.

``sample_weight`` (n_rows,): rows of weight 0 take no part. ``row_groups`` (n_rows,): bags are drawn by group, rows of
the same number enter them together (None: row by row). ``progress`` is called with the number of finished trees about every 100 ms.)");
  def_grow<HeldNumbers>(m, "Leaves hold means.");
  def_grow<HeldRankings>(m, "Leaves hold mean signs of the label pairs: a forest of numbers.");
}
