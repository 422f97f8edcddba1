// The only source of randomness in the kernels: splitmix64 streams addressed by (seed, stream).
#pragma once

#include <cstdint>

namespace ramify {

/// A stream of random numbers that depends on (seed, stream) alone, so work can be cut among threads in any way.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed) ^ mix(stream + 0x632be59bd9b4e019ULL)) {}

  /// The next 64 random bits.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  /// Uniform in [0, bound), without bias; `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = UINT64_MAX - (UINT64_MAX % bound + 1) % bound;
    std::uint64_t draw = next();
    while (draw > limit) draw = next();
    return draw % bound;
  }

  /// Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace ramify
