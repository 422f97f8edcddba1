#include "base/parallel.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ramify {

namespace {

constexpr auto patience = std::chrono::milliseconds(100);

/// What the workers of one call share.
struct Crew {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> n_done{0};
  Control control;
  std::mutex mutex;
  std::condition_variable finished;
  int n_working = 0;
  std::exception_ptr error;
};

void work(Crew& crew, std::int64_t n_tasks, int thread, const Task& task) {
  try {
    for (std::int64_t i = crew.next++; i < n_tasks && !crew.control.cancelled(); i = crew.next++) {
      task(i, thread, crew.control);
      ++crew.n_done;
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(crew.mutex);
    if (!crew.error) crew.error = std::current_exception();
    crew.control.cancel();
  }
  const std::lock_guard<std::mutex> lock(crew.mutex);
  --crew.n_working;
  crew.finished.notify_one();
}

void work_alone(std::int64_t n_tasks, const Task& task, const Poll& poll) {
  Control control(poll);
  for (std::int64_t i = 0; i < n_tasks; ++i) {
    control.check();
    task(i, 0, control);
    control.count();
  }
  if (poll && !poll(n_tasks)) throw Cancelled();
}

}  // namespace

Control::Control(Poll poll) : poll_(std::move(poll)), next_poll_(std::chrono::steady_clock::now() + patience) {}

void Control::poll_when_due() const {
  if (std::chrono::steady_clock::now() < next_poll_) return;
  if (!poll_(n_done_)) throw Cancelled();
  next_poll_ = std::chrono::steady_clock::now() + patience;
}

void run_tasks(std::int64_t n_tasks, int n_threads, const Task& task, const Poll& poll) {
  if (n_threads > n_tasks) n_threads = static_cast<int>(n_tasks);
  if (n_threads <= 1) return work_alone(n_tasks, task, poll);
  Crew crew;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(n_threads));
  for (int t = 0; t < n_threads; ++t) {
    {
      const std::lock_guard<std::mutex> lock(crew.mutex);
      ++crew.n_working;
    }
    try {
      threads.emplace_back([&crew, n_tasks, t, &task] { work(crew, n_tasks, t, task); });
    } catch (const std::system_error&) {  // no more threads to be had: those that run do the work
      const std::lock_guard<std::mutex> lock(crew.mutex);
      --crew.n_working;
      break;
    }
  }
  if (threads.empty()) return work_alone(n_tasks, task, poll);
  bool stopped = false;
  {
    std::unique_lock<std::mutex> lock(crew.mutex);
    while (!crew.finished.wait_for(lock, patience, [&crew] { return crew.n_working == 0; })) {
      lock.unlock();
      if (poll && !stopped && !poll(crew.n_done.load())) {
        stopped = true;
        crew.control.cancel();
      }
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (crew.error) std::rethrow_exception(crew.error);
  if (stopped) throw Cancelled();
  if (poll && !poll(crew.n_done.load())) throw Cancelled();
}

}  // namespace ramify
