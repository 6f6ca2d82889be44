// SPDX-License-Identifier: Apache-2.0
// tutti::shared_barrier: the memory that its processes share, and what a process does in it.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "tutti/barrier/shared.hpp"
#include "tutti/barrier/shared_phases.hpp"
#include "tutti/platform/across_processes.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/robust_lock.hpp"
#include "tutti/wait/between_processes.hpp"

namespace tutti {
namespace {

class onlooker;

// The platform of a participant: `across_processes`, except that whoever waits also looks whether
// another participant has died.
struct robust_memory : across_processes {
  static inline thread_local onlooker* here = nullptr;

  // The participants of this barrier that have waited on a CPU. An address could not tell them
  // apart, because a child has the addresses of its parent.
  struct recent_waiter {
    std::atomic<std::uint32_t>& number;
    std::uint32_t me;
    bool visited_by_another() const noexcept {
      // relaxed: a hint.
      if (number.load(relaxed) == me) return false;
      // relaxed: a hint.
      return number.exchange(me, relaxed) != 0;
    }
  };
  static recent_waiter core() noexcept;
  static void relax_long() noexcept;
  static void yield_only() noexcept { across_processes::yield(); }
  static void yield() noexcept;
  static void park(const atomic<std::uint64_t>& word, std::uint64_t seen,
                   std::uint64_t deadline_ns) noexcept;
};

using phases = shared_phases<robust_memory, process_wait<robust_memory>>;

struct header {
  static constexpr std::uint64_t magic = 0x7261427469747574;  // "tutiBar" and an r
  static constexpr std::uint32_t layout = 1;

  // Written last by the builder.
  std::atomic<std::uint64_t> kind{0};
  std::uint32_t version = 0;
  rank_t participants = 0;
  std::uint64_t bytes = 0;
};

// What the others look at while they wait. It changes only when a participant comes or goes.
struct alignas(cache_line / 2) rank_slot {
  platform::robust_lock alive;
  std::atomic<std::int32_t> process{0};
  std::atomic<bool> has_left{false};
};

// The number of the phase in which a participant has last arrived, plus 1.
struct alignas(cache_line) arrival_count {
  std::atomic<std::uint32_t> value{0};
};

constexpr std::size_t lines(std::size_t bytes) noexcept {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

// The memory of a barrier.
class segment {
 public:
  segment(void* base, rank_t participants) noexcept
      : base_(static_cast<std::byte*>(base)), n_(participants) {}

  static std::size_t bytes_for(rank_t n) noexcept {
    return offset_of_counts(n) + n * sizeof(arrival_count);
  }

  void build(patience p) noexcept {
    auto* const head = ::new (base_) header;
    ::new (base_ + offset_of_phases) phases(n_);
    for (std::uint32_t i = 0; i < platform::core_slots; ++i)
      ::new (base_ + offset_of_waiters + i * sizeof(std::uint32_t)) std::atomic<std::uint32_t>(0);
    for (rank_t r = 0; r < n_; ++r)
      ::new (base_ + offset_of_slots + r * sizeof(rank_slot)) rank_slot;
    for (rank_t r = 0; r < n_; ++r) of(r).alive.build();
    for (rank_t r = 0; r < n_; ++r)
      ::new (base_ + offset_of_counts(n_) + r * sizeof(arrival_count)) arrival_count;
    if (!p.is_open()) word().set_patience(p);
    head->version = header::layout;
    head->participants = n_;
    head->bytes = bytes_for(n_);
    // release: publishes the barrier; pairs with check().
    head->kind.store(header::magic, release);
  }

  rank_t participants() const noexcept { return n_; }
  std::byte* base() const noexcept { return base_; }
  phases& word() const noexcept { return *part<phases>(offset_of_phases); }
  std::atomic<std::uint32_t>& waiter_on(std::uint32_t cpu) const noexcept {
    return part<std::atomic<std::uint32_t>>(offset_of_waiters)[cpu % platform::core_slots];
  }
  rank_slot& of(rank_t rank) const noexcept { return part<rank_slot>(offset_of_slots)[rank]; }
  std::atomic<std::uint32_t>& arrivals_of(rank_t rank) const noexcept {
    return part<arrival_count>(offset_of_counts(n_))[rank].value;
  }

  bool has_left(rank_t rank) const noexcept {
    // acquire: pairs with leave().
    return of(rank).has_left.load(acquire);
  }
  std::int32_t process_of(rank_t rank) const noexcept {
    // relaxed: for messages.
    return of(rank).process.load(relaxed);
  }
  bool is_held(rank_t rank) const noexcept {
    return platform::robust_lock::is_held(of(rank).alive.value());
  }
  // Breaks the barrier if the participant has died. Returns true if it has.
  bool report_if_dead(rank_t rank) const noexcept {
    if (!platform::robust_lock::is_dead(of(rank).alive.value()) || has_left(rank)) return false;
    word().break_for(rank, process_of(rank));
    return true;
  }
  // Looks at all participants but `me`. Returns true if the barrier is broken.
  bool report_the_dead(rank_t me = any_rank) const noexcept {
    for (rank_t r = 0; r < n_; ++r)
      if (r != me && report_if_dead(r)) return true;
    return word().is_broken();
  }

 private:
  static constexpr std::size_t offset_of_phases = lines(sizeof(header));
  static constexpr std::size_t offset_of_waiters = offset_of_phases + lines(sizeof(phases));
  static constexpr std::size_t offset_of_slots =
      offset_of_waiters + lines(platform::core_slots * sizeof(std::uint32_t));
  static constexpr std::size_t offset_of_counts(rank_t n) noexcept {
    return offset_of_slots + lines(n * sizeof(rank_slot));
  }
  template <class T>
  T* part(std::size_t offset) const noexcept {
    return std::launder(reinterpret_cast<T*>(base_ + offset));
  }

  std::byte* base_;
  rank_t n_;
};

// A participant that waits, and watches the others meanwhile.
class onlooker {
 public:
  explicit onlooker(segment of) noexcept : segment_(of) {}

  rank_t rank = any_rank;
  phases::wait_state wait_state{};

  const segment& memory() const noexcept { return segment_; }

  bool sees_break() const noexcept { return segment_.report_the_dead(rank); }
  void look_now_and_then() noexcept {
    if (--pauses_left_ > 0) return;
    pauses_left_ = pauses_between_looks;
    sees_break();
  }

  // Sleeps on the word, and, if the wait takes longer, on those of the other participants too. A
  // sleep on one word costs less.
  void sleep(const void* word, std::uint32_t seen, std::uint64_t deadline_ns) const noexcept {
    if (sees_break()) return;
    const std::uint64_t start = robust_memory::now_ns();
    platform::futex_wait(word, seen, smaller(deadline_ns, start + brief_ns),
                         platform::futex_scope::machine);
    // The caller looks at the word again.
    const std::uint64_t woken = robust_memory::now_ns();
    if (woken < start + brief_ns || woken >= deadline_ns || sees_break()) return;
    platform::futex_word words[platform::most_futex_words];
    unsigned count = 0;
    words[count++] = platform::futex_word::of(word, seen);
    const rank_t n = segment_.participants();
    for (rank_t i = 1; i < n && count < platform::most_futex_words; ++i) {
      const rank_t other = (rank + i) % n;
      if (segment_.has_left(other)) continue;
      const platform::robust_lock& alive = segment_.of(other).alive;
      const std::uint32_t value = alive.value();
      if (platform::robust_lock::is_dead(value)) return;
      words[count++] = platform::futex_word::of(alive.address(), value);
    }
    if (!platform::futex_wait_any(words, count, smaller(deadline_ns, woken + insurance_ns)))
      platform::futex_wait(word, seen, smaller(deadline_ns, woken + look_every_ns),
                           platform::futex_scope::machine);
    sees_break();
  }

 private:
  static constexpr unsigned pauses_between_looks = 8;
  static constexpr std::uint64_t brief_ns = 200'000, insurance_ns = 100'000'000,
                                 look_every_ns = 1'000'000;

  segment segment_;
  unsigned pauses_left_ = pauses_between_looks;
};

robust_memory::recent_waiter robust_memory::core() noexcept {
  return {here->memory().waiter_on(platform::current_cpu()), here->rank + 1};
}
void robust_memory::relax_long() noexcept {
  here->look_now_and_then();
  across_processes::relax_long();
}
void robust_memory::yield() noexcept {
  here->sees_break();
  across_processes::yield();
}
void robust_memory::park(const atomic<std::uint64_t>& word, std::uint64_t seen,
                         std::uint64_t deadline_ns) noexcept {
  here->sleep(platform::low_half(word), static_cast<std::uint32_t>(seen), deadline_ns);
}

using reason = shared_barrier_error::reason;

[[noreturn]] void fail(reason why, const std::string& what) {
#if defined(__cpp_exceptions)
  throw shared_barrier_error(why, "tutti: " + what);
#else
  refuse(what);
#endif
}

// Call it at once after what has failed.
[[noreturn]] void fail_by_system(const std::string& what) {
  const int error = errno;
  fail(reason::system, what + ": " + std::strerror(error));
}

rank_t checked_count(rank_t participants) {
  if (participants == 0 || participants > shared_barrier::most_participants)
    refuse("a barrier between processes is for 1 to " +
           std::to_string(shared_barrier::most_participants) + " participants, not " +
           std::to_string(participants));
  return participants;
}

std::string participant_text(rank_t rank, std::int32_t process) {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(process) + ")";
}

// Fails unless there is a barrier for `participants` in the memory. `what` names it in sentences.
void check(const void* memory, std::size_t bytes, rank_t participants, const std::string& what) {
  const auto* const head = static_cast<const header*>(memory);
  // acquire: pairs with segment::build().
  if (bytes < sizeof(header) || head->kind.load(acquire) != header::magic)
    fail(reason::other_kind, what + " is no barrier of tutti");
  if (head->version != header::layout)
    fail(reason::other_kind, what + " was made by another version of tutti: its layout is number " +
                                 std::to_string(head->version) + ", and this version knows " +
                                 std::to_string(header::layout));
  if (head->participants != participants)
    fail(reason::other_count, what + " is for " + std::to_string(head->participants) +
                                  " participants, not " + std::to_string(participants));
  if (head->bytes != segment::bytes_for(participants) || bytes < head->bytes)
    fail(reason::other_kind, what + " was made by a tutti that was compiled differently");
}

// Returns why nobody should use the barrier, or nothing.
std::optional<shared_barrier_error> complaint(const segment& s, const std::string& what) {
  const bool is_broken = s.report_the_dead();
  if (!is_broken && s.word().expected() > 0) return {};
  bool is_used = false;
  for (rank_t r = 0; r < s.participants(); ++r)
    is_used = is_used || (s.is_held(r) && !s.has_left(r));
  if (!is_broken)
    return shared_barrier_error(reason::stale,
                                "tutti: " + what + " is stale: all participants have left");
  const auto died = s.word().died();
  const std::string who = participant_text(died.rank, died.process);
  if (!is_used)
    return shared_barrier_error(reason::stale,
                                "tutti: " + what + " is stale: " + who +
                                    " has died, and no participant is left; unlink it or replace "
                                    "it by create_or_attach");
  return shared_barrier_error(reason::died, "tutti: " + what + " is broken: " + who + " has died");
}

// ---- names

constexpr const char* folder = "/dev/shm";

std::string path_of(std::string_view name) {
  std::string_view plain = name;
  if (!plain.empty() && plain.front() == '/') plain.remove_prefix(1);
  if (plain.empty() || plain.size() > 200 || plain == "." || plain == ".." ||
      plain.find('/') != std::string_view::npos || plain.find('\0') != std::string_view::npos)
    refuse(
        "the name of a barrier between processes takes 1 to 200 characters without '/', before "
        "which one '/' may stand: not '" +
        std::string(name) + "'");
  return std::string(folder) + '/' + std::string(plain);
}

std::string text_of(std::string_view name) { return "the barrier '" + std::string(name) + "'"; }

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

// The memory of a file in this process.
class mapping {
 public:
  mapping() = default;
  mapping(int file, std::size_t bytes, const std::string& what) : bytes_(bytes) {
    base_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base_ == MAP_FAILED) fail_by_system("mapping " + what);
  }
  ~mapping() {
    if (bytes_ > 0) munmap(base_, bytes_);
  }
  mapping(mapping&& other) noexcept : base_(other.base_), bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&&) = delete;
  void* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Makes a file with a complete barrier and then gives it its name, so that nobody finds half a
// barrier. Returns nothing if the name is in use.
std::optional<mapping> create_file(std::string_view name, rank_t participants,
                                   const shared_barrier_options& options) {
  const std::string what = text_of(name), path = path_of(name);
  const std::size_t bytes = segment::bytes_for(participants);
  const descriptor file(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, options.mode));
  if (!file) fail_by_system("creating " + what + " in " + folder);
  if (fchmod(file.number(), options.mode) != 0) fail_by_system("creating " + what);
  // Memory that is missing is told now, and not by SIGBUS.
  if (const int error = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes))) {
    errno = error;
    fail_by_system("creating " + what);
  }
  mapping made(file.number(), bytes, what);
  segment(made.base(), participants).build(options.patience);
  const std::string self = "/proc/self/fd/" + std::to_string(file.number());
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return made;
  if (errno != EEXIST) fail_by_system("creating " + what);
  return {};
}

int open_file(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

mapping map_file(const descriptor& file, rank_t participants, const std::string& what) {
  struct stat is {};
  if (fstat(file.number(), &is) != 0) fail_by_system("looking at " + what);
  const auto bytes = static_cast<std::size_t>(is.st_size);
  if (bytes < sizeof(header)) fail(reason::other_kind, what + " is no barrier of tutti");
  mapping mapped(file.number(), bytes, what);
  check(mapped.base(), bytes, participants, what);
  return mapped;
}

// Removes the name if it still names this file, so that nobody removes the successor of the barrier
// that it has seen.
void unlink_file(const descriptor& file, const std::string& path) {
  flock(file.number(), LOCK_EX);
  struct stat mine {
  }, named{};
  if (fstat(file.number(), &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
      mine.st_ino == named.st_ino && mine.st_dev == named.st_dev)
    ::unlink(path.c_str());
  flock(file.number(), LOCK_UN);
}

// ---- fork

// The number of forks between this process and the first that used a barrier: cheaper than getpid.
std::atomic<std::uint32_t> generation{0};

std::uint32_t this_generation() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    // relaxed: a child has one thread.
    generation.fetch_add(1, relaxed);
  });
  static_cast<void>(registered);
  // relaxed: it changes only in a child, before its code runs.
  return generation.load(relaxed);
}

}  // namespace

// What one process knows of a barrier, and its participant.
struct shared_barrier::view {
  view(mapping m, rank_t participants)
      : mapped(std::move(m)), who(segment(mapped.base(), participants)) {
    forks = this_generation();
  }
  view(void* memory, rank_t participants) : who(segment(memory, participants)) {
    forks = this_generation();
  }

  const segment& memory() const noexcept { return who.memory(); }
  // A child inherits the object of its parent's participant and is none itself.
  bool is_child() const noexcept {
    // relaxed: see this_generation().
    return forks != generation.load(relaxed);
  }
  bool has_joined() const noexcept { return who.rank != any_rank && !is_child(); }
  void require_joined() const {
    if (has_joined()) [[likely]]
      return;
    if (who.rank != any_rank)
      refuse("this process is a child of the one that has joined the barrier as rank " +
             std::to_string(who.rank) + ": it must join as another rank");
    refuse("this object has no participant: join the barrier first");
  }

  void leave() noexcept {
    const segment& s = memory();
    s.word().leave(arrived, phase);
    // Only now, because whoever dies after it has left is not reported.
    // release: pairs with segment::has_left().
    s.of(who.rank).has_left.store(true, release);
    s.of(who.rank).alive.give();
    who.rank = any_rank;
  }

  shared_result wait(std::uint32_t of, auto deadline) noexcept {
    const segment& s = memory();
    robust_memory::here = &who;
    switch (s.word().wait(of, who.wait_state, deadline)) {
      case phases::outcome::ended: return {shared_result::kind::ended, of};
      case phases::outcome::late: return {shared_result::kind::late, of, s.word().missing(of)};
      case phases::outcome::broken: break;
    }
    const auto died = s.word().died();
    return {shared_result::kind::died, of, 0, died.rank, died.process};
  }

  mapping mapped;
  onlooker who;
  std::uint32_t forks;
  // The phase of the last arrival, if there was one.
  bool arrived = false;
  std::uint32_t phase = 0;
};

shared_barrier shared_barrier::create(std::string_view name, rank_t participants,
                                      shared_barrier_options options) {
  auto made = create_file(name, checked_count(participants), options);
  if (!made) fail(reason::exists, text_of(name) + " exists already");
  return shared_barrier(new view(std::move(*made), participants));
}

shared_barrier shared_barrier::attach(std::string_view name, rank_t participants) {
  checked_count(participants);
  const std::string what = text_of(name);
  const descriptor file(open_file(path_of(name)));
  if (!file && errno == ENOENT) fail(reason::missing, "nobody has created " + what);
  if (!file) fail_by_system("opening " + what);
  mapping mapped = map_file(file, participants, what);
  if (const auto why = complaint(segment(mapped.base(), participants), what))
    fail(why->why(), why->what() + std::strlen("tutti: "));
  return shared_barrier(new view(std::move(mapped), participants));
}

shared_barrier shared_barrier::create_or_attach(std::string_view name, rank_t participants,
                                                shared_barrier_options options) {
  checked_count(participants);
  const std::string what = text_of(name), path = path_of(name);
  for (;;) {
    if (auto made = create_file(name, participants, options))
      return shared_barrier(new view(std::move(*made), participants));
    const descriptor file(open_file(path));
    if (!file && errno == ENOENT) continue;
    if (!file) fail_by_system("opening " + what);
    mapping mapped = map_file(file, participants, what);
    const auto why = complaint(segment(mapped.base(), participants), what);
    if (!why) return shared_barrier(new view(std::move(mapped), participants));
    if (why->why() != reason::stale) fail(why->why(), why->what() + std::strlen("tutti: "));
    unlink_file(file, path);
  }
}

bool shared_barrier::unlink(std::string_view name) {
  if (::unlink(path_of(name).c_str()) == 0) return true;
  if (errno != ENOENT) fail_by_system("removing " + text_of(name));
  return false;
}

std::size_t shared_barrier::bytes_for(rank_t participants) {
  return segment::bytes_for(checked_count(participants));
}

namespace {
void check_place(const void* memory, std::size_t bytes, rank_t participants) {
  require(memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % cache_line == 0,
          "a barrier between processes lies at a multiple of 128 bytes");
  const std::size_t needed = shared_barrier::bytes_for(participants);
  if (bytes < needed)
    refuse("a barrier of " + std::to_string(participants) + " participants takes " +
           std::to_string(needed) + " bytes, and the memory has " + std::to_string(bytes));
}
}  // namespace

void shared_barrier::build(void* memory, std::size_t bytes, rank_t participants,
                           shared_barrier_options options) {
  check_place(memory, bytes, participants);
  segment(memory, participants).build(options.patience);
}

shared_barrier shared_barrier::at(void* memory, std::size_t bytes, rank_t participants) {
  check_place(memory, bytes, participants);
  check(memory, bytes, participants, "this memory");
  return shared_barrier(new view(memory, participants));
}

shared_barrier::~shared_barrier() {
  if (view_ == nullptr) return;
  if (view_->has_joined()) view_->leave();
  if (robust_memory::here == &view_->who) robust_memory::here = nullptr;
  delete view_;
}

shared_barrier::shared_barrier(shared_barrier&& other) noexcept
    : view_(std::exchange(other.view_, nullptr)) {}

shared_barrier& shared_barrier::operator=(shared_barrier&& other) noexcept {
  std::swap(view_, other.view_);
  return *this;
}

rank_t shared_barrier::join(rank_t rank) {
  const segment& s = view_->memory();
  if (view_->has_joined())
    refuse("this object has joined the barrier as rank " + std::to_string(view_->who.rank) +
           " already");
  if (rank != any_rank && rank >= s.participants())
    refuse("rank " + std::to_string(rank) + " is not below the barrier's " +
           std::to_string(s.participants()) + " participants");
  if (const auto why = complaint(s, "the barrier"))
    fail(why->why(), why->what() + std::strlen("tutti: "));
  const rank_t first = rank == any_rank ? 0 : rank;
  const rank_t last = rank == any_rank ? s.participants() - 1 : rank;
  for (rank_t r = first; r <= last; ++r) {
    if (s.has_left(r)) continue;
    const auto taking = s.of(r).alive.try_take();
    if (taking == platform::robust_lock::taking::dead) {
      s.word().break_for(r, s.process_of(r));
      s.of(r).alive.give();
      fail(reason::died,
           "the barrier is broken: " + participant_text(r, s.process_of(r)) + " has died");
    }
    if (taking == platform::robust_lock::taking::busy) continue;
    if (s.has_left(r)) {
      // It has left since.
      s.of(r).alive.give();
      continue;
    }
    // relaxed: for messages; a process that is found dead has written it before its end.
    s.of(r).process.store(static_cast<std::int32_t>(getpid()), relaxed);
    view_->forks = this_generation();
    view_->arrived = false;
    view_->who.rank = r;
    return r;
  }
  if (rank == any_rank)
    fail(reason::taken,
         "all " + std::to_string(s.participants()) + " ranks of the barrier are taken");
  fail(reason::taken, participant_text(rank, s.process_of(rank)) +
                          (s.has_left(rank) ? " has left the barrier; nobody can join as it again"
                                            : " has joined the barrier already"));
}

void shared_barrier::leave() {
  view_->require_joined();
  view_->leave();
}

std::uint32_t shared_barrier::arrive() {
  view_->require_joined();
  const segment& s = view_->memory();
  if (view_->arrived && s.word().phase() == view_->phase && !s.word().is_broken())
    refuse("rank " + std::to_string(view_->who.rank) + " has arrived in phase " +
           std::to_string(view_->phase) + " already");
  std::uint32_t phase = 0;
  view_->arrived = s.word().arrive(phase);
  view_->phase = phase;
  // relaxed: for messages.
  if (view_->arrived) s.arrivals_of(view_->who.rank).store(phase + 1, relaxed);
  return phase;
}

shared_result shared_barrier::wait(std::uint32_t phase) {
  view_->require_joined();
  return view_->wait(phase, no_deadline{});
}

shared_result shared_barrier::wait_until_ns(std::uint32_t phase, std::uint64_t deadline_ns) {
  view_->require_joined();
  return view_->wait(phase, deadline(deadline_ns));
}

shared_result shared_barrier::arrive_and_wait() { return view_->wait(arrive(), no_deadline{}); }

void shared_barrier::arrive_and_drop() {
  view_->require_joined();
  // To leave before the arrival is to have arrived: no phase waits for this participant any more.
  const segment& s = view_->memory();
  if (view_->arrived && s.word().phase() == view_->phase && !s.word().is_broken())
    refuse("rank " + std::to_string(view_->who.rank) + " has arrived in phase " +
           std::to_string(view_->phase) + " already: use leave()");
  view_->leave();
}

std::vector<rank_t> shared_barrier::missing_ranks(std::uint32_t phase) const {
  const segment& s = view_->memory();
  std::vector<rank_t> missing;
  if (s.word().missing(phase) == 0) return missing;
  for (rank_t r = 0; r < s.participants(); ++r) {
    // relaxed: a snapshot for messages.
    const std::uint32_t arrived = s.arrivals_of(r).load(relaxed);
    if (arrived != phase + 1 && !s.has_left(r)) missing.push_back(r);
  }
  return missing;
}

std::int32_t shared_barrier::process_of(rank_t rank) const {
  const segment& s = view_->memory();
  return rank < s.participants() ? s.process_of(rank) : 0;
}

rank_t shared_barrier::participants() const noexcept { return view_->memory().participants(); }
rank_t shared_barrier::rank() const noexcept {
  return view_->has_joined() ? view_->who.rank : any_rank;
}
void shared_barrier::set_patience(patience p) noexcept { view_->memory().word().set_patience(p); }

}  // namespace tutti
