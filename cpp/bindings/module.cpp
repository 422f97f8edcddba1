// The extension module ramify._core: one bind_* function per file of this folder.
#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = R"(Kernels of Ramify: arrays, integers and seeds in, arrays out. Checks and defaults are in Python.

Forests in five steps::

    table = _core.FeatureTable(X, n_categories=np.zeros(X.shape[1], np.int32), max_bins=0, n_threads=1)
    labels = _core.LabelRows(Y.indptr, Y.indices, label_weights)
    forest = _core.grow(table, labels, growth, sample_weight=None, row_groups=None, n_threads=2, progress=None)
    scores = _core.genie3(forest)
    probabilities = _core.predict(forest, _core.FeatureRows(X_test), first_row=0, last_row=len(X_test), n_threads=2)

Every argument after the arrays is keyword-only, arrays are never converted (a wrong dtype is a TypeError), the
result is the same for every ``n_threads``, and Ctrl-C stops a call within a second.)";
  // A forest that a module still holds when the interpreter ends is no leak to tell users about.
  nb::set_leak_warnings(false);
  bind_arff(m);
  bind_features(m);
  bind_targets(m);
  bind_forests(m);
  bind_growing(m);
  bind_importances(m);
  bind_permutation(m);
  bind_explanations(m);
  bind_boosting(m);
  bind_rankings(m);
  bind_redraw(m);
  bind_relief(m);
}
