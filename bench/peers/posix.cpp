// SPDX-License-Identifier: Apache-2.0
// POSIX semaphores, and signals that a thread awaits or that interrupt its polling. A signal is
// sent to each receiver in turn.
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "bench/contenders/contender.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {
namespace {

class by_semaphore final : public notifier {
 public:
  explicit by_semaphore(rank_t receivers) : receivers_(receivers) { sem_init(&semaphore_, 0, 0); }
  ~by_semaphore() override { sem_destroy(&semaphore_); }
  void notify() override {
    for (rank_t r = 0; r < receivers_; ++r) sem_post(&semaphore_);
  }
  void wait(rank_t) override {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }

 private:
  rank_t receivers_;
  sem_t semaphore_;
};

class signals_to_threads : public notifier {
 public:
  explicit signals_to_threads(rank_t receivers) : threads_(receivers) {}
  void enter(rank_t receiver) override {
    threads_[receiver].value = static_cast<pid_t>(syscall(SYS_gettid));
  }
  void notify() override {
    for (auto& each : threads_) syscall(SYS_tgkill, getpid(), each.value, SIGUSR1);
  }

 private:
  array<padded<pid_t>> threads_;
};

// The receiver blocks the signal and sleeps until it is pending.
class by_sigwait final : public signals_to_threads {
 public:
  using signals_to_threads::signals_to_threads;
  void enter(rank_t receiver) override {
    signals_to_threads::enter(receiver);
    sigset_t all = awaited();
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
  }
  void wait(rank_t) override {
    const sigset_t all = awaited();
    int which = 0;
    sigwait(&all, &which);
  }

 private:
  static sigset_t awaited() {
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGUSR1);
    return all;
  }
};

// The receiver polls a word of its own, which the handler changes.
class by_handler final : public signals_to_threads {
 public:
  explicit by_handler(rank_t receivers) : signals_to_threads(receivers) {
    struct sigaction how {};
    how.sa_handler = [](int) { received = received + 1; };
    sigaction(SIGUSR1, &how, &before_);
  }
  ~by_handler() override { sigaction(SIGUSR1, &before_, nullptr); }
  void enter(rank_t receiver) override {
    signals_to_threads::enter(receiver);
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
    seen = received;
  }
  void wait(rank_t) override {
    while (received == seen) platform::pause();
    seen = received;
  }

 private:
  static inline thread_local volatile sig_atomic_t received = 0;
  static inline thread_local sig_atomic_t seen = 0;
  struct sigaction before_ {};
};

}  // namespace

std::vector<contender> peer_posix() {
  return {{.family = "posix",
           .name = "semaphore",
           .summary = "glibc's sem_t, a post for each receiver",
           .events = make_notifier<by_semaphore>},
          {.family = "posix",
           .name = "sigwait",
           .summary = "tgkill to threads in sigwait",
           .events = make_notifier<by_sigwait>},
          {.family = "posix",
           .name = "signal_handler",
           .summary = "tgkill to threads that poll",
           .wait = "spin",
           .events = make_notifier<by_handler>}};
}

}  // namespace tutti::bench
