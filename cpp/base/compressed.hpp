/// The one check of compressed rows or columns: what holds after it is all that kernels rely on.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ramify {

/// Offsets into an array of `n_entries`: `n_slices` + 1 of them, from 0 on, never falling, never beyond its end.
template <class Offset>
void check_offsets(const Offset* offsets, std::int64_t n_slices, std::int64_t n_entries, const std::string& name) {
  bool right = n_slices >= 0 && offsets[0] == 0 && offsets[n_slices] <= n_entries;
  for (std::int64_t slice = 0; right && slice < n_slices; ++slice) right = offsets[slice] <= offsets[slice + 1];
  if (!right) throw std::invalid_argument(name + " must rise from 0 and stay within its entries.");
}

/// Such offsets, and positions in 0 .. `length` - 1 that ascend within each slice.
template <class Offset, class Index>
void check_compressed(const Offset* offsets, std::int64_t n_slices, const Index* indices, std::int64_t n_entries,
                      std::int64_t length, const std::string& name) {
  check_offsets(offsets, n_slices, n_entries, "The offsets of " + name);
  for (std::int64_t slice = 0; slice < n_slices; ++slice) {
    std::int64_t before = -1;
    for (std::int64_t e = offsets[slice]; e < offsets[slice + 1]; ++e) {
      const std::int64_t index = indices[e];
      if (index <= before || index >= length)
        throw std::invalid_argument("The indices of " + name + " must ascend from 0 to " + std::to_string(length - 1) +
                                    "; those of slice " + std::to_string(slice) + " do not.");
      before = index;
    }
  }
}

}  // namespace ramify
