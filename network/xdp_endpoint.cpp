// SPDX-License-Identifier: Apache-2.0
#include "network/xdp_endpoint.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "tutti/platform/native.hpp"
#include "tutti/platform/run_delay.hpp"

namespace tutti::network {
namespace {

// The endpoints of a process on one device read the same ring buffer: who takes out an event of
// another one wakes that.
std::mutex one_reader;
// All endpoints of the process; under the lock.
std::vector<xdp_endpoint*> readers;

sockaddr_in address_of(std::uint32_t ip) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(TUTTI_NET_UDP_PORT);
  to.sin_addr.s_addr = ip;
  return to;
}

void place_links(tutti_net_link* links, unsigned count, const xdp_options& o) {
  for (unsigned i = 1; i < count; ++i) {
    const tutti_net_place& p =
        links[i].rank == TUTTI_NET_THE_SWITCH ? o.the_switch : o.places.at(links[i].rank);
    links[i].ip = p.ip;
    std::copy_n(p.mac, 6, links[i].mac);
  }
}

tutti_net_member with_table(tutti_net_table t, const tutti_net_place& self, const xdp_options& o) {
  tutti_net_member m{};
  t.communicator = o.communicator;
  t.incarnation = o.incarnation;
  t.plain = o.plain;
  // A plain packet cannot ask.
  t.echoes = o.plain;
  place_links(t.in, t.ins, o);
  place_links(t.out, t.outs, o);
  m.table = t;
  m.self = self;
  m.key = o.key;
  m.user = ::geteuid();
  return m;
}

}  // namespace

tutti_net_member member_of(const xdp_options& o) {
  if (o.plain && o.topology != TUTTI_NET_RING)
    throw std::invalid_argument(
        "plain packets do not say from which rank they come: they work in a ring only");
  return with_table(make_table(o.topology, static_cast<rank_t>(o.places.size()), o.rank),
                    o.places.at(o.rank), o);
}

tutti_net_member switch_member_of(const xdp_options& o) {
  return with_table(make_switch_table(static_cast<rank_t>(o.places.size())), o.the_switch, o);
}

xdp_endpoint::xdp_endpoint(const std::string& device, const xdp_options& options)
    : endpoint(member_of(options).table),
      options_(options),
      device_(device),
      mapped_bytes_(TUTTI_NET_MEMBERS * sizeof(tutti_net_completion)),
      known_(options.places.size()) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  mapped_bytes_ = (mapped_bytes_ + page - 1) / page * page;
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw std::system_error(errno, std::generic_category(), "a socket");
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) {
    const int error = errno;
    ::close(socket_);
    throw std::system_error(error, std::generic_category(), "an event descriptor");
  }
  // The programs do not look at a UDP checksum, which the kernel would only half fill in here.
  const int yes = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_NO_CHECK, &yes, sizeof yes);
  // The programs take whole packets, no fragments.
  const int whole = IP_PMTUDISC_PROBE;
  ::setsockopt(socket_, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
  ::setsockopt(socket_, SOL_SOCKET, SO_BINDTODEVICE, device.c_str(),
               static_cast<socklen_t>(device.size()));
  // Calls go to one address; a connected socket keeps the route to it.
  const sockaddr_in to =
      address_of(options_.places[(options_.rank + 1) % options_.places.size()].ip);
  try {
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw device_error("there is no route to the other nodes through " + device + " (" +
                         std::strerror(errno) + ")");
    open_node(0);
    // The first answer is about the time from here.
    (void)has_cpu_alone();
    const std::lock_guard lock(one_reader);
    readers.push_back(this);
  } catch (...) {
    close_node();
    ::close(wake_fd_);
    ::close(socket_);
    throw;
  }
}

// Gives the device's programs the table, and begins there with this episode. Leaves a node that is
// open already.
void xdp_endpoint::open_node(std::uint32_t episode) {
  const std::uint32_t program = program_of(device_);
  program_maps maps = open_maps(device_);
  if (const std::string missing = what_is_missing(look_at(device_)); !missing.empty())
    throw device_error(missing);
  tutti_net_member me = member_of(options_);
  me.state.episode = episode;
  const std::uint32_t place = maps.start(me);
  void* const mapped =
      ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, maps.fd("completions"), 0);
  const auto take = [](void* reader, void* event, std::size_t) {
    static_cast<xdp_endpoint*>(reader)->wake_other(*static_cast<const tutti_net_event*>(event));
    return 0;
  };
  ring_buffer* const events = ring_buffer__new(maps.fd("events"), take, this, nullptr);
  if (mapped == MAP_FAILED || events == nullptr) {
    const int error = errno;
    maps.stop(table_.communicator);
    if (mapped != MAP_FAILED) ::munmap(mapped, mapped_bytes_);
    ring_buffer__free(events);
    throw std::system_error(error, std::generic_category(), "the node's memory");
  }
  close_node();
  owner_ = ::getpid();
  program_ = program;
  maps_ = std::move(maps);
  place_ = place;
  no_room_before_ = maps_.counters()[TUTTI_NET_COUNT_NO_ROOM];
  mapped_ = mapped;
  events_ = events;
  events_fd_ = maps_.fd("events");
  word_ = static_cast<tutti_net_completion*>(mapped) + place;
}

void xdp_endpoint::close_node() {
  if (mapped_ == nullptr) return;
  // A child that was forked has a copy of this object, and the node is its parent's.
  if (owner_ == ::getpid()) maps_.stop(table_.communicator);
  ring_buffer__free(events_);
  ::munmap(mapped_, mapped_bytes_);
}

xdp_endpoint::~xdp_endpoint() {
  {
    const std::lock_guard lock(one_reader);
    std::erase(readers, this);
  }
  close_node();
  ::close(wake_fd_);
  ::close(socket_);
}

// What a program knew died with it, but its neighbours send again what it asks for.
void xdp_endpoint::is_repeated(std::uint32_t times) {
  if (size() == 1 || times < 3) return;
  if (maps_.counters()[TUTTI_NET_COUNT_NO_ROOM] != no_room_before_)
    throw device_error(what_driver_lacks(device_));
  try {
    const std::uint32_t now = program_of(device_);
    if (now == program_ || now == 0 || is_over(episode())) return;
    open_node(episode());
    ++revivals_;
  } catch (const device_error&) {
    // There is no program of ours yet; the next repetition looks again.
  }
}

std::string xdp_endpoint::path() const {
  const attached_device d = look_at(device_);
  return "communicator " + std::to_string(table_.communicator) + ": " +
         std::string(topology_names[table_.topology]) + " of " + std::to_string(size()) +
         " in the packet path of " + device_ + " (" + d.mode + " XDP)";
}

stamps xdp_endpoint::last_stamps() const {
  return {.called = word_->called_at, .released = word_->released_at};
}

// Returns false if the message does not fit in a packet of the device.
bool xdp_endpoint::send(const tutti_net_message& m, const std::uint64_t* values, std::uint32_t ip) {
  std::array<std::uint8_t, TUTTI_NET_MESSAGE_BYTES + 8 * TUTTI_NET_VALUES> bytes;
  std::array<__u64, TUTTI_NET_VALUES> carried{};
  std::copy_n(values, m.words, carried.begin());
  std::size_t length = TUTTI_NET_PLAIN_BYTES;
  if (m.plain) {
    tutti_net_write_plain(bytes.data(), &m);
  } else {
    tutti_net_message checked = m;
    // The programs look at the check of what comes from the wire; that of the host's own call is
    // its user.
    if (m.kind != TUTTI_NET_START)
      checked.check = tutti_net_check_of(&m, carried.data(), &options_.key);
    tutti_net_write_extended(bytes.data(), &checked);
    for (unsigned i = 0; i < m.words; ++i)
      tutti_net_put64(bytes.data() + TUTTI_NET_MESSAGE_BYTES + 8 * i, carried[i]);
    length = TUTTI_NET_MESSAGE_BYTES + 8u * m.words;
  }
  // A call that the device does not take is repeated like a lost one.
  if (m.kind == TUTTI_NET_START) {
    // The first failure may be the news that a host has refused an earlier query.
    if (::send(socket_, bytes.data(), length, 0) >= 0 ||
        ::send(socket_, bytes.data(), length, 0) >= 0 || errno != EMSGSIZE)
      return true;
    const std::size_t needed = length + TUTTI_NET_IP_BYTES + TUTTI_NET_UDP_BYTES;
    throw device_error("a call with " + std::to_string(m.words) + " values needs an MTU of " +
                       std::to_string(needed) + " bytes, more than " + device_ + " has");
  }
  const sockaddr_in to = address_of(ip);
  return ::sendto(socket_, bytes.data(), length, 0, reinterpret_cast<const sockaddr*>(&to),
                  sizeof to) >= 0 ||
         errno != EMSGSIZE;
}

void xdp_endpoint::call(const tutti_net_message& m, const std::uint64_t* values) {
  if (size() == 1) return;
  // Any address behind the device will do: the program takes the packet and sends its own.
  send(m, values, options_.places[(rank() + 1) % size()].ip);
}

bool xdp_endpoint::is_over(std::uint32_t episode) const {
  // acquire: the values and stamps of the episode; pairs with the program's exchange.
  const std::uint32_t done =
      std::atomic_ref<std::uint32_t>(word_->done).load(std::memory_order_acquire);
  return static_cast<std::int32_t>(done - episode) > 0;
}

// Looks at the word until `until`, or until the host shall block. In a wait of microseconds it only
// polls, unless this CPU has run other hosts; later it yields now and then, because one that it
// waits for may need this CPU. After `how.looking` it goes on, up to `how.looking_alone`, only on a
// CPU of its own: nobody else uses that, and a wake-up would come late.
bool xdp_endpoint::looks_until_over(std::uint32_t episode, clock::time_point until) {
  using namespace std::chrono_literals;
  using nanoseconds = std::chrono::nanoseconds;
  if (is_over(episode)) return true;
  if (look_.episode != episode)
    look_ = {.episode = episode, .goes_on = looks_.are_next(), .may_yield = yields_.are_next()};
  for (auto before = clock::now(); look_.goes_on && before < until;) {
    for (int polls = crowded_waits_ > 0 ? 4 : 32; polls > 0; --polls) {
      if (is_over(episode)) {
        looks_.were_enough();
        if (look_.has_yielded) yields_.were_enough();
        if (crowded_waits_ > 0) --crowded_waits_;
        return true;
      }
      native::relax();
    }
    const auto polled = clock::now();
    // The scheduler may have taken the CPU away between two polls.
    look_.spent += std::min<nanoseconds>(polled - before, 4us);
    before = polled;
    if (look_.may_yield && (crowded_waits_ > 0 || look_.spent > 20us)) {
      ::sched_yield();
      look_.has_yielded = true;
      before = clock::now();
      const nanoseconds took = before - polled;
      constexpr auto own = 2us, of_a_stranger = 500us;
      if (const nanoseconds late = is_over(episode) ? since_release(took) : took;
          late > of_a_stranger) {
        // A process that this host does not wait for has had the CPU for a time slice.
        yields_.were_in_vain(late);
        look_.may_yield = false;
      } else if (took > own) {
        crowded_waits_ = 32;
      }
      // The time of another host's process is no loss.
      look_.spent += std::min<nanoseconds>(took, own);
    }
    if (look_.spent < how.looking) continue;
    if (!look_.is_alone) look_.is_alone = has_cpu_alone();
    look_.goes_on = look_.is_alone && look_.spent < how.looking_alone;
    // On a CPU of its own a host has taken the time from nobody.
    if (!look_.goes_on) looks_.were_in_vain(how.looking);
  }
  return is_over(episode);
}

// How long ago the node ended the episode, but at most `most`: a host in a time namespace has a
// clock of its own.
std::chrono::nanoseconds xdp_endpoint::since_release(std::chrono::nanoseconds most) const {
  const std::chrono::nanoseconds now = clock::now().time_since_epoch(),
                                 then(static_cast<std::int64_t>(word_->released_at));
  return then < now ? std::min(now - then, most) : most;
}

// Whether this thread has seldom waited for a CPU since the last question.
bool xdp_endpoint::has_cpu_alone() {
  const auto now = clock::now();
  const std::optional<std::uint64_t> delay = platform::run_delay::now_ns();
  if (!delay) return false;
  const std::chrono::nanoseconds waited(*delay - std::exchange(last_delay_ns_, *delay));
  const auto passed = now - std::exchange(last_question_, now);
  return 8 * waited < passed;
}

// Takes out what is in the ring buffer.
void xdp_endpoint::consume() {
  const std::lock_guard lock(one_reader);
  ring_buffer__consume(events_);
}

// This endpoint has taken out an event; the caller holds the lock. Both were woken by the event if
// both were blocked, but whoever finds the ring buffer empty blocks again.
void xdp_endpoint::wake_other(const tutti_net_event& event) const {
  for (const xdp_endpoint* other : readers) {
    const std::uint64_t one = 1;
    if (other != this && other->table_.communicator == event.communicator &&
        other->table_.incarnation == event.incarnation)
      (void)!::write(other->wake_fd_, &one, sizeof one);
  }
}

bool xdp_endpoint::wait(std::uint32_t episode, clock::time_point until) {
  if (size() == 1 || looks_until_over(episode, until)) return true;
  // The time was over before the look.
  if (look_.goes_on) return false;
  ++blocked_;
  std::atomic_ref<std::uint32_t> waiting(word_->waiting);
  while (!is_over(episode)) {
    // seq_cst: the program must see it, or this thread the word; pairs with the program's exchange.
    waiting.store(1, std::memory_order_seq_cst);
    // seq_cst: orders the store before the loads of the word.
    platform::fence(std::memory_order_seq_cst);
    if (is_over(episode)) break;
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until - clock::now()).count();
    if (left <= 0) break;
    // The epoll descriptor of libbpf would only be a step more.
    std::array<pollfd, 2> p{{{events_fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}}};
    const timespec t{static_cast<time_t>(left / 1'000'000'000),
                     static_cast<long>(left % 1'000'000'000)};
    if (::ppoll(p.data(), p.size(), &t, nullptr) <= 0) continue;
    if (p[0].revents != 0) consume();
    if (std::uint64_t times; p[1].revents != 0) (void)!::read(wake_fd_, &times, sizeof times);
  }
  // relaxed: an event too many does no harm.
  waiting.store(0, std::memory_order_relaxed);
  return is_over(episode);
}

void xdp_endpoint::result(std::uint32_t episode, std::span<std::uint64_t> values) {
  if (size() == 1) return;
  std::copy_n(word_->value[episode & 1], values.size(), values.begin());
}

std::uint64_t xdp_endpoint::disagreements() {
  if (size() == 1) return 0;
  // relaxed: a count; nothing is published by it.
  return std::atomic_ref<std::uint32_t>(word_->disagreements).load(std::memory_order_relaxed);
}

std::vector<std::optional<endpoint::progress>> xdp_endpoint::inquire(clock::time_point until) {
  // Without the program nobody's messages come here; this says so.
  if (program_of(device_) != program_) (void)open_maps(device_);
  // A plain node does not answer.
  if (table_.plain) return {};
  known_.assign(size(), std::nullopt);
  // Answers have the value of their query, so that recorded ones and those of earlier inquiries are
  // none. With the smallest MTU a query has no value.
  std::uint64_t nonce = 0;
  bool has_nonce = ::getrandom(&nonce, sizeof nonce, 0) == sizeof nonce;
  const int said_by_nodes = maps_.fd("said_by_nodes");
  for (rank_t r = 0; r < size(); ++r) {
    const tutti_net_said_key key{place_, r};
    bpf_map_delete_elem(said_by_nodes, &key);
  }
  const auto hear = [&](rank_t r) {
    const tutti_net_said_key key{place_, r};
    tutti_net_said said{};
    if (bpf_map_lookup_elem(said_by_nodes, &key, &said) == 0 &&
        said.identity.communicator == table_.communicator &&
        said.identity.incarnation == table_.incarnation && (said.words != 0) == has_nonce &&
        (!has_nonce || said.nonce == nonce))
      known_[r] = progress{said.episode, said.called != 0, said.called == 2};
  };
  const auto complete = [&] {
    for (rank_t r = 0; r < size(); ++r)
      if (r != rank() && !known_[r]) return false;
    return true;
  };
  while (clock::now() < until && !complete()) {
    for (rank_t r = 0; r < size(); ++r) {
      if (r == rank() || known_[r]) continue;
      tutti_net_message m;
      tutti_net_compose(&table_, nullptr, episode(), TUTTI_NET_QUERY, r, &m);
      m.words = has_nonce ? 1 : 0;
      m.operation = has_nonce ? TUTTI_NET_OR : TUTTI_NET_NO_OPERATION;
      if (!send(m, &nonce, options_.places[r].ip)) has_nonce = false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (rank_t r = 0; r < size(); ++r)
      if (r != rank() && !known_[r]) hear(r);
  }
  return known_;
}

}  // namespace tutti::network
