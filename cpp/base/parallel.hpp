/// Independent tasks over threads that end with the call, with cancelling and progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace ramify {

/// Thrown by a kernel that was asked to stop.
struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("The computation was cancelled.") {}
};

/// Called on the calling thread about every 100 ms with the number of finished tasks;
/// `false` asks the workers to stop.
using Poll = std::function<bool(std::int64_t n_done)>;

/// What a long task looks at from time to time, at least a few times a second.
class Control {
 public:
  /// Another thread polls and cancels.
  Control() = default;

  /// The task's own thread polls, when the task looks.
  explicit Control(Poll poll);

  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  void check() const {
    if (cancelled()) throw Cancelled();
    if (poll_) poll_when_due();
  }

  /// Another task is finished.
  void count() { ++n_done_; }

 private:
  void poll_when_due() const;

  Poll poll_;  ///< its own, so that a caller may pass a temporary
  std::int64_t n_done_ = 0;
  mutable std::chrono::steady_clock::time_point next_poll_;
  std::atomic<bool> cancelled_{false};
};

/// One task: `task` in [0, n_tasks), `thread` in [0, n_threads).
using Task = std::function<void(std::int64_t task, int thread, const Control& control)>;

/// Run every task once. With one thread the caller does all and no thread is started, likewise where none is to be
/// had. Threads take the next task in turn, so which thread runs a task varies,
/// and results must be stored by task. The first exception stops the rest and is thrown again.
void run_tasks(std::int64_t n_tasks, int n_threads, const Task& task, const Poll& poll);

}  // namespace ramify
