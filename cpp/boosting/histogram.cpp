#include "boosting/histogram.hpp"

#include "base/bits.hpp"

namespace ramify {

namespace {

template <int stride, class Code>
void add_rows(const Code* codes, const std::uint32_t* rows, const std::int16_t* values, std::int64_t n_rows,
              std::int32_t* histogram) {
  for (std::int64_t i = 0; i < n_rows; ++i) {
    std::int32_t* const sums = histogram + static_cast<std::int64_t>(codes[rows[i]]) * stride;
    const std::int16_t* const row = values + i * stride;
    for (int c = 0; c < stride; ++c) sums[c] += row[c];
  }
}

/// As many lanes as there may be.
template <class Code>
void add_wide_rows(const Code* codes, int stride, const std::uint32_t* rows, const std::int16_t* values,
                   std::int64_t n_rows, std::int32_t* histogram) {
  for (std::int64_t i = 0; i < n_rows; ++i) {
    std::int32_t* const sums = histogram + static_cast<std::int64_t>(codes[rows[i]]) * stride;
    const std::int16_t* const row = values + i * stride;
    for (int first = 0; first < stride; first += 4) {
      for (int c = first; c < first + 4; ++c) sums[c] += row[c];
    }
  }
}

template <class Code>
void add_coded(const std::uint8_t* bytes, int stride, const std::uint32_t* rows, const std::int16_t* values,
               std::int64_t n_rows, std::int32_t* histogram) {
  const auto* const codes = reinterpret_cast<const Code*>(bytes);
  switch (stride) {
    case 4:
      return add_rows<4>(codes, rows, values, n_rows, histogram);
    case 8:
      return add_rows<8>(codes, rows, values, n_rows, histogram);
    case 12:
      return add_rows<12>(codes, rows, values, n_rows, histogram);
    case 16:
      return add_rows<16>(codes, rows, values, n_rows, histogram);
    case 32:
      return add_rows<32>(codes, rows, values, n_rows, histogram);
    default:
      return add_wide_rows(codes, stride, rows, values, n_rows, histogram);
  }
}

template <class Code>
void note_codes(const std::uint8_t* bytes, const std::uint32_t* rows, std::int64_t n_rows,
                std::vector<std::uint64_t>& bits) {
  const auto* const codes = reinterpret_cast<const Code*>(bytes);
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const auto code = static_cast<std::size_t>(codes[rows[i]]);
    bits[code / 64] |= std::uint64_t(1) << (code % 64);
  }
}

}  // namespace

void add_to_histogram(const ColumnHead& column, const Lanes& lanes, const std::uint32_t* rows,
                      const std::int16_t* values, std::int64_t n_rows, std::int32_t* histogram) {
  switch (column.width) {
    case 1:
      return add_coded<std::uint8_t>(column.codes, lanes.stride, rows, values, n_rows, histogram);
    case 2:
      return add_coded<std::uint16_t>(column.codes, lanes.stride, rows, values, n_rows, histogram);
    default:
      return add_coded<std::uint32_t>(column.codes, lanes.stride, rows, values, n_rows, histogram);
  }
}

void list_codes(const ColumnHead& column, const std::uint32_t* rows, std::int64_t n_rows,
                std::vector<std::uint64_t>& bits, std::vector<std::int32_t>& codes) {
  bits.assign(static_cast<std::size_t>(column.n_codes) / 64 + 1, 0);
  switch (column.width) {
    case 1:
      note_codes<std::uint8_t>(column.codes, rows, n_rows, bits);
      break;
    case 2:
      note_codes<std::uint16_t>(column.codes, rows, n_rows, bits);
      break;
    default:
      note_codes<std::uint32_t>(column.codes, rows, n_rows, bits);
      break;
  }
  codes.clear();
  for (std::size_t word = 0; word < bits.size(); ++word) {
    for (std::uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
      codes.push_back(static_cast<std::int32_t>(word * 64 + lowest_bit(rest)));
  }
}

}  // namespace ramify
