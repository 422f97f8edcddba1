/// The values of one feature in one node, as the splitters read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "features/feature_table.hpp"

namespace ramify {

/// The rows of a node: a slice of the tree's row order.
struct NodeSlice {
  const std::uint32_t* rows;  ///< row of the table per local row
  std::int64_t n = 0;
  const std::uint32_t* positions;  ///< by row of the table: place in the tree's row order (only with sparse columns)
  std::uint32_t start = 0;         ///< place of local row 0
};

/// A vector of keys whose growth costs no initialisation.
class KeyBuffer {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }

  /// Change the size; new keys have any value, and old ones are lost if the buffer must grow.
  void resize(std::size_t size) {
    if (size > capacity_) {
      capacity_ = size + size / 2 + 16;
      keys_.reset(new std::uint64_t[capacity_]);
    }
    size_ = size;
  }
  void push_back(std::uint64_t key) {
    if (size_ == capacity_) grow();
    keys_[size_++] = key;
  }
  void swap(KeyBuffer& other) {
    keys_.swap(other.keys_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  std::uint64_t& operator[](std::size_t i) { return keys_[i]; }
  std::uint64_t operator[](std::size_t i) const { return keys_[i]; }
  std::uint64_t* begin() { return keys_.get(); }
  std::uint64_t* end() { return keys_.get() + size_; }
  const std::uint64_t* begin() const { return keys_.get(); }
  const std::uint64_t* end() const { return keys_.get() + size_; }

 private:
  void grow();

  std::unique_ptr<std::uint64_t[]> keys_;
  std::size_t size_ = 0, capacity_ = 0;
};

/// One feature of the node, in one of two forms. By key: a local row is either listed with its code, or missing, or
/// holds the default. By code, where `by_code` says so: the code of every local row, missing ones too.
struct NodeEntries {
  KeyBuffer keys;                      ///< code << 32 | local row, in no order until sorted
  std::vector<std::uint32_t> missing;  ///< local rows
  std::int64_t n_default = 0;
  std::int32_t default_code = -1;
  std::int32_t min_code = 0, max_code = 0;  ///< over listed rows and the default

  bool wants_codes = false;  ///< asked for by the reader: columns that can be are read by code
  bool by_code = false;
  std::vector<std::uint16_t> codes;  ///< by code: per local row (and older ones behind them)
  std::int64_t n_rows = 0, n_missing = 0;
  std::int32_t missing_code = -1;

  static std::uint64_t key_of(std::uint32_t code, std::int64_t row) {
    return static_cast<std::uint64_t>(code) << 32 | static_cast<std::uint64_t>(row);
  }
  static std::int32_t code_of(std::uint64_t key) { return static_cast<std::int32_t>(key >> 32); }
  static std::uint32_t row_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

  bool any_missing() const { return by_code ? n_missing > 0 : !missing.empty(); }

  /// Does every row hold the same (or no) value?
  bool constant() const {
    const bool all_missing = by_code ? n_missing == n_rows : keys.empty() && n_default == 0;
    return all_missing || (min_code == max_code && !any_missing());
  }

  /// Complete the summary after `keys` and `missing` were filled for a node of n rows.
  void summarise(std::int64_t n, std::int32_t default_code_of_column);

  /// List the rows that hold the default, too (the keys stay unsorted).
  void list_default(std::int64_t n, std::vector<char>& listed);

  /// Order the keys by (code, local row); keys of one code must be listed by row.
  void sort();

 private:
  KeyBuffer spare_;
  std::vector<std::uint32_t> counts_;
};

/// Read one feature for the rows of a node.
void gather(const FeatureTable& table, std::int64_t feature, const NodeSlice& node, NodeEntries& entries);

}  // namespace ramify
