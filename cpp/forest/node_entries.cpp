#include "forest/node_entries.hpp"

#include <algorithm>

#include "forest/sorting.hpp"

namespace ramify {

namespace {

/// Read every row's code; `code_at(row)` gives it.
template <class CodeAt>
void gather_all(CodeAt code_at, const NodeSlice& node, NodeEntries& entries) {
  entries.keys.resize(static_cast<std::size_t>(node.n));
  std::uint32_t low = 0xFFFFFFFFu, high = 0;
  for (std::int64_t i = 0; i < node.n; ++i) {
    const std::uint32_t code = code_at(node.rows[i]);
    low = std::min(low, code);
    high = std::max(high, code);
    entries.keys[static_cast<std::size_t>(i)] = NodeEntries::key_of(code, i);
  }
  entries.n_default = 0;
  entries.default_code = -1;
  entries.min_code = static_cast<std::int32_t>(low);
  entries.max_code = static_cast<std::int32_t>(high);
}

/// Keep the rows that hold neither the default nor nothing.
template <bool any_missing, class CodeAt>
void gather_exceptions(CodeAt code_at, const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  const auto default_code = static_cast<std::uint32_t>(column.default_code);  // -1 matches no code
  const auto missing_code = static_cast<std::uint32_t>(column.n_codes);
  entries.keys.resize(static_cast<std::size_t>(node.n) + 1);
  if (any_missing) entries.missing.resize(static_cast<std::size_t>(node.n) + 1);
  std::size_t n_keys = 0, n_missing = 0;
  for (std::int64_t i = 0; i < node.n; ++i) {
    const std::uint32_t code = code_at(node.rows[i]);
    entries.keys[n_keys] = NodeEntries::key_of(code, i);
    if (any_missing) {
      entries.missing[n_missing] = static_cast<std::uint32_t>(i);
      n_missing += code == missing_code;
      n_keys += (code != default_code) & (code != missing_code);
    } else {
      n_keys += code != default_code;
    }
  }
  entries.keys.resize(n_keys);
  entries.missing.resize(n_missing);
  entries.summarise(node.n, column.default_code);
}

template <class CodeAt>
void gather_dense(CodeAt code_at, const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  if (column.default_code < 0 && !column.has_missing) {
    gather_all(code_at, node, entries);
  } else if (column.has_missing) {
    gather_exceptions<true>(code_at, column, node, entries);
  } else {
    gather_exceptions<false>(code_at, column, node, entries);
  }
}

template <bool exceptions, class CodeAt>
void gather_codes(CodeAt code_at, const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  if (entries.codes.size() < static_cast<std::size_t>(node.n)) entries.codes.resize(static_cast<std::size_t>(node.n));
  std::uint16_t* const codes = entries.codes.data();
  const auto default_code = static_cast<std::uint32_t>(column.default_code);  // -1 matches no code
  const auto missing_code = static_cast<std::uint32_t>(column.n_codes);
  std::uint32_t low = missing_code, high = 0;
  std::int64_t n_missing = 0, n_default = 0;
  for (std::int64_t i = 0; i < node.n; ++i) {
    const std::uint32_t code = code_at(node.rows[i]);
    codes[i] = static_cast<std::uint16_t>(code);
    low = std::min(low, code);
    if (exceptions) {
      n_default += code == default_code;
      n_missing += code == missing_code;
      high = std::max(high, code == missing_code ? 0 : code);
    } else {
      high = std::max(high, code);
    }
  }
  entries.by_code = true;
  entries.n_rows = node.n;
  entries.n_missing = n_missing;
  entries.missing_code = column.n_codes;
  entries.n_default = n_default;
  entries.default_code = n_default > 0 ? column.default_code : -1;
  entries.min_code = static_cast<std::int32_t>(low);
  entries.max_code = static_cast<std::int32_t>(high);
}

/// Read every row of a dense column, by key or by code.
template <class CodeAt>
void gather_rows(CodeAt code_at, const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  const bool ordered = !column.nominal || column.n_codes <= 2;
  if (!entries.wants_codes || !ordered || column.width > 2) {
    gather_dense(code_at, column, node, entries);
  } else if (column.has_missing || column.default_code >= 0) {
    gather_codes<true>(code_at, column, node, entries);
  } else {
    gather_codes<false>(code_at, column, node, entries);
  }
}

template <class Code>
void gather_column(const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  const auto* codes = reinterpret_cast<const Code*>(column.codes);
  gather_rows([codes](std::uint32_t row) -> std::uint32_t { return codes[row]; }, column, node, entries);
}

/// The same from the row-major copy of the codes.
template <class Code>
void gather_by_row(const FeatureTable::RowCodes& table, const ColumnHead& column, const NodeSlice& node,
                   NodeEntries& entries) {
  const std::uint8_t* const codes = column.codes_by_row;
  const std::int64_t stride = table.bytes_per_row;
  const auto code_at = [=](std::uint32_t row) -> std::uint32_t {
    return *reinterpret_cast<const Code*>(codes + row * stride);
  };
  gather_rows(code_at, column, node, entries);
}

/// Walk the column's entries and keep those whose row is in the node.
template <class Code, bool any_missing>
void walk_entries(const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  const std::int64_t n_entries = column.n_stored;
  const auto* const codes = reinterpret_cast<const Code*>(column.codes);
  const std::uint32_t* const entry_rows = column.entry_rows;
  const auto missing_code = static_cast<std::uint32_t>(column.n_codes);
  const auto n = static_cast<std::uint32_t>(node.n);
  entries.keys.resize(static_cast<std::size_t>(n_entries) + 1);
  std::uint64_t* const keys = entries.keys.begin();
  std::size_t n_keys = 0;
  for (std::int64_t e = 0; e < n_entries; ++e) {
    const std::uint32_t local = node.positions[entry_rows[e]] - node.start;
    const std::uint32_t code = codes[e];
    keys[n_keys] = NodeEntries::key_of(code, local);
    const bool inside = local < n;
    if (any_missing && inside && code == missing_code) {
      entries.missing.push_back(local);
    } else {
      n_keys += inside;
    }
  }
  entries.keys.resize(n_keys);
}

/// The same where every entry holds the other of two values: their codes are not even read.
void walk_two_values(const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  const auto other = static_cast<std::uint32_t>(1 - column.default_code);
  const auto n = static_cast<std::uint32_t>(node.n);
  entries.keys.resize(static_cast<std::size_t>(column.n_stored) + 1);
  std::uint64_t* const keys = entries.keys.begin();
  std::size_t n_keys = 0;
  for (std::int64_t e = 0; e < column.n_stored; ++e) {
    const std::uint32_t local = node.positions[column.entry_rows[e]] - node.start;
    keys[n_keys] = NodeEntries::key_of(other, local);
    n_keys += local < n;
  }
  entries.keys.resize(n_keys);
}

template <class Code>
void walk_column(const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  if (column.has_missing) {
    walk_entries<Code, true>(column, node, entries);
  } else {
    walk_entries<Code, false>(column, node, entries);
  }
}

std::int32_t stored_code(const ColumnHead& column, std::int64_t at) {
  if (column.width == 1) return column.codes[at];
  if (column.width == 2) return reinterpret_cast<const std::uint16_t*>(column.codes)[at];
  return static_cast<std::int32_t>(reinterpret_cast<const std::uint32_t*>(column.codes)[at]);
}

/// Search the node's rows among the column's entries.
void search_entries(const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  const std::uint32_t *const begin = column.entry_rows, *const end = begin + column.n_stored;
  for (std::int64_t i = 0; i < node.n; ++i) {
    const auto at = std::lower_bound(begin, end, node.rows[i]);
    if (at == end || *at != node.rows[i]) continue;
    const std::int32_t code = stored_code(column, at - begin);
    if (code == column.n_codes) {
      entries.missing.push_back(static_cast<std::uint32_t>(i));
    } else {
      entries.keys.push_back(NodeEntries::key_of(static_cast<std::uint32_t>(code), i));
    }
  }
}

/// Do rows of the row-major copy stay in the cache while a subtree is grown, in fewer lines of it than columns take?
bool better_by_row(std::int64_t n, const ColumnHead& column, std::int64_t bytes_per_row) {
  constexpr std::int64_t few_rows = 96, line = 64, few_bytes = 1 << 18;
  return n <= few_rows || (n * line <= column.n_stored * column.width && n * bytes_per_row <= few_bytes);
}

void gather_sparse(const ColumnHead& column, const NodeSlice& node, NodeEntries& entries) {
  constexpr std::int64_t step_of_search = 6;  // a step of a search costs about six entries of a walk
  std::int64_t search_cost = node.n * step_of_search;
  for (std::int64_t size = column.n_stored; size > 1; size /= 2) search_cost += node.n * step_of_search;
  if (column.n_stored > search_cost) {
    search_entries(column, node, entries);
  } else if (column.n_codes == 2 && !column.has_missing) {
    walk_two_values(column, node, entries);
  } else if (column.width == 1) {
    walk_column<std::uint8_t>(column, node, entries);
  } else if (column.width == 2) {
    walk_column<std::uint16_t>(column, node, entries);
  } else {
    walk_column<std::uint32_t>(column, node, entries);
  }
  entries.summarise(node.n, column.default_code);
}

}  // namespace

void KeyBuffer::grow() {
  const std::size_t capacity = 2 * capacity_ + 16;
  std::unique_ptr<std::uint64_t[]> keys(new std::uint64_t[capacity]);
  std::copy(begin(), end(), keys.get());
  keys_.swap(keys);
  capacity_ = capacity;
}

void gather(const FeatureTable& table, std::int64_t feature, const NodeSlice& node, NodeEntries& entries) {
  const ColumnHead& column = table.head(feature);
  entries.keys.clear();
  entries.missing.clear();
  entries.by_code = false;
  if (column.sparse) return gather_sparse(column, node, entries);
  if (column.codes_by_row != nullptr) {
    const FeatureTable::RowCodes& rows = *table.row_codes();
    if (better_by_row(node.n, column, rows.bytes_per_row)) {
      if (rows.width == 1) return gather_by_row<std::uint8_t>(rows, column, node, entries);
      return gather_by_row<std::uint16_t>(rows, column, node, entries);
    }
  }
  if (column.width == 1) return gather_column<std::uint8_t>(column, node, entries);
  if (column.width == 2) return gather_column<std::uint16_t>(column, node, entries);
  gather_column<std::uint32_t>(column, node, entries);
}

void NodeEntries::summarise(std::int64_t n, std::int32_t default_code_of_column) {
  n_default = n - static_cast<std::int64_t>(keys.size() + missing.size());
  default_code = n_default > 0 ? default_code_of_column : -1;
  std::uint32_t low = n_default > 0 ? static_cast<std::uint32_t>(default_code) : 0xFFFFFFFFu;
  std::uint32_t high = n_default > 0 ? static_cast<std::uint32_t>(default_code) : 0;
  for (const std::uint64_t key : keys) {
    const auto code = static_cast<std::uint32_t>(key >> 32);
    low = std::min(low, code);
    high = std::max(high, code);
  }
  min_code = static_cast<std::int32_t>(low);
  max_code = static_cast<std::int32_t>(high);
}

void NodeEntries::list_default(std::int64_t n, std::vector<char>& listed) {
  if (n_default == 0) return;
  listed.assign(static_cast<std::size_t>(n), 0);
  for (const std::uint64_t key : keys) listed[row_of(key)] = 1;
  for (const std::uint32_t row : missing) listed[row] = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!listed[static_cast<std::size_t>(i)])
      keys.push_back(NodeEntries::key_of(static_cast<std::uint32_t>(default_code), i));
  }
  n_default = 0;
  default_code = -1;
}

void NodeEntries::sort() {
  if (n_default > 0 && max_code - min_code <= 1) return;  // one code, listed by row
  if (keys.size() <= few_keys) return sort_few(keys.begin(), keys.size());
  const auto base = static_cast<std::uint32_t>(min_code);
  const auto code_of = [base](std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32) - base; };
  spare_.resize(keys.size());
  const std::uint32_t last = static_cast<std::uint32_t>(max_code) - base;
  if (sort_by_digits(keys.begin(), spare_.begin(), keys.size(), last, code_of, counts_)) keys.swap(spare_);
}

}  // namespace ramify
