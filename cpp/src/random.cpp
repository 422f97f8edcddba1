// Random is header-only; this file keeps the library non-empty for every generator.
#include "ramify/random.hpp"
