// SPDX-License-Identifier: Apache-2.0
#include "network/udp.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace tutti::network {
namespace {

constexpr std::size_t most_bytes = TUTTI_NET_MESSAGE_BYTES + 8 * TUTTI_NET_VALUES;

std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch())
          .count());
}

int bound_socket(const sockaddr_in& address) {
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (s < 0) throw std::system_error(errno, std::generic_category(), "a UDP socket");
  if (::bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::close(s);
    throw std::system_error(error, std::generic_category(),
                            "UDP port " + std::to_string(ntohs(address.sin_port)));
  }
  return s;
}

tutti_net_table table_of(const udp_options& o) {
  if (o.topology == TUTTI_NET_SWITCH)
    throw std::invalid_argument("a UDP endpoint has no switch that combines");
  tutti_net_table t = make_table(o.topology, static_cast<rank_t>(o.addresses.size()), o.rank);
  t.communicator = o.communicator;
  t.incarnation = o.incarnation;
  return t;
}

}  // namespace

std::vector<sockaddr_in> loopback_addresses(rank_t ranks, std::uint16_t first_port) {
  std::vector<sockaddr_in> all(ranks);
  for (rank_t r = 0; r < ranks; ++r) {
    all[r].sin_family = AF_INET;
    all[r].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    all[r].sin_port = htons(static_cast<std::uint16_t>(first_port + r));
  }
  return all;
}

udp_endpoint::udp_endpoint(const udp_options& options, int socket)
    : endpoint(table_of(options)),
      options_(options),
      socket_(socket >= 0 ? socket : bound_socket(options.addresses.at(options.rank))),
      values_(std::make_unique<tutti_net_values>()),
      cable_(options.cable),
      known_(options.addresses.size()) {
  keeper_ = std::thread([this] { keep(); });
}

udp_endpoint::~udp_endpoint() {
  if (size() > 1) std::this_thread::sleep_for(options_.linger);
  // relaxed: the join below orders everything else.
  ends_.store(true, std::memory_order_relaxed);
  keeper_.join();
  ::close(socket_);
}

void udp_endpoint::keep() {
  // relaxed: only the end of the loop depends on it.
  while (!ends_.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) continue;
    while (receive_one(false, {})) {
    }
  }
}

void udp_endpoint::send(std::uint32_t episode, unsigned kind, rank_t to, unsigned wanted,
                        const std::uint64_t* values, const sockaddr_in& where, bool with_values) {
  tutti_net_message m;
  tutti_net_compose(&table_, with_values ? values_.get() : nullptr, episode,
                    static_cast<__u8>(kind), to, &m);
  m.wanted = static_cast<__u8>(wanted);
  std::array<__u64, TUTTI_NET_VALUES> carried{};
  for (unsigned i = 0; i < m.words; ++i) carried[i] = values[i];
  m.check = tutti_net_check_of(&m, carried.data(), &options_.key);
  std::vector<std::uint8_t> datagram(TUTTI_NET_MESSAGE_BYTES + 8u * m.words);
  tutti_net_write_extended(datagram.data(), &m);
  for (unsigned i = 0; i < m.words; ++i)
    tutti_net_put64(datagram.data() + TUTTI_NET_MESSAGE_BYTES + 8 * i, carried[i]);
  cable_.pass(std::move(datagram), where,
              [&](const auto& out, const auto& there) { transmit(out, there); });
}

void udp_endpoint::transmit(const std::vector<std::uint8_t>& datagram, const sockaddr_in& where) {
  // A full or missing receiver is a loss like any other.
  (void)::sendto(socket_, datagram.data(), datagram.size(), 0,
                 reinterpret_cast<const sockaddr*>(&where), sizeof where);
}

void udp_endpoint::act(const tutti_net_actions& a, const sockaddr_in* from) {
  const std::uint32_t parity = a.episode & 1;
  for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
    if (a.send >> slot & 1) {
      const tutti_net_link& to = table_.out[slot];
      std::array<std::uint64_t, TUTTI_NET_VALUES> values;
      std::ranges::copy(values_->sent[parity][to.row], values.begin());
      send(a.episode, to.kind, to.rank, 0, values.data(), options_.addresses[to.rank], true);
    }
    if (a.ask >> slot & 1) {
      const tutti_net_link& of = table_.in[slot];
      send(a.episode, TUTTI_NET_ASK, of.rank, of.kind, nullptr, options_.addresses[of.rank], false);
    }
  }
  if (a.answer && from != nullptr)
    send(state_.episode, TUTTI_NET_STATUS, TUTTI_NET_EVERYONE, tutti_net_call_of(&state_), nullptr,
         *from, false);
  if (a.released) stamps_.released = nanoseconds();
}

tutti_net_actions udp_endpoint::deliver(std::span<const std::uint8_t> datagram,
                                        const sockaddr_in& from) {
  tutti_net_actions a{};
  tutti_net_message m;
  std::array<__u64, TUTTI_NET_VALUES> values{};
  std::uint64_t& foreign = counters_[TUTTI_NET_OUTCOMES];
  if (datagram.size() < TUTTI_NET_MESSAGE_BYTES || !tutti_net_read_extended(datagram.data(), &m) ||
      datagram.size() != TUTTI_NET_MESSAGE_BYTES + 8u * m.words) {
    ++foreign;
    return a;
  }
  for (unsigned i = 0; i < m.words; ++i)
    values[i] = tutti_net_get64(datagram.data() + TUTTI_NET_MESSAGE_BYTES + 8 * i);
  if (!tutti_net_is_for(&table_, &m) ||
      tutti_net_check_of(&m, values.data(), &options_.key) != m.check) {
    ++foreign;
    return a;
  }
  if (m.kind == TUTTI_NET_STATUS) {
    if (m.source < size()) known_[m.source] = progress{m.episode, m.wanted != 0, m.wanted == 2};
    return a;
  }
  tutti_net_step(&table_, &state_, values_.get(), &m, values.data(), 0, &a);
  ++counters_[a.outcome];
  act(a, &from);
  return a;
}

bool udp_endpoint::receive_one(bool block, clock::time_point until) {
  std::array<std::uint8_t, most_bytes + 1> buffer;
  sockaddr_in from{};
  socklen_t length = sizeof from;
  if (block) {
    pollfd p{socket_, POLLIN, 0};
    const auto left = until - clock::now();
    if (left <= clock::duration::zero()) return false;
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec t{static_cast<time_t>(ns / 1'000'000'000),
                     static_cast<long>(ns % 1'000'000'000)};
    if (::ppoll(&p, 1, &t, nullptr) <= 0) return false;
  }
  const ssize_t n = ::recvfrom(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT,
                               reinterpret_cast<sockaddr*>(&from), &length);
  if (n < 0) return false;
  deliver({buffer.data(), static_cast<std::size_t>(n)}, from);
  return true;
}

void udp_endpoint::call(const tutti_net_message& m, const std::uint64_t* values) {
  const std::lock_guard lock(mutex_);
  std::array<__u64, TUTTI_NET_VALUES> carried;
  std::copy_n(values, carried.size(), carried.begin());
  tutti_net_actions a;
  if (state_.episode == m.episode && (state_.now & 1) == 0) stamps_.called = nanoseconds();
  tutti_net_step(&table_, &state_, values_.get(), &m, carried.data(), 1, &a);
  // The other counters are of packets.
  if (a.outcome == TUTTI_NET_DISAGREES) ++counters_[a.outcome];
  act(a, nullptr);
}

bool udp_endpoint::wait(std::uint32_t episode, clock::time_point until) {
  const std::lock_guard lock(mutex_);
  const auto over = [&] { return static_cast<std::int32_t>(state_.episode - episode) > 0; };
  while (!over() && receive_one(false, {})) {
  }
  while (!over())
    if (!receive_one(true, until) && clock::now() >= until) break;
  if (!over()) cable_.release([&](const auto& out, const auto& there) { transmit(out, there); });
  return over();
}

void udp_endpoint::result(std::uint32_t episode, std::span<std::uint64_t> values) {
  const std::lock_guard lock(mutex_);
  std::copy_n(values_->sent[episode & 1][table_.rows - 1], values.size(), values.begin());
}

std::uint64_t udp_endpoint::disagreements() {
  const std::lock_guard lock(mutex_);
  return counters_[TUTTI_NET_DISAGREES];
}

std::vector<std::optional<endpoint::progress>> udp_endpoint::inquire(clock::time_point until) {
  const std::lock_guard lock(mutex_);
  known_.assign(size(), std::nullopt);
  const auto complete = [&] {
    for (rank_t r = 0; r < size(); ++r)
      if (r != rank() && !known_[r]) return false;
    return true;
  };
  while (clock::now() < until && !complete()) {
    for (rank_t r = 0; r < size(); ++r)
      if (r != rank() && !known_[r])
        send(state_.episode, TUTTI_NET_QUERY, r, 0, nullptr, options_.addresses[r], false);
    const auto pause = std::min(until, clock::now() + std::chrono::milliseconds(4));
    while (clock::now() < pause && !complete()) receive_one(true, pause);
  }
  return known_;
}

}  // namespace tutti::network
