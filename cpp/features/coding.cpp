/// Values to rank codes, by radix sort, one block of columns per task.
#include "features/coding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.hpp"

namespace ramify {

namespace {

constexpr std::int64_t columns_per_task = 16;     // a cache line of float32 when X is row-major
constexpr std::int64_t quantile_sample = 200000;  // values looked at for the edges of bins

template <class Number>
using KeyOf = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;

/// An unsigned key in the order of the numbers (no NaN; both zeros alike).
template <class Number>
KeyOf<Number> ordered_key(Number number) {
  KeyOf<Number> key;
  const Number one_zero = number + Number(0);
  std::memcpy(&key, &one_zero, sizeof key);
  constexpr KeyOf<Number> sign = KeyOf<Number>(1) << (8 * sizeof key - 1);
  return (key & sign) ? ~key : (key | sign);
}

template <class Number>
struct Keyed {
  KeyOf<Number> key;
  std::uint32_t at;
};

/// Least significant digit first; digits that all keys share are skipped.
template <class Number>
void radix_sort(std::vector<Keyed<Number>>& items, std::vector<Keyed<Number>>& spare) {
  if (items.size() < 256) {
    std::sort(items.begin(), items.end(),
              [](const auto& a, const auto& b) { return a.key != b.key ? a.key < b.key : a.at < b.at; });
    return;
  }
  constexpr int bits = 11;
  spare.resize(items.size());
  std::vector<std::size_t> starts;
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(KeyOf<Number>)); shift += bits) {
    starts.assign((std::size_t(1) << bits) + 1, 0);
    const auto digit = [shift](const Keyed<Number>& item) {
      return static_cast<std::size_t>((item.key >> shift) & ((1u << bits) - 1));
    };
    for (const auto& item : items) ++starts[digit(item) + 1];
    if (starts[digit(items[0]) + 1] == items.size()) continue;
    for (std::size_t d = 1; d < starts.size(); ++d) starts[d] += starts[d - 1];
    for (const auto& item : items) spare[starts[digit(item)]++] = item;
    items.swap(spare);
  }
}

int width_for(std::int64_t n_codes) { return n_codes < 256 ? 1 : n_codes < 65536 ? 2 : 4; }

void store_codes(Column& column, const std::vector<std::uint32_t>& codes) {
  column.width = width_for(column.n_codes);
  column.codes.resize(codes.size() * static_cast<std::size_t>(column.width));
  if (column.width == 1) {
    for (std::size_t i = 0; i < codes.size(); ++i) column.codes[i] = static_cast<std::uint8_t>(codes[i]);
  } else if (column.width == 2) {
    auto* out = reinterpret_cast<std::uint16_t*>(column.codes.data());
    for (std::size_t i = 0; i < codes.size(); ++i) out[i] = static_cast<std::uint16_t>(codes[i]);
  } else {
    std::memcpy(column.codes.data(), codes.data(), column.codes.size());
  }
}

/// The code that at least half of the rows hold, or -1.
template <class Code>
std::int32_t frequent_code(const Code* codes, std::int64_t n_rows, std::int32_t n_codes) {
  if (n_rows == 0) return -1;
  // majority vote, then a count: no table of n_codes counters
  Code candidate = codes[0];
  std::int64_t lead = 0;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    if (lead == 0) candidate = codes[row];
    lead += codes[row] == candidate ? 1 : -1;
  }
  const std::int64_t count = std::count(codes, codes + n_rows, candidate);
  const bool missing = candidate == static_cast<Code>(n_codes);
  return !missing && 2 * count >= n_rows ? static_cast<std::int32_t>(candidate) : -1;
}

bool smaller_sparse(std::int64_t n_entries, std::int64_t n_rows, int width) {
  return n_entries * (4 + width) < n_rows * width;
}

/// Store the codes of all rows: only the exceptions where one code prevails.
void store_all(Column& column, const std::vector<std::uint32_t>& codes) {
  column.default_code = frequent_code(codes.data(), static_cast<std::int64_t>(codes.size()), column.n_codes);
  const auto common = static_cast<std::uint32_t>(column.default_code);
  const auto n_entries = static_cast<std::int64_t>(codes.size()) - std::count(codes.begin(), codes.end(), common);
  if (column.default_code < 0 || !smaller_sparse(n_entries, column.n_rows, width_for(column.n_codes))) {
    store_codes(column, codes);
    return;
  }
  column.sparse = true;
  std::vector<std::uint32_t> exceptions;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (codes[row] == common) continue;
    column.entry_rows.push_back(static_cast<std::uint32_t>(row));
    exceptions.push_back(codes[row]);
  }
  store_codes(column, exceptions);
}

/// Reusable memory of one thread.
template <class Number>
struct Workspace {
  std::vector<Keyed<Number>> items, spare;
  std::vector<std::uint32_t> codes;
  std::vector<Number> listed, sample;
};

/// How often each row is looked at for the edges of bins; empty: once. The same rows for every column and for dense and
/// sparse storage.
std::vector<std::uint32_t> rows_looked_at(std::int64_t n_rows) {
  std::vector<std::uint32_t> times;
  if (n_rows <= quantile_sample) return times;
  times.assign(static_cast<std::size_t>(n_rows), 0);
  Random random(0, 0);
  for (std::int64_t i = 0; i < quantile_sample; ++i) ++times[random.below(static_cast<std::uint64_t>(n_rows))];
  return times;
}

/// The stored cells of a column; all other rows hold zero.
template <class Number>
struct Cells {
  const std::vector<Number>& values;
  const std::vector<std::uint32_t>* rows;  ///< of the values; null: every row is stored
  std::int64_t n_rows;

  bool any_zero() const { return rows != nullptr && static_cast<std::int64_t>(values.size()) < n_rows; }
};

/// Values in coarse steps of equal width, which keep their order.
template <class Number>
class Steps {
 public:
  static constexpr std::uint32_t n_steps = 4096;

  Steps(Number least, Number most)
      : least_(static_cast<double>(least)),
        scale_((n_steps - 1) / (static_cast<double>(most) - static_cast<double>(least))) {}

  /// Are there steps at all? Not where all values are equal, or too far apart for a number.
  bool usable() const { return scale_ > 0 && scale_ < std::numeric_limits<double>::infinity(); }
  std::uint32_t operator()(Number value) const {
    const double step = (static_cast<double>(value) - least_) * scale_;
    return static_cast<std::uint32_t>(std::min(std::max(step, 0.0), static_cast<double>(n_steps - 1)));
  }

 private:
  double least_, scale_;
};

/// The edges of bin_edges where all rows are stored: only values of the steps in which an edge lies are sorted. False
/// where values are so few or so unequal that sorting all does as well; `sample` has no NaN.
template <class Number>
bool edges_by_steps(const std::vector<Number>& sample, std::int32_t max_bins, std::vector<Number>& edges) {
  constexpr std::size_t many = 2048;
  if (sample.size() < many) return false;
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  const Number last = *most;
  const Steps<Number> step_of(*least, last);
  if (!step_of.usable()) return false;
  std::vector<std::size_t> ends(step_of.n_steps, 0);
  for (const Number value : sample) ++ends[step_of(value)];
  std::size_t n_used = 0, largest = 0;
  for (const std::size_t count : ends) {
    n_used += count > 0;
    largest = std::max(largest, count);
  }
  // as many steps hold as many distinct values
  if (n_used <= static_cast<std::size_t>(max_bins) || 8 * largest > sample.size()) return false;
  for (std::size_t s = 1; s < ends.size(); ++s) ends[s] += ends[s - 1];
  // keep what lies in a step with an edge, step by step
  constexpr std::size_t unused = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> places, next(ends.size(), unused);
  std::vector<std::uint32_t> steps;
  std::size_t n_kept = 0;
  for (std::int32_t b = 1; b < max_bins; ++b) {
    places.push_back(sample.size() * static_cast<std::size_t>(b) / static_cast<std::size_t>(max_bins));
    steps.push_back(
        static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), places.back()) - ends.begin()));
    if (next[steps.back()] != unused) continue;
    next[steps.back()] = n_kept;
    n_kept += ends[steps.back()] - (steps.back() > 0 ? ends[steps.back() - 1] : 0);
  }
  std::vector<Number> kept(n_kept);
  for (const Number value : sample) {
    std::size_t& at = next[step_of(value)];
    if (at != unused) kept[at++] = value;
  }
  edges.clear();
  for (std::size_t b = 0, sorted = unused; b < places.size(); ++b) {
    const std::size_t first = steps[b] > 0 ? ends[steps[b] - 1] : 0, end = next[steps[b]];  // next is past its last now
    const std::size_t begin = end - (ends[steps[b]] - first);
    if (sorted != steps[b])
      std::sort(kept.begin() + static_cast<std::ptrdiff_t>(begin), kept.begin() + static_cast<std::ptrdiff_t>(end));
    sorted = steps[b];
    const Number edge = kept[begin + (places[b] - first)];
    if (edge < last && (edges.empty() || edge > edges.back())) edges.push_back(edge);
  }
  return true;
}

/// Edges of quantile bins: bin b holds values <= edges[b], the last bin the rest. Empty if the rows looked at have at
/// most `max_bins` distinct values, so that exact codes do.
template <class Number>
std::vector<Number> bin_edges(const Cells<Number>& cells, const std::vector<std::uint32_t>& times,
                              std::int32_t max_bins, std::vector<Number>& sample) {
  sample.clear();
  std::size_t n_zeros = times.empty() ? static_cast<std::size_t>(cells.n_rows) : quantile_sample;
  for (std::size_t i = 0; i < cells.values.size(); ++i) {
    const std::size_t n_times = times.empty() ? 1 : times[cells.rows == nullptr ? i : (*cells.rows)[i]];
    n_zeros -= n_times;
    if (!(cells.values[i] == cells.values[i])) continue;
    for (std::size_t time = 0; time < n_times; ++time) sample.push_back(cells.values[i]);
  }
  std::vector<Number> edges;
  if (cells.rows == nullptr && edges_by_steps(sample, max_bins, edges)) return edges;
  std::sort(sample.begin(), sample.end());
  // the zeros that are not stored stand between what is below them and the rest
  const auto n_below =
      static_cast<std::size_t>(std::lower_bound(sample.begin(), sample.end(), Number(0)) - sample.begin());
  const std::size_t n = sample.size() + n_zeros;
  const auto at_place = [&](std::size_t place) {
    if (place < n_below) return sample[place];
    return place < n_below + n_zeros ? Number(0) : sample[place - n_zeros];
  };
  std::int64_t n_distinct = sample.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sample.size(); ++i) n_distinct += sample[i] != sample[i - 1];
  n_distinct += n_zeros > 0 && !(n_below < sample.size() && sample[n_below] == Number(0));
  if (n_distinct <= max_bins) return edges;
  for (std::int32_t b = 1; b < max_bins; ++b) {
    const Number edge = at_place(n * static_cast<std::size_t>(b) / static_cast<std::size_t>(max_bins));
    if (edge < at_place(n - 1) && (edges.empty() || edge > edges.back())) edges.push_back(edge);
  }
  return edges;
}

/// The bin of a value: the number of edges below it.
template <class Number>
class BinFinder {
 public:
  explicit BinFinder(const std::vector<Number>& edges) : edges_(edges), step_of_(edges.front(), edges.back()) {
    while (top_ <= edges.size()) top_ *= 2;
    if (edges.size() < 2 || !step_of_.usable()) return;
    first_.assign(step_of_.n_steps, 0);
    for (const Number edge : edges) {
      const std::uint32_t step = step_of_(edge);
      if (step + 1 < step_of_.n_steps) ++first_[step + 1];
    }
    const std::uint32_t most = *std::max_element(first_.begin(), first_.end());
    for (std::size_t s = 1; s < first_.size(); ++s) first_[s] += first_[s - 1];
    constexpr std::uint32_t few = 8;  // more edges in a step are searched as quickly
    if (most > few || edges.size() - first_.back() > few) first_.clear();
  }

  std::size_t operator()(Number value) const { return first_.empty() ? search(value) : walk(value); }

 private:
  /// Edges of lower steps are below the value, those of higher steps are not.
  std::size_t walk(Number value) const {
    std::size_t bin = first_[step_of_(value)];
    while (bin < edges_.size() && edges_[bin] < value) ++bin;
    return bin;
  }
  std::size_t search(Number value) const {
    std::size_t bin = 0;
    for (std::size_t step = top_ / 2; step > 0; step /= 2) {
      const std::size_t next = bin + step;
      if (next <= edges_.size() && edges_[next - 1] < value) bin = next;
    }
    return bin;
  }

  const std::vector<Number>& edges_;
  const Steps<Number> step_of_;
  std::size_t top_ = 1;
  std::vector<std::uint32_t> first_;  ///< by step: the edges below it; empty: search
};

/// Codes of numeric values by bins; returns the codes of `values` in order, missing as n_codes.
template <class Number>
void code_by_bins(Column& column, const std::vector<Number>& values, const std::vector<Number>& edges,
                  std::vector<std::uint32_t>& codes) {
  const std::size_t n_bins = edges.size() + 1;
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> lower(n_bins, infinity), upper(n_bins, -infinity);
  const BinFinder<Number> bin_of(edges);
  codes.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Number value = values[i];
    if (!(value == value)) {
      codes[i] = static_cast<std::uint32_t>(n_bins);
      column.has_missing = true;
      continue;
    }
    const std::size_t bin = bin_of(value);
    codes[i] = static_cast<std::uint32_t>(bin);
    if (value < lower[bin]) lower[bin] = static_cast<double>(value + Number(0));
    if (value > upper[bin]) upper[bin] = static_cast<double>(value + Number(0));
  }
  // an empty bin (possible when edges come from a sample) collapses onto its lower edge
  for (std::size_t b = 0; b < n_bins; ++b) {
    if (lower[b] > upper[b]) lower[b] = upper[b] = static_cast<double>(edges[b < edges.size() ? b : b - 1]);
  }
  column.n_codes = static_cast<std::int32_t>(n_bins);
  column.lower = std::move(lower);
  column.upper = std::move(upper);
  column.has_bins = column.lower != column.upper;
}

/// Rank codes of values of which few are distinct, without sorting them; false if there are too many.
template <class Number>
bool code_few_values(Column& column, const std::vector<Number>& values, std::vector<std::uint32_t>& codes) {
  constexpr std::uint32_t few = 8, missing = few;
  Number found[few];
  std::uint32_t n_found = 0, last = 0;
  codes.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Number value = values[i];
    if (n_found == 0 || !(value == found[last])) {
      if (!(value == value)) {
        codes[i] = missing;
        continue;
      }
      for (last = 0; last < n_found && found[last] != value; ++last) {
      }
      if (last == few) return false;
      if (last == n_found) found[n_found++] = value + Number(0);
    }
    codes[i] = last;
  }
  std::uint32_t rank[few + 1];
  for (std::uint32_t a = 0; a < n_found; ++a) {
    rank[a] = 0;
    for (std::uint32_t b = 0; b < n_found; ++b) rank[a] += found[b] < found[a];
  }
  rank[missing] = n_found;
  column.lower.resize(n_found);
  for (std::uint32_t a = 0; a < n_found; ++a) column.lower[rank[a]] = static_cast<double>(found[a]);
  column.upper = column.lower;
  column.n_codes = static_cast<std::int32_t>(n_found);
  for (std::uint32_t& code : codes) {
    column.has_missing = column.has_missing || code == missing;
    code = rank[code];
  }
  return true;
}

/// Rank codes of numeric values, every distinct value kept.
template <class Number>
void code_by_rank(Column& column, const std::vector<Number>& values, Workspace<Number>& space) {
  if (code_few_values(column, values, space.codes)) return;
  space.items.clear();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == values[i]) space.items.push_back({ordered_key(values[i]), static_cast<std::uint32_t>(i)});
  }
  column.has_missing = space.items.size() < values.size();
  radix_sort(space.items, space.spare);
  space.codes.assign(values.size(), 0xFFFFFFFFu);
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < space.items.size(); ++i) {
    const bool fresh = i == 0 || space.items[i].key != space.items[i - 1].key;
    if (fresh && i > 0) ++code;
    if (fresh) column.lower.push_back(static_cast<double>(values[space.items[i].at] + Number(0)));
    space.codes[space.items[i].at] = code;
  }
  column.n_codes = static_cast<std::int32_t>(column.lower.size());
  column.upper = column.lower;
  if (!column.has_missing) return;
  for (std::uint32_t& c : space.codes)
    if (c == 0xFFFFFFFFu) c = static_cast<std::uint32_t>(column.n_codes);
}

template <class Number>
void code_by_category(Column& column, const std::vector<Number>& values, std::int32_t n_categories,
                      std::int64_t feature, std::vector<std::uint32_t>& codes) {
  column.nominal = true;
  column.n_codes = n_categories;
  codes.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Number value = values[i];
    if (!(value == value)) {
      codes[i] = static_cast<std::uint32_t>(n_categories);
      column.has_missing = true;
    } else if (value >= 0 && value < static_cast<Number>(n_categories) && value == std::floor(value)) {
      codes[i] = static_cast<std::uint32_t>(value);
    } else {
      throw std::invalid_argument("Nominal feature " + std::to_string(feature) + " holds " + std::to_string(value) +
                                  "; its cells must be codes from 0 to " + std::to_string(n_categories - 1) +
                                  " or NaN.");
    }
  }
}

/// What the coding of every column shares.
struct CodingPlan {
  const std::vector<std::int32_t>& n_categories;
  std::int32_t max_bins;
  std::vector<std::uint32_t> times;  ///< that each row is looked at for the edges of bins
};

CodingPlan coding_plan(const std::vector<std::int32_t>& n_categories, std::int32_t max_bins, std::int64_t n_rows) {
  return {n_categories, max_bins, max_bins > 0 ? rows_looked_at(n_rows) : std::vector<std::uint32_t>()};
}

/// Code the cells into `space.codes` and the column's tables; behind them comes the code of zero if not all are stored.
template <class Number>
void code_cells(Column& column, const Cells<Number>& cells, const CodingPlan& plan, std::int64_t feature,
                Workspace<Number>& space) {
  const std::int32_t n_categories = plan.n_categories[static_cast<std::size_t>(feature)];
  if (n_categories > max_categories) {
    throw std::invalid_argument("Nominal feature " + std::to_string(feature) + " has " + std::to_string(n_categories) +
                                " categories, at most " + std::to_string(max_categories) +
                                " are possible; merge rare ones or pass it as numeric.");
  }
  space.listed = cells.values;
  if (cells.any_zero()) space.listed.push_back(Number(0));
  if (n_categories > 0) return code_by_category(column, space.listed, n_categories, feature, space.codes);
  if (plan.max_bins > 0) {
    const std::vector<Number> edges = bin_edges(cells, plan.times, plan.max_bins, space.sample);
    if (!edges.empty()) return code_by_bins(column, space.listed, edges, space.codes);
  }
  code_by_rank(column, space.listed, space);
}

void check_shape(std::int64_t n_rows, std::int64_t n_columns, const std::vector<std::int32_t>& n_categories) {
  if (n_rows >= std::int64_t(0xFFFFFFFF)) throw std::invalid_argument("A table has at most 4294967294 rows.");
  if (n_columns >= std::int64_t(0x7FFFFFFF)) throw std::invalid_argument("A table has at most 2147483646 columns.");
  if (static_cast<std::int64_t>(n_categories.size()) != n_columns)
    throw std::invalid_argument("n_categories needs one entry per column.");
}

}  // namespace

template <class Number>
FeatureTable code_dense(MatrixView<Number> X, const std::vector<std::int32_t>& n_categories, std::int32_t max_bins,
                        int n_threads, const Poll& poll) {
  check_shape(X.n_rows, X.n_columns, n_categories);
  const CodingPlan plan = coding_plan(n_categories, max_bins, X.n_rows);
  std::vector<std::shared_ptr<const Column>> columns(static_cast<std::size_t>(X.n_columns));
  std::vector<Workspace<Number>> spaces(static_cast<std::size_t>(n_threads));
  const std::int64_t per_task = X.column_stride == 1 ? columns_per_task : 1;
  const auto code_block = [&](std::int64_t task, int thread, const Control& control) {
    Workspace<Number>& space = spaces[static_cast<std::size_t>(thread)];
    const std::int64_t first = task * per_task, last = std::min(first + per_task, X.n_columns);
    std::vector<std::vector<Number>> block(static_cast<std::size_t>(last - first),
                                           std::vector<Number>(static_cast<std::size_t>(X.n_rows)));
    for (std::int64_t row = 0; row < X.n_rows; ++row) {
      for (std::int64_t f = first; f < last; ++f)
        block[static_cast<std::size_t>(f - first)][static_cast<std::size_t>(row)] = X(row, f);
    }
    for (std::int64_t f = first; f < last; ++f) {
      control.check();
      auto column = std::make_shared<Column>();
      column->n_rows = X.n_rows;
      code_cells(*column, Cells<Number>{block[static_cast<std::size_t>(f - first)], nullptr, X.n_rows}, plan, f, space);
      store_all(*column, space.codes);
      columns[static_cast<std::size_t>(f)] = std::move(column);
    }
  };
  run_tasks((X.n_columns + per_task - 1) / per_task, n_threads, code_block, poll);
  return FeatureTable(X.n_rows, std::move(columns));
}

namespace {

/// A column whose stored cells are coded and whose other rows hold zero.
template <class Number>
std::shared_ptr<Column> sparse_column(const Cells<Number>& cells, const CodingPlan& plan, std::int64_t feature,
                                      Workspace<Number>& space) {
  auto column = std::make_shared<Column>();
  column->n_rows = cells.n_rows;
  code_cells(*column, cells, plan, feature, space);
  if (!cells.any_zero()) {  // every row is stored, in order
    store_all(*column, space.codes);
    return column;
  }
  const std::vector<std::uint32_t>& rows = *cells.rows;
  const std::uint32_t zero = space.codes.back();
  space.codes.pop_back();
  if (smaller_sparse(static_cast<std::int64_t>(rows.size()), cells.n_rows, width_for(column->n_codes))) {
    column->default_code = static_cast<std::int32_t>(zero);
    column->sparse = true;
    // entries that fell into zero's bin are no exceptions
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (space.codes[i] == zero) continue;
      column->entry_rows.push_back(rows[i]);
      kept.push_back(space.codes[i]);
    }
    store_codes(*column, kept);
    return column;
  }
  std::vector<std::uint32_t> codes(static_cast<std::size_t>(cells.n_rows), zero);
  for (std::size_t i = 0; i < rows.size(); ++i) codes[rows[i]] = space.codes[i];
  store_all(*column, codes);
  return column;
}

}  // namespace

template <class Number, class Index>
FeatureTable code_sparse(CompressedView<Number, Index> X, const std::vector<std::int32_t>& n_categories,
                         std::int32_t max_bins, int n_threads, const Poll& poll) {
  check_shape(X.length, X.n_slices, n_categories);
  const CodingPlan plan = coding_plan(n_categories, max_bins, X.length);
  std::vector<std::shared_ptr<const Column>> columns(static_cast<std::size_t>(X.n_slices));
  std::vector<Workspace<Number>> spaces(static_cast<std::size_t>(n_threads));
  const auto code_block = [&](std::int64_t task, int thread, const Control& control) {
    Workspace<Number>& space = spaces[static_cast<std::size_t>(thread)];
    std::vector<std::uint32_t> rows;
    std::vector<Number> values;
    for (std::int64_t f = task * columns_per_task; f < std::min((task + 1) * columns_per_task, X.n_slices); ++f) {
      control.check();
      rows.clear();
      values.clear();
      for (std::int64_t i = X.offsets[f]; i < X.offsets[f + 1]; ++i) {
        if (X.data[i] == Number(0)) continue;
        rows.push_back(static_cast<std::uint32_t>(X.indices[i]));
        values.push_back(X.data[i]);
      }
      columns[static_cast<std::size_t>(f)] = sparse_column(Cells<Number>{values, &rows, X.length}, plan, f, space);
    }
  };
  run_tasks((X.n_slices + columns_per_task - 1) / columns_per_task, n_threads, code_block, poll);
  return FeatureTable(X.length, std::move(columns));
}

std::vector<std::vector<double>> find_edges(MatrixView<double> X, std::int32_t max_bins, int n_threads,
                                            const Poll& poll) {
  std::vector<std::vector<double>> found(static_cast<std::size_t>(X.n_columns));
  run_tasks(
      X.n_columns, n_threads,
      [&](std::int64_t f, int, const Control&) {
        std::vector<double> values(static_cast<std::size_t>(X.n_rows)), sample;
        for (std::int64_t row = 0; row < X.n_rows; ++row) values[static_cast<std::size_t>(row)] = X(row, f);
        std::vector<double> edges = bin_edges(Cells<double>{values, nullptr, X.n_rows}, {}, max_bins, sample);
        if (edges.empty()) {  // few values, or nearly all rows hold the largest; the sample is sorted
          sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
          if (!sample.empty()) sample.pop_back();
          if (static_cast<std::int32_t>(sample.size()) >= max_bins) sample.erase(sample.begin(), sample.end() - 1);
          for (const double value : sample) edges.push_back(value + 0.0);
        }
        found[static_cast<std::size_t>(f)] = std::move(edges);
      },
      poll);
  return found;
}

std::vector<std::uint16_t> code_rows(MatrixView<double> X, const std::vector<ColumnCuts>& cuts,
                                     const std::vector<double*>& lower, const std::vector<double*>& upper,
                                     int n_threads, const Poll& poll) {
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(X.n_rows * X.n_columns));
  const auto code_column = [&](std::int64_t f, int, const Control&) {
    const ColumnCuts& own = cuts[static_cast<std::size_t>(f)];
    std::uint16_t* const out = codes.data() + f * X.n_rows;
    if (own.n_categories > 0) {
      std::vector<double> values(static_cast<std::size_t>(X.n_rows));
      for (std::int64_t row = 0; row < X.n_rows; ++row) values[static_cast<std::size_t>(row)] = X(row, f);
      Column column;
      std::vector<std::uint32_t> coded;
      code_by_category(column, values, own.n_categories, f, coded);
      std::copy(coded.begin(), coded.end(), out);
      return;
    }
    const auto missing = static_cast<std::uint16_t>(own.n_codes());
    const std::vector<double> one_edge{0.0};
    const BinFinder<double> bin_of(own.edges.empty() ? one_edge : own.edges);
    double* const low = lower[static_cast<std::size_t>(f)];
    double* const high = upper[static_cast<std::size_t>(f)];
    for (std::int64_t row = 0; row < X.n_rows; ++row) {
      const double value = X(row, f) + 0.0;
      if (!(value == value)) {
        out[row] = missing;
        continue;
      }
      const std::size_t bin = own.edges.empty() ? 0 : bin_of(value);
      out[row] = static_cast<std::uint16_t>(bin);
      if (value < low[bin]) low[bin] = value;
      if (value > high[bin]) high[bin] = value;
    }
  };
  run_tasks(X.n_columns, n_threads, code_column, poll);
  return codes;
}

namespace {

/// Count what a column knows of its codes.
template <class Code>
void describe_codes(Column& column, const Code* codes) {
  const Code largest = column.n_rows > 0 ? *std::max_element(codes, codes + column.n_rows) : Code(0);
  if (static_cast<std::int32_t>(largest) > column.n_codes)
    throw std::invalid_argument("A column of " + std::to_string(column.n_codes) + " codes holds the code " +
                                std::to_string(largest) + ".");
  column.has_missing = column.n_rows > 0 && static_cast<std::int32_t>(largest) == column.n_codes;
  column.default_code = frequent_code(codes, column.n_rows, column.n_codes);
}

}  // namespace

std::shared_ptr<const Column> column_of_codes(std::shared_ptr<const std::uint8_t> codes, int width, std::int64_t n_rows,
                                              const ColumnCuts& cuts, std::vector<double> lower,
                                              std::vector<double> upper) {
  auto column = std::make_shared<Column>();
  column->nominal = cuts.n_categories > 0;
  column->width = width;
  column->n_rows = n_rows;
  column->n_codes = cuts.n_codes();
  column->elsewhere = std::move(codes);
  if (!column->nominal) {
    column->lower = std::move(lower);
    column->upper = std::move(upper);
    const auto infinity = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < column->lower.size(); ++b) {
      if (!(column->lower[b] > column->upper[b])) continue;  // a bin without values collapses onto its lower edge
      const double edge = cuts.edges.empty() ? 0.0 : cuts.edges[b < cuts.edges.size() ? b : b - 1];
      column->lower[b] = column->upper[b] = edge;
    }
    for (std::size_t b = 0; b < column->lower.size(); ++b) {
      const bool is_finite = column->lower[b] > -infinity && column->upper[b] < infinity;
      if (!is_finite || (b > 0 && column->lower[b] < column->upper[b - 1]))
        throw std::invalid_argument("The values of the codes of a column must ascend.");
    }
    column->has_bins = column->lower != column->upper;
  }
  if (width == 1) {
    describe_codes(*column, column->stored());
  } else {
    describe_codes(*column, reinterpret_cast<const std::uint16_t*>(column->stored()));
  }
  return column;
}

using Categories = std::vector<std::int32_t>;
template FeatureTable code_dense(MatrixView<float>, const Categories&, std::int32_t, int, const Poll&);
template FeatureTable code_dense(MatrixView<double>, const Categories&, std::int32_t, int, const Poll&);
template FeatureTable code_sparse(CompressedView<float, std::int32_t>, const Categories&, std::int32_t, int,
                                  const Poll&);
template FeatureTable code_sparse(CompressedView<float, std::int64_t>, const Categories&, std::int32_t, int,
                                  const Poll&);
template FeatureTable code_sparse(CompressedView<double, std::int32_t>, const Categories&, std::int32_t, int,
                                  const Poll&);
template FeatureTable code_sparse(CompressedView<double, std::int64_t>, const Categories&, std::int32_t, int,
                                  const Poll&);

}  // namespace ramify
