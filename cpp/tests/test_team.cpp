#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/team.hpp"
#include "check.hpp"

using namespace ramify;

namespace {

void every_task_of_every_loop_is_done_once() {
  for (const int n_threads : {1, 2, 7}) {
    Team team(n_threads, {});
    std::vector<int> done(50);
    for (int loop = 0; loop < 2000; ++loop) {
      const int n_tasks = loop % 51;
      team.run(n_tasks, [&](std::int64_t task, int thread) {
        done[static_cast<std::size_t>(task)] += thread >= 0 && thread < team.n_threads();
      });
    }
    for (std::size_t task = 0; task < done.size(); ++task) {
      int expected = 0;
      for (int loop = 0; loop < 2000; ++loop) expected += static_cast<int>(task) < loop % 51;
      CHECK(done[task] == expected);
    }
  }
}

void threads_that_sleep_wake_up() {
  Team team(3, {});
  std::atomic<int> n_done{0};
  for (int loop = 0; loop < 5; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team.run(8, [&](std::int64_t, int) { ++n_done; });
  }
  CHECK(n_done == 40);
}

void the_first_error_ends_the_loop_and_the_team_goes_on() {
  Team team(3, {});
  for (int loop = 0; loop < 50; ++loop) {
    bool thrown = false;
    try {
      team.run(20, [](std::int64_t task, int) {
        if (task == 7) throw std::runtime_error("task 7");
      });
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    CHECK(thrown);
    std::atomic<int> n_done{0};
    team.run(20, [&](std::int64_t, int) { ++n_done; });
    CHECK(n_done == 20);
  }
}

void a_poll_that_says_no_cancels() {
  for (const int n_threads : {1, 3}) {
    Team team(n_threads, [](std::int64_t) { return false; });
    bool cancelled = false;
    try {
      for (int loop = 0; loop < 400; ++loop)
        team.run(4, [](std::int64_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    } catch (const Cancelled&) {
      cancelled = true;
    }
    CHECK(cancelled);
  }
}

}  // namespace

int main() {
  every_task_of_every_loop_is_done_once();
  threads_that_sleep_wake_up();
  the_first_error_ends_the_loop_and_the_team_goes_on();
  a_poll_that_says_no_cancels();
  return check::finish();
}
