// Arrays in and out, and what a long call does between two looks at the kernel.
#pragma once

#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "bindings.hpp"

template <class T>
using InArray = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InMatrix = nb::ndarray<nb::numpy, const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using OutArray = nb::ndarray<nb::numpy, T>;

/// The number of threads, if it is one.
inline int threads(int n_threads) {
  if (n_threads < 1) throw std::invalid_argument("n_threads must be at least 1.");
  return n_threads;
}

/// Hand a vector's memory to numpy, as an array of these sizes.
template <class T, class... Sizes>
OutArray<T> to_numpy(std::vector<T>&& values, Sizes... sizes) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t size = owned->size();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if constexpr (sizeof...(sizes) == 0)
    return OutArray<T>(data, {size}, owner);
  else
    return OutArray<T>(data, {static_cast<std::size_t>(sizes)...}, owner);
}

/// Between two looks: signals, then progress. An exception of either stops the kernel and reaches the caller.
class Patience {
 public:
  explicit Patience(std::optional<nb::callable> progress = std::nullopt) : progress_(std::move(progress)) {}

  ramify::Poll poll() {
    return [this](std::int64_t n_done) {
      nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) return remember();
      if (!progress_) return true;
      try {
        (*progress_)(n_done);
      } catch (nb::python_error& error) {
        error.restore();
        return remember();
      }
      return true;
    };
  }

  /// Run the kernel without the GIL.
  template <class Kernel>
  auto run(Kernel kernel) {
    try {
      nb::gil_scoped_release release;
      return kernel(poll());
    } catch (const ramify::Cancelled&) {
      if (!type_.is_valid()) throw;
    }
    PyErr_Restore(type_.release().ptr(), value_.release().ptr(), trace_.release().ptr());
    throw nb::python_error();
  }

 private:
  bool remember() {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    type_ = nb::steal(type);
    value_ = nb::steal(value);
    trace_ = nb::steal(trace);
    return false;
  }

  std::optional<nb::callable> progress_;
  nb::object type_, value_, trace_;
};
