// The extension module ramify._core: one bind_* function per file of this folder.
#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "Kernels of Ramify. They take arrays, integers and seeds; checking is done in Python.";
  // A forest that a module still holds when the interpreter ends is no leak to tell users about.
  nb::set_leak_warnings(false);
  bind_arff(m);
  bind_delimited(m);
  bind_tables(m);
  bind_forests(m);
  bind_importances(m);
  bind_rankings(m);
  bind_relief(m);
}
