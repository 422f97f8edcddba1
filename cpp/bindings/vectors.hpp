// Vectors in and out of Python: views of one-dimensional arrays, and arrays that own a C++ vector.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings.hpp"

template <typename T>
using VectorView = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::object owned_array(std::vector<T>&& values) {
  auto holder = std::make_unique<std::vector<T>>(std::move(values));
  T* data = holder->data();
  const std::size_t size = holder->size();
  nb::capsule owner(holder.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}
