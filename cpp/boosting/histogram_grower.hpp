/// Growing the trees of boosting level by level, from histograms of whole numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parts.hpp"
#include "base/team.hpp"
#include "boosting/histogram.hpp"
#include "boosting/histogram_cuts.hpp"
#include "features/feature_table.hpp"
#include "forest/forest.hpp"
#include "forest/growing.hpp"

namespace ramify {

/// Rows that reach a leaf.
struct RowsOfLeaf {
  std::int32_t node;
  const std::uint32_t* rows;
  std::int64_t n_rows;
};

/// Grows one tree after another; the memory is used again. A tree does not depend on the number of threads, on the
/// order of the rows or on how they are parted: histograms of all parts are put together before cuts are looked for.
class HistogramGrower {
 public:
  HistogramGrower(const FeatureTable& table, const Lanes& lanes, const GrowParams& params, const Parts& parts,
                  Team& team);

  HistogramGrower(const HistogramGrower&) = delete;
  HistogramGrower& operator=(const HistogramGrower&) = delete;

  /// Room for the rows of the next tree, each once, and for the lanes of each; the caller fills it. All parts have
  /// `n_rows_in_all`.
  void make_room(std::int64_t n_rows, std::int64_t n_rows_in_all);
  std::uint32_t* rows() { return rows_[0].data(); }
  std::int16_t* values() { return values_[0].data(); }

  /// A tree without leaves' values; its weights count rows.
  Tree grow(std::uint64_t seed);

  /// Where the rows of the last tree ended, and the leaf that any row of the table reaches in it.
  const std::vector<RowsOfLeaf>& leaves() const { return leaves_; }
  std::int32_t leaf_of(const Tree& tree, std::int64_t row) const;

 private:
  /// A node of the level at hand.
  struct Open {
    std::int32_t id;
    std::uint32_t begin, end;   ///< its rows here
    std::int64_t n_rows = 0;    ///< in all parts
    std::int32_t sibling = -1;  ///< its place in the level, -1 if that is a leaf
    std::int32_t kept = -1;     ///< where its histograms are kept; before, those of its parent may be there
    std::shared_ptr<const std::vector<std::uint32_t>> live;  ///< features that are not known to be constant
    std::vector<std::uint32_t> drawn;                        ///< the same; the first ones are drawn
    std::vector<std::int32_t> results;                       ///< of the drawn ones that were looked at
    std::int64_t n_drawn = 0, n_varying = 0;
    std::int32_t best = -1;                          ///< its best result
    std::int32_t left_child = -1, right_child = -1;  ///< places in the next level, -1 for leaves
    std::int32_t left_leaf = -1, right_leaf = -1;    ///< places among the leaves, -1 for others
    std::uint32_t middle = 0;                        ///< where the rows of the right child begin
  };

  /// The histogram of a dense feature in a node; that of its sibling may follow by subtraction.
  struct DenseJob {
    std::uint32_t feature;
    std::int32_t node, result;
    std::int32_t sibling_result;
    std::int32_t* target;     ///< where the histogram goes; null: it is not kept
    std::int32_t* of_parent;  ///< turns into the sibling's; null: there is nothing to subtract from
    std::int32_t n_blocks;    ///< of rows
    std::int32_t pending;     ///< blocks left
  };

  /// A sparse feature in all nodes that look at it: a list in `wanted_`.
  struct SparseJob {
    std::uint32_t feature;
    std::int32_t first;
  };
  struct Wanted {
    std::int32_t node, result, next;
  };

  /// Part of a job.
  struct Piece {
    std::int32_t job;    ///< sparse ones by their complement
    std::int32_t block;  ///< of rows
  };

  /// What a thread needs.
  struct Workspace {
    explicit Workspace(const Lanes& lanes, const CutLimits& limits) : finder(lanes, limits) {}

    CutFinder finder;
    std::vector<std::int32_t> histogram;  ///< zeros between jobs
    std::vector<std::int32_t> sparse_histograms;
    std::vector<std::uint64_t> bits;
    std::vector<std::int32_t> codes;
    std::vector<std::int32_t> slots;  ///< by node of the level; -1 between jobs
    std::vector<Wanted> wanted;
    std::vector<std::int64_t> costs;
    std::vector<char> is_held;  ///< by feature: does a row of the node hold another value than the default?
  };

  /// Where a row stands, for sparse columns.
  struct RowPlace {
    std::int32_t node = -1;  ///< in the level; -1: in none
    std::uint32_t place = 0;
  };

  std::int32_t* lanes_at(std::vector<std::int32_t>& of, std::int64_t at) const {
    return of.data() + at * lanes_.stride;
  }
  std::int64_t n_cells(std::int64_t feature) const {
    return (std::int64_t{table_.head(feature).n_codes} + 1) * lanes_.stride;
  }

  void begin_tree(std::uint64_t seed, Tree& tree);
  void sum_root();
  bool may_split(std::int64_t n_rows, std::int64_t depth) const;
  void find_cuts(std::size_t first, std::size_t last);
  void drop_absent(std::size_t first, std::size_t last);
  void draw_features(Open& node);
  bool list_jobs(std::size_t first, std::size_t last);
  void list_dense_jobs(std::size_t node);
  void add_dense_job(std::size_t node, std::uint32_t feature, std::int32_t result, std::int32_t* of_parent,
                     std::int32_t sibling_result);
  void want(std::size_t node, std::uint32_t feature, std::int32_t result);
  std::int32_t* kept_histogram(std::int32_t kept, std::uint32_t feature);
  char& kept_state(std::int32_t kept, std::uint32_t feature);
  void run_jobs();
  void put_parts_together();
  void do_dense(const DenseJob& job, Workspace& space);
  void do_block(std::size_t job, std::int32_t block, Workspace& space);
  void finish_dense(const DenseJob& job, const std::int32_t* histogram, bool codes_known, Workspace& space);
  void do_sparse(const SparseJob& job, Workspace& space);
  void do_wanted(std::uint32_t feature, const Wanted* wanted, std::size_t n_wanted, Workspace& space);
  void find_cut(std::uint32_t feature, const std::int32_t* histogram, std::int32_t node, std::int32_t result,
                Workspace& space);
  void choose(Open& node, Tree& tree);
  void write_split(Open& node, Tree& tree);
  void open_children(std::size_t at, std::int64_t depth, Tree& tree);
  void hand_on_histograms(const Open& parent, bool left_is_larger, bool kept_on);
  std::int32_t take_kept();
  void part_rows(const Tree& tree);
  void place_children(Open& node, std::uint32_t n_left);
  void note_sides(const Open& node, const Tree& tree, std::uint32_t begin, std::uint32_t end);
  void move_rows(const Open& node, std::uint32_t begin, std::uint32_t end, std::uint32_t left, std::uint32_t right);
  void close(std::int32_t id, std::uint32_t begin, std::uint32_t end);

  const FeatureTable& table_;
  const Lanes lanes_;
  const GrowParams& params_;
  const Parts& parts_;
  Team& team_;
  std::vector<Workspace> spaces_;
  std::int64_t n_rows_ = 0, n_rows_in_all_ = 0, block_rows_ = 0;
  std::uint64_t seed_ = 0;
  bool children_split_ = false;  ///< may the next level be split?

  std::vector<std::uint32_t> rows_[2];   ///< nodes are slices; the children of a level's nodes go to the other one
  std::vector<std::int16_t> values_[2];  ///< the lanes of the rows
  int at_ = 0;                           ///< the one of the level
  std::vector<RowPlace> place_of_row_;   ///< by row of the table, only with sparse columns
  std::vector<std::uint8_t> goes_left_;  ///< by place

  std::vector<Open> level_, next_level_;
  std::vector<std::int32_t> totals_, next_totals_;  ///< lanes by node of the level
  std::vector<HistogramCut> cuts_;                  ///< results
  std::vector<std::int32_t> left_sums_;             ///< lanes by result
  std::int32_t n_results_ = 0;

  std::vector<DenseJob> dense_;
  std::vector<SparseJob> sparse_;
  std::vector<Wanted> wanted_;
  std::vector<std::int32_t> sparse_job_of_;  ///< by feature, -1 between waves
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> shares_;               ///< where the pieces of a task begin
  std::vector<std::vector<std::int32_t>> shared_;  ///< histograms that several threads or parts add to, nobody keeps
  std::vector<std::int32_t> of_parts_;             ///< all histograms that are put together
  std::size_t n_shared_ = 0;
  std::unique_ptr<std::mutex[]> locks_;
  std::vector<std::int32_t> result_of_sibling_;  ///< by feature, -1 between nodes

  // histograms that are kept for the children of a node: cells of all dense features side by side
  bool keeps_ = false;
  std::vector<std::int64_t> cell_of_feature_;
  std::int64_t n_kept_cells_ = 0;
  std::size_t most_kept_ = 0;
  std::vector<std::vector<std::int32_t>> kept_;
  std::vector<std::vector<char>> kept_states_;
  std::vector<std::int32_t> free_kept_;

  struct Slice {
    std::int32_t node;  ///< of the level
    std::uint32_t begin, end;
    std::uint32_t left = 0;  ///< rows that go left
  };
  std::vector<Slice> slices_;
  std::vector<std::int32_t> low_;  ///< by node id: the last code that goes left
  std::vector<RowsOfLeaf> leaves_;
};

}  // namespace ramify
