// SPDX-License-Identifier: Apache-2.0
// Linux's io_uring, by its system calls: a message from one ring to another, and a wait for a futex
// that is a submission. Each receiver has a ring and sleeps until there is a completion in it.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::bench {
namespace {

// Operations and flags that the headers of Debian 12 do not have yet: Linux 6.7.
constexpr std::uint8_t futex_wait_operation = 51, futex_wake_operation = 52;
constexpr int private_futex_of_4_bytes = 0x80 | 0x02;
constexpr std::uint64_t any_waiter = 0xFFFFFFFF;

int set_up(unsigned entries, io_uring_params& how) {
  return static_cast<int>(syscall(SYS_io_uring_setup, entries, &how));
}

// Why this system's io_uring does not do all of these operations, or nothing.
std::string why_missing(std::initializer_list<std::uint8_t> operations) {
  io_uring_params how{};
  const int file = set_up(2, how);
  if (file < 0) return std::string("io_uring_setup: ") + std::strerror(errno);
  constexpr unsigned most_operations = 256;
  std::vector<io_uring_probe_op> probe(2 + most_operations);
  static_assert(sizeof(io_uring_probe) == 2 * sizeof(io_uring_probe_op));
  const long result =
      syscall(SYS_io_uring_register, file, IORING_REGISTER_PROBE, probe.data(), most_operations);
  close(file);
  const auto is_there = [&](std::uint8_t operation) {
    return (probe[2u + operation].flags & IO_URING_OP_SUPPORTED) != 0;
  };
  if (result == 0 && std::all_of(operations.begin(), operations.end(), is_there)) return {};
  return "this kernel's io_uring lacks the operation";
}

// A ring of submissions and one of completions. One thread at a time may use it.
class ring {
 public:
  explicit ring(unsigned entries) {
    io_uring_params how{};
    file_ = set_up(entries, how);
    check(file_ >= 0, "io_uring_setup");
    bytes_ = std::max<std::size_t>(how.sq_off.array + how.sq_entries * sizeof(unsigned),
                                   how.cq_off.cqes + how.cq_entries * sizeof(io_uring_cqe));
    rings_ = map(bytes_, IORING_OFF_SQ_RING);
    entry_bytes_ = how.sq_entries * sizeof(io_uring_sqe);
    entries_ = reinterpret_cast<io_uring_sqe*>(map(entry_bytes_, IORING_OFF_SQES));
    const auto number = [&](unsigned offset) {
      return reinterpret_cast<unsigned*>(rings_ + offset);
    };
    submitted_ = number(how.sq_off.tail);
    slots_ = number(how.sq_off.array);
    slot_mask_ = *number(how.sq_off.ring_mask);
    taken_ = number(how.cq_off.head);
    completed_ = number(how.cq_off.tail);
    completion_mask_ = *number(how.cq_off.ring_mask);
    completions_ = reinterpret_cast<const io_uring_cqe*>(rings_ + how.cq_off.cqes);
  }
  ~ring() {
    munmap(entries_, entry_bytes_);
    munmap(rings_, bytes_);
    close(file_);
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  int file() const noexcept { return file_; }

  // Adds a submission for the next enter().
  void add(const io_uring_sqe& what) noexcept {
    const unsigned place = (*submitted_ + pending_++) & slot_mask_;
    entries_[place] = what;
    slots_[place] = place;
  }
  // Submits what was added, and returns when there are so many completions.
  void enter(unsigned completions) {
    std::atomic_ref tail(*submitted_);
    // relaxed: this thread alone writes it. release: the system sees the entries.
    tail.store(tail.load(relaxed) + pending_, release);
    const long count = syscall(SYS_io_uring_enter, file_, std::exchange(pending_, 0), completions,
                               completions == 0 ? 0 : IORING_ENTER_GETEVENTS, nullptr, 0);
    check(count >= 0 || errno == EINTR, "io_uring_enter");
  }
  // The result of the next completion, if there is one.
  std::optional<int> take() noexcept {
    std::atomic_ref head(*taken_);
    // relaxed: this thread alone writes it.
    const unsigned next = head.load(relaxed);
    // acquire: sees the completion, and what was done before it was sent.
    if (next == std::atomic_ref(*completed_).load(acquire)) return std::nullopt;
    const int result = completions_[next & completion_mask_].res;
    // release: the system may write there again.
    head.store(next + 1, release);
    return result;
  }

 private:
  static void check(bool is_done, const char* call) {
    if (!is_done) throw std::system_error(errno, std::generic_category(), call);
  }
  char* map(std::size_t bytes, off_t what) const {
    void* const found =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, what);
    check(found != MAP_FAILED, "mmap");
    return static_cast<char*>(found);
  }

  int file_ = -1;
  std::size_t bytes_ = 0, entry_bytes_ = 0;
  char* rings_ = nullptr;
  io_uring_sqe* entries_ = nullptr;
  unsigned *submitted_ = nullptr, *slots_ = nullptr, *taken_ = nullptr, *completed_ = nullptr;
  const io_uring_cqe* completions_ = nullptr;
  unsigned slot_mask_ = 0, completion_mask_ = 0, pending_ = 0;
};

std::vector<std::unique_ptr<ring>> rings_for(rank_t receivers) {
  std::vector<std::unique_ptr<ring>> made;
  for (rank_t r = 0; r < receivers; ++r) made.push_back(std::make_unique<ring>(4u));
  return made;
}

class by_message final : public notifier {
 public:
  explicit by_message(rank_t receivers) : sender_(receivers), rings_(rings_for(receivers)) {}
  void notify() override {
    for (const auto& each : rings_) {
      io_uring_sqe message{};
      message.opcode = IORING_OP_MSG_RING;
      message.fd = each->file();
      message.addr = IORING_MSG_DATA;
      sender_.add(message);
    }
    sender_.enter(0);
    while (sender_.take()) {
    }
  }
  void wait(rank_t receiver) override {
    ring& mine = *rings_[receiver];
    while (!mine.take()) mine.enter(1);
  }

 private:
  ring sender_;
  std::vector<std::unique_ptr<ring>> rings_;
};

class by_futex final : public counting_notifier<std::uint32_t> {
 public:
  explicit by_futex(rank_t receivers)
      : counting_notifier(receivers), sender_(4), rings_(rings_for(receivers)) {}
  void notify() override {
    // release: publishes what is notified; pairs with the receivers' loads.
    word_.fetch_add(1, release);
    submit(sender_, futex_wake_operation, has_one_receiver() ? 1 : INT_MAX);
    sender_.enter(0);
    while (sender_.take()) {
    }
  }
  void wait(rank_t receiver) override {
    ring& mine = *rings_[receiver];
    std::uint32_t& seen = seen_by(receiver);
    std::uint32_t now = 0;
    // acquire: pairs with notify().
    while ((now = word_.load(acquire)) == seen) {
      submit(mine, futex_wait_operation, seen);
      do mine.enter(1);
      while (!mine.take());
    }
    seen = now;
  }

 private:
  void submit(ring& to, std::uint8_t operation, std::uint64_t value) {
    io_uring_sqe entry{};
    entry.opcode = operation;
    entry.fd = private_futex_of_4_bytes;
    entry.addr = reinterpret_cast<std::uintptr_t>(&word_);
    entry.addr2 = value;
    entry.addr3 = any_waiter;
    to.add(entry);
  }

  alignas(cache_line) std::atomic<std::uint32_t> word_{0};
  ring sender_;
  std::vector<std::unique_ptr<ring>> rings_;
};

}  // namespace

std::vector<contender> peer_io_uring() {
  return {{.family = "io_uring",
           .name = "io_uring message",
           .summary = "Linux: a message to the ring of each receiver",
           .unavailable = why_missing({IORING_OP_MSG_RING}),
           .events = make_notifier<by_message>},
          {.family = "io_uring",
           .name = "io_uring futex",
           .summary = "Linux: submissions that wait for a futex and wake it",
           .unavailable = why_missing({futex_wait_operation, futex_wake_operation}),
           .events = make_notifier<by_futex>}};
}

}  // namespace tutti::bench
