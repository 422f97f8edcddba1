// The only source of randomness in the kernels: splitmix64 streams addressed by (seed, stream).
#pragma once

#include <cstdint>

namespace ramify {

/// A stream of random numbers that depends on (seed, stream) alone, so work can be cut among threads in any way.
class Random {
  friend class RandomBits;

 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed) ^ mix(stream + 0x632be59bd9b4e019ULL)) {}

  /// The next 64 random bits.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  /// Uniform in [0, bound), without bias; `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t draw = next();
    if (draw * bound < bound) {
      const std::uint64_t unfair = (0 - bound) % bound;
      while (draw * bound < unfair) draw = next();
    }
    return multiply_high(draw, bound);
  }

  /// Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  /// High half of the 128-bit product, without a 128-bit type.
  static std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t a_low = a & 0xffffffffULL, a_high = a >> 32, b_low = b & 0xffffffffULL, b_high = b >> 32;
    const std::uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
    const std::uint64_t rest = a_low * b_high + (middle & 0xffffffffULL);
    return a_high * b_high + (middle >> 32) + (rest >> 32);
  }

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

/// 64 random bits for each counter, in any order: those that the stream of (seed, stream) gives one after another.
class RandomBits {
 public:
  RandomBits(std::uint64_t seed, std::uint64_t stream) : state_(Random(seed, stream).state_) {}

  std::uint64_t operator()(std::uint64_t counter) const {
    return Random::mix(state_ + (counter + 1) * 0x9e3779b97f4a7c15ULL);
  }

 private:
  std::uint64_t state_;
};

}  // namespace ramify
