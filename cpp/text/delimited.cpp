#include "text/delimited.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "text/decimal.hpp"

namespace ramify {
namespace {

constexpr double largest_exact = 9007199254740992.0;  // 2^53

struct Cell {
  const char* begin;
  const char* end;
  bool quoted;
};

/// Cuts text into cells, row by row.
class Cutter {
 public:
  Cutter(std::string_view text, char separator)
      : position_(text.data()), end_(text.data() + text.size()), separator_(separator) {}

  bool at_end() const { return position_ == end_; }
  std::int64_t line() const { return line_; }

  /// Skips a line without any cell; false if the line holds something.
  bool skip_blank_line() {
    const char* p = position_;
    while (p < end_ && *p != '\n' && is_blank(*p)) ++p;
    if (p < end_ && *p != '\n') return false;
    position_ = p < end_ ? p + 1 : p;
    ++line_;
    return true;
  }

  /// Reads the next cell and tells by `is_last` whether the row ends with it; false for a stray quote.
  bool next(Cell& cell, bool& is_last) {
    if (position_ < end_ && *position_ == '"') {
      if (!quoted(cell)) return false;
    } else {
      const char* begin = position_;
      while (position_ < end_ && *position_ != separator_ && *position_ != '\n') ++position_;
      cell = {begin, position_, false};
    }
    is_last = position_ == end_ || *position_ == '\n';
    if (position_ < end_) ++position_;
    while (cell.begin < cell.end && is_blank(*cell.begin)) ++cell.begin;
    while (cell.end > cell.begin && is_blank(cell.end[-1])) --cell.end;
    return true;
  }

  /// Counts the line break that ended a row.
  void row_ends() { ++line_; }

 private:
  bool is_blank(char c) const {
    return c != separator_ && (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f');
  }

  bool quoted(Cell& cell) {
    const char* begin = ++position_;
    while (true) {
      while (position_ < end_ && *position_ != '"') line_ += *position_++ == '\n';
      if (position_ == end_) return false;
      if (end_ - position_ > 1 && position_[1] == '"') {
        position_ += 2;
        continue;
      }
      break;
    }
    cell = {begin, position_++, true};
    if (position_ < end_ && *position_ == '\r' && (end_ - position_ == 1 || position_[1] == '\n')) ++position_;
    return position_ == end_ || *position_ == separator_ || *position_ == '\n';
  }

  const char* position_;
  const char* end_;
  const char separator_;
  std::int64_t line_ = 0;
};

/// The cells that mean a missing value; most others are told apart by their first byte.
class Missing {
 public:
  explicit Missing(const std::vector<std::string_view>& words) : words_(words) {
    for (const auto& word : words) {
      if (word.empty()) {
        has_empty_ = true;
      } else {
        starts_[static_cast<unsigned char>(word[0])] = true;
      }
    }
  }

  bool holds(const Cell& cell) const {
    if (cell.begin == cell.end) return has_empty_;
    if (!starts_[static_cast<unsigned char>(*cell.begin)]) return false;
    const std::string_view text(cell.begin, static_cast<std::size_t>(cell.end - cell.begin));
    return std::find(words_.begin(), words_.end(), text) != words_.end();
  }

 private:
  const std::vector<std::string_view>& words_;
  std::array<bool, 256> starts_{};
  bool has_empty_ = false;
};

/// A number that loses nothing by being read as one.
bool is_number(const Cell& cell, double& value) {
  const char* digits = cell.begin + (cell.begin < cell.end && (*cell.begin == '-' || *cell.begin == '+'));
  if (cell.end - digits > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return false;
  if (read_number(cell.begin, cell.end, value) != NumberState::good) return false;
  if (std::fabs(value) < largest_exact) return true;
  for (const char* p = digits; p < cell.end; ++p) {
    if (*p < '0' || *p > '9') return true;
  }
  return false;
}

/// Calls `take(column, cell)` for every cell; false if a row has another number of cells or a stray quote.
template <typename Take, typename RowEnds>
bool for_each_cell(std::string_view text, const DelimitedLayout& layout, Take take, RowEnds row_ends) {
  Cutter cutter(text, layout.separator);
  while (!cutter.at_end()) {
    if (cutter.skip_blank_line()) continue;
    bool is_last = false;
    for (std::size_t column = 0; !is_last; ++column) {
      Cell cell;
      if (column == layout.n_columns || !cutter.next(cell, is_last)) return false;
      if (is_last && column + 1 != layout.n_columns) return false;
      take(column, cell);
    }
    row_ends(cutter.line());
    cutter.row_ends();
  }
  return true;
}

}  // namespace

DelimitedColumns delimited_columns(std::string_view text, const DelimitedLayout& layout) {
  DelimitedColumns result;
  result.numbers.resize(layout.n_columns);
  result.is_text.assign(layout.as_text, layout.as_text + layout.n_columns);
  const Missing missing(layout.missing);
  const auto read = [&](std::size_t column, const Cell& cell) {
    if (result.is_text[column]) return;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (missing.holds(cell) || is_number(cell, value)) {
      result.numbers[column].push_back(value);
    } else {
      result.is_text[column] = 1;
      std::vector<double>().swap(result.numbers[column]);
    }
  };
  result.is_regular = for_each_cell(text, layout, read, [&](std::int64_t line) { result.lines.push_back(line); });
  if (!result.is_regular) return result;

  const auto keep = [&](std::size_t column, const Cell& cell) {
    if (!result.is_text[column]) return;
    result.text_starts.push_back(cell.begin - text.data());
    result.text_ends.push_back(cell.end - text.data());
    result.text_quoted.push_back(cell.quoted);
  };
  for (std::uint8_t flag : result.is_text) {
    if (flag) {
      for_each_cell(text, layout, keep, [](std::int64_t) {});
      break;
    }
  }
  return result;
}

}  // namespace ramify
