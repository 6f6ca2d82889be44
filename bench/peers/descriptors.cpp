// SPDX-License-Identifier: Apache-2.0
// File descriptors whose readers sleep: an eventfd that counts as a semaphore, and a pipe. A
// notification writes one unit for each receiver.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "bench/contenders/contender.hpp"

namespace tutti::bench {
namespace {

void check(bool is_done, const char* call) {
  if (!is_done) throw std::system_error(errno, std::generic_category(), call);
}

class by_eventfd final : public notifier {
 public:
  explicit by_eventfd(rank_t receivers) : receivers_(receivers), file_(eventfd(0, EFD_SEMAPHORE)) {
    check(file_ >= 0, "eventfd");
  }
  ~by_eventfd() override { close(file_); }
  void notify() override {
    check(write(file_, &receivers_, sizeof receivers_) == sizeof receivers_, "write");
  }
  void wait(rank_t) override {
    std::uint64_t one = 0;
    check(read(file_, &one, sizeof one) == sizeof one, "read");
  }

 private:
  std::uint64_t receivers_;
  int file_;
};

class by_pipe final : public notifier {
 public:
  explicit by_pipe(rank_t receivers) : units_(receivers, 'x') { check(pipe(ends_) == 0, "pipe"); }
  ~by_pipe() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  void notify() override {
    check(write(ends_[1], units_.data(), units_.size()) == static_cast<ssize_t>(units_.size()),
          "write");
  }
  void wait(rank_t) override {
    char unit = 0;
    check(read(ends_[0], &unit, 1) == 1, "read");
  }

 private:
  std::string units_;
  int ends_[2];
};

}  // namespace

std::vector<contender> peer_descriptors() {
  return {{.family = "descriptors",
           .name = "eventfd",
           .summary = "Linux: an eventfd as a semaphore",
           .events = make_notifier<by_eventfd>},
          {.family = "descriptors",
           .name = "pipe",
           .summary = "POSIX: a byte for each receiver",
           .events = make_notifier<by_pipe>}};
}

}  // namespace tutti::bench
