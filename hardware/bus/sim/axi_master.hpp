// SPDX-License-Identifier: Apache-2.0
// A master on the AXI4-Lite port of a wrapper. It offers addresses and data at random times and in
// either order, takes answers late, and checks that what is valid stays.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "hardware/flow/testbench.hpp"

namespace tutti::rtl {

class axi_master {
 public:
  struct answer {
    std::uint64_t data = 0;
    unsigned response = 0;
  };

  explicit axi_master(testbench& bench, std::uint64_t seed) : top_(bench.top()), random_(seed) {
    top_.s_axi_awvalid = top_.s_axi_wvalid = top_.s_axi_arvalid = 0;
    top_.s_axi_bready = top_.s_axi_rready = 0;
    top_.s_axi_awprot = top_.s_axi_arprot = 0;
  }

  void write(std::uint64_t address, std::uint64_t value, unsigned strobes = 0xff) {
    addresses_.push_back(address);
    data_.push_back({value, strobes});
  }
  void read(std::uint64_t address) { reads_.push_back(address); }
  // Answers in the order of the requests.
  std::deque<answer> written, data_read;
  bool idle() const {
    return addresses_.empty() && data_.empty() && reads_.empty() && owed_writes_ == 0 &&
           owed_reads_ == 0;
  }
  const std::string& wrong() const { return wrong_; }

  // Sets the inputs of this cycle; call settle() of the bench and then take() before its tick().
  void drive() {
    offer(top_.s_axi_awvalid, addresses_.empty());
    if (top_.s_axi_awvalid) top_.s_axi_awaddr = static_cast<unsigned>(addresses_.front());
    offer(top_.s_axi_wvalid, data_.empty());
    if (top_.s_axi_wvalid) {
      top_.s_axi_wdata = data_.front().first;
      top_.s_axi_wstrb = static_cast<std::uint8_t>(data_.front().second);
    }
    offer(top_.s_axi_arvalid, reads_.empty());
    if (top_.s_axi_arvalid) top_.s_axi_araddr = static_cast<unsigned>(reads_.front());
    top_.s_axi_bready = random_() % 2;
    top_.s_axi_rready = random_() % 2;
  }

  void take() {
    if (top_.s_axi_awvalid && top_.s_axi_awready) {
      addresses_.pop_front();
      ++owed_writes_;
      taken_aw_ = true;
    }
    if (top_.s_axi_wvalid && top_.s_axi_wready) {
      data_.pop_front();
      taken_w_ = true;
    }
    if (top_.s_axi_arvalid && top_.s_axi_arready) {
      reads_.pop_front();
      ++owed_reads_;
      taken_ar_ = true;
    }
    if (held_b_ && !top_.s_axi_bvalid) wrong_ = "an answer to a write is withdrawn";
    if (held_r_ && (!top_.s_axi_rvalid || top_.s_axi_rdata != *held_r_))
      wrong_ = "an answer to a read changes";
    held_b_ = top_.s_axi_bvalid && !top_.s_axi_bready;
    held_r_.reset();
    if (top_.s_axi_rvalid && !top_.s_axi_rready) held_r_ = top_.s_axi_rdata;
    if (top_.s_axi_bvalid && top_.s_axi_bready) {
      written.push_back({0, top_.s_axi_bresp});
      if (owed_writes_-- == 0) wrong_ = "an answer to no write";
    }
    if (top_.s_axi_rvalid && top_.s_axi_rready) {
      data_read.push_back({top_.s_axi_rdata, top_.s_axi_rresp});
      if (owed_reads_-- == 0) wrong_ = "an answer to no read";
    }
  }

  // Ends what was taken, behind the tick.
  void settle_taken() {
    if (taken_aw_) top_.s_axi_awvalid = 0;
    if (taken_w_) top_.s_axi_wvalid = 0;
    if (taken_ar_) top_.s_axi_arvalid = 0;
    taken_aw_ = taken_w_ = taken_ar_ = false;
  }

 private:
  // What is valid stays valid until it is taken.
  template <class Valid>
  void offer(Valid& valid, bool nothing) {
    if (!valid && !nothing) valid = random_() % 3 == 0;
  }

  model& top_;
  std::mt19937_64 random_;
  std::deque<std::uint64_t> addresses_, reads_;
  std::deque<std::pair<std::uint64_t, unsigned>> data_;
  unsigned owed_writes_ = 0, owed_reads_ = 0;
  bool held_b_ = false, taken_aw_ = false, taken_w_ = false, taken_ar_ = false;
  std::optional<std::uint64_t> held_r_;
  std::string wrong_;
};

}  // namespace tutti::rtl
