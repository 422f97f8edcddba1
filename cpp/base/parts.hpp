/// Rows that are parted among machines: what all parts have to know together.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ramify {

/// Puts numbers of all parts together, in place. Every part calls the same functions in the same order with as many
/// numbers, and gets the same result. Sums must not depend on their order: whole numbers, or numbers of one `Grid`.
/// Without other parts nothing changes.
class Parts {
 public:
  enum class Operation { sum_of_whole, sum, largest };
  using Combine = std::function<void(Operation operation, void* numbers, std::int64_t n)>;

  /// All rows are here.
  Parts() = default;

  /// The rows here are those from `first_row` on among all.
  Parts(std::int64_t first_row, Combine combine) : first_row_(first_row), combine_(std::move(combine)) {}

  bool are_several() const { return static_cast<bool>(combine_); }
  std::int64_t first_row() const { return first_row_; }

  void sum(std::vector<std::int32_t>& numbers) const { call(Operation::sum_of_whole, numbers); }
  void sum(std::vector<double>& numbers) const { call(Operation::sum, numbers); }
  void largest(std::vector<double>& numbers) const { call(Operation::largest, numbers); }
  double sum(double number) const {
    std::vector<double> numbers{number};
    sum(numbers);
    return numbers[0];
  }

 private:
  template <class Number>
  void call(Operation operation, std::vector<Number>& numbers) const {
    if (combine_) combine_(operation, numbers.data(), static_cast<std::int64_t>(numbers.size()));
  }

  std::int64_t first_row_ = 0;
  Combine combine_;
};

}  // namespace ramify
