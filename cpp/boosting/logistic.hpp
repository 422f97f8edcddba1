/// The logistic function and its loss, in arithmetic that compilers vectorise and that is the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ramify {

/// exp(x) for x <= 0, to about 1e-7 of its value; below -87 that of -87.
inline float exp_below_zero(float x) {
  x = x < -87.0f ? -87.0f : x;
  const auto power = static_cast<std::int32_t>(x * 1.44269504f - 0.5f);  // nearest to x / log 2
  const auto whole = static_cast<float>(power);
  const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;  // log 2 in two parts
  float series = 1.9875691500e-4f;                                      // the polynomial of Cephes
  series = series * r + 1.3981999507e-3f;
  series = series * r + 8.3334519073e-3f;
  series = series * r + 4.1665795894e-2f;
  series = series * r + 1.6666665459e-1f;
  series = series * r + 5.0000001201e-1f;
  series = series * r * r + r + 1.0f;
  const std::int32_t bits = (power + 127) * (1 << 23);
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return series * scale;
}

/// 1 / (1 + exp(-score)).
inline float logistic(float score) {
  const float small = exp_below_zero(-std::fabs(score));
  return (score >= 0 ? 1.0f : small) / (1.0f + small);
}

/// log(1 + exp(score)).
inline float softplus(float score) {
  const float small = exp_below_zero(-std::fabs(score));
  const float z = small / (2.0f + small), square = z * z;  // log(1 + small) = 2 artanh(z), z <= 1 / 3
  float series = 1.0f / 13;
  series = series * square + 1.0f / 11;
  series = series * square + 1.0f / 9;
  series = series * square + 1.0f / 7;
  series = series * square + 1.0f / 5;
  series = series * square + 1.0f / 3;
  series = series * square + 1.0f;
  return (score > 0 ? score : 0.0f) + 2.0f * z * series;
}

}  // namespace ramify
