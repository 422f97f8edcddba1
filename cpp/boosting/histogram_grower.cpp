#include "boosting/histogram_grower.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/random.hpp"
#include "forest/bagging.hpp"
#include "forest/splitting.hpp"

namespace ramify {

namespace {

constexpr std::int64_t least_block = 1 << 13;   ///< rows of a piece of a job
constexpr std::int64_t most_blocks = 64;        ///< of all rows
constexpr std::int64_t slice_rows = 1 << 11;    ///< that are sent to the children by one task
constexpr std::int64_t most_results = 1 << 17;  ///< cuts looked for at once, but for those of one node
constexpr std::int64_t most_sent_cells = 1 << 25;
constexpr std::int64_t most_kept_cells = 1 << 26;
constexpr std::size_t n_locks = 64;

std::int64_t n_blocks_of(std::int64_t n_rows, std::int64_t block_rows) {
  return std::max<std::int64_t>(1, (n_rows + block_rows - 1) / block_rows);
}

void add_node(Tree& tree) {
  tree.feature.push_back(-1);
  tree.threshold.push_back(0);
  tree.child.push_back(0);
  tree.subset.push_back(-1);
  tree.missing_left.push_back(0);
  tree.weight.push_back(0);
  tree.decrease.push_back(0);
}

bool has_category(const Tree& tree, std::size_t node, std::int32_t code) {
  const auto word = static_cast<std::size_t>(tree.subset_offsets[static_cast<std::size_t>(tree.subset[node])]);
  return (tree.subset_words[word + static_cast<std::size_t>(code / 64)] >> (code % 64)) & 1;
}

/// The codes of ascending rows of a sparse column, which is searched from where the last row was found.
class SparseReader {
 public:
  explicit SparseReader(const Column& column) : column_(column) {}

  std::int32_t code(std::uint32_t row) {
    const std::vector<std::uint32_t>& rows = column_.entry_rows;
    std::size_t step = 1, low = next_;
    while (low + step < rows.size() && rows[low + step] < row) {
      low += step;
      step *= 2;
    }
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), low + step + 1));
    next_ = static_cast<std::size_t>(std::lower_bound(rows.begin() + static_cast<std::ptrdiff_t>(low), end, row) -
                                     rows.begin());
    const bool stored = next_ < rows.size() && rows[next_] == row;
    return stored ? column_.stored_code(static_cast<std::int64_t>(next_)) : column_.default_code;
  }

 private:
  const Column& column_;
  std::size_t next_ = 0;
};

}  // namespace

HistogramGrower::HistogramGrower(const FeatureTable& table, const Lanes& lanes, const GrowParams& params,
                                 const Parts& parts, Team& team)
    : table_(table),
      lanes_(lanes),
      params_(params),
      parts_(parts),
      team_(team),
      locks_(std::make_unique<std::mutex[]>(n_locks)) {
  const CutLimits limits{params.min_samples_leaf, params.min_category_rows};
  std::int64_t most_cells = 0;
  for (std::int64_t f = 0; f < table.n_features(); ++f) {
    cell_of_feature_.push_back(n_kept_cells_);
    if (table.head(f).sparse) continue;
    most_cells = std::max(most_cells, n_cells(f));
    n_kept_cells_ += n_cells(f);
  }
  for (int t = 0; t < team.n_threads(); ++t) {
    spaces_.emplace_back(lanes, limits);
    spaces_.back().histogram.assign(static_cast<std::size_t>(most_cells), 0);
  }
  if (table.has_sparse()) place_of_row_.resize(static_cast<std::size_t>(table.n_rows()));
  sparse_job_of_.assign(static_cast<std::size_t>(table.n_features()), -1);
  result_of_sibling_.assign(static_cast<std::size_t>(table.n_features()), -1);
  // Where nodes look at few of the features, siblings seldom look at what their parent did.
  keeps_ = n_kept_cells_ > 0 && 2 * params.max_features >= table.n_features();
  if (keeps_) most_kept_ = static_cast<std::size_t>(most_kept_cells / n_kept_cells_);
}

void HistogramGrower::make_room(std::int64_t n_rows, std::int64_t n_rows_in_all) {
  n_rows_ = n_rows;
  n_rows_in_all_ = n_rows_in_all;
  block_rows_ = team_.n_threads() == 1 ? n_rows + 1 : std::max(least_block, n_rows / most_blocks + 1);
  for (auto& rows : rows_) rows.resize(static_cast<std::size_t>(n_rows));
  for (auto& values : values_) values.resize(static_cast<std::size_t>(n_rows * lanes_.stride));
  goes_left_.resize(static_cast<std::size_t>(n_rows));
}

Tree HistogramGrower::grow(std::uint64_t seed) {
  Tree tree;
  begin_tree(seed, tree);
  const std::int64_t width = std::max<std::int64_t>(1, std::min(params_.max_features, table_.n_features()));
  std::int64_t at_once = most_results;
  if (parts_.are_several())
    at_once = std::min(at_once, most_sent_cells / static_cast<std::int64_t>(spaces_[0].histogram.size() + 1));
  const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(2, at_once / width));
  for (std::int64_t depth = 0; !level_.empty(); ++depth) {
    next_level_.clear();
    next_totals_.clear();
    for (std::size_t first = 0; first < level_.size();) {
      std::size_t last = std::min(level_.size(), first + batch);
      if (level_[last - 1].sibling == static_cast<std::int32_t>(last)) ++last;
      find_cuts(first, last);
      for (std::size_t node = first; node < last; ++node) {
        choose(level_[node], tree);
        open_children(node, depth, tree);
      }
      first = last;
    }
    part_rows(tree);
    level_.swap(next_level_);
    totals_.swap(next_totals_);
    at_ = 1 - at_;
  }
  std::int32_t n_leaves = 0;
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] < 0) tree.child[i] = n_leaves++;
  }
  return tree;
}

void HistogramGrower::begin_tree(std::uint64_t seed, Tree& tree) {
  seed_ = tree.seed = seed;
  at_ = 0;
  leaves_.clear();
  low_.assign(1, 0);
  level_.clear();
  kept_states_.resize(kept_.size());
  free_kept_.clear();
  for (std::size_t k = kept_.size(); k-- > 0;) free_kept_.push_back(static_cast<std::int32_t>(k));
  add_node(tree);
  tree.weight[0] = static_cast<double>(n_rows_in_all_);
  if (!may_split(n_rows_in_all_, 0)) return close(0, 0, static_cast<std::uint32_t>(n_rows_));
  if (!place_of_row_.empty()) {
    const std::int64_t n = table_.n_rows();
    team_.run(n_blocks_of(n, least_block), [&](std::int64_t task, int) {
      const auto begin = place_of_row_.begin() + task * least_block;
      std::fill(begin, place_of_row_.begin() + std::min(n, (task + 1) * least_block), RowPlace{});
    });
  }
  sum_root();
  Open root{};
  root.id = 0;
  root.begin = 0;
  root.end = static_cast<std::uint32_t>(n_rows_);
  root.n_rows = n_rows_in_all_;
  std::vector<std::uint32_t> all(static_cast<std::size_t>(table_.n_features()));
  std::iota(all.begin(), all.end(), 0u);
  root.live = std::make_shared<const std::vector<std::uint32_t>>(std::move(all));
  root.kept = keeps_ && may_split(n_rows_in_all_, 1) ? take_kept() : -1;
  level_.push_back(std::move(root));
}

/// Sum the lanes of all rows, and note where they stand.
void HistogramGrower::sum_root() {
  totals_.assign(static_cast<std::size_t>(lanes_.stride), 0);
  team_.run(n_blocks_of(n_rows_, block_rows_), [&](std::int64_t task, int) {
    const std::int64_t begin = task * block_rows_, end = std::min(n_rows_, begin + block_rows_);
    std::vector<std::int32_t> sums(static_cast<std::size_t>(lanes_.stride), 0);
    const std::int16_t* values = values_[0].data() + begin * lanes_.stride;
    for (std::int64_t i = begin; i < end; ++i, values += lanes_.stride) {
      for (int c = 0; c < lanes_.stride; ++c) sums[static_cast<std::size_t>(c)] += values[c];
      if (place_of_row_.empty()) continue;
      const std::uint32_t row = rows_[0][static_cast<std::size_t>(i)];
      place_of_row_[row] = {0, static_cast<std::uint32_t>(i)};
    }
    const std::lock_guard<std::mutex> lock(locks_[0]);
    for (std::size_t c = 0; c < sums.size(); ++c) totals_[c] += sums[c];
  });
  parts_.sum(totals_);
}

bool HistogramGrower::may_split(std::int64_t n_rows, std::int64_t depth) const {
  return n_rows >= 2 * std::max<std::int64_t>(1, params_.min_samples_leaf) &&
         (params_.max_depth < 0 || depth < params_.max_depth);
}

/// Look at the features of nodes [first, last): at more of them as long as some are found to be constant.
void HistogramGrower::find_cuts(std::size_t first, std::size_t last) {
  n_results_ = 0;
  for (std::size_t node = first; node < last; ++node) level_[node].results.clear();
  const bool knows_rows = table_.has_sparse() && (table_.row_bits() != nullptr || table_.row_entries() != nullptr);
  if (knows_rows && level_[first].id > 0) drop_absent(first, last);
  while (list_jobs(first, last)) {
    run_jobs();
    for (std::size_t at = first; at < last; ++at) {
      Open& node = level_[at];
      node.n_varying = 0;
      for (const std::int32_t result : node.results)
        node.n_varying += !cuts_[static_cast<std::size_t>(result)].constant;
    }
  }
}

/// Features of which no row of a node holds more than the default are constant in it: note so before any is drawn.
void HistogramGrower::drop_absent(std::size_t first, std::size_t last) {
  const RowBits* const by_bit = table_.row_bits();
  const RowEntries* const by_entry = table_.row_entries();
  team_.run(static_cast<std::int64_t>(last - first), [&](std::int64_t task, int thread) {
    Open& node = level_[first + static_cast<std::size_t>(task)];
    Workspace& space = spaces_[static_cast<std::size_t>(thread)];
    std::vector<char>& is_held = space.is_held;
    is_held.assign(static_cast<std::size_t>(table_.n_features()), 0);
    const std::uint32_t *const begin = rows_[at_].data() + node.begin, *const end = rows_[at_].data() + node.end;
    if (by_bit != nullptr) {
      space.bits.assign(static_cast<std::size_t>(by_bit->n_words), 0);
      for (const std::uint32_t* row = begin; row != end; ++row) {
        const std::uint64_t* const bits = by_bit->bits.data() + *row * by_bit->n_words;
        for (std::size_t word = 0; word < space.bits.size(); ++word) space.bits[word] |= bits[word];
      }
      for (std::size_t bit = 0; bit < by_bit->features.size(); ++bit)
        is_held[by_bit->features[bit]] = space.bits[bit / 64] >> (bit % 64) & 1;
    }
    if (by_entry != nullptr) {
      for (const std::uint32_t* row = begin; row != end; ++row) {
        for (std::int64_t e = by_entry->offsets[*row]; e < by_entry->offsets[*row + 1]; ++e)
          is_held[by_entry->features[static_cast<std::size_t>(e)]] = 1;
      }
    }
    std::vector<std::uint32_t> present;
    for (const std::uint32_t f : *node.live) {
      if (is_held[f] || !table_.by_row(f)) present.push_back(f);
    }
    if (present.size() < node.live->size())
      node.live = std::make_shared<const std::vector<std::uint32_t>>(std::move(present));
  });
}

/// Draw the next features of a node. Constant ones do not count, so about as many more are drawn as were constant.
void HistogramGrower::draw_features(Open& node) {
  const auto n_live = static_cast<std::int64_t>(node.live->size());
  const std::int64_t short_of = params_.max_features - node.n_varying;
  if (short_of <= 0 || node.n_drawn == n_live) return;
  if (node.n_drawn == 0) node.drawn = *node.live;
  Random random(tree_seed(seed_, node.id), static_cast<std::uint64_t>(node.n_drawn));
  const std::int64_t per_varying = (node.n_drawn + node.n_varying + 1) / (node.n_varying + 1);
  const std::int64_t end =
      node.n_drawn + std::min(n_live - node.n_drawn, node.n_drawn == 0 ? short_of : short_of * per_varying);
  for (; node.n_drawn < end; ++node.n_drawn) {
    const auto other =
        node.n_drawn + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n_live - node.n_drawn)));
    std::swap(node.drawn[static_cast<std::size_t>(node.n_drawn)], node.drawn[static_cast<std::size_t>(other)]);
  }
}

/// List what is to be done for nodes [first, last); false if nothing is.
bool HistogramGrower::list_jobs(std::size_t first, std::size_t last) {
  team_.run(static_cast<std::int64_t>(last - first),
            [&](std::int64_t task, int) { draw_features(level_[first + static_cast<std::size_t>(task)]); });
  dense_.clear();
  sparse_.clear();
  wanted_.clear();
  n_shared_ = 0;
  for (std::size_t node = first; node < last; ++node) {
    const std::int32_t sibling = level_[node].sibling;
    if (sibling < 0 || static_cast<std::size_t>(sibling) > node) list_dense_jobs(node);
  }
  for (const SparseJob& job : sparse_) sparse_job_of_[job.feature] = -1;
  cuts_.resize(std::max(cuts_.size(), static_cast<std::size_t>(n_results_)));
  left_sums_.resize(std::max(left_sums_.size(), static_cast<std::size_t>(n_results_ * lanes_.stride)));
  return !dense_.empty() || !sparse_.empty();
}

/// List what a node and its sibling look at. Where the histograms of their parent are kept, the larger one's are those
/// less the smaller one's.
void HistogramGrower::list_dense_jobs(std::size_t at) {
  std::size_t small = at, large = at;
  if (level_[at].sibling >= 0) {
    large = static_cast<std::size_t>(level_[at].sibling);
    if (level_[small].n_rows >= level_[large].n_rows) std::swap(small, large);
  }
  const auto each_new = [this](std::size_t place, auto visit) {
    Open& node = level_[place];
    while (static_cast<std::int64_t>(node.results.size()) < node.n_drawn) {
      const std::uint32_t feature = node.drawn[node.results.size()];
      node.results.push_back(n_results_);
      if (table_.head(feature).sparse) {
        want(place, feature, n_results_++);
      } else {
        visit(feature, n_results_++);
      }
    }
  };
  const std::int32_t kept = level_[large].kept;
  if (small == large || kept < 0) {
    each_new(small,
             [&](std::uint32_t feature, std::int32_t result) { add_dense_job(small, feature, result, nullptr, -1); });
    if (large != small)
      each_new(large,
               [&](std::uint32_t feature, std::int32_t result) { add_dense_job(large, feature, result, nullptr, -1); });
    return;
  }
  std::vector<std::pair<std::uint32_t, std::int32_t>> of_large;
  each_new(large, [&](std::uint32_t feature, std::int32_t result) {
    if (kept_state(kept, feature) != 1) return add_dense_job(large, feature, result, nullptr, -1);
    result_of_sibling_[feature] = result;
    of_large.emplace_back(feature, result);
  });
  each_new(small, [&](std::uint32_t feature, std::int32_t result) {
    std::int32_t& other = result_of_sibling_[feature];
    add_dense_job(small, feature, result, other >= 0 ? kept_histogram(kept, feature) : nullptr, other);
    other = -1;
  });
  for (const auto& [feature, result] : of_large) {
    if (result_of_sibling_[feature] >= 0) add_dense_job(small, feature, -1, kept_histogram(kept, feature), result);
    result_of_sibling_[feature] = -1;
    kept_state(kept, feature) = 2;
  }
}

void HistogramGrower::add_dense_job(std::size_t at, std::uint32_t feature, std::int32_t result, std::int32_t* of_parent,
                                    std::int32_t sibling_result) {
  const Open& node = level_[at];
  DenseJob job{};
  job.feature = feature;
  job.node = static_cast<std::int32_t>(at);
  job.result = result;
  job.sibling_result = sibling_result;
  job.of_parent = of_parent;
  job.n_blocks = job.pending = static_cast<std::int32_t>(n_blocks_of(node.end - node.begin, block_rows_));
  if (node.kept >= 0) {
    job.target = kept_histogram(node.kept, feature);
    kept_state(node.kept, feature) = 2;
  } else if (job.n_blocks > 1 || parts_.are_several()) {
    if (n_shared_ == shared_.size()) shared_.emplace_back(spaces_[0].histogram.size());
    job.target = shared_[n_shared_++].data();
  }
  dense_.push_back(job);
}

void HistogramGrower::want(std::size_t node, std::uint32_t feature, std::int32_t result) {
  std::int32_t& at = sparse_job_of_[feature];
  if (at < 0) {
    at = static_cast<std::int32_t>(sparse_.size());
    sparse_.push_back({feature, -1});
  }
  SparseJob& job = sparse_[static_cast<std::size_t>(at)];
  wanted_.push_back({static_cast<std::int32_t>(node), result, job.first});
  job.first = static_cast<std::int32_t>(wanted_.size()) - 1;
}

std::int32_t* HistogramGrower::kept_histogram(std::int32_t kept, std::uint32_t feature) {
  return kept_[static_cast<std::size_t>(kept)].data() + cell_of_feature_[feature];
}

/// 0: nothing is kept, 1: the histogram of the node's parent, 2: that of the node.
char& HistogramGrower::kept_state(std::int32_t kept, std::uint32_t feature) {
  return kept_states_[static_cast<std::size_t>(kept)][feature];
}

/// A place to keep histograms, or -1 where there is no more room.
std::int32_t HistogramGrower::take_kept() {
  if (free_kept_.empty()) {
    if (kept_.size() >= most_kept_) return -1;
    free_kept_.push_back(static_cast<std::int32_t>(kept_.size()));
    kept_.emplace_back(static_cast<std::size_t>(n_kept_cells_));
    kept_states_.emplace_back();
  }
  const std::int32_t kept = free_kept_.back();
  free_kept_.pop_back();
  kept_states_[static_cast<std::size_t>(kept)].assign(static_cast<std::size_t>(table_.n_features()), 0);
  return kept;
}

/// Do all jobs, small ones together; where rows are parted, cuts are found when histograms of all parts are known.
void HistogramGrower::run_jobs() {
  pieces_.clear();
  std::vector<std::int64_t>& costs = spaces_[0].costs;
  costs.clear();
  for (std::size_t j = 0; j < sparse_.size(); ++j) {
    pieces_.push_back({~static_cast<std::int32_t>(j), 0});
    costs.push_back(table_.head(sparse_[j].feature).n_stored + 64);
  }
  for (std::size_t j = 0; j < dense_.size(); ++j) {
    const Open& node = level_[static_cast<std::size_t>(dense_[j].node)];
    const std::int64_t n_rows = node.end - node.begin;
    for (std::int32_t block = 0; block < dense_[j].n_blocks; ++block) {
      pieces_.push_back({static_cast<std::int32_t>(j), block});
      costs.push_back(std::min(n_rows, block_rows_) + 64);
    }
  }
  const std::int64_t total = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
  const std::int64_t share = std::clamp<std::int64_t>(total / (8 * team_.n_threads()), 1 << 10, 1 << 14);
  shares_.assign(1, 0);
  std::int64_t together = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    together += costs[i];
    if (together < share && i + 1 < pieces_.size()) continue;
    shares_.push_back(static_cast<std::int32_t>(i) + 1);
    together = 0;
  }
  team_.run(static_cast<std::int64_t>(shares_.size()) - 1, [&](std::int64_t task, int thread) {
    Workspace& space = spaces_[static_cast<std::size_t>(thread)];
    const auto part = static_cast<std::size_t>(task);
    for (std::int32_t i = shares_[part]; i < shares_[part + 1]; ++i) {
      const Piece piece = pieces_[static_cast<std::size_t>(i)];
      if (piece.job < 0) {
        do_sparse(sparse_[static_cast<std::size_t>(~piece.job)], space);
      } else if (dense_[static_cast<std::size_t>(piece.job)].n_blocks == 1) {
        do_dense(dense_[static_cast<std::size_t>(piece.job)], space);
      } else {
        do_block(static_cast<std::size_t>(piece.job), piece.block, space);
      }
    }
  });
  if (parts_.are_several()) put_parts_together();
}

/// Sum the histograms over all parts, and find the cuts.
void HistogramGrower::put_parts_together() {
  of_parts_.clear();
  for (const DenseJob& job : dense_) of_parts_.insert(of_parts_.end(), job.target, job.target + n_cells(job.feature));
  parts_.sum(of_parts_);
  const std::int32_t* summed = of_parts_.data();
  for (const DenseJob& job : dense_) {
    std::copy_n(summed, n_cells(job.feature), job.target);
    summed += n_cells(job.feature);
  }
  team_.run(static_cast<std::int64_t>(dense_.size()), [&](std::int64_t task, int thread) {
    const DenseJob& job = dense_[static_cast<std::size_t>(task)];
    finish_dense(job, job.target, false, spaces_[static_cast<std::size_t>(thread)]);
  });
}

/// A node of one block.
void HistogramGrower::do_dense(const DenseJob& job, Workspace& space) {
  const Open& node = level_[static_cast<std::size_t>(job.node)];
  const ColumnHead& column = table_.head(job.feature);
  const std::int64_t n_rows = node.end - node.begin;
  const std::uint32_t* const rows = rows_[at_].data() + node.begin;
  const bool few = !parts_.are_several() && 2 * n_rows < column.n_codes;
  std::int32_t* histogram = space.histogram.data();
  if (job.target != nullptr) {
    histogram = job.target;
    std::fill_n(histogram, n_cells(job.feature), 0);
  }
  add_to_histogram(column, lanes_, rows, values_[at_].data() + std::int64_t{node.begin} * lanes_.stride, n_rows,
                   histogram);
  if (parts_.are_several()) return;
  if (few) list_codes(column, rows, n_rows, space.bits, space.codes);
  finish_dense(job, histogram, few, space);
  if (job.target != nullptr) return;
  if (few) {
    list_codes(column, rows, n_rows, space.bits, space.codes);
    for (const std::int32_t code : space.codes)
      std::fill_n(histogram + std::int64_t{code} * lanes_.stride, lanes_.stride, 0);
  } else {
    std::fill_n(histogram, n_cells(job.feature), 0);
  }
}

/// A block of a larger node; who adds the last one goes on.
void HistogramGrower::do_block(std::size_t at, std::int32_t block, Workspace& space) {
  DenseJob& job = dense_[at];
  const Open& node = level_[static_cast<std::size_t>(job.node)];
  const std::int64_t begin = node.begin + block * block_rows_,
                     end = std::min<std::int64_t>(node.end, begin + block_rows_);
  std::int32_t* const histogram = space.histogram.data();
  add_to_histogram(table_.head(job.feature), lanes_, rows_[at_].data() + begin,
                   values_[at_].data() + begin * lanes_.stride, end - begin, histogram);
  const std::int64_t n = n_cells(job.feature);
  bool last = false;
  {
    const std::lock_guard<std::mutex> lock(locks_[at % n_locks]);
    if (job.pending == job.n_blocks) {
      std::copy_n(histogram, n, job.target);
    } else {
      for (std::int64_t c = 0; c < n; ++c) job.target[c] += histogram[c];
    }
    last = --job.pending == 0;
  }
  std::fill_n(histogram, n, 0);
  if (last && !parts_.are_several()) finish_dense(job, job.target, false, space);
}

void HistogramGrower::finish_dense(const DenseJob& job, const std::int32_t* histogram, bool codes_known,
                                   Workspace& space) {
  const std::int32_t n_codes = table_.head(job.feature).n_codes;
  const auto list_held = [&](const std::int32_t* sums) {
    space.codes.clear();
    sums += lanes_.count_lane();
    for (std::int32_t code = 0; code <= n_codes; ++code, sums += lanes_.stride) {
      if (*sums != 0) space.codes.push_back(code);
    }
  };
  if (job.of_parent != nullptr) {
    const std::int64_t n = n_cells(job.feature);
    for (std::int64_t c = 0; c < n; ++c) job.of_parent[c] -= histogram[c];
  }
  if (job.result >= 0) {
    if (!codes_known) list_held(histogram);
    find_cut(job.feature, histogram, job.node, job.result, space);
  }
  if (job.of_parent == nullptr) return;
  list_held(job.of_parent);
  find_cut(job.feature, job.of_parent, level_[static_cast<std::size_t>(job.node)].sibling, job.sibling_result, space);
}

void HistogramGrower::do_sparse(const SparseJob& job, Workspace& space) {
  constexpr std::int64_t most_cells = 1 << 21;
  const auto together = static_cast<std::size_t>(std::max<std::int64_t>(1, most_cells / n_cells(job.feature)));
  space.wanted.clear();
  for (std::int32_t w = job.first; w >= 0; w = wanted_[static_cast<std::size_t>(w)].next)
    space.wanted.push_back(wanted_[static_cast<std::size_t>(w)]);
  for (std::size_t first = 0; first < space.wanted.size(); first += together)
    do_wanted(job.feature, space.wanted.data() + first, std::min(together, space.wanted.size() - first), space);
}

/// One look at the entries of a column serves several nodes; what is not stored is the rest of a node.
void HistogramGrower::do_wanted(std::uint32_t feature, const Wanted* wanted, std::size_t n_wanted, Workspace& space) {
  const Column& column = table_.column(feature);
  const std::int64_t n = n_cells(feature);
  space.sparse_histograms.assign(static_cast<std::size_t>(n) * n_wanted, 0);
  space.slots.resize(std::max(space.slots.size(), level_.size()), -1);
  for (std::size_t s = 0; s < n_wanted; ++s)
    space.slots[static_cast<std::size_t>(wanted[s].node)] = static_cast<std::int32_t>(s);
  for (std::size_t e = 0; e < column.entry_rows.size(); ++e) {
    const RowPlace at = place_of_row_[column.entry_rows[e]];
    if (at.node < 0) continue;
    const std::int32_t slot = space.slots[static_cast<std::size_t>(at.node)];
    if (slot < 0) continue;
    std::int32_t* const sums = space.sparse_histograms.data() + slot * n +
                               std::int64_t{column.stored_code(static_cast<std::int64_t>(e))} * lanes_.stride;
    const std::int16_t* const values = values_[at_].data() + std::int64_t{at.place} * lanes_.stride;
    for (int c = 0; c < lanes_.stride; ++c) sums[c] += values[c];
  }
  for (std::size_t s = 0; s < n_wanted; ++s) {
    space.slots[static_cast<std::size_t>(wanted[s].node)] = -1;
    std::int32_t* const histogram = space.sparse_histograms.data() + static_cast<std::int64_t>(s) * n;
    std::int32_t* const rest = histogram + std::int64_t{column.default_code} * lanes_.stride;
    const std::int32_t* const total = lanes_at(totals_, wanted[s].node);
    for (int c = 0; c < lanes_.stride; ++c) rest[c] = total[c];
    space.codes.clear();
    for (std::int32_t code = 0; code <= column.n_codes; ++code) {
      const std::int32_t* const sums = histogram + std::int64_t{code} * lanes_.stride;
      if (code == column.default_code) {
        space.codes.push_back(code);
        continue;
      }
      if (sums[lanes_.count_lane()] == 0) continue;
      space.codes.push_back(code);
      for (int c = 0; c < lanes_.stride; ++c) rest[c] -= sums[c];
    }
    if (rest[lanes_.count_lane()] == 0)
      space.codes.erase(std::lower_bound(space.codes.begin(), space.codes.end(), column.default_code));
    find_cut(feature, histogram, wanted[s].node, wanted[s].result, space);
  }
}

void HistogramGrower::find_cut(std::uint32_t feature, const std::int32_t* histogram, std::int32_t node,
                               std::int32_t result, Workspace& space) {
  space.finder.find(table_.head(feature), histogram, space.codes, lanes_at(totals_, node),
                    cuts_[static_cast<std::size_t>(result)], lanes_at(left_sums_, result));
}

/// The best cut of the features that count, the first drawn of equal ones.
void HistogramGrower::choose(Open& node, Tree& tree) {
  std::int64_t n_varying = 0;
  for (const std::int32_t result : node.results) {
    const HistogramCut& cut = cuts_[static_cast<std::size_t>(result)];
    if (cut.constant) continue;
    if (++n_varying > params_.max_features) break;
    if (!cut.found) continue;
    const bool better =
        node.best < 0 || cut.score > cuts_[static_cast<std::size_t>(node.best)].score * (1 + score_tolerance);
    if (better) node.best = result;
  }
  if (node.best < 0) {
    close(node.id, node.begin, node.end);
    return;
  }
  write_split(node, tree);
}

void HistogramGrower::write_split(Open& node, Tree& tree) {
  const HistogramCut& cut = cuts_[static_cast<std::size_t>(node.best)];
  const auto looked = std::find(node.results.begin(), node.results.end(), node.best) - node.results.begin();
  const auto feature = static_cast<std::int32_t>(node.drawn[static_cast<std::size_t>(looked)]);
  const Column& column = table_.column(feature);
  const auto at = static_cast<std::size_t>(node.id);
  const std::int32_t level_at = static_cast<std::int32_t>(&node - level_.data());
  const std::int32_t left = lanes_at(left_sums_, node.best)[lanes_.weight_lane()];
  const bool larger_is_left = left >= lanes_at(totals_, level_at)[lanes_.weight_lane()] - left;
  tree.feature[at] = feature;
  tree.missing_left[at] = cut.any_missing ? cut.missing_left : larger_is_left;
  tree.child[at] = static_cast<std::int32_t>(tree.n_nodes());
  if (cut.nominal) {
    tree.subset[at] = static_cast<std::int32_t>(tree.subset_offsets.size()) - 1;
    for (std::size_t word = 0; word < cut.left_codes.size(); ++word) {
      std::uint64_t bits = cut.left_codes[word];
      if (larger_is_left) bits |= ~cut.present_codes[word];  // what the node has not seen follows the larger side
      const std::int64_t n_bits = column.n_codes - static_cast<std::int64_t>(word) * 64;
      if (n_bits < 64) bits &= (std::uint64_t(1) << n_bits) - 1;
      tree.subset_words.push_back(bits);
    }
    tree.subset_offsets.push_back(static_cast<std::int64_t>(tree.subset_words.size()));
  } else {
    low_[at] = cut.low;
    tree.threshold[at] =
        cut.high < 0 ? std::numeric_limits<double>::infinity() : column.threshold_between(cut.low, cut.high);
  }
  add_node(tree);
  add_node(tree);
  low_.resize(low_.size() + 2);
}

/// Put the children of a split node into the next level, or among the leaves.
void HistogramGrower::open_children(std::size_t at, std::int64_t depth, Tree& tree) {
  Open& node = level_[at];
  if (node.best < 0) {
    if (node.kept >= 0) free_kept_.push_back(node.kept);
    return;
  }
  const std::int32_t* const left = lanes_at(left_sums_, node.best);
  const std::int32_t* const total = lanes_at(totals_, static_cast<std::int64_t>(at));
  const std::int64_t n_left = left[lanes_.count_lane()];
  const std::int32_t child = tree.child[static_cast<std::size_t>(node.id)];
  std::shared_ptr<const std::vector<std::uint32_t>> live = node.live;
  if (node.n_varying < static_cast<std::int64_t>(node.results.size())) {
    std::vector<std::uint32_t> varying;
    for (std::size_t i = 0; i < node.drawn.size(); ++i) {
      const bool constant = i < node.results.size() && cuts_[static_cast<std::size_t>(node.results[i])].constant;
      if (!constant) varying.push_back(node.drawn[i]);
    }
    live = std::make_shared<const std::vector<std::uint32_t>>(std::move(varying));
  }
  for (int side = 0; side < 2; ++side) {
    const std::int64_t n_rows = side == 0 ? n_left : node.n_rows - n_left;
    tree.weight[static_cast<std::size_t>(child + side)] = static_cast<double>(n_rows);
    if (!may_split(n_rows, depth + 1)) {
      (side == 0 ? node.left_leaf : node.right_leaf) = static_cast<std::int32_t>(leaves_.size());
      leaves_.push_back({child + side, nullptr, 0});
      continue;
    }
    const auto place = static_cast<std::int32_t>(next_level_.size());
    (side == 0 ? node.left_child : node.right_child) = place;
    Open open{};
    open.id = child + side;
    open.n_rows = n_rows;
    open.live = live;
    next_level_.push_back(std::move(open));
    for (int c = 0; c < lanes_.stride; ++c) next_totals_.push_back(side == 0 ? left[c] : total[c] - left[c]);
  }
  if (node.left_child >= 0 && node.right_child >= 0) {
    next_level_[static_cast<std::size_t>(node.left_child)].sibling = node.right_child;
    next_level_[static_cast<std::size_t>(node.right_child)].sibling = node.left_child;
  }
  hand_on_histograms(node, 2 * n_left >= node.n_rows, params_.max_depth < 0 || depth + 2 < params_.max_depth);
}

/// The larger child takes the histograms of its parent, to turn them into its own; the smaller one keeps its own only
/// where it may have children that are split.
void HistogramGrower::hand_on_histograms(const Open& parent, bool left_is_larger, bool kept_on) {
  if (parent.kept < 0) return;
  const std::int32_t left = parent.left_child, right = parent.right_child;
  if (left < 0 && right < 0) {
    free_kept_.push_back(parent.kept);
    return;
  }
  std::vector<char>& states = kept_states_[static_cast<std::size_t>(parent.kept)];
  if (left < 0 || right < 0) {
    std::fill(states.begin(), states.end(), 0);
    next_level_[static_cast<std::size_t>(std::max(left, right))].kept = parent.kept;
    return;
  }
  for (char& state : states) state = state == 2 ? 1 : 0;
  next_level_[static_cast<std::size_t>(left_is_larger ? left : right)].kept = parent.kept;
  if (kept_on) next_level_[static_cast<std::size_t>(left_is_larger ? right : left)].kept = take_kept();
}

/// Send the rows of the level's nodes to the children, in their order.
void HistogramGrower::part_rows(const Tree& tree) {
  slices_.clear();
  for (std::size_t at = 0; at < level_.size(); ++at) {
    const Open& node = level_[at];
    if (node.best < 0) continue;
    std::int64_t begin = node.begin;
    do {  // a node without rows here is a slice too: its children have their places
      const auto end = static_cast<std::uint32_t>(std::min<std::int64_t>(node.end, begin + slice_rows));
      slices_.push_back({static_cast<std::int32_t>(at), static_cast<std::uint32_t>(begin), end});
      begin += slice_rows;
    } while (begin < node.end);
  }
  const auto n_slices = static_cast<std::int64_t>(slices_.size());
  team_.run(n_slices, [&](std::int64_t task, int) {
    Slice& slice = slices_[static_cast<std::size_t>(task)];
    Open& node = level_[static_cast<std::size_t>(slice.node)];
    note_sides(node, tree, slice.begin, slice.end);
    slice.left = static_cast<std::uint32_t>(
        std::count(goes_left_.begin() + slice.begin, goes_left_.begin() + slice.end, std::uint8_t{1}));
    if (slice.begin != node.begin || slice.end != node.end) return;
    place_children(node, slice.left);
    move_rows(node, slice.begin, slice.end, node.begin, node.middle);
  });
  bool any_parted = false;
  for (std::size_t first = 0; first < slices_.size();) {
    Open& node = level_[static_cast<std::size_t>(slices_[first].node)];
    std::size_t last = first;
    std::uint32_t n_left = 0;
    for (; last < slices_.size() && slices_[last].node == slices_[first].node; ++last) {
      const std::uint32_t before = n_left;
      n_left += slices_[last].left;
      slices_[last].left = node.begin + before;
    }
    if (last - first > 1) {
      any_parted = true;
      place_children(node, n_left);
    }
    first = last;
  }
  if (!any_parted) return;
  team_.run(n_slices, [&](std::int64_t task, int) {
    const Slice& slice = slices_[static_cast<std::size_t>(task)];
    const Open& node = level_[static_cast<std::size_t>(slice.node)];
    if (slice.end - slice.begin == node.end - node.begin) return;
    const std::uint32_t before = slice.begin - node.begin, left_before = slice.left - node.begin;
    move_rows(node, slice.begin, slice.end, slice.left, node.middle + (before - left_before));
  });
}

/// Give the children of a node their places, now that the rows here that go left are counted.
void HistogramGrower::place_children(Open& node, std::uint32_t n_left) {
  node.middle = node.begin + n_left;
  const std::uint32_t ends[3] = {node.begin, node.middle, node.end};
  const std::int32_t children[2] = {node.left_child, node.right_child}, leaves[2] = {node.left_leaf, node.right_leaf};
  for (int side = 0; side < 2; ++side) {
    const std::uint32_t begin = ends[side], end = ends[side + 1];
    if (children[side] >= 0) {
      Open& child = next_level_[static_cast<std::size_t>(children[side])];
      child.begin = begin;
      child.end = end;
      if (!parts_.are_several() && end - begin != child.n_rows)
        throw std::logic_error("A split parts its rows otherwise than it was counted.");
    } else {
      RowsOfLeaf& leaf = leaves_[static_cast<std::size_t>(leaves[side])];
      leaf.rows = rows_[1 - at_].data() + begin;
      leaf.n_rows = end - begin;
    }
  }
}

/// Note which rows at places [begin, end) of a node go left.
void HistogramGrower::note_sides(const Open& node, const Tree& tree, std::uint32_t begin, std::uint32_t end) {
  const auto id = static_cast<std::size_t>(node.id);
  const std::uint32_t* const rows = rows_[at_].data();
  const Column& column = table_.column(tree.feature[id]);
  const std::int32_t n_codes = column.n_codes, low = low_[id];
  const std::uint8_t missing = tree.missing_left[id];
  const bool nominal = tree.subset[id] >= 0;
  const auto side_of = [&](std::int32_t code) -> std::uint8_t {
    if (code == n_codes) return missing;
    return nominal ? has_category(tree, id, code) : code <= low;
  };
  if (column.sparse) {
    SparseReader reader(column);
    for (std::uint32_t i = begin; i < end; ++i) goes_left_[i] = side_of(reader.code(rows[i]));
  } else if (column.width == 1) {
    std::uint8_t sides[256] = {};
    for (std::int32_t code = 0; code <= n_codes; ++code) sides[code] = side_of(code);
    const std::uint8_t* const codes = column.stored();
    for (std::uint32_t i = begin; i < end; ++i) goes_left_[i] = sides[codes[rows[i]]];
  } else {
    for (std::uint32_t i = begin; i < end; ++i) goes_left_[i] = side_of(column.stored_code(rows[i]));
  }
}

/// Move the rows at places [begin, end) to the children, whose next places are `left` and `right`.
void HistogramGrower::move_rows(const Open& node, std::uint32_t begin, std::uint32_t end, std::uint32_t left,
                                std::uint32_t right) {
  const std::uint32_t* const rows = rows_[at_].data();
  std::uint32_t* const moved_rows = rows_[1 - at_].data();
  std::uint32_t next[2] = {right, left};
  if (node.left_child < 0 && node.right_child < 0) {
    for (std::uint32_t i = begin; i < end; ++i) moved_rows[next[goes_left_[i]]++] = rows[i];
    if (!place_of_row_.empty()) {
      for (std::uint32_t i = begin; i < end; ++i) place_of_row_[rows[i]].node = -1;
    }
    return;
  }
  const std::int64_t stride = lanes_.stride;
  const std::int16_t* const values = values_[at_].data();
  std::int16_t* const moved_values = values_[1 - at_].data();
  const std::int32_t children[2] = {node.right_child, node.left_child};
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint8_t side = goes_left_[i];
    const std::uint32_t to = next[side]++;
    moved_rows[to] = rows[i];
    const std::int16_t* const from = values + i * stride;
    std::int16_t* const out = moved_values + to * stride;
    for (std::int64_t c = 0; c < stride; c += 4) std::memcpy(out + c, from + c, 4 * sizeof(std::int16_t));
    if (!place_of_row_.empty()) place_of_row_[rows[i]] = {children[side], to};
  }
}

void HistogramGrower::close(std::int32_t id, std::uint32_t begin, std::uint32_t end) {
  leaves_.push_back({id, rows_[at_].data() + begin, end - begin});
  if (place_of_row_.empty()) return;
  for (std::uint32_t i = begin; i < end; ++i) place_of_row_[rows_[at_][i]].node = -1;
}

std::int32_t HistogramGrower::leaf_of(const Tree& tree, std::int64_t row) const {
  std::int32_t node = 0;
  while (tree.feature[static_cast<std::size_t>(node)] >= 0) {
    const auto at = static_cast<std::size_t>(node);
    const Column& column = table_.column(tree.feature[at]);
    const std::int32_t code = column.code(row);
    bool left = code <= low_[at];
    if (code == column.n_codes) {
      left = tree.missing_left[at] != 0;
    } else if (tree.subset[at] >= 0) {
      left = has_category(tree, at, code);
    }
    node = tree.child[at] + (left ? 0 : 1);
  }
  return node;
}

}  // namespace ramify
