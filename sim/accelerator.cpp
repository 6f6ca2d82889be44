// SPDX-License-Identifier: Apache-2.0
#include "sim/accelerator.hpp"

#include "hardware/model/mask_unit.hpp"

namespace tutti::sim {

using hardware::model::counting_inputs;
using hardware::model::counting_outputs;

// The mask unit has the ports of the counting unit that it needs.
class accelerator::unit {
 public:
  virtual ~unit() = default;
  virtual counting_outputs step(const counting_inputs& in) = 0;
  virtual bool is_busy() const = 0;
};

template <class Model>
class accelerator::unit_of final : public unit {
 public:
  explicit unit_of(unsigned threads) : model_(threads) {}
  counting_outputs step(const counting_inputs& in) override {
    if constexpr (requires(Model & m) { m.step(in); }) {
      return model_.step(in);
    } else {
      counting_outputs out;
      out.value = model_.step(in.request);
      return out;
    }
  }
  bool is_busy() const override { return model_.is_busy(); }

 private:
  Model model_;
};

namespace {

constexpr std::size_t memory_lines = 256;

world& here() noexcept { return *world::current(); }

// Then nothing takes time, and the memory answers nothing.
counting_inputs before_a_run(const hardware::model::register_request& r) {
  counting_inputs in;
  in.request = r;
  in.takes_read = in.takes_write = false;
  return in;
}

}  // namespace

accelerator::accelerator(const machine& m, unit_kind kind, channel writes_by)
    : part_(m.accelerator),
      writes_by_(writes_by),
      name_((kind == unit_kind::counting ? "counting unit of " : "mask unit of ") + m.name),
      memory_(new line[memory_lines]),
      message_lines_(new line[addresses]) {
  if (kind == unit_kind::counting)
    unit_ = std::make_unique<unit_of<hardware::model::counting_unit>>(part_.threads);
  else
    unit_ = std::make_unique<unit_of<hardware::model::mask_unit>>(part_.threads);
}

accelerator::~accelerator() = default;

// ---- registers

std::uint64_t accelerator::read(std::uint64_t offset) {
  std::uint64_t value = 0;
  access a{{true, false, offset, 0}, 0, &value};
  if (world::current() == nullptr) return unit_->step(before_a_run(a.what)).value;
  world& w = here();
  w.finish_stores();
  a.thread = static_cast<std::uint32_t>(w.running());
  send_over_link(a);
  w.await_answer();
  return value;
}

void accelerator::write(std::uint64_t offset, std::uint64_t value) {
  const access a{{true, true, offset, value}};
  if (world::current() == nullptr) {
    unit_->step(before_a_run(a.what));
    // A write may reset the unit in the next cycle.
    unit_->step(before_a_run({}));
    return;
  }
  world& w = here();
  // The core goes on, and the next access of the thread follows this one.
  w.finish_stores();
  send_over_link(a);
  w.spend(w.hardware().hit);
}

void accelerator::send_over_link(const access& a) {
  waiting_.push_back(a);
  fill_link();
}

void accelerator::fill_link() {
  while (on_link_ < part_.requests && !waiting_.empty()) {
    ++on_link_;
    here().call_at(here().now() + part_.request, [this, a = waiting_.front()] {
      at_port_.push_back(a);
      need_clock();
    });
    waiting_.pop_front();
  }
}

void accelerator::reply(const access& a, std::uint64_t value) {
  if (a.what.is_write) {
    --on_link_;
    return fill_link();
  }
  *a.answer = value;
  here().answer_at(here().now() + part_.answer, a.thread);
  here().call_at(here().now() + part_.answer, [this] {
    --on_link_;
    fill_link();
  });
}

// ---- the clock

// It stands still while the unit would do nothing.
void accelerator::need_clock() {
  if (clock_is_due_) return;
  clock_is_due_ = true;
  here().call_at((here().now() / part_.cycle + 1) * part_.cycle, [this] { edge(); });
}

void accelerator::power_on() {
  if (unit_->is_busy()) need_clock();
}

void accelerator::edge() {
  clock_is_due_ = false;
  counting_inputs in;
  const bool has_request = !at_port_.empty();
  if (has_request) in.request = at_port_.front().what;
  if (!messages_.empty()) {
    in.message = true;
    in.message_address = messages_.front();
    messages_.pop_front();
    ++messages_given_;
  }
  if (!answers_.empty()) {
    in.answers = true;
    in.answer_tag = answers_.front().tag;
    in.answer = answers_.front().value;
    answers_.pop_front();
  }
  in.takes_read = reads_on_link_ < part_.requests;
  in.takes_write = writes_on_link_ < part_.requests;
  const counting_outputs out = unit_->step(in);
  if (out.writes && in.takes_write) begin_write(out.write_address, out.write_value);
  if (out.reads && in.takes_read) begin_read(out.read_tag, out.read_address);
  if (has_request) {
    const access a = at_port_.front();
    at_port_.pop_front();
    reply(a, out.value);
  }
  if (!at_port_.empty() || !messages_.empty() || !answers_.empty() || unit_->is_busy())
    need_clock();
}

// ---- memory

hardware::basic_shared_memory<accelerator::word> accelerator::memory() noexcept {
  return {memory_[0].words.data(), memory_lines * sizeof(line), bus_address};
}

accelerator::word& accelerator::at(std::uint64_t address) {
  const std::uint64_t place = (address - bus_address) / sizeof(word);
  return memory_[place / 8 % memory_lines].words[place % 8];
}

void accelerator::begin_read(unsigned tag, std::uint64_t address) {
  ++reads_on_link_;
  world& w = here();
  const word& from = at(address);
  if (w.device_has(&from)) {
    const std::uint64_t value = world::peek(&from);
    w.call_at(w.now() + part_.cached, [this, tag, value] { take_answer(tag, value); });
    return;
  }
  w.call_at(w.now() + part_.read / 2, [this, tag, &from] {
    here().device_read(
        &from,
        [this, tag](std::uint64_t value) {
          here().call_at(here().now() + part_.read / 2,
                         [this, tag, value] { take_answer(tag, value); });
        },
        nullptr);
  });
}

void accelerator::take_answer(unsigned tag, std::uint64_t value) {
  --reads_on_link_;
  answers_.push_back({tag, value});
  need_clock();
}

void accelerator::begin_write(std::uint64_t address, std::uint64_t value) {
  ++writes_on_link_;
  const channel by = writes_by_ == channel::any ? static_cast<channel>(writes_++ % 3) : writes_by_;
  const sim_time way = by == channel::vl0 ? part_.vl0 : by == channel::vh0 ? part_.vh0 : part_.vh1;
  word& to = at(address);
  here().call_at(here().now() + way, [this, way, value, &to] {
    here().device_write(&to, value, [this, way] {
      here().call_at(here().now() + way, [this] {
        --writes_on_link_;
        need_clock();
      });
    });
  });
}

// ---- messages

void accelerator::send(unsigned address) {
  if (!watches_) {
    watches_ = true;
    for (unsigned each = 0; each < addresses; ++each) watch(each);
  }
  message_lines_[address].words[0].store(++sent_[address], release);
}

void accelerator::watch(unsigned address) {
  here().device_read(
      &message_lines_[address].words[0],
      [this, address](std::uint64_t value) {
        if (value == seen_[address]) return;
        seen_[address] = value;
        here().call_at(here().now() + part_.read / 2, [this, address] {
          messages_.push_back(address);
          need_clock();
        });
      },
      [this, address] {
        // The snoop comes to the accelerator, and its read goes back.
        here().call_at(here().now() + part_.snoop / 2 + part_.read / 2,
                       [this, address] { watch(address); });
      });
}

}  // namespace tutti::sim
