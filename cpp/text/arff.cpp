#include "text/arff.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "text/decimal.hpp"

namespace ramify {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t text_missing = -1;
constexpr std::int64_t text_absent = -2;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_quote(char c) { return c == '\'' || c == '"'; }

/// Values of a nominal column, found by their text: one byte by table, longer ones by binary search.
class Domain {
 public:
  explicit Domain(const std::vector<std::string_view>& values) {
    single_.fill(-1);
    for (std::size_t code = 0; code < values.size(); ++code) {
      if (values[code].size() == 1) {
        single_[static_cast<unsigned char>(values[code][0])] = static_cast<std::int64_t>(code);
      } else {
        longer_.emplace_back(values[code], static_cast<std::int64_t>(code));
      }
    }
    std::sort(longer_.begin(), longer_.end());
  }

  /// Code of an unquoted value of one byte; -1 for those that mean something else without quotes.
  std::int64_t code_of_byte(char c) const {
    return c == '?' || is_quote(c) || is_blank(c) ? -1 : single_[static_cast<unsigned char>(c)];
  }

  std::int64_t code(std::string_view value) const {
    if (value.size() == 1) return single_[static_cast<unsigned char>(value[0])];
    const auto precedes = [](const auto& entry, std::string_view wanted) { return entry.first < wanted; };
    const auto found = std::lower_bound(longer_.begin(), longer_.end(), value, precedes);
    return found != longer_.end() && found->first == value ? found->second : -1;
  }

 private:
  std::array<std::int64_t, 256> single_;
  std::vector<std::pair<std::string_view, std::int64_t>> longer_;
};

/// A value as it stands in the text; a quoted one without its quotes.
struct Token {
  const char* begin;
  const char* end;
  bool quoted;
};

class Reader {
 public:
  Reader(std::string_view text, const ArffColumns& columns, std::int64_t index_base)
      : text_(text), columns_(columns), index_base_(index_base), text_position_(columns.n_columns, -1) {
    domains_.reserve(columns.domains.size());
    for (const auto& values : columns.domains) domains_.emplace_back(values);
    for (std::size_t column = 0; column < columns.n_columns; ++column) {
      if (kind(column) == ArffKind::text) text_position_[column] = n_text_++;
    }
  }

  ArffRows read() {
    const char* p = text_.data();
    const char* const text_end = p + text_.size();
    while (p < text_end) {
      const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(text_end - p));
      const char* line_end = newline ? static_cast<const char*>(newline) : text_end;
      if (!read_line(p, line_end)) return std::move(rows_);
      ++rows_.n_lines;
      p = newline ? line_end + 1 : text_end;
    }
    return std::move(rows_);
  }

 private:
  ArffKind kind(std::size_t column) const { return static_cast<ArffKind>(columns_.kinds[column]); }

  bool fail(ArffFault fault, const char* begin, const char* end, std::int64_t column = -1, std::int64_t count = 0) {
    rows_.fault = fault;
    rows_.fault_line = rows_.n_lines;
    rows_.fault_line_start = line_begin_ - text_.data();
    rows_.fault_start = begin - text_.data();
    rows_.fault_end = end - text_.data();
    rows_.fault_column = column;
    rows_.fault_count = count;
    return false;
  }

  bool read_line(const char* p, const char* end) {
    line_begin_ = p;
    while (p < end && is_blank(*p)) ++p;
    while (end > p && is_blank(end[-1])) --end;
    if (p == end || *p == '%') return true;
    row_begins();
    const bool good = *p == '{' ? sparse_row(p + 1, end) : (index_base_ < 0 || dense_row(p, end));
    if (good && index_base_ >= 0) row_ends();
    return good;
  }

  void row_begins() {
    if (index_base_ < 0) return;
    rows_.text_starts.resize(rows_.text_starts.size() + static_cast<std::size_t>(n_text_), text_absent);
    rows_.text_ends.resize(rows_.text_starts.size(), 0);
    rows_.text_quoted.resize(rows_.text_starts.size(), 0);
  }

  void row_ends() {
    rows_.indptr.push_back(static_cast<std::int64_t>(rows_.indices.size()));
    rows_.lines.push_back(rows_.n_lines);
    if (!rows_.weights.empty() || has_weight_) {
      rows_.weights.resize(rows_.lines.size(), missing_value);
      if (has_weight_) rows_.weights.back() = weight_;
    }
    has_weight_ = false;
  }

  bool dense_row(const char* p, const char* end) {
    const std::size_t n_columns = columns_.n_columns;
    std::size_t column = 0;
    while (true) {
      // The common case of wide files: a nominal value of one byte between commas.
      if (column < n_columns && end - p > 1 && p[1] == ',' && kind(column) == ArffKind::nominal) {
        const std::int64_t code = domain(column).code_of_byte(*p);
        if (code >= 0) {
          if (code > 0) store(column, static_cast<double>(code));
          ++column;
          p += 2;
          continue;
        }
      }
      while (p < end && is_blank(*p)) ++p;
      if (column == n_columns) return weight_at_end(p, end);
      Token token;
      if (!next_token(p, end, ',', ',', token, column)) return false;
      if (!cell(column, token)) return false;
      ++column;
      if (p == end) break;
      ++p;  // the comma
      if (p == end && column < n_columns) return fail(ArffFault::empty_value, p, p, static_cast<std::int64_t>(column));
      if (p == end) return fail(ArffFault::too_many_values, p - 1, p, -1, static_cast<std::int64_t>(column) + 1);
    }
    if (column < n_columns) {
      const auto n_found = static_cast<std::int64_t>(column);
      return fail(ArffFault::too_few_values, end, end, n_found, n_found);
    }
    return true;
  }

  /// After the last declared value of a dense row only an instance weight `{w}` may follow.
  bool weight_at_end(const char* p, const char* end) {
    if (p < end && *p == '{') return weight(p, end);
    std::int64_t count = static_cast<std::int64_t>(columns_.n_columns) + 1;
    for (const char* q = p; q < end; ++q) count += *q == ',';
    return fail(ArffFault::too_many_values, p, end, -1, count);
  }

  bool weight(const char* p, const char* end) {
    const char* open = p++;
    if (end[-1] != '}') return fail(ArffFault::bad_weight, open, end);
    --end;
    while (p < end && is_blank(*p)) ++p;
    while (end > p && is_blank(end[-1])) --end;
    if (read_number(p, end, weight_) != NumberState::good || weight_ < 0) {
      return fail(ArffFault::bad_weight, open, end + 1);
    }
    has_weight_ = true;
    return true;
  }

  bool sparse_row(const char* p, const char* end) {
    const char* const open = p - 1;
    const std::size_t first = rows_.indices.size();
    bool ordered = true;
    std::int64_t previous = -1;
    seen_.clear();
    while (p < end && is_blank(*p)) ++p;
    while (p < end && *p != '}') {
      const char* digits = p;
      std::int64_t written = 0;
      for (; p < end && is_digit(*p); ++p) {
        written = std::min<std::int64_t>(written * 10 + (*p - '0'), std::int64_t{1} << 40);
      }
      if (p == digits || p == end || !is_blank(*p)) {
        while (p < end && !is_blank(*p) && *p != ',' && *p != '}') ++p;
        return fail(ArffFault::bad_index, digits, p);
      }
      const char* digits_end = p;
      while (p < end && is_blank(*p)) ++p;
      note_index(written);
      const std::int64_t column = written - std::max<std::int64_t>(index_base_, 0);
      const bool known = column >= 0 && column < static_cast<std::int64_t>(columns_.n_columns);
      if (!known && index_base_ >= 0) return fail(ArffFault::index_out_of_range, digits, digits_end, -1, written);
      Token token;
      if (!next_token(p, end, ',', '}', token, known ? static_cast<std::size_t>(column) : 0)) return false;
      if (index_base_ >= 0) {
        if (!cell(static_cast<std::size_t>(column), token)) return false;
        seen_.push_back(column);
        ordered = ordered && column > previous;
        previous = column;
      }
      if (p < end && *p == ',') {
        ++p;
        while (p < end && is_blank(*p)) ++p;
        if (p < end && *p == '}') return fail(ArffFault::bad_index, p, p);
      }
    }
    if (p == end) return fail(ArffFault::open_row, open, end);
    if (!ordered && !order_row(first, open, p)) return false;
    return after_sparse_row(p + 1, end);
  }

  bool after_sparse_row(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    if (p == end) return true;
    const char* begin = p;
    if (*p == ',') {
      ++p;
      while (p < end && is_blank(*p)) ++p;
      if (p < end && *p == '{') return weight(p, end);
    }
    return fail(ArffFault::text_after_row, begin, end);
  }

  /// Rows are stored by increasing column whatever the order in the file.
  bool order_row(std::size_t first, const char* open, const char* close) {
    std::sort(seen_.begin(), seen_.end());
    const auto twice = std::adjacent_find(seen_.begin(), seen_.end());
    if (twice != seen_.end()) return fail(ArffFault::repeated_index, open, close + 1, *twice, *twice + index_base_);
    std::vector<std::pair<std::int32_t, double>> entries;
    for (std::size_t k = first; k < rows_.indices.size(); ++k) entries.emplace_back(rows_.indices[k], rows_.values[k]);
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < entries.size(); ++k) {
      rows_.indices[first + k] = entries[k].first;
      rows_.values[first + k] = entries[k].second;
    }
    return true;
  }

  void note_index(std::int64_t index) {
    if (rows_.smallest_index < 0 || index < rows_.smallest_index) rows_.smallest_index = index;
    if (index > rows_.largest_index) rows_.largest_index = index;
  }

  /// Reads one value from `p` on and leaves `p` at the separator after it, or at `end`.
  bool next_token(const char*& p, const char* end, char separator, char other, Token& token, std::size_t column) {
    if (p < end && is_quote(*p)) {
      const char quote = *p;
      const char* open = p++;
      token.begin = p;
      while (p < end && *p != quote) p += (*p == '\\' && end - p > 1) ? 2 : 1;
      if (p >= end) return fail(ArffFault::open_quote, open, end, static_cast<std::int64_t>(column));
      token.end = p++;
      token.quoted = true;
      while (p < end && is_blank(*p)) ++p;
      if (p < end && *p != separator && *p != other) {
        return fail(ArffFault::text_after_quote, open, p + 1, static_cast<std::int64_t>(column));
      }
      return true;
    }
    token.begin = p;
    while (p < end && *p != separator && *p != other) ++p;
    token.end = p;
    token.quoted = false;
    while (token.end > token.begin && is_blank(token.end[-1])) --token.end;
    if (token.begin == token.end) {
      return fail(ArffFault::empty_value, token.begin, token.end, static_cast<std::int64_t>(column));
    }
    return true;
  }

  bool cell(std::size_t column, const Token& token) {
    const bool missing = !token.quoted && token.end - token.begin == 1 && *token.begin == '?';
    if (kind(column) == ArffKind::text) {
      const std::size_t at = rows_.text_starts.size() - static_cast<std::size_t>(n_text_) +
                             static_cast<std::size_t>(text_position_[column]);
      rows_.text_starts[at] = missing ? text_missing : token.begin - text_.data();
      rows_.text_ends[at] = token.end - text_.data();
      rows_.text_quoted[at] = token.quoted;
      return true;
    }
    if (missing) {
      store(column, missing_value);
      return true;
    }
    const auto position = static_cast<std::int64_t>(column);
    double value = 0;
    if (kind(column) == ArffKind::number) {
      const NumberState state = read_number(token.begin, token.end, value);
      if (state == NumberState::malformed) return fail(ArffFault::not_a_number, token.begin, token.end, position);
      if (state == NumberState::infinite) return fail(ArffFault::not_finite, token.begin, token.end, position);
    } else {
      const std::int64_t code = domain(column).code(plain(token));
      if (code < 0) return fail(ArffFault::not_in_domain, token.begin, token.end, position);
      value = static_cast<double>(code);
    }
    if (value != 0 || std::signbit(value)) store(column, value);
    return true;
  }

  /// The value of a token with its escapes resolved, valid until the next call.
  std::string_view plain(const Token& token) {
    const std::string_view raw(token.begin, static_cast<std::size_t>(token.end - token.begin));
    if (!token.quoted || raw.find('\\') == std::string_view::npos) return raw;
    unescaped_.clear();
    for (std::size_t k = 0; k < raw.size(); ++k) {
      char c = raw[k];
      if (c == '\\' && k + 1 < raw.size()) {
        c = raw[++k];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'r') c = '\r';
      }
      unescaped_.push_back(c);
    }
    return unescaped_;
  }

  const Domain& domain(std::size_t column) const {
    return domains_[static_cast<std::size_t>(columns_.domain_of[column])];
  }

  void store(std::size_t column, double value) {
    rows_.indices.push_back(static_cast<std::int32_t>(column));
    rows_.values.push_back(value);
  }

  std::string_view text_;
  const ArffColumns& columns_;
  const std::int64_t index_base_;
  std::vector<Domain> domains_;
  std::vector<std::int64_t> text_position_;
  std::int64_t n_text_ = 0;
  const char* line_begin_ = nullptr;
  std::vector<std::int64_t> seen_;
  std::string unescaped_;
  bool has_weight_ = false;
  double weight_ = 0;
  ArffRows rows_;
};

}  // namespace

ArffRows arff_rows(std::string_view text, const ArffColumns& columns, std::int64_t index_base) {
  return Reader(text, columns, index_base).read();
}

}  // namespace ramify
