/// Positions are counted in 64 bits with a sign; containers want them without.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ramify {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace ramify
