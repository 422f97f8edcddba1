#include "ramify/relief.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace ramify {

namespace {

constexpr std::int64_t queries_per_task = 16;
constexpr std::int64_t features_per_task = 16;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double one_missing(const FeatureScale& scale, double known) {
  if (scale.nominal) return 1 - 1 / scale.n_values;
  const double place = scale.range > 0 ? (known - scale.low) / scale.range : 0;
  return std::max(place, 1 - place);
}

/// The rows of one query that may be among its neighbours, and the exact comparison of them.
class NeighbourList {
 public:
  NeighbourList(const NeighbourQuery& query, std::int64_t n_rows) : query_(query), n_rows_(n_rows), heaps_(at(query.n_groups)) {}

  /// Store the nearest rows per group at `out`, given approximate distances that are off by at most
  /// `absolute + relative * distance`, and the exact distance of any row.
  template <class Number, class Exact>
  void select(const Number* approximate, double absolute, double relative, std::int64_t own_row, const Exact& exact, std::int64_t* out) {
    find_bounds(approximate, own_row);
    candidates_.assign(at(query_.n_groups), {});
    for (std::int32_t group = 0; group < query_.n_groups; ++group) {
      auto& heap = heaps_[at(group)];
      bounds_[at(group)] = heap.empty() ? -1 : heap.front() + 2 * (absolute + relative * heap.front());
    }
    const double loosest = *std::max_element(bounds_.begin(), bounds_.end());
    for (std::int64_t row = 0; row < n_rows_; ++row) {
      if (approximate[row] > loosest) continue;
      const std::int32_t group = query_.groups[row];
      if (row != own_row && approximate[row] <= bounds_[at(group)]) candidates_[at(group)].emplace_back(exact(row), row);
    }
    for (auto& candidates : candidates_) {
      const std::size_t n_kept = std::min(candidates.size(), at(query_.n_neighbours));
      std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_kept), candidates.end());
      for (std::size_t k = 0; k < at(query_.n_neighbours); ++k) *out++ = k < n_kept ? candidates[k].second : -1;
    }
  }

 private:
  /// The n_neighbours smallest approximate distances of each group, in max-heaps.
  template <class Number>
  void find_bounds(const Number* approximate, std::int64_t own_row) {
    bounds_.assign(at(query_.n_groups), std::numeric_limits<double>::infinity());
    for (auto& heap : heaps_) heap.clear();
    double loosest = std::numeric_limits<double>::infinity();
    for (std::int64_t row = 0; row < n_rows_; ++row) {
      const double distance = approximate[row];
      if (distance >= loosest) continue;
      const std::size_t group = at(query_.groups[row]);
      if (!(distance < bounds_[group]) || row == own_row) continue;
      auto& heap = heaps_[group];
      if (heap.size() == at(query_.n_neighbours)) {
        std::pop_heap(heap.begin(), heap.end());
        heap.pop_back();
      }
      heap.push_back(distance);
      std::push_heap(heap.begin(), heap.end());
      if (heap.size() < at(query_.n_neighbours)) continue;
      const bool was_loosest = bounds_[group] == loosest;
      bounds_[group] = heap.front();
      if (was_loosest) loosest = *std::max_element(bounds_.begin(), bounds_.end());
    }
  }

  const NeighbourQuery& query_;
  std::int64_t n_rows_;
  std::vector<std::vector<double>> heaps_;
  std::vector<double> bounds_;
  std::vector<std::vector<std::pair<double, std::int64_t>>> candidates_;
};

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
  float& operator[](int k) { return v[k]; }
  float operator[](int k) const { return v[k]; }
};
struct FourBits {
  bool v[4];
};
template <class Operation>
inline Four each(Four a, Four b, Operation operation) {
  for (int k = 0; k < 4; ++k) a.v[k] = operation(a.v[k], b.v[k]);
  return a;
}
inline Four operator+(Four a, Four b) { return each(a, b, [](float x, float y) { return x + y; }); }
inline Four operator-(Four a, Four b) { return each(a, b, [](float x, float y) { return x - y; }); }
inline Four operator*(Four a, Four b) { return each(a, b, [](float x, float y) { return x * y; }); }
inline Four four(float x) { return {{x, x, x, x}}; }
inline Four absolute(Four a) { return each(a, a, [](float x, float) { return std::fabs(x); }); }
inline FourBits differ(Four a, Four b) { return {{a.v[0] != b.v[0], a.v[1] != b.v[1], a.v[2] != b.v[2], a.v[3] != b.v[3]}}; }
inline FourBits above(Four a, Four b) { return {{a.v[0] > b.v[0], a.v[1] > b.v[1], a.v[2] > b.v[2], a.v[3] > b.v[3]}}; }
inline Four choose(FourBits mask, Four yes, Four no) {
  for (int k = 0; k < 4; ++k) no.v[k] = mask.v[k] ? yes.v[k] : no.v[k];
  return no;
}
#endif

/// Eight floats.
struct Lanes {
  Four low, high;
  float get(int k) const { return k < 4 ? low[k] : high[k - 4]; }
  void set(int k, float x) {
    if (k < 4) {
      low[k] = x;
    } else {
      high[k - 4] = x;
    }
  }
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

// Sums of |x - q| of four queries, eight rows at once where the processor can; lane by lane the same operations, so the
// same bits, as the general loop.
#if defined(__GNUC__) && defined(__x86_64__)
typedef float Eight __attribute__((vector_size(32), aligned(4)));
typedef std::int32_t EightBits __attribute__((vector_size(32)));
__attribute__((target("avx2"))) void add_numbers_wide(const Lanes* values, const float* queries, std::int64_t n, Lanes* total) {
  Eight a = {}, b = {}, c = {}, d = {};
  for (std::int64_t f = 0; f < n; ++f, queries += 4) {
    const Eight x = *reinterpret_cast<const Eight*>(values + f);
    a += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - queries[0]) & 0x7fffffff);
    b += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - queries[1]) & 0x7fffffff);
    c += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - queries[2]) & 0x7fffffff);
    d += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x - queries[3]) & 0x7fffffff);
  }
  *reinterpret_cast<Eight*>(total) += a;
  *reinterpret_cast<Eight*>(total + 1) += b;
  *reinterpret_cast<Eight*>(total + 2) += c;
  *reinterpret_cast<Eight*>(total + 3) += d;
}
bool has_wide_registers() { return __builtin_cpu_supports("avx2"); }
#else
void add_numbers_wide(const Lanes*, const float*, std::int64_t, Lanes*) {}
bool has_wide_registers() { return false; }
#endif

constexpr int lanes = 8;
constexpr int queries_at_once = 4;
constexpr std::int64_t features_per_sum = 64;

/// Rows in tiles of eight, feature by feature, scaled so that a term of the distance is |x - q| or (x - q)^2.
class ApproximateDistances {
 public:
  ApproximateDistances(const DenseRows& rows, const Differences& differences) : differences_(differences), n_features_(rows.n_features) {
    n_tiles_ = (rows.n_rows + lanes - 1) / lanes;
    for (std::int64_t f = 0; f < n_features_; ++f) {
      scale_.push_back(differences.squared ? static_cast<float>(std::sqrt(differences.weights[at(f)])) : 1.0f);
    }
    has_missing_.assign(at(n_features_), 0);
    tiles_.assign(at(n_tiles_ * n_features_), all(0));
    for (std::int64_t row = 0; row < rows.n_rows; ++row) {
      for (std::int64_t f = 0; f < n_features_; ++f) {
        const float value = scaled(f, rows.values[row * n_features_ + f]);
        tiles_[at(row / lanes * n_features_ + f)].set(static_cast<int>(row % lanes), value);
        if (value != value) has_missing_[at(f)] = 1;
      }
    }
    double steepest = 1;
    if (differences.different_above > 0) steepest = 1 / (differences.different_above - differences.equal_below);
    for (std::int64_t f = 0; f < n_features_; ++f) {
      const double size = differences.squared ? differences.weights[at(f)] : 1;
      // Rounding of both values, of their difference and of the term, each at most 2^-24 of the scale; doubled for safety.
      absolute_error_ += size * steepest * 0x1.0p-20;
    }
  }

  double absolute_error() const { return absolute_error_; }
  double relative_error() const { return static_cast<double>(features_per_sum + n_features_ / features_per_sum + 4) * 0x1.0p-23; }
  std::int64_t n_rows_padded() const { return n_tiles_ * lanes; }

  float scaled(std::int64_t feature, double value) const {
    const FeatureScale& scale = differences_.scales[at(feature)];
    if (scale.nominal || value != value) return static_cast<float>(value);
    if (!(scale.range > 0)) return 0;
    // Queries may lie outside the range; beyond this bound the squares would leave the range of float.
    const double place = std::clamp((value - scale.low) / scale.range, -1e15, 1e15);
    return static_cast<float>(place) * scale_[at(feature)];
  }

  /// Distances of four queries to all rows; `queries` holds their scaled values, four per feature.
  void to_all_rows(const std::vector<float>& queries, std::vector<float>* distances) const {
    const std::vector<Way> ways = ways_of(queries);
    const std::vector<char> wide = all_numbers(ways);
    for (std::int64_t tile = 0; tile < n_tiles_; ++tile) {
      Lanes total[queries_at_once] = {all(0), all(0), all(0), all(0)};
      const Lanes* const values = tiles_.data() + tile * n_features_;
      for (std::int64_t first = 0; first < n_features_; first += features_per_sum) {
        const std::int64_t last = std::min(n_features_, first + features_per_sum);
        if (wide[at(first / features_per_sum)]) {
          add_numbers_wide(values + first, queries.data() + first * queries_at_once, last - first, total);
        } else {
          add_terms(first, last, ways, values, queries.data(), total);
        }
      }
      for (int q = 0; q < queries_at_once; ++q) {
        for (int k = 0; k < lanes; ++k) distances[q][at(tile * lanes + k)] = total[q].get(k);
      }
    }
  }

 private:
  /// How the terms of a feature are computed.
  enum class Way : std::uint8_t { number, squared_number, number_or_missing, category, general };

  std::vector<Way> ways_of(const std::vector<float>& queries) const {
    std::vector<Way> ways(at(n_features_));
    for (std::int64_t f = 0; f < n_features_; ++f) {
      bool known = true;
      for (int q = 0; q < queries_at_once; ++q) known = known && queries[at(f * queries_at_once + q)] == queries[at(f * queries_at_once + q)];
      const bool nominal = differences_.scales[at(f)].nominal, plain = !nominal && differences_.different_above == 0;
      if (!known) {
        ways[at(f)] = Way::general;
      } else if (has_missing_[at(f)]) {
        ways[at(f)] = plain && !differences_.squared ? Way::number_or_missing : Way::general;
      } else if (plain) {
        ways[at(f)] = differences_.squared ? Way::squared_number : Way::number;
      } else {
        ways[at(f)] = nominal && !differences_.squared ? Way::category : Way::general;
      }
    }
    return ways;
  }

  /// Per block of features, whether all of them are plain numbers and the processor has wide registers.
  std::vector<char> all_numbers(const std::vector<Way>& ways) const {
    std::vector<char> wide(at(n_features_ / features_per_sum + 1), has_wide_registers() ? 1 : 0);
    for (std::int64_t f = 0; f < n_features_; ++f) {
      if (ways[at(f)] != Way::number) wide[at(f / features_per_sum)] = 0;
    }
    return wide;
  }

  /// Add the terms of features [first, last) to the sums of four queries, which stay in registers meanwhile.
  void add_terms(std::int64_t first, std::int64_t last, const std::vector<Way>& ways, const Lanes* values, const float* queries,
                 Lanes* total) const {
    Lanes a = all(0), b = all(0), c = all(0), d = all(0);
    for (std::int64_t f = first; f < last; ++f) {
      const Lanes x = values[f];
      const float* const q = queries + f * queries_at_once;
      switch (ways[at(f)]) {
        case Way::number:
          a += absolute(x - all(q[0]));
          b += absolute(x - all(q[1]));
          c += absolute(x - all(q[2]));
          d += absolute(x - all(q[3]));
          break;
        case Way::squared_number: {
          const Lanes da = x - all(q[0]), db = x - all(q[1]), dc = x - all(q[2]), dd = x - all(q[3]);
          a += da * da;
          b += db * db;
          c += dc * dc;
          d += dd * dd;
          break;
        }
        case Way::number_or_missing: {
          const LanesBits missing = x != x;
          a += choose(missing, all(std::max(q[0], 1 - q[0])), absolute(x - all(q[0])));
          b += choose(missing, all(std::max(q[1], 1 - q[1])), absolute(x - all(q[1])));
          c += choose(missing, all(std::max(q[2], 1 - q[2])), absolute(x - all(q[2])));
          d += choose(missing, all(std::max(q[3], 1 - q[3])), absolute(x - all(q[3])));
          break;
        }
        case Way::category: {
          const Lanes one = all(1), zero = all(0);
          a += choose(x != all(q[0]), one, zero);
          b += choose(x != all(q[1]), one, zero);
          c += choose(x != all(q[2]), one, zero);
          d += choose(x != all(q[3]), one, zero);
          break;
        }
        case Way::general:
          a += general_terms(f, x, q[0]);
          b += general_terms(f, x, q[1]);
          c += general_terms(f, x, q[2]);
          d += general_terms(f, x, q[3]);
          break;
      }
    }
    total[0] += a;
    total[1] += b;
    total[2] += c;
    total[3] += d;
  }

  inline Lanes general_terms(std::int64_t f, Lanes x, float value) const {
    const Lanes d = value == value ? known_query_terms(f, x, value) : missing_query_terms(f, x);
    return differences_.squared ? d * d : d;
  }

  inline Lanes known_query_terms(std::int64_t f, Lanes x, float value) const {
    const float scale = scale_[at(f)];
    const FeatureScale& feature = differences_.scales[at(f)];
    if (feature.nominal) {
      const Lanes different = choose(x != all(value), all(scale), all(0));
      return choose(x != x, all(scale * static_cast<float>(1 - 1 / feature.n_values)), different);
    }
    Lanes d = absolute(x - all(value));
    if (differences_.different_above > 0) {
      const float below = static_cast<float>(differences_.equal_below);
      const float slope = 1 / static_cast<float>(differences_.different_above - differences_.equal_below);
      d = (d - all(below)) * all(slope);
      d = choose(d > all(0), d, all(0));
      d = choose(d > all(1), all(1), d);
    }
    return choose(x != x, all(std::max(value, scale - value)), d);
  }

  inline Lanes missing_query_terms(std::int64_t f, Lanes x) const {
    const float scale = scale_[at(f)];
    const FeatureScale& feature = differences_.scales[at(f)];
    if (feature.nominal) return all(scale * static_cast<float>(1 - 1 / feature.n_values));
    return choose(x != x, all(scale), choose(x > all(scale) - x, x, all(scale) - x));
  }

  const Differences& differences_;
  std::int64_t n_features_, n_tiles_;
  std::vector<float> scale_;
  std::vector<char> has_missing_;
  std::vector<Lanes> tiles_;
  double absolute_error_ = 0;
};

double exact_distance(const Differences& differences, const double* a, const double* b, std::int64_t n_features) {
  double sum = 0;
  for (std::int64_t f = 0; f < n_features; ++f) sum += differences.term(f, a[f], b[f]);
  return sum;
}

double exact_distance(const Differences& differences, const SparseMatrix& A, std::int64_t a, const SparseMatrix& B, std::int64_t b) {
  std::int64_t i = A.row_offsets[a], j = B.row_offsets[b];
  const std::int64_t i_end = A.row_offsets[a + 1], j_end = B.row_offsets[b + 1];
  double sum = 0;
  while (i < i_end || j < j_end) {
    const std::int32_t fi = i < i_end ? A.row_features[i] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t fj = j < j_end ? B.row_features[j] : std::numeric_limits<std::int32_t>::max();
    const double x = fi <= fj ? A.row_values[i++] : 0;
    const double y = fj <= fi ? B.row_values[j++] : 0;
    sum += differences.term(std::min(fi, fj), x, y);
  }
  return sum;
}

/// What each stored value adds to the distance to a row of zeros, column by column.
std::vector<double> terms_to_zero(const SparseMatrix& X, const Differences& differences) {
  std::vector<double> terms(at(X.column_offsets[X.n_features]));
  for (std::int64_t f = 0; f < X.n_features; ++f) {
    for (std::int64_t k = X.column_offsets[f]; k < X.column_offsets[f + 1]; ++k) terms[at(k)] = differences.term(f, X.column_values[k], 0);
  }
  return terms;
}

/// Sum of coefficient * difference over pairs, for one feature whose values are given by row.
template <class Value>
void add_pairs(std::int64_t feature, const Differences& differences, const WeightedPairs& pairs, const Value& value, double* sums) {
  for (std::int64_t p = 0; p < pairs.n_pairs; ++p) {
    const double difference = differences.between(feature, value(pairs.first[p]), value(pairs.second[p]));
    if (difference == 0) continue;
    for (std::int64_t e = pairs.offsets[p]; e < pairs.offsets[p + 1]; ++e) sums[pairs.columns[e]] += pairs.coefficients[e] * difference;
  }
}

/// Pairs by the rows that take part in them, so that a sparse feature costs by its non-zeros.
struct PairsOfRows {
  std::vector<std::int64_t> offsets, pairs;

  PairsOfRows(const std::int64_t* rows, std::int64_t n_pairs, std::int64_t n_rows) : offsets(at(n_rows + 1), 0), pairs(at(n_pairs)) {
    for (std::int64_t p = 0; p < n_pairs; ++p) ++offsets[at(rows[p] + 1)];
    for (std::int64_t row = 0; row < n_rows; ++row) offsets[at(row + 1)] += offsets[at(row)];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::int64_t p = 0; p < n_pairs; ++p) pairs[at(next[at(rows[p])]++)] = p;
  }
};

}  // namespace

double Differences::between_any(const FeatureScale& scale, double a, double b) const {
  const bool a_missing = a != a, b_missing = b != b;
  if (a_missing || b_missing) return a_missing && b_missing && !scale.nominal ? 1 : one_missing(scale, a_missing ? b : a);
  if (scale.nominal) return a == b ? 0 : 1;
  if (!(scale.range > 0)) return 0;
  const double difference = std::fabs(a - b) / scale.range;
  if (different_above <= 0) return difference;
  return std::clamp((difference - equal_below) / (different_above - equal_below), 0.0, 1.0);
}

std::vector<std::int64_t> nearest_dense(const DenseRows& rows, const DenseRows& queries, const Differences& differences,
                                        const NeighbourQuery& query, int n_threads, const Poll& poll) {
  const ApproximateDistances approximate(rows, differences);
  const std::int64_t width = query.n_groups * query.n_neighbours, n_features = rows.n_features;
  std::vector<std::int64_t> nearest(at(queries.n_rows * width));
  const auto task = [&](std::int64_t block, int, const Control& control) {
    NeighbourList list(query, rows.n_rows);
    std::vector<float> values(at(n_features * queries_at_once), 0), distances[queries_at_once];
    for (auto& own : distances) own.resize(at(approximate.n_rows_padded()));
    const std::int64_t end = std::min(queries.n_rows, (block + 1) * queries_per_task);
    for (std::int64_t first = block * queries_per_task; first < end; first += queries_at_once) {
      control.check();
      const int n_queries = static_cast<int>(std::min<std::int64_t>(queries_at_once, end - first));
      for (int q = 0; q < n_queries; ++q) {
        for (std::int64_t f = 0; f < n_features; ++f) {
          values[at(f * queries_at_once + q)] = approximate.scaled(f, queries.values[(first + q) * n_features + f]);
        }
      }
      approximate.to_all_rows(values, distances);
      for (int q = 0; q < n_queries; ++q) {
        const double* own = queries.values + (first + q) * n_features;
        const auto exact = [&](std::int64_t row) { return exact_distance(differences, own, rows.values + row * n_features, n_features); };
        list.select(distances[q].data(), approximate.absolute_error(), approximate.relative_error(), query.own_rows[first + q], exact,
                    nearest.data() + (first + q) * width);
      }
    }
  };
  run_tasks((queries.n_rows + queries_per_task - 1) / queries_per_task, n_threads, task, poll);
  return nearest;
}

std::vector<std::int64_t> nearest_sparse(const SparseMatrix& rows, const SparseMatrix& queries, const Differences& differences,
                                         const NeighbourQuery& query, int n_threads, const Poll& poll) {
  // Distance to the row of zeros; a common non-zero is then corrected.
  std::vector<double> to_zero(at(rows.n_rows), 0.0);
  for (std::int64_t row = 0; row < rows.n_rows; ++row) {
    for (std::int64_t e = rows.row_offsets[row]; e < rows.row_offsets[row + 1]; ++e) {
      to_zero[at(row)] += differences.term(rows.row_features[e], rows.row_values[e], 0);
    }
  }
  const std::vector<double> column_to_zero = terms_to_zero(rows, differences);
  double size = 0;
  for (std::int64_t f = 0; f < rows.n_features; ++f) size += differences.squared ? differences.weights[at(f)] : 1;
  std::vector<char> has_missing(at(rows.n_features), 0);
  for (std::int64_t f = 0; f < rows.n_features; ++f) {
    for (std::int64_t k = rows.column_offsets[f]; k < rows.column_offsets[f + 1]; ++k) {
      if (rows.column_values[k] != rows.column_values[k]) has_missing[at(f)] = 1;
    }
  }
  const double absolute_error = size * 0x1.0p-45, relative_error = 0x1.0p-40;
  const std::int64_t width = query.n_groups * query.n_neighbours;
  std::vector<std::int64_t> nearest(at(queries.n_rows * width));
  const auto task = [&](std::int64_t block, int, const Control& control) {
    NeighbourList list(query, rows.n_rows);
    std::vector<double> distances(at(rows.n_rows));
    const std::int64_t end = std::min(queries.n_rows, (block + 1) * queries_per_task);
    for (std::int64_t q = block * queries_per_task; q < end; ++q) {
      control.check();
      double own_to_zero = 0;
      std::copy(to_zero.begin(), to_zero.end(), distances.begin());
      for (std::int64_t e = queries.row_offsets[q]; e < queries.row_offsets[q + 1]; ++e) {
        const std::int32_t f = queries.row_features[e];
        const double value = queries.row_values[e], from_zero = differences.term(f, value, 0);
        own_to_zero += from_zero;
        const std::int64_t begin = rows.column_offsets[f], stop = rows.column_offsets[f + 1];
        if (differences.scales[at(f)].nominal && !differences.squared && !has_missing[at(f)] && value == value) {
          for (std::int64_t k = begin; k < stop; ++k) distances[at(rows.column_rows[k])] -= rows.column_values[k] == value ? 2 : 1;
          continue;
        }
        for (std::int64_t k = begin; k < stop; ++k) {
          distances[at(rows.column_rows[k])] += differences.term(f, value, rows.column_values[k]) - column_to_zero[at(k)] - from_zero;
        }
      }
      for (double& distance : distances) distance += own_to_zero;
      const auto exact = [&](std::int64_t row) { return exact_distance(differences, queries, q, rows, row); };
      list.select(distances.data(), absolute_error, relative_error, query.own_rows[q], exact, nearest.data() + q * width);
    }
  };
  run_tasks((queries.n_rows + queries_per_task - 1) / queries_per_task, n_threads, task, poll);
  return nearest;
}

std::vector<double> difference_sums_dense(const double* columns_of_X, std::int64_t n_rows, const Differences& differences,
                                          const WeightedPairs& pairs, int n_threads, const Poll& poll) {
  const std::int64_t n_features = static_cast<std::int64_t>(differences.scales.size());
  std::vector<double> sums(at(n_features * pairs.n_columns), 0.0);
  const auto task = [&](std::int64_t block, int, const Control& control) {
    const std::int64_t end = std::min(n_features, (block + 1) * features_per_task);
    for (std::int64_t f = block * features_per_task; f < end; ++f) {
      control.check();
      const double* column = columns_of_X + f * n_rows;
      add_pairs(f, differences, pairs, [column](std::int64_t row) { return column[row]; }, sums.data() + f * pairs.n_columns);
    }
  };
  run_tasks((n_features + features_per_task - 1) / features_per_task, n_threads, task, poll);
  return sums;
}

std::vector<double> difference_sums_sparse(const SparseMatrix& X, const Differences& differences, const WeightedPairs& pairs,
                                           int n_threads, const Poll& poll) {
  const PairsOfRows as_first(pairs.first, pairs.n_pairs, X.n_rows), as_second(pairs.second, pairs.n_pairs, X.n_rows);
  std::vector<double> sums(at(X.n_features * pairs.n_columns), 0.0);
  const auto task = [&](std::int64_t block, int, const Control& control) {
    std::vector<double> column(at(X.n_rows), 0.0);
    const std::int64_t end = std::min(X.n_features, (block + 1) * features_per_task);
    for (std::int64_t f = block * features_per_task; f < end; ++f) {
      control.check();
      double* own_sums = sums.data() + f * pairs.n_columns;
      const auto add = [&](std::int64_t p) {
        const double difference = differences.between(f, column[at(pairs.first[p])], column[at(pairs.second[p])]);
        for (std::int64_t e = pairs.offsets[p]; e < pairs.offsets[p + 1]; ++e) own_sums[pairs.columns[e]] += pairs.coefficients[e] * difference;
      };
      const std::int64_t begin = X.column_offsets[f], stop = X.column_offsets[f + 1];
      for (std::int64_t e = begin; e < stop; ++e) column[at(X.column_rows[e])] = X.column_values[e];
      for (std::int64_t e = begin; e < stop; ++e) {
        const std::int64_t row = X.column_rows[e];
        for (std::int64_t k = as_first.offsets[at(row)]; k < as_first.offsets[at(row + 1)]; ++k) add(as_first.pairs[at(k)]);
        for (std::int64_t k = as_second.offsets[at(row)]; k < as_second.offsets[at(row + 1)]; ++k) {
          const std::int64_t p = as_second.pairs[at(k)];
          if (column[at(pairs.first[p])] == 0) add(p);
        }
      }
      for (std::int64_t e = begin; e < stop; ++e) column[at(X.column_rows[e])] = 0;
    }
  };
  run_tasks((X.n_features + features_per_task - 1) / features_per_task, n_threads, task, poll);
  return sums;
}

}  // namespace ramify
