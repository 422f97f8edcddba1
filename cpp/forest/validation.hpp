/// Forests that come from outside.
#pragma once

#include "forest/forest.hpp"

namespace ramify {

/// The one check behind load, unpickle and the tests, O(nodes): throws std::invalid_argument that
/// names the broken invariant, so that nothing later can leave an array or loop for ever.
void validate(const Forest& forest);

}  // namespace ramify
