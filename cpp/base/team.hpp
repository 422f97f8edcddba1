/// A team of threads for many short loops: started once, and the caller is one of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.hpp"

namespace ramify {

/// Runs loops of independent tasks. Whoever is free takes the next task, so a thread that the machine holds up costs at
/// most the task it has, and results must be stored by task or added as whole numbers. Between loops threads give way
/// for a moment and then sleep. All threads end with the team.
class Team {
 public:
  /// With one thread none is started, likewise where none is to be had. The caller calls `poll` about every 100 ms.
  Team(int n_threads, const Poll& poll);
  ~Team();

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int n_threads() const { return static_cast<int>(threads_.size()) + 1; }

  /// Call `work(task, thread)` for every task in [0, n_tasks). The first exception stops the rest and is thrown again.
  template <class Work>
  void run(std::int64_t n_tasks, const Work& work) {
    const auto call = [](const void* of, std::int64_t task, int thread) {
      (*static_cast<const Work*>(of))(task, thread);
    };
    run_loop(n_tasks, call, &work);
  }

 private:
  using Call = void (*)(const void* work, std::int64_t task, int thread);

  void run_loop(std::int64_t n_tasks, Call call, const void* work);
  void take_tasks(int thread);
  void attend(int thread);
  bool has_tasks() const;
  void keep_error();

  // The loop's number, shifted, and the next task: who takes a task by an old number finds that it has changed.
  static constexpr int task_bits = 32;
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::int64_t> n_tasks_{0}, n_done_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> work_{nullptr};
  std::atomic<bool> failed_{false}, closed_{false};
  std::atomic<int> n_asleep_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr error_;
  Control control_;
  std::vector<std::thread> threads_;
};

}  // namespace ramify
