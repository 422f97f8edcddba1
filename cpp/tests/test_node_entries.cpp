#include <algorithm>

#include "base/random.hpp"
#include "check.hpp"
#include "features/coding.hpp"
#include "forest/node_entries.hpp"

using namespace ramify;

namespace {

/// Every way to sort: insertion, std::sort, counting and radix, by size and range of codes.
void keys_are_sorted() {
  Random random(1, 0);
  for (const std::size_t n : {1u, 2u, 24u, 25u, 100u, 192u, 193u, 1000u, 5000u}) {
    for (const std::uint64_t range : {2u, 60u, 4096u, 70000u, 20000000u}) {
      NodeEntries entries;
      std::vector<std::uint64_t> expected;
      for (std::size_t i = 0; i < n; ++i) {
        expected.push_back(((100 + random.below(range)) << 32) | i);
        entries.keys.push_back(expected.back());
      }
      entries.summarise(static_cast<std::int64_t>(n), -1);
      entries.sort();
      std::sort(expected.begin(), expected.end());
      CHECK(std::equal(expected.begin(), expected.end(), entries.keys.begin()));
      CHECK(entries.min_code == NodeEntries::code_of(expected.front()));
      CHECK(entries.max_code == NodeEntries::code_of(expected.back()));
    }
  }
}

/// A sparse column is read alike by walking its entries (large nodes) and by searching them (small ones).
void sparse_columns_are_read_alike() {
  Random random(2, 0);
  const std::int64_t n_rows = 20000;
  std::vector<double> x(static_cast<std::size_t>(n_rows), 0.0);
  for (double& value : x) {
    if (random.uniform() < 0.05) value = random.uniform() < 0.2 ? NAN : static_cast<double>(random.below(5));
  }
  const FeatureTable table = code_dense<double>({x.data(), n_rows, 1, 1, 1}, {0}, 0, 1, {});
  CHECK(table.column(0).sparse);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < n_rows; ++row) rows.push_back(row);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
  std::vector<std::uint32_t> positions(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) positions[rows[i]] = i;
  for (const std::int64_t n : {3, 50, 4000}) {
    const NodeSlice node{rows.data() + 100, n, positions.data(), 100};
    NodeEntries entries;
    gather(table, 0, node, entries);
    std::int64_t n_default = 0, n_missing = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t code = table.column(0).code(node.rows[i]);
      n_default += code == table.column(0).default_code;
      n_missing += code == table.column(0).n_codes;
    }
    CHECK(entries.n_default == n_default);
    CHECK(static_cast<std::int64_t>(entries.missing.size()) == n_missing);
    for (const std::uint64_t key : entries.keys) {
      CHECK(table.column(0).code(node.rows[NodeEntries::row_of(key)]) == NodeEntries::code_of(key));
    }
    std::vector<char> listed;
    entries.list_default(n, listed);
    CHECK(static_cast<std::int64_t>(entries.keys.size()) == n - n_missing);
  }
}

/// Dense columns, with and without a default, missing values, two categories and a row-major copy, tell the same by
/// code and by key.
void codes_tell_what_keys_tell() {
  Random random(3, 0);
  const std::int64_t n_rows = 3000, n_columns = 400;
  std::vector<double> x(static_cast<std::size_t>(n_rows * n_columns), 0.0);
  std::vector<std::int32_t> n_categories(static_cast<std::size_t>(n_columns), 0);
  for (std::int64_t f = 0; f < n_columns; ++f) {
    if (f % 5 == 4) n_categories[static_cast<std::size_t>(f)] = 2;
    for (std::int64_t row = 0; row < n_rows; ++row) {
      double& value = x[static_cast<std::size_t>(row * n_columns + f)];
      if (f % 5 == 4) {
        value = static_cast<double>(random.below(2));
      } else if (random.uniform() > 0.45 * static_cast<double>(f % 3)) {
        value = f % 2 == 0 ? random.uniform() : static_cast<double>(random.below(9));
      }
      if (f % 7 == 0 && random.uniform() < 0.3) value = NAN;
    }
  }
  const FeatureTable table = code_dense<double>({x.data(), n_rows, n_columns, n_columns, 1}, n_categories, 0, 1, {});
  CHECK(table.row_codes() != nullptr && table.row_codes()->width == 2);
  for (const std::int64_t n : {1, 5, 200, 2500}) {
    std::vector<std::uint32_t> rows;
    for (std::int64_t i = 0; i < n; ++i)
      rows.push_back(static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(n_rows))));
    const NodeSlice node{rows.data(), n, nullptr, 0};
    for (std::int64_t f = 0; f < n_columns; ++f) {
      if (table.column(f).sparse) continue;
      NodeEntries by_key, by_code;
      by_code.wants_codes = true;
      gather(table, f, node, by_key);
      gather(table, f, node, by_code);
      CHECK(by_code.by_code && !by_key.by_code);
      CHECK(by_code.any_missing() == by_key.any_missing() && by_code.constant() == by_key.constant());
      CHECK(by_code.n_missing == static_cast<std::int64_t>(by_key.missing.size()));
      CHECK(by_code.n_default == by_key.n_default && by_code.default_code == by_key.default_code);
      if (by_code.n_missing < n) CHECK(by_code.min_code == by_key.min_code && by_code.max_code == by_key.max_code);
      for (std::int64_t i = 0; i < n; ++i)
        CHECK(by_code.codes[static_cast<std::size_t>(i)] == table.column(f).code(rows[static_cast<std::size_t>(i)]));
    }
  }
}

}  // namespace

int main() {
  keys_are_sorted();
  codes_tell_what_keys_tell();
  sparse_columns_are_read_alike();
  return check::finish();
}
