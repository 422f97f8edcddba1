#include "base/random.hpp"
#include "check.hpp"

using ramify::Random;

int main() {
  CHECK(Random(1, 2).next() == Random(1, 2).next());
  CHECK(Random(1, 2).next() != Random(2, 1).next());

  Random random(7, 0);
  int counts[3] = {0, 0, 0};
  double sum = 0;
  for (int i = 0; i < 30000; ++i) {
    ++counts[random.below(3)];
    sum += random.uniform();
  }
  for (int count : counts) CHECK(count > 9600 && count < 10400);
  CHECK_NEAR(sum / 30000, 0.5, 0.01);
  return check::finish();
}
