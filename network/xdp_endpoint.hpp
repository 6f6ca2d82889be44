// SPDX-License-Identifier: Apache-2.0
// An endpoint whose node is in the kernel's packet path. A call is a UDP packet that the program on
// the device's way out takes; the release is a word in memory that the program on the way in
// writes. The host looks at the word for a while and then blocks.
#pragma once

#include <memory>

#include "network/device.hpp"
#include "network/endpoint.hpp"
#include "network/looks.hpp"

struct ring_buffer;

namespace tutti::network {

struct xdp_options : membership {
  // Where each rank is.
  std::vector<tutti_net_place> places;
  // The switch, for topology switch.
  tutti_net_place the_switch{};
  // Packets of 60 bytes, which RTL engines understand: rings only.
  bool plain = false;
};

// Returns what the node executes: the table with the places of its neighbours.
tutti_net_member member_of(const xdp_options& options);
tutti_net_member switch_member_of(const xdp_options& options);

class xdp_endpoint final : public endpoint {
 public:
  // The programs must be attached to the device.
  xdp_endpoint(const std::string& device, const xdp_options& options);
  ~xdp_endpoint() override;

  stamps last_stamps() const override;
  // The path that serves this communicator, for people.
  std::string path() const;
  std::array<std::uint64_t, TUTTI_NET_COUNTERS> counters() const { return maps_.counters(); }
  std::uint64_t blocked() const { return blocked_; }
  // How often the device's programs were replaced by others, which were then told where they are.
  std::uint64_t revivals() const { return revivals_; }

 protected:
  void is_repeated(std::uint32_t times) override;
  void call(const tutti_net_message& m, const std::uint64_t* values) override;
  bool wait(std::uint32_t episode, clock::time_point until) override;
  void result(std::uint32_t episode, std::span<std::uint64_t> values) override;
  std::uint64_t disagreements() override;
  std::vector<std::optional<progress>> inquire(clock::time_point until) override;

 private:
  void open_node(std::uint32_t episode);
  void close_node();
  bool is_over(std::uint32_t episode) const;
  bool looks_until_over(std::uint32_t episode, clock::time_point until);
  std::chrono::nanoseconds since_release(std::chrono::nanoseconds most) const;
  bool has_cpu_alone();
  void consume();
  void wake_other(const tutti_net_event& event) const;
  bool send(const tutti_net_message& m, const std::uint64_t* values, std::uint32_t ip);

  xdp_options options_;
  program_maps maps_;
  std::string device_;
  // The process that has opened the node.
  pid_t owner_ = 0;
  // Where the node is in the maps.
  std::uint32_t place_ = 0;
  // How many packets the driver had no room for when the node began.
  std::uint64_t no_room_before_ = 0;
  // The program that has the maps.
  std::uint32_t program_ = 0;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  tutti_net_completion* word_ = nullptr;
  ring_buffer* events_ = nullptr;
  int events_fd_ = -1;
  // Written by another endpoint of the process that has taken out this one's event.
  int wake_fd_ = -1;
  int socket_ = -1;
  std::uint64_t blocked_ = 0, revivals_ = 0;
  // Whether looking at the word, and yielding meanwhile, have ended the last waits.
  looks looks_, yields_;
  // The look of one episode, which several waits may continue.
  struct look {
    std::uint32_t episode = ~0u;
    // If not, the host blocks.
    bool goes_on = false;
    bool may_yield = false, has_yielded = false;
    bool is_alone = false;
    // The processor time of this host.
    std::chrono::nanoseconds spent{0};
  };
  look look_;
  // When the host was last asked whether it has its CPU alone, and what the kernel said then.
  clock::time_point last_question_{};
  std::uint64_t last_delay_ns_ = 0;
  // The waits until this host takes its CPU for its own.
  unsigned crowded_waits_ = 0;
  std::vector<std::optional<progress>> known_;
};

}  // namespace tutti::network
