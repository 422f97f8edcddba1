/// Feature columns as rank codes: coded once, shared by every forest that is grown on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ramify {

/// One feature. Codes 0 .. n_codes - 1 follow the order of the values (numeric) or are the
/// categories (nominal); the code n_codes says "missing".
struct Column {
  bool nominal = false;
  bool sparse = false;  ///< only the rows in `entry_rows` are stored, all others hold `default_code`
  bool has_missing = false;
  bool has_bins = false;  ///< numeric only: does some code stand for more than one value?
  int width = 1;          ///< bytes per code: 1, 2 or 4
  std::int64_t n_rows = 0;
  std::int32_t n_codes = 0;
  std::int32_t default_code = -1;   ///< held by at least half of the rows (always by a sparse column's zeros), or -1
  std::vector<std::uint8_t> codes;  ///< width bytes per row, or per entry when sparse; empty where they are elsewhere
  std::shared_ptr<const std::uint8_t> elsewhere;  ///< codes that something else holds, as a file mapped to memory
  std::vector<std::uint32_t> entry_rows;          ///< sparse only: ascending
  std::vector<double> lower;                      ///< numeric only: smallest value of each code
  std::vector<double> upper;                      ///< numeric only: largest value of each code

  const std::uint8_t* stored() const { return elsewhere ? elsewhere.get() : codes.data(); }
  std::int64_t n_entries() const { return elsewhere ? n_rows : static_cast<std::int64_t>(codes.size()) / width; }

  std::int32_t stored_code(std::int64_t entry) const {
    const std::uint8_t* at = stored() + entry * width;
    if (width == 1) return *at;
    if (width == 2) return *reinterpret_cast<const std::uint16_t*>(at);
    return static_cast<std::int32_t>(*reinterpret_cast<const std::uint32_t*>(at));
  }

  /// The code of any row (a search when sparse).
  std::int32_t code(std::int64_t row) const;

  /// A value that every split treats as it treats the row's own; NaN when missing.
  double value(std::int64_t row) const;
  double value_of(std::int32_t code) const;

  /// Where to cut between two codes that are neighbours in a node: the midpoint, or the lower
  /// value where the midpoint is not below the upper one. Where codes are bins, the cut lies between
  /// two bins, so that the codes of all rows tell their sides.
  double threshold_between(std::int32_t low, std::int32_t high) const;
};

/// What growing needs to know of a column, in few bytes: a node looks at many columns and at little of each.
struct ColumnHead {
  const std::uint8_t* codes;
  const std::uint32_t* entry_rows;     ///< sparse only
  const std::uint8_t* codes_by_row;    ///< of row 0 in the row-major copy, or null
  std::int64_t n_stored;               ///< rows, or entries when sparse
  std::int32_t n_codes, default_code;  ///< as in Column
  std::uint8_t width;
  bool nominal, sparse, has_missing;
};

/// The entries of sparse columns by row, so that small nodes cost by their non-zeros.
struct RowEntries {
  std::vector<std::int64_t> offsets;  ///< n_rows + 1
  std::vector<std::uint32_t> features;
  std::vector<std::int32_t> codes;
};

/// Columns of two values, one of them the default, as a bit per cell: a few words tell which are constant in a node.
struct RowBits {
  std::int64_t n_words = 0;             ///< per row
  std::vector<std::uint64_t> bits;      ///< n_rows x n_words: does the row hold the other value?
  std::vector<std::uint32_t> features;  ///< by bit
  std::vector<std::int32_t> bit_of;     ///< by feature, -1 if it has none
};

/// A list of columns over the same rows. Copies are cheap: columns are shared.
class FeatureTable {
 public:
  FeatureTable() = default;
  FeatureTable(std::int64_t n_rows, std::vector<std::shared_ptr<const Column>> columns);

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_features() const { return static_cast<std::int64_t>(columns_.size()); }
  const Column& column(std::int64_t feature) const { return *columns_[static_cast<std::size_t>(feature)]; }
  const ColumnHead& head(std::int64_t feature) const { return heads_[static_cast<std::size_t>(feature)]; }
  static ColumnHead head_of(const Column& column);
  bool has_sparse() const { return has_sparse_; }
  std::vector<std::int32_t> n_categories() const;

  /// Does some code stand for more than one value?
  bool has_bins() const;

  /// The columns of both tables side by side; nothing is copied. Those of the other may be fixed.
  FeatureTable append(const FeatureTable& other, bool fixed) const;

  /// So many of the last columns are looked at in every node, before others are drawn.
  std::int64_t n_fixed() const { return n_fixed_; }

  /// The given columns in the given order; nothing is copied.
  FeatureTable take(const std::vector<std::int64_t>& features) const;

  /// What is known by row, or null where there are too few such columns. Features for which `by_row(f)` holds are found
  /// in one of both; the others must be looked at one by one.
  const RowEntries* row_entries() const { return row_entries_.get(); }
  const RowBits* row_bits() const { return row_bits_.get(); }
  bool by_row(std::int64_t feature) const {
    return feature < static_cast<std::int64_t>(by_row_.size()) && by_row_[static_cast<std::size_t>(feature)];
  }
  const std::vector<std::uint32_t>& column_wise() const { return column_wise_; }

  /// Small tables have a row-major copy of their dense codes, of `width` bytes each: the code of `row` is
  /// head(f).codes_by_row[row * bytes_per_row]. Nodes with few rows read it, since few cache lines hold all they need.
  struct RowCodes {
    int width = 1;
    std::int64_t bytes_per_row = 0;
    std::vector<std::uint8_t> codes;
  };
  const RowCodes* row_codes() const { return row_codes_.get(); }

  /// Bytes held by codes, values and entries.
  std::int64_t n_bytes() const;

 private:
  void index_entries();
  void index_bits();
  void list_column_wise();
  void copy_by_row();

  std::int64_t n_rows_ = 0, n_fixed_ = 0;
  bool has_sparse_ = false;
  std::vector<std::shared_ptr<const Column>> columns_;
  std::vector<ColumnHead> heads_;  ///< per column
  std::shared_ptr<const RowEntries> row_entries_;
  std::shared_ptr<const RowBits> row_bits_;
  std::vector<char> by_row_;
  std::shared_ptr<const RowCodes> row_codes_;
  std::vector<std::uint32_t> column_wise_;  ///< features that are not by_row
};

/// Largest number of categories of a nominal feature.
constexpr std::int32_t max_categories = 4096;

}  // namespace ramify
