// SPDX-License-Identifier: Apache-2.0
#include "network/engine_card.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <utility>

namespace tutti::network {
namespace {

// A driver that has not answered until then does not run: it works on registers only.
constexpr timeval patience_with_driver{.tv_sec = 3, .tv_usec = 0};

// The port that leads to another card. Two cards with two cables between them are a ring: what goes
// out takes the first, and what comes in comes from the other card's first.
std::optional<unsigned> port_to(const card_place& from, std::uint32_t to, bool incoming) {
  std::optional<unsigned> found;
  for (unsigned p = 0; p < card::ports; ++p) {
    if (from.cables[p].to != to) continue;
    if (!found || (incoming && from.cables[p].there < from.cables[*found].there)) found = p;
  }
  return found;
}

}  // namespace

card::socket_name::socket_name(std::string_view device) {
  // A name that begins with a zero byte is no file's.
  constexpr std::string_view prefix{"\0tutti-engine/", 14};
  name.sun_family = AF_UNIX;
  if (device.empty() || prefix.size() + device.size() > sizeof name.sun_path)
    throw card_error("'" + std::string(device) + "' is no name of a device");
  std::ranges::copy(prefix, name.sun_path);
  std::ranges::copy(device, name.sun_path + prefix.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + prefix.size() + device.size());
}

std::optional<found_plan> plan_on_cables(std::span<const card_place> all, unsigned topology,
                                         rank_t rank) {
  const auto n = static_cast<rank_t>(all.size());
  found_plan mine;
  for (rank_t r = 0; r < n; ++r) {
    found_plan plan;
    plan.topology = topology;
    plan.rank = r;
    plan.table = make_table(topology, n, r);
    const auto find = [&](const tutti_net_link* links, unsigned count, bool incoming,
                          std::map<rank_t, unsigned>& ports) {
      for (unsigned slot = 1; slot < count; ++slot) {
        const auto port = port_to(all[r], all[links[slot].rank].address, incoming);
        if (!port) return false;
        ports[links[slot].rank] = *port;
      }
      return true;
    };
    const tutti_net_table& t = plan.table;
    if (!find(t.in, t.ins, true, plan.port_in) || !find(t.out, t.outs, false, plan.port_out))
      return {};
    if (r == rank) mine = std::move(plan);
  }
  return mine;
}

engine_card::engine_card(std::string device) : device_(std::move(device)) {
  const card::socket_name at(device_);
  socket_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw card_error("no socket for the driver of " + device_);
  try {
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      ::setsockopt(socket_, SOL_SOCKET, option, &patience_with_driver, sizeof patience_with_driver);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&at.name), at.length) != 0)
      throw card_error("no engine has the device " + device_);
    description_ = ask({});
  } catch (...) {
    ::close(socket_);
    throw;
  }
}

engine_card::~engine_card() { ::close(socket_); }

card::answer engine_card::ask(const card::request& r) {
  card::answer a;
  if (::send(socket_, &r, sizeof r, MSG_NOSIGNAL) != sizeof r)
    throw card_error("the engine of " + device_ +
                     (errno == EAGAIN ? " does not answer" : " has ended"));
  const ssize_t got = ::recv(socket_, &a, sizeof a, 0);
  if (got < 0 && errno == EAGAIN) throw card_error("the engine of " + device_ + " does not answer");
  if (got <= 0) throw card_error("the engine of " + device_ + " has ended");
  if (got != sizeof a || a.of_version != card::version)
    throw card_error("the driver of " + device_ + " is of another version");
  if (a.is_refused != 0) {
    a.why[sizeof a.why - 1] = 0;
    throw card_error(a.why);
  }
  return a;
}

void engine_card::start(const found_plan& plan, std::uint16_t communicator,
                        std::uint32_t incarnation) {
  plan_ = plan;
  rows_ = engine_rows(plan, description_.port_count);
  card::request r;
  r.what = card::wish::start;
  r.communicator = communicator;
  r.topology = plan.topology;
  r.role = plan.table.role;
  r.incarnation = incarnation;
  r.row_count = static_cast<std::uint32_t>(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) r.table[i] = {rows_[i].need, rows_[i].send};
  (void)ask(r);
}

std::vector<rank_t> engine_card::missing(std::uint32_t episode) {
  card::request r;
  r.what = card::wish::state;
  const std::uint64_t state = ask(r).state;
  // The episode has ended here; its release is on the way.
  if (static_cast<std::uint32_t>(state >> 32) != episode) return {};
  const auto row = static_cast<std::size_t>(state >> 24 & 0xff);
  if (row >= rows_.size()) throw card_error("the engine of " + device_ + " has lost its table");
  const std::uint32_t lacks = rows_[row].need & ~static_cast<std::uint32_t>(state & 0xff'ffff);
  if ((lacks & 1) != 0)
    throw card_error("the engine of " + device_ + " has not got the host's call");
  std::vector<rank_t> ranks;
  for (const auto& [rank, port] : plan_.port_in) {
    const unsigned arrival_bit = 1 + port, release_bit = arrival_bit + description_.port_count;
    if ((lacks >> arrival_bit & 1) != 0 || (lacks >> release_bit & 1) != 0) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace tutti::network
