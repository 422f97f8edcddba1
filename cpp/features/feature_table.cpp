#include "features/feature_table.hpp"

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
  if (has_bins) {
    low += (high - low - 1) / 2;
    high = low + 1;
  }
  const double below = upper[static_cast<std::size_t>(low)];
  const double above = lower[static_cast<std::size_t>(high)];
  const double middle = below / 2 + above / 2;
  return middle >= below && middle < above ? middle : below;
}

FeatureTable::FeatureTable(std::int64_t n_rows, std::vector<std::shared_ptr<const Column>> columns)
    : n_rows_(n_rows), columns_(std::move(columns)) {
  for (const auto& column : columns_) {
    has_sparse_ = has_sparse_ || column->sparse;
    heads_.push_back(head_of(*column));
  }
  by_row_.assign(columns_.size(), 0);
  index_bits();
  index_entries();
  list_column_wise();
  copy_by_row();
}

ColumnHead FeatureTable::head_of(const Column& column) {
  return {column.stored(),
          column.entry_rows.data(),
          nullptr,
          column.n_entries(),
          column.n_codes,
          column.default_code,
          static_cast<std::uint8_t>(column.width),
          column.nominal,
          column.sparse,
          column.has_missing};
}

bool FeatureTable::has_bins() const {
  const auto bins = [](const auto& column) { return column->has_bins; };
  return std::any_of(columns_.begin(), columns_.end(), bins);
}

std::vector<std::int32_t> FeatureTable::n_categories() const {
  std::vector<std::int32_t> counts;
  counts.reserve(columns_.size());
  for (const auto& column : columns_) counts.push_back(column->nominal ? column->n_codes : 0);
  return counts;
}

FeatureTable FeatureTable::append(const FeatureTable& other, bool fixed) const {
  if (other.n_rows_ != n_rows_) throw std::invalid_argument("Tables side by side must have the same number of rows.");
  FeatureTable both = *this;
  both.columns_.insert(both.columns_.end(), other.columns_.begin(), other.columns_.end());
  both.heads_.insert(both.heads_.end(), other.heads_.begin(), other.heads_.end());
  for (auto head = both.heads_.begin() + n_features(); head != both.heads_.end(); ++head) head->codes_by_row = nullptr;
  both.has_sparse_ = has_sparse_ || other.has_sparse_;
  both.n_fixed_ = fixed ? other.n_features() : 0;
  both.list_column_wise();
  return both;
}

FeatureTable FeatureTable::take(const std::vector<std::int64_t>& features) const {
  FeatureTable taken;
  taken.n_rows_ = n_rows_;
  taken.row_codes_ = row_codes_;
  for (const std::int64_t feature : features) {
    if (feature < 0 || feature >= n_features()) throw std::invalid_argument("A column to take is not in the table.");
    taken.columns_.push_back(columns_[static_cast<std::size_t>(feature)]);
    taken.heads_.push_back(head(feature));
    taken.has_sparse_ = taken.has_sparse_ || taken.columns_.back()->sparse;
  }
  taken.list_column_wise();
  return taken;
}

std::int64_t FeatureTable::n_bytes() const {
  std::size_t total = 0;
  for (const auto& column : columns_) {
    total += static_cast<std::size_t>(column->n_entries() * column->width) + 4 * column->entry_rows.size() +
             8 * (column->lower.size() + column->upper.size());
  }
  if (row_entries_) total += 8 * row_entries_->offsets.size() + 8 * row_entries_->features.size();
  if (row_bits_) total += 8 * row_bits_->bits.size() + 4 * row_bits_->bit_of.size();
  if (row_codes_) total += row_codes_->codes.size();
  return static_cast<std::int64_t>(total);
}

namespace {

constexpr std::size_t worth_it = 64;  // fewer columns are looked at one by one as fast

}  // namespace

void FeatureTable::index_bits() {
  auto rows = std::make_shared<RowBits>();
  std::int64_t n_stored = 0;
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    const Column& column = *columns_[f];
    if (column.n_codes != 2 || column.default_code < 0 || column.has_missing) continue;
    rows->features.push_back(static_cast<std::uint32_t>(f));
    n_stored += column.n_entries();
  }
  const bool too_sparse = 64 * n_stored < n_rows_ * static_cast<std::int64_t>(rows->features.size());  // for RowEntries
  if (rows->features.size() < worth_it || too_sparse) return;
  rows->n_words = static_cast<std::int64_t>((rows->features.size() + 63) / 64);
  rows->bits.assign(static_cast<std::size_t>(n_rows_ * rows->n_words), 0);
  rows->bit_of.assign(columns_.size(), -1);
  for (std::size_t bit = 0; bit < rows->features.size(); ++bit) {
    const std::uint32_t f = rows->features[bit];
    const Column& column = *columns_[f];
    std::uint64_t* const words = rows->bits.data() + bit / 64;
    for (std::int64_t i = 0; i < column.n_entries(); ++i) {
      const std::int64_t row = column.sparse ? column.entry_rows[static_cast<std::size_t>(i)] : i;
      words[row * rows->n_words] |= std::uint64_t(column.stored_code(i) != column.default_code) << (bit % 64);
    }
    rows->bit_of[f] = static_cast<std::int32_t>(bit);
    by_row_[f] = 1;
  }
  row_bits_ = std::move(rows);
}

void FeatureTable::index_entries() {
  std::vector<std::uint32_t> chosen;
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (columns_[f]->sparse && !by_row_[f]) chosen.push_back(static_cast<std::uint32_t>(f));
  }
  if (chosen.size() < worth_it) return;
  auto entries = std::make_shared<RowEntries>();
  entries->offsets.assign(static_cast<std::size_t>(n_rows_) + 1, 0);
  for (const std::uint32_t f : chosen) {
    for (const std::uint32_t row : columns_[f]->entry_rows) ++entries->offsets[row + 1];
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(n_rows_); ++row)
    entries->offsets[row + 1] += entries->offsets[row];
  entries->features.resize(static_cast<std::size_t>(entries->offsets.back()));
  entries->codes.resize(entries->features.size());
  std::vector<std::int64_t> next(entries->offsets.begin(), entries->offsets.end() - 1);
  for (const std::uint32_t f : chosen) {
    const Column& column = *columns_[f];
    for (std::int64_t i = 0; i < column.n_entries(); ++i) {
      const auto at = static_cast<std::size_t>(next[column.entry_rows[static_cast<std::size_t>(i)]]++);
      entries->features[at] = f;
      entries->codes[at] = column.stored_code(i);
    }
    by_row_[f] = 1;
  }
  row_entries_ = std::move(entries);
}

void FeatureTable::list_column_wise() {
  column_wise_.clear();
  for (std::int64_t f = 0; f < n_features(); ++f) {
    if (!by_row(f)) column_wise_.push_back(static_cast<std::uint32_t>(f));
  }
}

void FeatureTable::copy_by_row() {
  constexpr std::int64_t max_bytes = 1 << 26;  // larger tables do without
  std::vector<std::size_t> copied;
  int width = 1;
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (columns_[f]->sparse || columns_[f]->width > 2) continue;
    copied.push_back(f);
    width = std::max(width, columns_[f]->width);
  }
  const std::int64_t bytes_per_row = width * static_cast<std::int64_t>(copied.size());
  if (copied.size() < 2 || bytes_per_row * n_rows_ > max_bytes) return;
  auto copy = std::make_shared<RowCodes>();
  copy->width = width;
  copy->bytes_per_row = bytes_per_row;
  copy->codes.resize(static_cast<std::size_t>(bytes_per_row * n_rows_));
  constexpr std::int64_t rows_at_once = 256;  // whose part of the copy stays in the cache
  for (std::int64_t first = 0; first < n_rows_; first += rows_at_once) {
    const std::int64_t last = std::min(first + rows_at_once, n_rows_);
    for (std::size_t place = 0; place < copied.size(); ++place) {
      const Column& column = *columns_[copied[place]];
      std::uint8_t* to = copy->codes.data() + first * bytes_per_row + static_cast<std::int64_t>(place) * width;
      for (std::int64_t row = first; row < last; ++row, to += bytes_per_row) {
        if (width == 1) {
          *to = column.stored()[row];
        } else {
          *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(column.stored_code(row));
        }
      }
    }
  }
  for (std::size_t place = 0; place < copied.size(); ++place)
    heads_[copied[place]].codes_by_row = copy->codes.data() + place * static_cast<std::size_t>(width);
  row_codes_ = std::move(copy);
}

}  // namespace ramify
