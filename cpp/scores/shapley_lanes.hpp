/// A number for each of the rows that go through a tree side by side.
#pragma once

#include <cstddef>
#include <cstdint>

// Compile a function also for processors with wider vectors, chosen when the library is loaded. Products and sums are
// the same bits on all: nothing is contracted or reordered. Sanitizers start too late for the choice.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RAMIFY_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define RAMIFY_WIDE_VECTORS
#endif

namespace ramify {

/// Rows side by side: a cache line of numbers.
constexpr std::int64_t shapley_lanes = 8;
constexpr auto n_lanes = static_cast<std::size_t>(shapley_lanes);

#if defined(__GNUC__)
using FourNumbers = double __attribute__((vector_size(32)));
using FourInMemory = double __attribute__((vector_size(32), aligned(8), may_alias));
#define RAMIFY_INLINE inline __attribute__((always_inline))
#else
struct FourNumbers {
  double at[4];
};
using FourInMemory = FourNumbers;
inline FourNumbers operator+(const FourNumbers& x, const FourNumbers& y) {
  return {x.at[0] + y.at[0], x.at[1] + y.at[1], x.at[2] + y.at[2], x.at[3] + y.at[3]};
}
inline FourNumbers operator*(const FourNumbers& x, const FourNumbers& y) {
  return {x.at[0] * y.at[0], x.at[1] * y.at[1], x.at[2] * y.at[2], x.at[3] * y.at[3]};
}
inline FourNumbers operator*(const FourNumbers& x, double factor) {
  return {x.at[0] * factor, x.at[1] * factor, x.at[2] * factor, x.at[3] * factor};
}
#define RAMIFY_INLINE inline
#endif

struct EightNumbers {
  FourNumbers low, high;
};
RAMIFY_INLINE EightNumbers operator+(const EightNumbers& x, const EightNumbers& y) {
  return {x.low + y.low, x.high + y.high};
}
RAMIFY_INLINE EightNumbers operator*(const EightNumbers& x, const EightNumbers& y) {
  return {x.low * y.low, x.high * y.high};
}
RAMIFY_INLINE EightNumbers operator*(const EightNumbers& x, double factor) { return {x.low * factor, x.high * factor}; }

RAMIFY_INLINE EightNumbers load(const double* from) {
  const auto* const numbers = reinterpret_cast<const FourInMemory*>(from);
  return {numbers[0], numbers[1]};
}
RAMIFY_INLINE void store(const EightNumbers& lanes, double* to) {
  auto* const numbers = reinterpret_cast<FourInMemory*>(to);
  numbers[0] = lanes.low;
  numbers[1] = lanes.high;
}

}  // namespace ramify
