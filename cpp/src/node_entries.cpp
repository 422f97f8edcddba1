#include "ramify/node_entries.hpp"

#include <algorithm>

namespace ramify {

namespace {

inline std::uint64_t key_of(std::uint32_t code, std::int64_t local_row) {
  return (static_cast<std::uint64_t>(code) << 32) | static_cast<std::uint64_t>(local_row);
}

template <class Code>
void gather_all(const Code* codes, const NodeSlice& node, NodeEntries& entries) {
  entries.keys.resize(static_cast<std::size_t>(node.n));
  std::uint32_t low = 0xFFFFFFFFu, high = 0;
  for (std::int64_t i = 0; i < node.n; ++i) {
    const std::uint32_t code = codes[node.rows[i]];
    low = std::min(low, code);
    high = std::max(high, code);
    entries.keys[static_cast<std::size_t>(i)] = key_of(code, i);
  }
  entries.n_default = 0;
  entries.default_code = -1;
  entries.min_code = static_cast<std::int32_t>(low);
  entries.max_code = static_cast<std::int32_t>(high);
}

template <class Code>
void gather_exceptions(const Code* codes, const Column& column, const NodeSlice& node, NodeEntries& entries) {
  const auto default_code = static_cast<std::uint32_t>(column.default_code);  // -1 matches no code
  const auto missing_code = static_cast<std::uint32_t>(column.n_codes);
  entries.keys.resize(static_cast<std::size_t>(node.n));
  std::size_t n_keys = 0;
  for (std::int64_t i = 0; i < node.n; ++i) {
    const std::uint32_t code = codes[node.rows[i]];
    entries.keys[n_keys] = key_of(code, i);
    n_keys += (code != default_code) & (code != missing_code);
    if (code == missing_code) entries.missing.push_back(static_cast<std::uint32_t>(i));
  }
  entries.keys.resize(n_keys);
  entries.summarise(node.n, column.default_code);
}

template <class Code>
void gather_dense(const Column& column, const NodeSlice& node, NodeEntries& entries) {
  const auto* codes = reinterpret_cast<const Code*>(column.codes.data());
  if (column.default_code < 0 && !column.has_missing) {
    gather_all(codes, node, entries);
  } else {
    gather_exceptions(codes, column, node, entries);
  }
}

void take_entry(const Column& column, std::int64_t entry, std::int64_t local_row, NodeEntries& entries) {
  const std::int32_t code = column.stored_code(entry);
  if (code == column.n_codes) {
    entries.missing.push_back(static_cast<std::uint32_t>(local_row));
  } else {
    entries.keys.push_back(key_of(static_cast<std::uint32_t>(code), local_row));
  }
}

/// Walk the column's entries, or search the node's rows in them, whichever is less work.
void gather_sparse(const Column& column, const NodeSlice& node, NodeEntries& entries) {
  const std::int64_t n_entries = column.n_entries();
  std::int64_t search_cost = node.n;
  for (std::int64_t size = n_entries; size > 1; size /= 2) search_cost += node.n;
  if (n_entries <= search_cost) {
    for (std::int64_t e = 0; e < n_entries; ++e) {
      const std::uint32_t local = node.positions[column.entry_rows[static_cast<std::size_t>(e)]] - node.start;
      if (local < node.n) take_entry(column, e, local, entries);
    }
  } else {
    const auto begin = column.entry_rows.begin(), end = column.entry_rows.end();
    for (std::int64_t i = 0; i < node.n; ++i) {
      const auto at = std::lower_bound(begin, end, node.rows[i]);
      if (at != end && *at == node.rows[i]) take_entry(column, at - begin, i, entries);
    }
  }
  entries.summarise(node.n, column.default_code);
}

}  // namespace

void gather(const Column& column, const NodeSlice& node, NodeEntries& entries) {
  entries.keys.clear();
  entries.missing.clear();
  if (column.sparse) {
    gather_sparse(column, node, entries);
  } else if (column.width == 1) {
    gather_dense<std::uint8_t>(column, node, entries);
  } else if (column.width == 2) {
    gather_dense<std::uint16_t>(column, node, entries);
  } else {
    gather_dense<std::uint32_t>(column, node, entries);
  }
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
    if (!listed[static_cast<std::size_t>(i)]) keys.push_back(key_of(static_cast<std::uint32_t>(default_code), i));
  }
  n_default = 0;
  default_code = -1;
}

void NodeEntries::sort() {
  const std::size_t n = keys.size();
  if (n <= 24) {
    for (std::size_t i = 1; i < n; ++i) {
      const std::uint64_t key = keys[i];
      std::size_t j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
    return;
  }
  const auto base = static_cast<std::uint32_t>(min_code);
  const std::uint32_t range = static_cast<std::uint32_t>(max_code) - base + 1;
  const bool countable = range <= 4096 && range <= 4 * n;
  if (!countable && n <= 192) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  // least significant digit first; one digit when the codes are few
  const int bits = countable ? 12 : 8;
  const std::uint32_t mask = (1u << bits) - 1;
  spare_.resize(n);
  for (int shift = 0; shift < 32 && (shift == 0 || (range - 1) >> shift != 0); shift += bits) {
    const std::uint32_t n_digits = std::min(mask, (range - 1) >> shift) + 1;
    counts_.assign(n_digits + 1, 0);
    const auto digit = [=](std::uint64_t key) {
      return ((static_cast<std::uint32_t>(key >> 32) - base) >> shift) & mask;
    };
    for (const std::uint64_t key : keys) ++counts_[digit(key) + 1];
    for (std::uint32_t d = 1; d <= n_digits; ++d) counts_[d] += counts_[d - 1];
    for (const std::uint64_t key : keys) spare_[counts_[digit(key)]++] = key;
    keys.swap(spare_);
  }
}

}  // namespace ramify
