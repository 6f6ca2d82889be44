// SPDX-License-Identifier: Apache-2.0
// The platform of an accelerator behind CCI-P: it carries requests for registers, reads and writes
// of lines, and messages. Memory and message addresses are files that the driver maps too, as a
// device's are. Reads are answered after a few cycles, and from time to time a channel is almost
// full.
#pragma once

#include <array>
#include <optional>

#include "hardware/cosim/clocked_device.hpp"
#include "hardware/driver/feature_header.hpp"
#include "hardware/driver/mapped_memory.hpp"
#include "hardware/flow/fields.hpp"

namespace tutti::hardware {

// Where the bits of rx_t and tx_t of tutti_bus_ccip_pkg lie in the model's ports.
namespace ccip {
inline constexpr unsigned mmio_write = 29, mmio_read = 30, response = 31, response_data = 32,
                          response_header = 544, c1_almost_full = 572, c0_almost_full = 573;
inline constexpr unsigned answer_data = 0, answer_valid = 64, answer_tid = 65, write_valid = 74,
                          write_data = 75, write_address = 603, read_valid = 667, read_tag = 668,
                          read_address = 684;
inline constexpr unsigned eight_bytes = 1, message_type = 4;
}  // namespace ccip

template <class Model>
class simulated_platform final : public clocked_device<simulated_platform<Model>, Model> {
  using base = clocked_device<simulated_platform<Model>, Model>;
  using typename base::request;

 public:
  // The paths of the files; an empty one means that the platform has none.
  simulated_platform(std::string name, const std::string& memory, std::size_t bytes,
                     std::uint64_t bus_address, const std::string& messages)
      : base(std::move(name)) {
    if (!memory.empty()) memory_.emplace(memory, bytes, bus_address);
    if (!messages.empty())
      messages_.emplace(messages, mapped_messages::bytes, 0, "message addresses");
    for (unsigned bit = 0; bit < 574; ++bit) rtl::set_field(top().rx_i, bit, 1, 0);
    top().rst_i = 1;
    for (int i = 0; i < 2; ++i) this->tick();
    top().rst_i = 0;
    this->start();
  }

  ~simulated_platform() override { this->stop(); }

  std::uint64_t window() const noexcept override { return accelerator_window_bytes; }

 private:
  friend base;
  using base::top;
  static constexpr bool polls = true;

  bool cycle(request* r) {
    auto& rx = top().rx_i;
    const unsigned phase = static_cast<unsigned>(this->now() % 32);
    rtl::set_field(rx, ccip::c0_almost_full, 1, phase < 3);
    rtl::set_field(rx, ccip::c1_almost_full, 1, phase > 1 && phase < 9);
    rtl::set_field(rx, ccip::mmio_read, 1, 0);
    rtl::set_field(rx, ccip::mmio_write, 1, 0);
    rtl::set_field(rx, ccip::response, 1, 0);
    // Requests and responses share the channel; responses that are due go first.
    const bool responds = respond();
    const bool asks = r != nullptr && !responds;
    if (asks) {
      tid_ = (tid_ + 1) % 512;
      rtl::set_field(rx, ccip::response_header, 28,
                     (r->offset / 4) << 12 | ccip::eight_bytes << 10 | tid_);
      rtl::set_field(rx, ccip::response_data, 64, r->value);
      rtl::set_field(rx, r->is_write ? ccip::mmio_write : ccip::mmio_read, 1, 1);
    }
    this->tick();
    serve_memory();
    const auto& tx = top().tx_o;
    if (asks && !r->is_write) {
      // The port answers in the next cycle.
      const bool answered =
          rtl::field(tx, ccip::answer_valid, 1) != 0 && rtl::field(tx, ccip::answer_tid, 9) == tid_;
      r->value = answered ? rtl::field(tx, ccip::answer_data, 64) : ~std::uint64_t{0};
    }
    return asks;
  }

  // Gives the unit a line that it has read, or a message.
  bool respond() {
    auto& rx = top().rx_i;
    if (!flights_.empty() && flights_.front().due <= this->now()) {
      rtl::set_field(rx, ccip::response_header, 28, flights_.front().tag);
      rtl::set_field(rx, ccip::response_data, 64, flights_.front().value);
      rtl::set_field(rx, ccip::response, 1, 1);
      flights_.pop_front();
      return true;
    }
    for (unsigned m = 0; messages_ && m < mapped_messages::addresses; ++m) {
      auto* line = reinterpret_cast<std::atomic<std::uint64_t>*>(
          static_cast<char*>(messages_->start()) + mapped_messages::offset_of(m));
      // acquire: pairs with the release of the participant's send; the release of the departure
      // passes it on.
      const std::uint64_t value = line->load(std::memory_order_acquire);
      if (value == seen_[m]) continue;
      seen_[m] = value;
      rtl::set_field(rx, ccip::response_header, 28, ccip::message_type << 16 | m);
      rtl::set_field(rx, ccip::response, 1, 1);
      return true;
    }
    return false;
  }

  void serve_memory() {
    if (!memory_) return;
    const auto& tx = top().tx_o;
    if (rtl::field(tx, ccip::read_valid, 1) != 0) {
      // acquire: pairs with the release of a participant's arrival; the release of the departure
      // passes it on.
      const std::uint64_t value =
          at(rtl::field(tx, ccip::read_address, 42)).load(std::memory_order_acquire);
      flights_.push_back({this->now() + 4, value, rtl::field(tx, ccip::read_tag, 16)});
    }
    if (rtl::field(tx, ccip::write_valid, 1) != 0)
      // release: publishes the arrivals; pairs with the acquire of the participants that depart.
      at(rtl::field(tx, ccip::write_address, 42))
          .store(rtl::field(tx, ccip::write_data, 64), std::memory_order_release);
  }

  std::atomic<std::uint64_t>& at(std::uint64_t line) {
    const shared_memory all = memory_->memory();
    return all.words[(line * 64 - all.bus_address) / 8 % (all.bytes / 8)];
  }

  struct flight {
    std::uint64_t due, value, tag;
  };

  std::optional<mapped_memory> memory_;
  std::optional<mapping> messages_;
  std::array<std::uint64_t, mapped_messages::addresses> seen_{};
  std::deque<flight> flights_;
  std::uint64_t tid_ = 0;
};

}  // namespace tutti::hardware
