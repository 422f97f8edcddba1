#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "check.hpp"

using namespace ramify;

namespace {

void wait(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

void every_task_runs_once() {
  for (const int n_threads : {1, 2, 5}) {
    std::vector<int> n_runs(100, 0);
    std::int64_t told = -1;
    run_tasks(
        100, n_threads, [&](std::int64_t task, int, const Control&) { ++n_runs[static_cast<std::size_t>(task)]; },
        [&](std::int64_t n_done) {
          told = n_done;
          return true;
        });
    CHECK(n_runs == std::vector<int>(100, 1));
    CHECK(told == 100);
  }
}

void one_thread_is_the_callers() {
  const std::thread::id caller = std::this_thread::get_id();
  bool same = true;
  run_tasks(5, 1, [&](std::int64_t, int, const Control&) { same = same && std::this_thread::get_id() == caller; }, {});
  run_tasks(1, 4, [&](std::int64_t, int, const Control&) { same = same && std::this_thread::get_id() == caller; }, {});
  CHECK(same);
}

/// The poll is asked in the middle of a long task, and what it says is done.
void long_tasks_can_be_stopped() {
  for (const int n_threads : {1, 2}) {
    std::vector<std::int64_t> told;
    bool cancelled = false;
    std::atomic<int> n_looks = 0;
    try {
      run_tasks(
          2 * n_threads, n_threads,
          [&](std::int64_t task, int, const Control& control) {
            if (task == 0) return;
            for (int look = 0; look < 500; ++look, ++n_looks) {
              wait(10);
              control.check();
            }
          },
          [&](std::int64_t n_done) {
            told.push_back(n_done);
            return told.size() < 3;
          });
    } catch (const Cancelled&) {
      cancelled = true;
    }
    CHECK(cancelled && told.size() == 3 && told[0] <= 1);
    CHECK(n_looks < 500 * n_threads);
  }
}

void errors_reach_the_caller() {
  for (const int n_threads : {1, 3}) {
    bool caught = false;
    try {
      run_tasks(9, n_threads,
                [](std::int64_t task, int, const Control&) {
                  if (task == 4) throw std::invalid_argument("four");
                },
                {});
    } catch (const std::invalid_argument&) {
      caught = true;
    }
    CHECK(caught);
  }
}

}  // namespace

int main() {
  every_task_runs_once();
  one_thread_is_the_callers();
  long_tasks_can_be_stopped();
  errors_reach_the_caller();
  return check::finish();
}
