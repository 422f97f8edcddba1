#include "relief/approximate_distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/indexing.hpp"

namespace ramify {

namespace {

constexpr std::int64_t features_per_sum = 64;  // partial sums keep the rounding small

// Four floats that the compiler keeps in one register; comparisons of wider vectors would be done one by one.
#if defined(__GNUC__)
typedef float Four __attribute__((vector_size(16)));
typedef std::int32_t FourBits __attribute__((vector_size(16)));
inline Four four(float x) { return Four{x, x, x, x}; }
inline Four absolute(Four x) { return reinterpret_cast<Four>(reinterpret_cast<FourBits>(x) & 0x7fffffff); }
inline FourBits differ(Four a, Four b) { return a != b; }
inline FourBits above(Four a, Four b) { return a > b; }
inline Four choose(FourBits mask, Four yes, Four no) {
  return reinterpret_cast<Four>((mask & reinterpret_cast<FourBits>(yes)) | (~mask & reinterpret_cast<FourBits>(no)));
}
#else
struct Four {
  float v[4];
};
struct FourBits {
  bool v[4];
};
template <class Operation>
inline Four each(Four a, Four b, Operation operation) {
  for (int k = 0; k < 4; ++k) a.v[k] = operation(a.v[k], b.v[k]);
  return a;
}
inline Four operator+(Four a, Four b) {
  return each(a, b, [](float x, float y) { return x + y; });
}
inline Four operator-(Four a, Four b) {
  return each(a, b, [](float x, float y) { return x - y; });
}
inline Four operator*(Four a, Four b) {
  return each(a, b, [](float x, float y) { return x * y; });
}
inline Four four(float x) { return {{x, x, x, x}}; }
inline Four absolute(Four a) {
  return each(a, a, [](float x, float) { return std::fabs(x); });
}
inline FourBits differ(Four a, Four b) {
  return {{a.v[0] != b.v[0], a.v[1] != b.v[1], a.v[2] != b.v[2], a.v[3] != b.v[3]}};
}
inline FourBits above(Four a, Four b) { return {{a.v[0] > b.v[0], a.v[1] > b.v[1], a.v[2] > b.v[2], a.v[3] > b.v[3]}}; }
inline Four choose(FourBits mask, Four yes, Four no) {
  for (int k = 0; k < 4; ++k) no.v[k] = mask.v[k] ? yes.v[k] : no.v[k];
  return no;
}
#endif

/// Eight floats.
struct Lanes {
  Four low, high;
};
struct LanesBits {
  FourBits low, high;
};
inline Lanes operator+(Lanes a, Lanes b) { return {a.low + b.low, a.high + b.high}; }
inline Lanes operator-(Lanes a, Lanes b) { return {a.low - b.low, a.high - b.high}; }
inline Lanes operator*(Lanes a, Lanes b) { return {a.low * b.low, a.high * b.high}; }
inline void operator+=(Lanes& a, Lanes b) { a = a + b; }
inline Lanes all(float x) { return {four(x), four(x)}; }
inline Lanes absolute(Lanes x) { return {absolute(x.low), absolute(x.high)}; }
inline LanesBits operator!=(Lanes a, Lanes b) { return {differ(a.low, b.low), differ(a.high, b.high)}; }
inline LanesBits operator>(Lanes a, Lanes b) { return {above(a.low, b.low), above(a.high, b.high)}; }
inline Lanes choose(LanesBits mask, Lanes yes, Lanes no) {
  return {choose(mask.low, yes.low, no.low), choose(mask.high, yes.high, no.high)};
}
inline Lanes load(const float* values) {
  Lanes x;
  std::memcpy(&x, values, sizeof x);
  return x;
}
inline void store(Lanes x, float* values) { std::memcpy(values, &x, sizeof x); }
static_assert(sizeof(Lanes) == sizeof(Tile), "a tile fills two registers");

/// Sums of |x - q| of four queries over the first `n_numbers` features of tiles that are `stride` features apart, and
/// of how many of the next ones, up to `n`, differ, from where `offsets` begin. `queries` has four values per feature.
struct PlainSums {
  const Tile* tiles;
  std::int64_t stride, n_numbers, n, n_tiles;
  const float* queries;
  const Tile* offsets;
  const float* query_offsets;
  float* out;

  void run() const {
    for (std::int64_t tile = 0; tile < n_tiles; ++tile) {
      Lanes total[queries_at_once];
      for (int q = 0; q < queries_at_once; ++q) total[q] = load(offsets[tile].values) + all(query_offsets[q]);
      for (std::int64_t first = 0; first < n_numbers; first += features_per_sum) {
        const std::int64_t last = std::min(n_numbers, first + features_per_sum);
        Lanes a = all(0), b = all(0), c = all(0), d = all(0);
        for (std::int64_t f = first; f < last; ++f) {
          const Lanes x = load(tiles[tile * stride + f].values);
          const float* const query = queries + f * queries_at_once;
          a += absolute(x - all(query[0]));
          b += absolute(x - all(query[1]));
          c += absolute(x - all(query[2]));
          d += absolute(x - all(query[3]));
        }
        total[0] += a;
        total[1] += b;
        total[2] += c;
        total[3] += d;
      }
      const Lanes one = all(1), zero = all(0);
      for (std::int64_t f = n_numbers; f < n; ++f) {
        const Lanes x = load(tiles[tile * stride + f].values);
        for (int q = 0; q < queries_at_once; ++q)
          total[q] += choose(x != all(queries[f * queries_at_once + q]), one, zero);
      }
      for (int q = 0; q < queries_at_once; ++q) store(total[q], out + (q * n_tiles + tile) * rows_per_tile);
    }
  }

#if defined(__GNUC__) && defined(__x86_64__)
  typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::int32_t EightBits __attribute__((vector_size(32)));

  /// The same with eight rows in one register.
  __attribute__((target("avx2"))) void run_wide() const {
    for (std::int64_t tile = 0; tile < n_tiles; ++tile) {
      const Eight offset = *reinterpret_cast<const Eight*>(offsets + tile);
      Eight total_a = offset + query_offsets[0], total_b = offset + query_offsets[1];
      Eight total_c = offset + query_offsets[2], total_d = offset + query_offsets[3];
      for (std::int64_t first = 0; first < n_numbers; first += features_per_sum) {
        const std::int64_t last = std::min(n_numbers, first + features_per_sum);
        Eight a = {}, b = {}, c = {}, d = {};
        for (std::int64_t f = first; f < last; ++f) {
          const Eight x = *reinterpret_cast<const Eight*>(tiles + tile * stride + f);
          const float* const query = queries + f * queries_at_once;
          a += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - query[0]) & 0x7fffffff);
          b += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - query[1]) & 0x7fffffff);
          c += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - query[2]) & 0x7fffffff);
          d += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - query[3]) & 0x7fffffff);
        }
        total_a += a;
        total_b += b;
        total_c += c;
        total_d += d;
      }
      EightBits a = {}, b = {}, c = {}, d = {};
      for (std::int64_t f = n_numbers; f < n; ++f) {  // true is -1 in each place
        const Eight x = *reinterpret_cast<const Eight*>(tiles + tile * stride + f);
        const float* const query = queries + f * queries_at_once;
        a -= x != query[0];
        b -= x != query[1];
        c -= x != query[2];
        d -= x != query[3];
      }
      total_a += __builtin_convertvector(a, Eight);
      total_b += __builtin_convertvector(b, Eight);
      total_c += __builtin_convertvector(c, Eight);
      total_d += __builtin_convertvector(d, Eight);
      *reinterpret_cast<Eight*>(out + tile * rows_per_tile) = total_a;
      *reinterpret_cast<Eight*>(out + (n_tiles + tile) * rows_per_tile) = total_b;
      *reinterpret_cast<Eight*>(out + (2 * n_tiles + tile) * rows_per_tile) = total_c;
      *reinterpret_cast<Eight*>(out + (3 * n_tiles + tile) * rows_per_tile) = total_d;
    }
  }
  static bool is_wide() { return __builtin_cpu_supports("avx2"); }
#else
  void run_wide() const {}
  static bool is_wide() { return false; }
#endif
};

Lanes known_query_terms(const Differences& differences, const FeatureScale& feature, float scale, Lanes x,
                        float value) {
  if (feature.nominal) {
    const Lanes different = choose(x != all(value), all(scale), all(0));
    return choose(x != x, all(scale * static_cast<float>(1 - 1 / feature.n_values)), different);
  }
  Lanes d = absolute(x - all(value));
  if (differences.different_above > 0) {
    const float below = static_cast<float>(differences.equal_below);
    const float slope = 1 / static_cast<float>(differences.different_above - differences.equal_below);
    d = (d - all(below)) * all(slope);
    d = choose(d > all(0), d, all(0));
    d = choose(d > all(1), all(1), d);
  }
  return choose(x != x, all(std::max(value, scale - value)), d);
}

Lanes table_terms(const Differences& differences, std::int64_t feature, float scale, Lanes x, float value) {
  float values[rows_per_tile];
  store(x, values);
  for (float& one : values) one = scale * static_cast<float>(differences.between(feature, one, value));
  return load(values);
}

Lanes missing_query_terms(const FeatureScale& feature, float scale, Lanes x) {
  if (feature.nominal) return all(scale * static_cast<float>(1 - 1 / feature.n_values));
  return choose(x != x, all(scale), choose(x > all(scale) - x, x, all(scale) - x));
}

}  // namespace

ApproximateDistances::ApproximateDistances(const DenseRows& rows, const Differences& differences,
                                           const std::vector<std::int64_t>& row_at)
    : differences_(differences),
      n_features_(rows.n_features),
      n_tiles_((rows.n_rows + rows_per_tile - 1) / rows_per_tile) {
  std::vector<char> has_missing(at(n_features_), 0);
  for (std::int64_t row = 0; row < rows.n_rows; ++row) {
    for (std::int64_t f = 0; f < n_features_; ++f)
      has_missing[at(f)] |= rows.values[row * n_features_ + f] != rows.values[row * n_features_ + f];
  }
  for (std::int64_t f = 0; f < n_features_; ++f) order_.push_back(f);
  const auto is_number = [&](std::int64_t f) {
    return !differences.scales[at(f)].nominal && differences.different_above <= 0;
  };
  const auto is_category = [&](std::int64_t f) {
    return differences.scales[at(f)].nominal && differences.scales[at(f)].table < 0 && !has_missing[at(f)];
  };
  if (!differences.squared) {
    const auto others = std::stable_partition(order_.begin(), order_.end(), is_number);
    n_numbers_ = others - order_.begin();
    n_plain_ = std::stable_partition(others, order_.end(), is_category) - order_.begin();
  }
  for (const std::int64_t f : order_)
    scale_.push_back(differences.squared ? static_cast<float>(std::sqrt(differences.weights[at(f)])) : 1.0f);
  for (const std::int64_t f : order_) has_missing_.push_back(has_missing[at(f)]);
  tiles_.assign(at(n_tiles_ * n_features_), Tile{});
  offsets_.assign(at(n_tiles_), Tile{});
  for (std::int64_t position = 0; position < rows.n_rows; ++position) {
    const double* const row = rows.values + row_at[at(position)] * n_features_;
    const std::int64_t tile = position / rows_per_tile, lane = position % rows_per_tile;
    for (std::int64_t k = 0; k < n_features_; ++k) {
      float value = scaled(k, row[order_[at(k)]]);
      if (value != value && k < n_numbers_) {
        value = 0.5f;
        offsets_[at(tile)].values[lane] += 0.5f;
      }
      tiles_[at(tile * n_features_ + k)].values[lane] = value;
    }
  }
  const double steepest =
      differences.different_above > 0 ? 1 / (differences.different_above - differences.equal_below) : 1;
  for (std::int64_t f = 0; f < n_features_; ++f) {
    const double size = differences.squared ? differences.weights[at(f)] : 1;
    // Rounding of both values, of their difference and of the term, each at most 2^-24 of the scale; doubled for
    // safety.
    tolerance_.absolute += size * steepest * 0x1.0p-20;
  }
  tolerance_.relative = static_cast<double>(features_per_sum + n_features_ / features_per_sum + 6) * 0x1.0p-23;
}

float ApproximateDistances::scaled(std::int64_t k, double value) const {
  const FeatureScale& scale = differences_.scales[at(order_[at(k)])];
  if (scale.nominal || value != value) return static_cast<float>(value);
  if (!(scale.range > 0)) return 0;
  // Queries may lie outside the range; beyond this bound the squares would leave the range of float.
  const double place = std::clamp((value - scale.low) / scale.range, -1e15, 1e15);
  return static_cast<float>(place) * scale_[at(k)];
}

void ApproximateDistances::prepare(const double* const* queries, int n, Queries& ready) const {
  ready.values.assign(at(n_features_ * queries_at_once), 0);
  std::fill(ready.offsets, ready.offsets + queries_at_once, 0.0f);
  for (int q = 0; q < n; ++q) {
    for (std::int64_t k = 0; k < n_features_; ++k) {
      float value = scaled(k, queries[q][order_[at(k)]]);
      if (value != value && k < n_numbers_) {
        value = 0.5f;
        ready.offsets[q] += 0.5f;
      } else if (value != value && k < n_plain_) {  // it differs by 1 - 1 / n_values from every row
        ready.offsets[q] -= static_cast<float>(1 / differences_.scales[at(order_[at(k)])].n_values);
      }
      ready.values[at(k * queries_at_once + q)] = value;
    }
  }
  ready.ways.clear();
  for (std::int64_t k = n_plain_; k < n_features_; ++k) {
    bool known = !has_missing_[at(k)];
    for (int q = 0; q < queries_at_once; ++q)
      known = known && ready.values[at(k * queries_at_once + q)] == ready.values[at(k * queries_at_once + q)];
    const bool nominal = differences_.scales[at(order_[at(k)])].nominal;
    const bool plain = known && !nominal && differences_.squared && differences_.different_above <= 0;
    ready.ways.push_back(plain ? Way::squared_number : Way::general);
  }
}

void ApproximateDistances::to_tiles(const Queries& queries, std::int64_t first, std::int64_t last, float* out) const {
  const PlainSums sums{tiles_.data() + first * n_features_,
                       n_features_,
                       n_numbers_,
                       n_plain_,
                       last - first,
                       queries.values.data(),
                       offsets_.data() + first,
                       queries.offsets,
                       out};
  PlainSums::is_wide() ? sums.run_wide() : sums.run();
  if (n_plain_ == n_features_) return;
  for (std::int64_t tile = first; tile < last; ++tile) {
    add_others(queries, tile, out + (tile - first) * rows_per_tile, (last - first) * rows_per_tile);
  }
}

void ApproximateDistances::add_others(const Queries& queries, std::int64_t tile, float* out,
                                      std::int64_t stride) const {
  for (std::int64_t first = n_plain_; first < n_features_; first += features_per_sum) {
    Lanes a = all(0), b = all(0), c = all(0), d = all(0);
    for (std::int64_t k = first; k < std::min(n_features_, first + features_per_sum); ++k) {
      const Lanes x = load(tiles_[at(tile * n_features_ + k)].values);
      const float* const q = queries.values.data() + k * queries_at_once;
      const FeatureScale& feature = differences_.scales[at(order_[at(k)])];
      const auto general = [&](float value) {
        const float scale = scale_[at(k)];
        const Lanes term = feature.table >= 0 ? table_terms(differences_, order_[at(k)], scale, x, value)
                           : value == value   ? known_query_terms(differences_, feature, scale, x, value)
                                              : missing_query_terms(feature, scale, x);
        return differences_.squared ? term * term : term;
      };
      switch (queries.ways[at(k - n_plain_)]) {
        case Way::squared_number: {
          const Lanes da = x - all(q[0]), db = x - all(q[1]), dc = x - all(q[2]), dd = x - all(q[3]);
          a += da * da;
          b += db * db;
          c += dc * dc;
          d += dd * dd;
          break;
        }
        case Way::general:
          a += general(q[0]);
          b += general(q[1]);
          c += general(q[2]);
          d += general(q[3]);
          break;
      }
    }
    store(load(out) + a, out);
    store(load(out + stride) + b, out + stride);
    store(load(out + 2 * stride) + c, out + 2 * stride);
    store(load(out + 3 * stride) + d, out + 3 * stride);
  }
}

}  // namespace ramify
