// The smallest test harness that does the job: CHECK counts, `finish` reports and sets the exit code.
#pragma once

#include <cmath>
#include <cstdio>

namespace check {
inline int n_passed = 0;
inline int n_failed = 0;

inline void that(bool holds, const char* text, const char* file, int line) {
  if (holds) {
    ++n_passed;
  } else {
    ++n_failed;
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
  }
}

inline int finish() {
  std::printf("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed == 0 ? 0 : 1;
}
}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) check::that(std::fabs((a) - (b)) <= (tolerance), #a " ~ " #b, __FILE__, __LINE__)
