#include "text/delimited.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

/// Gives every value of a column of text a code: a hash table with open addressing over the values met so far.
class Coder {
 public:
  Coder(std::string_view text, TextCodes& column) : text_(text), column_(column) {}

  void take(const Cell& cell) {
    const std::string_view value(cell.begin, static_cast<std::size_t>(cell.end - cell.begin));
    if (2 * column_.starts.size() >= slots_.size()) grow();
    const std::size_t hash = std::hash<std::string_view>()(value) + cell.quoted;
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != empty && !is(slots_[at], hash, value, cell.quoted)) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at] == empty) {
      slots_[at] = static_cast<std::int64_t>(hashes_.size());
      hashes_.push_back(hash);
      column_.starts.push_back(cell.begin - text_.data());
      column_.ends.push_back(cell.end - text_.data());
      column_.quoted.push_back(cell.quoted);
    }
    column_.codes.push_back(slots_[at]);
  }

 private:
  static constexpr std::int64_t empty = -1;

  bool is(std::int64_t code, std::size_t hash, std::string_view value, bool quoted) const {
    const auto k = static_cast<std::size_t>(code);
    if (hashes_[k] != hash || (column_.quoted[k] != 0) != quoted) return false;
    const auto start = static_cast<std::size_t>(column_.starts[k]);
    return text_.substr(start, static_cast<std::size_t>(column_.ends[k]) - start) == value;
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(64, 4 * column_.starts.size()), empty);
    for (std::size_t k = 0; k < hashes_.size(); ++k) {
      std::size_t at = hashes_[k] & (slots_.size() - 1);
      while (slots_[at] != empty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::int64_t>(k);
    }
  }

  std::string_view text_;
  TextCodes& column_;
  std::vector<std::int64_t> slots_;  // as many as a power of two
  std::vector<std::size_t> hashes_;
};

/// Calls `take(column, cell)` for every cell, as long as `row_ends(line)` is true; false if a row has another number of
/// cells or a stray quote.
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
    if (!row_ends(cutter.line())) return true;
    cutter.row_ends();
  }
  return true;
}

}  // namespace

DelimitedColumns delimited_columns(std::string_view text, const DelimitedLayout& layout) {
  DelimitedColumns result;
  result.numbers.resize(layout.n_columns);
  result.texts.resize(layout.n_columns);
  result.is_text.assign(layout.as_text, layout.as_text + layout.n_columns);
  const Missing missing(layout.missing);
  // A row has at least a byte per column, its separator or its end, so that this is at most a number per byte.
  const std::size_t most_rows =
      std::min<std::size_t>(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1,
                            text.size() / std::max<std::size_t>(1, layout.n_columns) + 1);
  std::vector<Coder> coders;
  coders.reserve(layout.n_columns);
  for (TextCodes& column : result.texts) coders.emplace_back(text, column);
  std::vector<std::size_t> n_numbers(layout.n_columns, 0);  // rows of a text column that looked like numbers
  const auto read = [&](std::size_t column, const Cell& cell) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (result.is_text[column]) {
      coders[column].take(cell);
    } else if (missing.holds(cell) || is_number(cell, value)) {
      if (result.numbers[column].empty()) result.numbers[column].reserve(most_rows);
      result.numbers[column].push_back(value);
    } else {
      result.is_text[column] = 1;
      n_numbers[column] = result.numbers[column].size();
      std::vector<double>().swap(result.numbers[column]);
      coders[column].take(cell);
    }
  };
  result.is_regular = for_each_cell(text, layout, read, [&](std::int64_t line) {
    result.lines.push_back(line);
    return true;
  });
  if (!result.is_regular) return result;

  const std::size_t n_again = layout.n_columns ? *std::max_element(n_numbers.begin(), n_numbers.end()) : 0;
  if (n_again == 0) return result;
  std::size_t row = 0;
  const auto read_again = [&](std::size_t column, const Cell& cell) {
    if (row < n_numbers[column]) coders[column].take(cell);
  };
  for_each_cell(text, layout, read_again, [&](std::int64_t) { return ++row < n_again; });
  for (std::size_t column = 0; column < layout.n_columns; ++column) {
    std::vector<std::int64_t>& codes = result.texts[column].codes;
    std::rotate(codes.begin(), codes.end() - static_cast<std::ptrdiff_t>(n_numbers[column]), codes.end());
  }
  return result;
}

}  // namespace ramify
