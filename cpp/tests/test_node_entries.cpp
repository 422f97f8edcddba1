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

}  // namespace

int main() {
  keys_are_sorted();
  sparse_columns_are_read_alike();
  return check::finish();
}
