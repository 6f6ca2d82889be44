// SPDX-License-Identifier: Apache-2.0
#include "network/engine_endpoint.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace tutti::network {
namespace {

tutti_net_table table_of(const engine_options& o) {
  tutti_net_table t = make_table(o.topology, o.ranks, o.rank);
  t.communicator = o.communicator;
  t.incarnation = o.incarnation;
  t.plain = 1;
  t.echoes = 1;
  return t;
}

}  // namespace

engine_endpoint::engine_endpoint(const engine_options& options)
    : endpoint(table_of(options)), clock_hz_(options.clock_hz), card_(options.card) {
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw std::system_error(errno, std::generic_category(), "a UDP socket");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(TUTTI_NET_UDP_PORT);
  to.sin_addr = options.towards;
  // A release comes from where the call went, so the socket gets nobody else's packets.
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    const int error = errno;
    ::close(socket_);
    throw std::system_error(error, std::generic_category(), "the way to the engine");
  }
}

engine_endpoint::~engine_endpoint() { ::close(socket_); }

stamps engine_endpoint::last_stamps() const {
  const auto ns = [&](std::uint64_t cycles) {
    return static_cast<std::uint64_t>(static_cast<double>(cycles) * (1e9 / clock_hz_));
  };
  return {.called = ns(cycles_.called), .released = ns(cycles_.left), .came = ns(cycles_.came)};
}

void engine_endpoint::call(const tutti_net_message& m, const std::uint64_t*) {
  tutti_net_message answer = m;
  answer.kind = TUTTI_NET_RELEASE;
  tutti_net_write_plain(expected_.data(), &answer);
  std::array<__u8, TUTTI_NET_PLAIN_BYTES> bytes;
  tutti_net_write_plain(bytes.data(), &m);
  // A call that the device does not take is repeated like a lost one; the first failure may be the
  // news of an earlier one.
  if (::send(socket_, bytes.data(), bytes.size(), 0) < 0)
    (void)::send(socket_, bytes.data(), bytes.size(), 0);
}

// Takes a packet that is there; returns false if there is none.
bool engine_endpoint::receive() {
  std::array<__u8, TUTTI_NET_PLAIN_BYTES + TUTTI_NET_STAMPS_BYTES + 1> bytes;
  const ssize_t n = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0) return errno == ECONNREFUSED;
  // Releases of an earlier episode or incarnation may come late.
  if (n != TUTTI_NET_PLAIN_BYTES + TUTTI_NET_STAMPS_BYTES ||
      !std::equal(expected_.begin(), expected_.end(), bytes.begin()))
    return true;
  const __u8* const at = bytes.data() + TUTTI_NET_PLAIN_BYTES;
  cycles_ = {tutti_net_get64(at), tutti_net_get64(at + 8), tutti_net_get64(at + 16)};
  released_ = true;
  return true;
}

bool engine_endpoint::wait(std::uint32_t, clock::time_point until) {
  while (receive()) {
  }
  while (!released_) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until - clock::now()).count();
    if (left <= 0) return false;
    pollfd p{socket_, POLLIN, 0};
    const timespec t{static_cast<time_t>(left / 1'000'000'000),
                     static_cast<long>(left % 1'000'000'000)};
    if (::ppoll(&p, 1, &t, nullptr) > 0)
      while (receive()) {
      }
  }
  released_ = false;
  return true;
}

// Calls are repeated about every 30 ms by then; the driver is asked four times a second.
void engine_endpoint::is_repeated(std::uint32_t times) {
  if (card_ && times % 8 == 0) (void)card_->missing(episode());
}

std::vector<std::optional<endpoint::progress>> engine_endpoint::inquire(clock::time_point) {
  std::vector<std::optional<progress>> known(size());
  if (!card_) return known;
  std::ranges::fill(known, progress{episode(), true});
  for (const rank_t r : card_->missing(episode())) known[r].reset();
  return known;
}

}  // namespace tutti::network
