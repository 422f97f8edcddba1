#include "relief/binary_features.hpp"

#include <bitset>
#include <cstddef>

#include "base/indexing.hpp"

namespace ramify {

namespace {

constexpr std::int64_t least_share = 32;  // one row of so many

void set_bit(std::uint64_t* bits, std::int64_t place) { bits[place / 64] |= std::uint64_t(1) << (place % 64); }

std::int64_t n_different(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n_words) {
  std::int64_t n = 0;
  for (std::int64_t k = 0; k < n_words; ++k) n += static_cast<std::int64_t>(std::bitset<64>(a[k] ^ b[k]).count());
  return n;
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("popcnt"))) std::int64_t n_different_counted(const std::uint64_t* a, const std::uint64_t* b,
                                                                   std::int64_t n_words) {
  std::int64_t n = 0;
  for (std::int64_t k = 0; k < n_words; ++k) n += __builtin_popcountll(a[k] ^ b[k]);
  return n;
}
bool can_count() { return __builtin_cpu_supports("popcnt"); }
#else
std::int64_t n_different_counted(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n_words) {
  return n_different(a, b, n_words);
}
bool can_count() { return false; }
#endif

}  // namespace

BinaryFeatures::BinaryFeatures(const SparseMatrix& X, const Differences& differences)
    : n_rows_(X.n_rows), place_of_(at(X.n_features), -1) {
  if (differences.squared) return;
  for (std::int64_t f = 0; f < X.n_features; ++f) {
    const std::int64_t begin = X.column_offsets[f], end = X.column_offsets[f + 1];
    if (!differences.scales[at(f)].nominal || differences.scales[at(f)].table >= 0 ||
        (end - begin) * least_share < X.n_rows || begin == end)
      continue;
    bool one_value = X.column_values[begin] != 0;
    for (std::int64_t k = begin; k < end; ++k) one_value = one_value && X.column_values[k] == X.column_values[begin];
    if (!one_value) continue;
    place_of_[at(f)] = static_cast<std::int32_t>(features_.size());
    features_.push_back(static_cast<std::int32_t>(f));
    value_of_.push_back(X.column_values[begin]);
  }
  n_words_ = (static_cast<std::int64_t>(features_.size()) + 63) / 64;
  bits_.assign(at(n_rows_ * n_words_), 0);
  for (const std::int32_t f : features_) {
    for (std::int64_t k = X.column_offsets[f]; k < X.column_offsets[f + 1]; ++k)
      set_bit(bits_.data() + X.column_rows[k] * n_words_, place_of_[at(f)]);
  }
}

bool BinaryFeatures::set_bits(const SparseMatrix& queries, std::int64_t query, std::uint64_t* bits) const {
  bool all = true;
  for (std::int64_t e = queries.row_offsets[query]; e < queries.row_offsets[query + 1]; ++e) {
    const std::int32_t f = queries.row_features[e];
    if (!has(f)) continue;
    if (is_the_value(f, queries.row_values[e])) {
      set_bit(bits, place_of_[at(f)]);
    } else {
      all = false;
    }
  }
  return all;
}

void BinaryFeatures::add_differences(const std::vector<std::uint64_t>* queries, int n_queries,
                                     std::vector<double>* distances) const {
  if (n_words_ == 0) return;
  const bool counted = can_count();
  for (std::int64_t i = 0; i < n_rows_; ++i) {
    for (int q = 0; q < n_queries; ++q) {
      const std::uint64_t* const bits = queries[q].data();
      distances[q][at(i)] += static_cast<double>(counted ? n_different_counted(bits, row(i), n_words_)
                                                         : n_different(bits, row(i), n_words_));
    }
  }
}

}  // namespace ramify
