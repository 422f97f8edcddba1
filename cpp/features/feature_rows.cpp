#include "features/feature_rows.hpp"

#include <algorithm>
#include <stdexcept>

namespace ramify {

namespace {

template <class Number>
class DenseRows final : public FeatureRows {
 public:
  explicit DenseRows(MatrixView<Number> X) : X_(X) {}
  std::int64_t n_rows() const override { return X_.n_rows; }
  std::int64_t n_features() const override { return X_.n_columns; }

  void load(std::int64_t first, std::int64_t last, double* block) const override {
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t f = 0; f < X_.n_columns; ++f) *block++ = static_cast<double>(X_(row, f));
    }
  }

  void unload(std::int64_t, std::int64_t, double*) const override {}  // the next load overwrites every cell

 private:
  MatrixView<Number> X_;
};

template <class Number, class Index>
class CompressedRows final : public FeatureRows {
 public:
  explicit CompressedRows(CompressedView<Number, Index> X) : X_(X) {}
  std::int64_t n_rows() const override { return X_.n_slices; }
  std::int64_t n_features() const override { return X_.length; }

  void load(std::int64_t first, std::int64_t last, double* block) const override {
    for (std::int64_t row = first; row < last; ++row, block += X_.length) {
      for (std::int64_t i = X_.offsets[row]; i < X_.offsets[row + 1]; ++i)
        block[X_.indices[i]] = static_cast<double>(X_.data[i]);
    }
  }

  void unload(std::int64_t first, std::int64_t last, double* block) const override {
    for (std::int64_t row = first; row < last; ++row, block += X_.length) {
      for (std::int64_t i = X_.offsets[row]; i < X_.offsets[row + 1]; ++i) block[X_.indices[i]] = 0;
    }
  }

 private:
  CompressedView<Number, Index> X_;
};

class TableRows final : public FeatureRows {
 public:
  explicit TableRows(const FeatureTable& table) : table_(table) {}
  std::int64_t n_rows() const override { return table_.n_rows(); }
  std::int64_t n_features() const override { return table_.n_features(); }

  void load(std::int64_t first, std::int64_t last, double* block) const override {
    const std::int64_t n_features = table_.n_features();
    for (std::int64_t f = 0; f < n_features; ++f) {
      const Column& column = table_.column(f);
      if (!column.sparse) {
        for (std::int64_t row = first; row < last; ++row)
          block[(row - first) * n_features + f] = column.value_of(column.stored_code(row));
        continue;
      }
      const double common = column.value_of(column.default_code);
      for (std::int64_t row = first; row < last; ++row) block[(row - first) * n_features + f] = common;
      auto at = std::lower_bound(column.entry_rows.begin(), column.entry_rows.end(), static_cast<std::uint32_t>(first));
      for (; at != column.entry_rows.end() && *at < last; ++at) {
        block[(*at - first) * n_features + f] = column.value_of(column.stored_code(at - column.entry_rows.begin()));
      }
    }
  }

  void unload(std::int64_t, std::int64_t, double*) const override {}  // the next load overwrites every cell

 private:
  FeatureTable table_;
};

}  // namespace

template <class Number>
std::unique_ptr<FeatureRows> dense_rows(MatrixView<Number> X) {
  return std::make_unique<DenseRows<Number>>(X);
}

template <class Number, class Index>
std::unique_ptr<FeatureRows> compressed_rows(CompressedView<Number, Index> X) {
  return std::make_unique<CompressedRows<Number, Index>>(X);
}

std::unique_ptr<FeatureRows> table_rows(const FeatureTable& table) { return std::make_unique<TableRows>(table); }

template std::unique_ptr<FeatureRows> dense_rows(MatrixView<float>);
template std::unique_ptr<FeatureRows> dense_rows(MatrixView<double>);
template std::unique_ptr<FeatureRows> compressed_rows(CompressedView<float, std::int32_t>);
template std::unique_ptr<FeatureRows> compressed_rows(CompressedView<float, std::int64_t>);
template std::unique_ptr<FeatureRows> compressed_rows(CompressedView<double, std::int32_t>);
template std::unique_ptr<FeatureRows> compressed_rows(CompressedView<double, std::int64_t>);

}  // namespace ramify
