#include "base/team.hpp"

#include <chrono>
#include <system_error>

namespace ramify {

namespace {

constexpr int n_yields =
    1000;  ///< that a thread gives way before it sleeps; a fraction of a millisecond on a free machine

}  // namespace

Team::Team(int n_threads, const Poll& poll) : control_(poll) {
  for (int thread = 1; thread < n_threads; ++thread) {
    try {
      threads_.emplace_back([this, thread] { attend(thread); });
    } catch (const std::system_error&) {  // no more threads to be had: those that run do the work
      break;
    }
  }
}

Team::~Team() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_.store(true);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run_loop(std::int64_t n_tasks, Call call, const void* work) {
  if (threads_.empty() || n_tasks <= 1) {
    for (std::int64_t task = 0; task < n_tasks; ++task) {
      control_.check();
      call(work, task, 0);
    }
    return;
  }
  n_done_.store(0);
  call_.store(call);
  work_.store(work);
  ticket_.store(((ticket_.load() >> task_bits) + 1) << task_bits);
  n_tasks_.store(n_tasks);  // last: it was 0, so until now there was nothing to take
  if (n_asleep_.load() > 0) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
    }
    wake_.notify_all();
  }
  take_tasks(0);
  for (int waited = 0; n_done_.load() < n_tasks; ++waited) {
    if (waited < n_yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  n_tasks_.store(0);
  if (!failed_.load()) return;
  failed_.store(false);
  std::exception_ptr error;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    error.swap(error_);
  }
  std::rethrow_exception(error);
}

/// Take tasks of the loop at hand until none is left.
void Team::take_tasks(int thread) {
  std::uint64_t ticket = ticket_.load();
  while (true) {
    const auto task = static_cast<std::int64_t>(ticket & ((std::uint64_t(1) << task_bits) - 1));
    if (task >= n_tasks_.load()) return;
    const Call call = call_.load();
    const void* const work = work_.load();
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1)) continue;
    if (!failed_.load()) {
      try {
        if (thread == 0) control_.check();
        call(work, task, thread);
      } catch (...) {
        keep_error();
      }
    }
    n_done_.fetch_add(1);
    ticket = ticket_.load();
  }
}

void Team::keep_error() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::current_exception();
  failed_.store(true);
}

bool Team::has_tasks() const {
  const std::uint64_t ticket = ticket_.load();
  return static_cast<std::int64_t>(ticket & ((std::uint64_t(1) << task_bits) - 1)) < n_tasks_.load();
}

/// What a thread of the team does until the team ends.
void Team::attend(int thread) {
  for (int idle = 0; !closed_.load();) {
    if (has_tasks()) {
      take_tasks(thread);
      idle = 0;
    } else if (++idle < n_yields) {
      std::this_thread::yield();
    } else {
      std::unique_lock<std::mutex> lock(mutex_);
      n_asleep_.fetch_add(1);
      wake_.wait(lock, [this] { return closed_.load() || has_tasks(); });
      n_asleep_.fetch_sub(1);
      idle = 0;
    }
  }
}

}  // namespace ramify
