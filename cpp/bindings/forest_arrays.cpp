// A forest as flat arrays, and back.
#include <algorithm>
#include <string>

#include "forest/validation.hpp"
#include "held.hpp"

using namespace ramify;

namespace {

/// One array of all trees, one after the other.
template <class T>
OutArray<T> joined(const Forest& forest, const std::vector<T> Tree::* part) {
  std::size_t total = 0;
  for (const auto& tree : forest.trees) total += ((*tree).*part).size();
  std::vector<T> all;
  all.reserve(total);
  for (const auto& tree : forest.trees) all.insert(all.end(), ((*tree).*part).begin(), ((*tree).*part).end());
  return to_numpy(std::move(all));
}

/// Offsets of all trees, shifted so that they index the joined array.
OutArray<std::int64_t> joined_offsets(const Forest& forest, const std::vector<std::int64_t> Tree::* part) {
  std::vector<std::int64_t> all{0};
  for (const auto& tree : forest.trees) {
    const std::int64_t before = all.back();
    const std::vector<std::int64_t>& offsets = (*tree).*part;
    for (std::size_t i = 1; i < offsets.size(); ++i) all.push_back(before + offsets[i]);
  }
  return to_numpy(std::move(all));
}

/// One number of every combined feature, tree after tree.
template <class T>
OutArray<T> joined_parts(const Forest& forest, T CombinedFeature::* part) {
  std::vector<T> all;
  for (const auto& tree : forest.trees) {
    for (const CombinedFeature& one : tree->combined) all.push_back(one.*part);
  }
  return to_numpy(std::move(all));
}

template <class Count>
OutArray<std::int64_t> tree_offsets(const Forest& forest, Count count) {
  std::vector<std::int64_t> all{0};
  for (const auto& tree : forest.trees) all.push_back(all.back() + count(*tree));
  return to_numpy(std::move(all));
}

/// An array of the dictionary, of exactly this type.
template <class T>
class Part {
 public:
  Part(const nb::dict& arrays, const char* name) : name_(name) {
    if (!arrays.contains(name))
      throw nb::value_error((std::string("The forest lacks the array ") + name + ".").c_str());
    if (!nb::try_cast(arrays[name], array_, false))
      throw nb::value_error((std::string("The forest's array ") + name + " has the wrong type or shape.").c_str());
  }

  std::int64_t size() const { return static_cast<std::int64_t>(array_.size()); }
  T operator[](std::int64_t i) const { return array_.data()[i]; }

  /// Elements [first, last), which must lie in the array.
  std::vector<T> slice(std::int64_t first, std::int64_t last) const {
    if (first < 0 || first > last || last > size())
      throw nb::value_error((std::string("The forest's array ") + name_ + " is too short.").c_str());
    return {array_.data() + first, array_.data() + last};
  }

  void must_have(std::int64_t n) const {
    if (size() != n)
      throw nb::value_error((std::string("The forest's array ") + name_ + " has " + std::to_string(size()) +
                             " entries, not " + std::to_string(n) + ".")
                                .c_str());
  }

 private:
  const char* name_;
  InArray<T> array_;
};

/// Where each tree begins in one of the joined arrays.
class Cuts {
 public:
  Cuts(const nb::dict& arrays, const char* name, std::int64_t n_trees) : part_(arrays, name) {
    part_.must_have(n_trees + 1);
    if (part_[0] != 0) throw nb::value_error((std::string("The forest's array ") + name + " must start at 0.").c_str());
    for (std::int64_t t = 0; t < n_trees; ++t) {
      if (part_[t + 1] < part_[t])
        throw nb::value_error((std::string("The forest's array ") + name + " must ascend.").c_str());
    }
    if (total() > std::int64_t{1} << 48)
      throw nb::value_error((std::string("The forest's array ") + name + " is out of range.").c_str());
  }
  std::int64_t first(std::int64_t tree) const { return part_[tree]; }
  std::int64_t last(std::int64_t tree) const { return part_[tree + 1]; }
  std::int64_t total() const { return part_[part_.size() - 1]; }

 private:
  Part<std::int64_t> part_;
};

/// The offsets of one tree, counted from its own start.
std::vector<std::int64_t> own_offsets(const Part<std::int64_t>& offsets, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> own = offsets.slice(first, last + 1);
  const std::int64_t start = own[0];
  for (std::int64_t& offset : own) {
    if (start < 0 || offset < start) throw nb::value_error("The forest's offsets must ascend from 0 on.");
    offset -= start;
  }
  return own;
}

void read_nodes(const nb::dict& arrays, const Cuts& cuts, std::vector<Tree>& trees) {
  const Part<std::int32_t> feature(arrays, "feature"), child(arrays, "child"), subset(arrays, "subset");
  const Part<double> threshold(arrays, "threshold"), weight(arrays, "weight"), decrease(arrays, "decrease");
  const Part<std::uint8_t> missing_left(arrays, "missing_left");
  for (const std::int64_t size : {feature.size(), child.size(), subset.size(), threshold.size(), weight.size(),
                                  decrease.size(), missing_left.size()}) {
    if (size != cuts.total())
      throw nb::value_error("The forest's node arrays must have the length that tree_nodes says.");
  }
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::int64_t first = cuts.first(static_cast<std::int64_t>(t)), last = cuts.last(static_cast<std::int64_t>(t));
    trees[t].feature = feature.slice(first, last);
    trees[t].child = child.slice(first, last);
    trees[t].subset = subset.slice(first, last);
    trees[t].threshold = threshold.slice(first, last);
    trees[t].weight = weight.slice(first, last);
    trees[t].decrease = decrease.slice(first, last);
    trees[t].missing_left = missing_left.slice(first, last);
  }
}

void read_subsets(const nb::dict& arrays, std::vector<Tree>& trees) {
  const Cuts cuts(arrays, "tree_subsets", static_cast<std::int64_t>(trees.size()));
  const Part<std::int64_t> offsets(arrays, "subset_offsets");
  const Part<std::uint64_t> words(arrays, "subset_words");
  offsets.must_have(cuts.total() + 1);
  words.must_have(offsets[cuts.total()]);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::int64_t first = cuts.first(static_cast<std::int64_t>(t)), last = cuts.last(static_cast<std::int64_t>(t));
    trees[t].subset_offsets = own_offsets(offsets, first, last);
    trees[t].subset_words = words.slice(offsets[first], offsets[last]);
  }
}

/// Only forests that combine features have these arrays.
void read_combinations(const nb::dict& arrays, std::vector<Tree>& trees) {
  if (!arrays.contains("tree_combinations")) return;
  const Cuts cuts(arrays, "tree_combinations", static_cast<std::int64_t>(trees.size()));
  const Part<std::int64_t> offsets(arrays, "combination_offsets");
  const Part<std::int32_t> features(arrays, "combination_features");
  const Part<double> weights(arrays, "combination_weights"), centres(arrays, "combination_centres"),
      scales(arrays, "combination_scales");
  offsets.must_have(cuts.total() + 1);
  for (const Part<double>* part : {&weights, &centres, &scales}) part->must_have(features.size());
  features.must_have(offsets[cuts.total()]);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::int64_t first = cuts.first(static_cast<std::int64_t>(t)), last = cuts.last(static_cast<std::int64_t>(t));
    trees[t].combination_offsets = own_offsets(offsets, first, last);
    features.slice(offsets[first], offsets[last]);  // which refuses what lies outside
    for (std::int64_t i = offsets[first]; i < offsets[last]; ++i)
      trees[t].combined.push_back({features[i], weights[i], centres[i], scales[i]});
  }
}

void read_label_leaves(const nb::dict& arrays, const Cuts& cuts, std::vector<Tree>& trees) {
  const Part<std::int64_t> offsets(arrays, "leaf_offsets"), partial(arrays, "leaf_partial");
  const Part<std::int32_t> labels(arrays, "leaf_labels");
  const Part<double> counts(arrays, "leaf_counts");
  offsets.must_have(cuts.total() + 1);
  partial.must_have(cuts.total() + 1);
  labels.must_have(offsets[cuts.total()]);
  counts.must_have(partial[cuts.total()]);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::int64_t first = cuts.first(static_cast<std::int64_t>(t)), last = cuts.last(static_cast<std::int64_t>(t));
    trees[t].leaf_offsets = own_offsets(offsets, first, last);
    trees[t].leaf_labels = labels.slice(offsets[first], offsets[last]);
    trees[t].leaf_partial = own_offsets(partial, first, last);
    trees[t].leaf_counts = counts.slice(partial[first], partial[last]);
  }
}

void read_number_leaves(const nb::dict& arrays, const Cuts& cuts, std::int64_t n_outputs, std::vector<Tree>& trees) {
  nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> values;
  if (!arrays.contains("leaf_values") || !nb::try_cast(arrays["leaf_values"], values, false))
    throw nb::value_error("The forest's array leaf_values is missing or has the wrong type or shape.");
  if (static_cast<std::int64_t>(values.shape(0)) != cuts.total() ||
      static_cast<std::int64_t>(values.shape(1)) != n_outputs)
    throw nb::value_error("The forest's array leaf_values does not fit its leaves and outputs.");
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const double* const first = values.data() + cuts.first(static_cast<std::int64_t>(t)) * n_outputs;
    trees[t].leaf_values.assign(first, values.data() + cuts.last(static_cast<std::int64_t>(t)) * n_outputs);
  }
}

void read_step_leaves(const nb::dict& arrays, const Cuts& cuts, std::vector<Tree>& trees) {
  const Part<std::int64_t> offsets(arrays, "leaf_offsets");
  const Part<std::int32_t> labels(arrays, "leaf_labels");
  const Part<double> values(arrays, "leaf_values");
  offsets.must_have(cuts.total() + 1);
  labels.must_have(offsets[cuts.total()]);
  values.must_have(offsets[cuts.total()]);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::int64_t first = cuts.first(static_cast<std::int64_t>(t)), last = cuts.last(static_cast<std::int64_t>(t));
    trees[t].leaf_offsets = own_offsets(offsets, first, last);
    trees[t].leaf_labels = labels.slice(offsets[first], offsets[last]);
    trees[t].leaf_values = values.slice(offsets[first], offsets[last]);
  }
}

Outcome outcome_named(const std::string& name) {
  for (const Outcome outcome : {Outcome::labels, Outcome::numbers, Outcome::steps}) {
    if (name == outcome_name(outcome)) return outcome;
  }
  throw nb::value_error("A forest's outcome is 'labels', 'numbers' or 'steps'.");
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  if (outcome == Outcome::steps) return "steps";
  return outcome == Outcome::labels ? "labels" : "numbers";
}

nb::dict forest_arrays(const Forest& forest) {
  nb::dict arrays;
  arrays["n_categories"] = to_numpy(std::vector<std::int32_t>(forest.n_categories));
  std::vector<std::uint64_t> seeds;
  for (const auto& tree : forest.trees) seeds.push_back(tree->seed);
  arrays["seeds"] = to_numpy(std::move(seeds));
  arrays["tree_nodes"] = tree_offsets(forest, [](const Tree& tree) { return tree.n_nodes(); });
  arrays["feature"] = joined(forest, &Tree::feature);
  arrays["threshold"] = joined(forest, &Tree::threshold);
  arrays["child"] = joined(forest, &Tree::child);
  arrays["subset"] = joined(forest, &Tree::subset);
  arrays["missing_left"] = joined(forest, &Tree::missing_left);
  arrays["weight"] = joined(forest, &Tree::weight);
  arrays["decrease"] = joined(forest, &Tree::decrease);
  arrays["tree_subsets"] =
      tree_offsets(forest, [](const Tree& tree) { return static_cast<std::int64_t>(tree.subset_offsets.size()) - 1; });
  arrays["subset_offsets"] = joined_offsets(forest, &Tree::subset_offsets);
  arrays["subset_words"] = joined(forest, &Tree::subset_words);
  const auto combines = [](const auto& tree) { return !tree->combined.empty(); };
  if (std::any_of(forest.trees.begin(), forest.trees.end(), combines)) {
    arrays["tree_combinations"] = tree_offsets(
        forest, [](const Tree& tree) { return static_cast<std::int64_t>(tree.combination_offsets.size()) - 1; });
    arrays["combination_offsets"] = joined_offsets(forest, &Tree::combination_offsets);
    arrays["combination_features"] = joined_parts(forest, &CombinedFeature::feature);
    arrays["combination_weights"] = joined_parts(forest, &CombinedFeature::weight);
    arrays["combination_centres"] = joined_parts(forest, &CombinedFeature::centre);
    arrays["combination_scales"] = joined_parts(forest, &CombinedFeature::scale);
  }
  arrays["tree_leaves"] =
      tree_offsets(forest, [&](const Tree& tree) { return tree.n_leaves(forest.outcome, forest.n_outputs); });
  if (forest.outcome == Outcome::labels) {
    arrays["leaf_offsets"] = joined_offsets(forest, &Tree::leaf_offsets);
    arrays["leaf_labels"] = joined(forest, &Tree::leaf_labels);
    arrays["leaf_partial"] = joined_offsets(forest, &Tree::leaf_partial);
    arrays["leaf_counts"] = joined(forest, &Tree::leaf_counts);
  } else if (forest.outcome == Outcome::steps) {
    arrays["leaf_offsets"] = joined_offsets(forest, &Tree::leaf_offsets);
    arrays["leaf_labels"] = joined(forest, &Tree::leaf_labels);
    arrays["leaf_values"] = joined(forest, &Tree::leaf_values);
  } else {
    std::vector<double> values;
    for (const auto& tree : forest.trees)
      values.insert(values.end(), tree->leaf_values.begin(), tree->leaf_values.end());
    const std::size_t n_leaves = values.size() / static_cast<std::size_t>(forest.n_outputs);
    arrays["leaf_values"] = to_numpy(std::move(values), n_leaves, static_cast<std::size_t>(forest.n_outputs));
  }
  return arrays;
}

Forest forest_from_arrays(const std::string& outcome, std::int64_t n_outputs, const nb::dict& arrays) {
  if (n_outputs < 0 || n_outputs > 0x7FFFFFFF) throw nb::value_error("A forest's number of outputs is out of range.");
  Forest forest;
  forest.outcome = outcome_named(outcome);
  forest.n_outputs = n_outputs;
  const Part<std::int32_t> n_categories(arrays, "n_categories");
  forest.n_categories = n_categories.slice(0, n_categories.size());
  const Part<std::uint64_t> seeds(arrays, "seeds");
  std::vector<Tree> trees(static_cast<std::size_t>(seeds.size()));
  for (std::size_t t = 0; t < trees.size(); ++t) trees[t].seed = seeds[static_cast<std::int64_t>(t)];
  read_nodes(arrays, Cuts(arrays, "tree_nodes", seeds.size()), trees);
  read_subsets(arrays, trees);
  read_combinations(arrays, trees);
  const Cuts leaves(arrays, "tree_leaves", seeds.size());
  if (forest.outcome == Outcome::labels) {
    read_label_leaves(arrays, leaves, trees);
  } else if (forest.outcome == Outcome::steps) {
    read_step_leaves(arrays, leaves, trees);
  } else {
    read_number_leaves(arrays, leaves, n_outputs, trees);
  }
  for (Tree& tree : trees) forest.trees.push_back(std::make_shared<Tree>(std::move(tree)));
  validate(forest);
  return forest;
}
