// What a binding refuses before a kernel reads an array: sizes that do not fit, and positions outside of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/compressed.hpp"

inline void require(bool holds, const char* rule) {
  if (!holds) throw std::invalid_argument(rule);
}

/// Offsets into an array of `n` entries: from 0 on, never falling, never beyond `n`.
template <class Offsets>
void require_offsets(const Offsets& offsets, std::size_t n, const char* name) {
  ramify::check_offsets(offsets.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1, static_cast<std::int64_t>(n),
                        name);
}

/// Compressed rows or columns of `length` places.
template <class Positions, class Offsets>
void require_compressed(const Offsets& offsets, const Positions& positions, std::int64_t length, const char* name) {
  ramify::check_compressed(offsets.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1, positions.data(),
                           static_cast<std::int64_t>(positions.shape(0)), length, name);
}

/// Positions in `low` .. `n` - 1.
template <class Positions>
void require_within(const Positions& positions, std::int64_t low, std::int64_t n, const char* name) {
  for (std::size_t k = 0; k < positions.shape(0); ++k) {
    if (positions(k) < low || positions(k) >= n)
      throw std::invalid_argument(std::string(name) + " points outside of its array.");
  }
}

/// Rows `first` .. `last` - 1 of `n`.
inline void require_range(std::int64_t first, std::int64_t last, std::int64_t n) {
  require(first >= 0 && first <= last && last <= n,
          "last_row must not be below first_row, and both be rows that there are.");
}

/// A number of cells that memory can have.
inline void require_memory(std::int64_t first, std::int64_t second, std::int64_t third) {
  constexpr std::int64_t most = std::int64_t{1} << 48;
  const bool right = first >= 0 && second >= 0 && third >= 0 && (first == 0 || second <= most / first) &&
                     (first * second == 0 || third <= most / (first * second));
  require(right, "The result would have too many cells.");
}
