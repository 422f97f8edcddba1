// What a binding refuses before a kernel reads an array: sizes that do not fit, and positions outside of it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

inline void require(bool holds, const char* rule) {
  if (!holds) throw std::invalid_argument(rule);
}

/// Offsets into an array of `n` entries: from 0 on, never falling, never beyond `n`.
template <class Offsets>
void require_offsets(const Offsets& offsets, std::size_t n, const char* name) {
  bool right = offsets.shape(0) > 0 && offsets(0) == 0 && offsets(offsets.shape(0) - 1) <= static_cast<std::int64_t>(n);
  for (std::size_t k = 1; right && k < offsets.shape(0); ++k) right = offsets(k - 1) <= offsets(k);
  if (!right) throw std::invalid_argument(std::string(name) + " must rise from 0 and stay within its entries.");
}

/// Positions in `low` .. `n` - 1.
template <class Positions>
void require_within(const Positions& positions, std::int64_t low, std::int64_t n, const char* name) {
  for (std::size_t k = 0; k < positions.shape(0); ++k) {
    if (positions(k) < low || positions(k) >= n)
      throw std::invalid_argument(std::string(name) + " points outside of its array.");
  }
}

/// Positions in 0 .. `n` - 1 that ascend within each piece.
template <class Positions, class Offsets>
void require_ascending(const Positions& positions, const Offsets& offsets, std::int64_t n, const char* name) {
  require_within(positions, 0, n, name);
  for (std::size_t piece = 0; piece + 1 < offsets.shape(0); ++piece) {
    for (auto k = static_cast<std::size_t>(offsets(piece)) + 1; k < static_cast<std::size_t>(offsets(piece + 1)); ++k) {
      if (positions(k - 1) >= positions(k)) throw std::invalid_argument(std::string(name) + " must ascend.");
    }
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
