#include "ramify/feature_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ramify {

std::int32_t Column::code(std::int64_t row) const {
  if (!sparse) return stored_code(row);
  const auto at = std::lower_bound(entry_rows.begin(), entry_rows.end(), static_cast<std::uint32_t>(row));
  if (at == entry_rows.end() || *at != row) return default_code;
  return stored_code(at - entry_rows.begin());
}

double Column::value(std::int64_t row) const { return value_of(code(row)); }

double Column::value_of(std::int32_t code) const {
  if (code == n_codes) return std::numeric_limits<double>::quiet_NaN();
  return nominal ? static_cast<double>(code) : lower[static_cast<std::size_t>(code)];
}

double Column::threshold_between(std::int32_t low, std::int32_t high) const {
  const double below = upper[static_cast<std::size_t>(low)];
  const double above = lower[static_cast<std::size_t>(high)];
  const double middle = below / 2 + above / 2;
  return middle >= below && middle < above ? middle : below;
}

FeatureTable::FeatureTable(std::int64_t n_rows, std::vector<std::shared_ptr<const Column>> columns)
    : n_rows_(n_rows), columns_(std::move(columns)) {
  for (const auto& column : columns_) has_sparse_ = has_sparse_ || column->sparse;
  index_rows();
  list_column_wise();
  copy_by_row();
}

std::vector<std::int32_t> FeatureTable::n_categories() const {
  std::vector<std::int32_t> counts;
  counts.reserve(columns_.size());
  for (const auto& column : columns_) counts.push_back(column->nominal ? column->n_codes : 0);
  return counts;
}

FeatureTable FeatureTable::append(const FeatureTable& other) const {
  if (other.n_rows_ != n_rows_) throw std::invalid_argument("Tables side by side must have the same number of rows.");
  FeatureTable both = *this;
  both.columns_.insert(both.columns_.end(), other.columns_.begin(), other.columns_.end());
  both.has_sparse_ = has_sparse_ || other.has_sparse_;
  both.list_column_wise();
  return both;
}

FeatureTable FeatureTable::take(const std::vector<std::int64_t>& features) const {
  FeatureTable taken;
  taken.n_rows_ = n_rows_;
  for (const std::int64_t feature : features) {
    if (feature < 0 || feature >= n_features()) throw std::invalid_argument("A column to take is not in the table.");
    taken.columns_.push_back(columns_[static_cast<std::size_t>(feature)]);
    taken.has_sparse_ = taken.has_sparse_ || taken.columns_.back()->sparse;
  }
  taken.list_column_wise();
  return taken;
}

std::int64_t FeatureTable::n_bytes() const {
  std::size_t total = 0;
  for (const auto& column : columns_) {
    total += column->codes.size() + 4 * column->entry_rows.size() + 8 * (column->lower.size() + column->upper.size());
  }
  if (row_entries_) total += 8 * row_entries_->offsets.size() + 8 * row_entries_->features.size();
  if (codes_by_row_) total += 2 * codes_by_row_->size();
  return static_cast<std::int64_t>(total);
}

namespace {

std::int64_t n_exceptions(const Column& column) {
  if (column.default_code < 0) return column.n_rows;
  if (column.sparse) return column.n_entries();
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < column.n_rows; ++row) count += column.stored_code(row) != column.default_code;
  return count;
}

/// Call `visit(row, code)` for every row that does not hold the default.
template <class Visit>
void for_each_exception(const Column& column, Visit visit) {
  if (column.sparse) {
    for (std::int64_t i = 0; i < column.n_entries(); ++i)
      visit(column.entry_rows[static_cast<std::size_t>(i)], column.stored_code(i));
    return;
  }
  for (std::int64_t row = 0; row < column.n_rows; ++row) {
    const std::int32_t code = column.stored_code(row);
    if (code != column.default_code) visit(static_cast<std::uint32_t>(row), code);
  }
}

}  // namespace

void FeatureTable::index_rows() {
  constexpr std::int64_t worth_it = 64;  // fewer such columns are looked at one by one as fast
  std::vector<char> chosen(columns_.size(), 0);
  std::int64_t n_chosen = 0;
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    const Column& column = *columns_[f];
    if (column.default_code < 0) continue;
    // eight bytes per entry: a dense column must not grow by more than itself
    chosen[f] = column.sparse || 8 * n_exceptions(column) <= 2 * column.n_rows * column.width;
    n_chosen += chosen[f];
  }
  if (n_chosen < worth_it) return;
  auto entries = std::make_shared<RowEntries>();
  entries->offsets.assign(static_cast<std::size_t>(n_rows_) + 1, 0);
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (chosen[f])
      for_each_exception(*columns_[f], [&](std::uint32_t row, std::int32_t) { ++entries->offsets[row + 1]; });
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(n_rows_); ++row)
    entries->offsets[row + 1] += entries->offsets[row];
  entries->features.resize(static_cast<std::size_t>(entries->offsets.back()));
  entries->codes.resize(entries->features.size());
  std::vector<std::int64_t> next(entries->offsets.begin(), entries->offsets.end() - 1);
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (!chosen[f]) continue;
    for_each_exception(*columns_[f], [&](std::uint32_t row, std::int32_t code) {
      const auto at = static_cast<std::size_t>(next[row]++);
      entries->features[at] = static_cast<std::uint32_t>(f);
      entries->codes[at] = code;
    });
  }
  row_entries_ = std::move(entries);
  by_row_ = std::move(chosen);
}

void FeatureTable::list_column_wise() {
  column_wise_.clear();
  for (std::int64_t f = 0; f < n_features(); ++f) {
    if (!by_row(f)) column_wise_.push_back(static_cast<std::uint32_t>(f));
  }
}

void FeatureTable::copy_by_row() {
  constexpr std::int64_t max_codes = 1 << 24;  // 32 MB; larger tables do without
  place_in_row_.assign(columns_.size(), -1);
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (!columns_[f]->sparse && columns_[f]->width <= 2) place_in_row_[f] = static_cast<std::int32_t>(codes_per_row_++);
  }
  if (codes_per_row_ < 2 || codes_per_row_ * n_rows_ > max_codes) return;
  auto copy = std::make_shared<std::vector<std::uint16_t>>(static_cast<std::size_t>(codes_per_row_ * n_rows_));
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (place_in_row_[f] < 0) continue;
    for (std::int64_t row = 0; row < n_rows_; ++row) {
      (*copy)[static_cast<std::size_t>(row * codes_per_row_ + place_in_row_[f])] =
          static_cast<std::uint16_t>(columns_[f]->stored_code(row));
    }
  }
  codes_by_row_ = std::move(copy);
}

}  // namespace ramify
