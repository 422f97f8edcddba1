// Criteria for rankings equal their definitions, computed by brute force after every example that goes left.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "check.hpp"
#include "rankings/rank_criteria.hpp"

using namespace ramify;
using Ranking = std::vector<int>;

namespace {

struct Data {
  std::int64_t n_labels;
  std::vector<Ranking> rankings;
  std::vector<std::int8_t> signs;
  std::vector<double> vectors;
  std::vector<std::int32_t> kinds;
  std::vector<std::uint32_t> rows;
  std::vector<double> weights;

  RankingRows view() const {
    const std::int64_t n_pairs = n_labels * (n_labels - 1) / 2;
    const std::int64_t n_kinds = 1 + *std::max_element(kinds.begin(), kinds.end());
    return {signs.data(), nullptr, vectors.data(), kinds.data(), static_cast<std::int64_t>(rankings.size()),
            n_labels,     n_pairs, n_pairs,        n_kinds,      static_cast<double>(n_pairs)};
  }
};

Data make_data(std::int64_t n_labels, std::int64_t n_rows, std::uint64_t seed) {
  Data data{n_labels, {}, {}, {}, {}, {}, {}};
  Random random(seed, 0);
  std::map<Ranking, std::int32_t> seen;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    Ranking ranking(static_cast<std::size_t>(n_labels));
    std::iota(ranking.begin(), ranking.end(), 1);
    for (std::size_t j = ranking.size(); j > 1; --j)
      if (random.uniform() < 0.6) std::swap(ranking[j - 1], ranking[random.below(j)]);
    for (std::size_t a = 0; a < ranking.size(); ++a)
      for (std::size_t b = a + 1; b < ranking.size(); ++b) {
        data.signs.push_back(ranking[a] < ranking[b] ? 1 : -1);
        data.vectors.push_back(ranking[a] < ranking[b] ? 1.0 : -1.0);
      }
    data.kinds.push_back(seen.emplace(ranking, static_cast<std::int32_t>(seen.size())).first->second);
    data.rankings.push_back(ranking);
    data.rows.push_back(static_cast<std::uint32_t>(i));
    data.weights.push_back(1.0 + static_cast<double>(random.below(3)));
  }
  return data;
}

double discordances(const Ranking& one, const Ranking& other) {
  int count = 0;
  for (std::size_t a = 0; a < one.size(); ++a)
    for (std::size_t b = a + 1; b < one.size(); ++b) count += (one[a] < one[b]) != (other[a] < other[b]);
  return count;
}

double tau(const Ranking& one, const Ranking& other) {
  return 1 - 4 * discordances(one, other) / static_cast<double>(one.size() * (one.size() - 1));
}

struct Part {
  const Data& data;
  std::size_t begin, end;

  double n() const { return std::accumulate(data.weights.begin() + begin, data.weights.begin() + end, 0.0); }

  double similarity() const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = begin; j < end; ++j)
        sum += data.weights[i] * data.weights[j] * tau(data.rankings[i], data.rankings[j]);
    return sum / (n() * n());
  }

  std::map<Ranking, double> counts() const {
    std::map<Ranking, double> counts;
    for (std::size_t i = begin; i < end; ++i) counts[data.rankings[i]] += data.weights[i];
    return counts;
  }

  double entropy() const {
    double logs = 0, similarity = 0;
    const auto distinct = counts();
    for (const auto& [ranking, count] : distinct) {
      logs += count / n() * std::log(count / n());
      for (std::size_t j = begin; j < end; ++j)
        similarity += data.weights[j] * (tau(ranking, data.rankings[j]) + 1) / 2;
    }
    return logs * std::log(similarity / (static_cast<double>(distinct.size()) * n()));
  }

  /// Maximum-likelihood spread, the normalising sum taken over all permutations.
  double spread() const {
    const std::size_t k = static_cast<std::size_t>(data.n_labels);
    std::vector<double> sums(k);
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t label = 0; label < k; ++label) sums[label] += data.weights[i] * data.rankings[i][label];
    std::vector<std::size_t> order(k);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a] < sums[b]; });
    Ranking centre(k);
    for (std::size_t place = 0; place < k; ++place) centre[order[place]] = static_cast<int>(place) + 1;
    double mean = 0;
    for (std::size_t i = begin; i < end; ++i) mean += data.weights[i] * discordances(data.rankings[i], centre) / n();
    std::vector<double> distances;
    Ranking permutation(k);
    std::iota(permutation.begin(), permutation.end(), 1);
    const Ranking identity = permutation;
    do distances.push_back(discordances(permutation, identity));
    while (std::next_permutation(permutation.begin(), permutation.end()));
    double low = 0, high = MallowsCriterion::max_spread;
    for (int step = 0; step < 80; ++step) {
      const double middle = (low + high) / 2;
      double weights = 0, expected = 0;
      for (const double distance : distances) {
        weights += std::exp(-middle * distance);
        expected += distance * std::exp(-middle * distance);
      }
      (expected / weights > mean ? low : high) = middle;
    }
    return (low + high) / 2;
  }
};

bool close(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * (1 + std::abs(b)); }

template <class Criterion, class Value>
void check_every_prefix(Criterion& criterion, const Data& data, double sign, double tolerance, Value value) {
  const std::size_t n = data.rows.size();
  const Part node{data, 0, n};
  criterion.open(data.rows.data(), data.weights.data(), static_cast<std::int64_t>(n));
  for (int round = 0; round < 2; ++round) {
    criterion.clear();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      criterion.add(static_cast<std::int64_t>(i));
      const Part left{data, 0, i + 1}, right{data, i + 1, n};
      const double split = (left.n() * value(left) + right.n() * value(right)) / node.n();
      CHECK(close(criterion.gain(), sign * (split - value(node)), tolerance));
    }
  }
}

}  // namespace

int main() {
  for (std::int64_t n_labels = 2; n_labels <= 5; ++n_labels)
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Data data = make_data(n_labels, 25, seed);
      const RankingRows view = data.view();
      const RankingProblem vectors{view, VectorRows(view.vectors, view.n_rows, view.n_dimensions), 0.98, view.n_rows};
      const RankingProblem signs{view, VectorRows(view.signs, view.n_rows, view.n_pairs), 1.0, view.n_rows};
      CorrelationCriterion correlation(vectors);
      check_every_prefix(correlation, data, 1, 1e-12, [](const Part& part) { return part.similarity(); });
      EntropyCriterion entropy(vectors);
      check_every_prefix(entropy, data, -1, 1e-11, [](const Part& part) { return part.entropy(); });
      MallowsCriterion mallows(signs);
      check_every_prefix(mallows, data, 1, 1e-9, [](const Part& part) { return part.spread(); });
    }

  // A node without order can be split by the gamma rule only if the split gains enough.
  const Data data = make_data(3, 40, 9);
  const VectorRows vectors(data.vectors.data(), 40, 3);
  const RankingProblem hard{data.view(), vectors, 0.5, 40}, easy{data.view(), vectors, 1.0, 40};
  CorrelationCriterion strict(hard), lenient(easy);
  for (CorrelationCriterion* criterion : {&strict, &lenient}) {
    criterion->open(data.rows.data(), data.weights.data(), 40);
    for (std::int64_t i = 0; i < 20; ++i) criterion->add(i);
  }
  CHECK(!strict.allowed());
  CHECK(lenient.allowed() == (lenient.gain() > 0));
  return check::finish();
}
