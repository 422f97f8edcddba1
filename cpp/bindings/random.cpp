#include "bindings.hpp"
#include "ramify/random.hpp"

void bind_random(nb::module_& m) {
  m.def(
      "random_bits",
      [](std::uint64_t seed, std::uint64_t stream) { return ramify::Random(seed, stream).next(); },
      "seed"_a, "stream"_a, "First 64 bits of the stream (seed, stream).");
}
