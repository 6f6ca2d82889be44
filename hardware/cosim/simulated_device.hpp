// SPDX-License-Identifier: Apache-2.0
// A unit modelled by Verilator, behind the interface of a device. Memory is a buffer that the model
// reads and writes with a delay of a few cycles.
#pragma once

#include <type_traits>

#include "hardware/cosim/clocked_device.hpp"

namespace tutti::hardware {

template <class Model>
class simulated_device final : public clocked_device<simulated_device<Model>, Model> {
  using base = clocked_device<simulated_device<Model>, Model>;
  using typename base::request;

 public:
  explicit simulated_device(std::string name) : base(std::move(name)), lines_(new word[words]) {
    top().rst_ni = 0;
    for (int i = 0; i < 2; ++i) this->tick();
    top().rst_ni = 1;
    this->start();
  }

  ~simulated_device() override { this->stop(); }

  std::uint64_t window() const noexcept override { return UINT64_MAX; }
  shared_memory memory() noexcept override {
    if constexpr (has_memory)
      return {lines_.get(), words * 8, bus_address};
    else
      return {};
  }

 private:
  friend base;
  using base::top;
  using word = std::atomic<std::uint64_t>;
  static constexpr std::size_t words = 4096;
  static constexpr std::uint64_t bus_address = 0x4000'0000;
  static constexpr bool has_memory = requires(Model & m) { m.rd_valid_o; };
  static constexpr bool polls = has_memory;

  // Steps one cycle; returns true if the model took the request in it.
  bool cycle(request* r) {
    top().req_valid_i = r != nullptr;
    if (r != nullptr) {
      top().req_write_i = r->is_write;
      top().req_addr_i = static_cast<std::decay_t<decltype(top().req_addr_i)>>(r->offset);
      top().req_data_i = r->value;
    }
    top().eval();
    bool taken = r != nullptr;
    if constexpr (requires(Model & m) { m.req_ready_o; }) taken = taken && top().req_ready_o;
    if (taken && !r->is_write) r->value = top().rsp_data_o;
    if constexpr (has_memory) serve_memory();
    this->tick();
    return taken;
  }

  void serve_memory() {
    top().rd_ready_i = 1;
    top().wr_ready_i = 1;
    top().mem_valid_i = !flights_.empty() && flights_.front().due <= this->now();
    if (top().mem_valid_i) {
      top().mem_tag_i = flights_.front().tag;
      top().mem_data_i = flights_.front().value;
      top().mem_error_i = 0;
      flights_.pop_front();
    }
    top().eval();
    if (top().rd_valid_o) {
      // acquire: pairs with the release of a participant's arrival; the release of the departure
      // passes it on.
      const std::uint64_t value = at(top().rd_addr_o).load(std::memory_order_acquire);
      flights_.push_back({this->now() + 4, value, top().rd_tag_o});
    }
    if (top().wr_valid_o) {
      // release: publishes the arrivals; pairs with the acquire of the participants that depart.
      at(top().wr_addr_o).store(top().wr_data_o, std::memory_order_release);
    }
  }

  word& at(std::uint64_t address) { return lines_[(address - bus_address) / 8 % words]; }

  struct flight {
    std::uint64_t due, value;
    std::uint8_t tag;
  };

  std::unique_ptr<word[]> lines_;
  std::deque<flight> flights_;
};

}  // namespace tutti::hardware
