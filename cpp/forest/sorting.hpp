/// Sorting keys by a small whole number inside them, quicker than comparing: growing trees does little else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ramify {

constexpr std::size_t few_keys = 24;  ///< as many are sorted by sort_few

/// Place each key by the number of smaller ones, which takes no branch that could be mispredicted. Equal keys stay in
/// order.
template <class Key>
void sort_few(Key* keys, std::size_t n) {
  Key old_keys[few_keys];
  std::size_t places[few_keys];
  for (std::size_t i = 0; i < n; ++i) {
    const Key key = old_keys[i] = keys[i];
    std::size_t n_larger = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t larger = old_keys[j] > key;
      places[j] += larger;
      n_larger += larger;
    }
    places[i] = i - n_larger;
  }
  for (std::size_t i = 0; i < n; ++i) keys[places[i]] = old_keys[i];
}

/// Sort by `code_of(key)`, which is at most `last`, least significant digit first; the more keys, the longer the
/// digits. Keys of one code stay in order. `counts` is scratch memory; true if the result lies in `spare`.
template <class Key, class CodeOf>
bool sort_by_digits(Key* keys, Key* spare, std::size_t n, std::uint32_t last, CodeOf code_of,
                    std::vector<std::uint32_t>& counts) {
  int n_bits = 1;
  while (n_bits < 32 && last >> n_bits != 0) ++n_bits;
  const int longest = last < 4 * n && n_bits <= 16 ? 16 : n < 256 ? 6 : n < 2048 ? 8 : 11;
  const int n_passes = (n_bits + longest - 1) / longest;
  const int digit_bits = (n_bits + n_passes - 1) / n_passes;
  const std::uint32_t mask = (1u << digit_bits) - 1;
  bool in_spare = false;
  for (int shift = 0; shift < n_bits; shift += digit_bits) {
    const std::uint32_t n_digits = std::min(mask, last >> shift) + 1;
    counts.assign(n_digits + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++counts[(code_of(keys[i]) >> shift & mask) + 1];
    for (std::uint32_t d = 1; d <= n_digits; ++d) counts[d] += counts[d - 1];
    for (std::size_t i = 0; i < n; ++i) spare[counts[code_of(keys[i]) >> shift & mask]++] = keys[i];
    std::swap(keys, spare);
    in_spare = !in_spare;
  }
  return in_spare;
}

}  // namespace ramify
