/// Words of 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace ramify {

/// Place of the lowest bit that is set; one must be.
inline std::size_t lowest_bit(std::uint64_t bits) {
#ifdef _MSC_VER
  unsigned long place = 0;
  _BitScanForward64(&place, bits);
  return place;
#else
  return static_cast<std::size_t>(__builtin_ctzll(bits));
#endif
}

inline bool has_bit(const std::vector<std::uint64_t>& bits, std::int64_t at) {
  return (bits[static_cast<std::size_t>(at / 64)] >> (at % 64)) & 1;
}

}  // namespace ramify
