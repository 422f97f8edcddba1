// What every binding file shares: nanobind, its array types and the list of bind_* functions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace nanobind::literals;

void bind_arff(nb::module_& m);
void bind_features(nb::module_& m);
void bind_targets(nb::module_& m);
void bind_forests(nb::module_& m);
void bind_growing(nb::module_& m);
void bind_explanations(nb::module_& m);
void bind_importances(nb::module_& m);
void bind_permutation(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_rankings(nb::module_& m);
void bind_redraw(nb::module_& m);
void bind_relief(nb::module_& m);
