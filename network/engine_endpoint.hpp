// SPDX-License-Identifier: Apache-2.0
// The host's side of an engine in RTL (hardware/innetwork), as Arap, Brown, Himebaugh and Swany
// have it: a call is a UDP packet, which the engine behind the device takes; the host blocks until
// the engine answers with a release. It needs no driver, no permissions and no memory of the card.
// The engine's tables must have been written, by engine_card::start for instance.
#pragma once

#include <netinet/in.h>

#include <array>
#include <memory>

#include "network/endpoint.hpp"
#include "network/engine_card.hpp"

namespace tutti::network {

struct engine_options : membership {
  engine_options() { topology = TUTTI_NET_RING; }

  rank_t ranks = 1;
  // An address to which the way leads through the engine's device; nobody need have it.
  in_addr towards{};
  // The engine's clock, in cycles a second (its register CLOCK).
  double clock_hz = 125e6;
  // Keeps what it has started while the endpoint lives. With it, a barrier throws card_error when
  // the engine has ended or stands still, and a deadline names the ranks for whose messages the
  // engine waits; without it, all other ranks.
  std::shared_ptr<engine_card> card = nullptr;
};

// When the call came into the engine, when the last packet came that the barrier needed since, and
// when the release left; in cycles since the engine's reset.
struct engine_stamps {
  std::uint64_t called = 0, came = 0, left = 0;
};

class engine_endpoint final : public endpoint {
 public:
  // Throws std::system_error if there is no way to the address.
  explicit engine_endpoint(const engine_options& options);
  ~engine_endpoint() override;

  stamps last_stamps() const override;
  const engine_stamps& last_cycles() const noexcept { return cycles_; }

 protected:
  void call(const tutti_net_message& m, const std::uint64_t* values) override;
  bool wait(std::uint32_t episode, clock::time_point until) override;
  void is_repeated(std::uint32_t times) override;
  void result(std::uint32_t, std::span<std::uint64_t>) override {}
  // Engines do not answer each other: those that send nothing count as silent.
  std::vector<std::optional<progress>> inquire(clock::time_point) override;

 private:
  bool receive();

  double clock_hz_;
  std::shared_ptr<engine_card> card_;
  int socket_ = -1;
  // What a release begins with.
  std::array<__u8, TUTTI_NET_PLAIN_BYTES> expected_{};
  engine_stamps cycles_;
  bool released_ = false;
};

}  // namespace tutti::network
