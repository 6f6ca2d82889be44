// SPDX-License-Identifier: Apache-2.0
#include "system.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "Vtutti_isa_system.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#else
class VerilatedVcdC {};
#endif

namespace tutti::isa {

namespace {
constexpr std::size_t image_words = 16384;
constexpr std::size_t parameters_at = 0xff00 / 4;

std::vector<std::uint32_t> read_image(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  if (bytes.empty() || bytes.size() > 4 * parameters_at)
    throw std::runtime_error(path + ": " + std::to_string(bytes.size()) +
                             " bytes; a program has 1 to " + std::to_string(4 * parameters_at));
  std::vector<std::uint32_t> words(image_words);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}
}  // namespace

system::system(const std::string& image, const settings& s, const std::string& waves)
    : settings_(s),
      image_(read_image(image)),
      context_(std::make_unique<VerilatedContext>()),
      model_(std::make_unique<Vtutti_isa_system>(context_.get())) {
  if (s.cores < 1 || s.cores > built_cores)
    throw std::invalid_argument("cores: " + std::to_string(s.cores) + " is not in 1 to 16");
  if (s.mem_latency < 2 || s.mem_latency > 255)
    throw std::invalid_argument("mem_latency: " + std::to_string(s.mem_latency) +
                                " is not in 2 to 255");
  if (s.unit_distance > 63)
    throw std::invalid_argument("unit_distance: " + std::to_string(s.unit_distance) +
                                " is not in 0 to 63");
  settings_[parameter::cores] = s.cores;
  if (settings_[parameter::threads] == 0) settings_[parameter::threads] = 1;
  std::copy(settings_.parameters.begin(), settings_.parameters.end(),
            image_.begin() + static_cast<std::ptrdiff_t>(parameters_at));
  if (!waves.empty()) {
#if VM_TRACE
    context_->traceEverOn(true);
    waves_ = std::make_unique<VerilatedVcdC>();
    model_->trace(waves_.get(), 99);
    waves_->open(waves.c_str());
#else
    throw std::invalid_argument("waves: this build has none; configure with TUTTI_ISA_WAVES=ON");
#endif
  }
  load();
}

system::~system() {
#if VM_TRACE
  if (waves_) waves_->close();
#endif
  model_->final();
}

void system::load() {
  Vtutti_isa_system& m = *model_;
  m.rst_ni = 0;
  m.cores_i = static_cast<std::uint8_t>(settings_.cores);
  m.mem_latency_i = static_cast<std::uint8_t>(settings_.mem_latency);
  m.near_i = settings_.near;
  m.posted_i = settings_.posted;
  m.unit_distance_i = static_cast<std::uint8_t>(settings_.unit_distance);
  m.external_irq_i = 0;
  m.load_valid_i = 1;
  image_[parameters_at + static_cast<std::size_t>(parameter::boot)] = boots_ + 1;
  for (std::size_t i = 0; i < image_.size(); ++i) {
    // The memory of a new model is all zero.
    if (boots_ == 0 && image_[i] == 0) continue;
    m.load_word_i = static_cast<std::uint16_t>(i);
    m.load_data_i = image_[i];
    tick();
  }
  m.load_valid_i = 0;
  tick();
  m.rst_ni = 1;
  ++boots_;
  cycle_ = 0;
  exited_ = 0;
  events_.clear();
}

void system::reset() {
  interrupts_.clear();
  arrivals_ = queued_ = 0;
  load();
}

void system::interrupts(std::vector<interrupt> at) {
  interrupts_ = std::move(at);
  std::sort(interrupts_.begin(), interrupts_.end(),
            [](const interrupt& a, const interrupt& b) { return a.cycle > b.cycle; });
}

void system::tick() {
  for (const bool clock : {false, true}) {
    model_->clk_i = clock;
    model_->eval();
#if VM_TRACE
    if (waves_) waves_->dump(time_);
#endif
    ++time_;
  }
}

void system::step(std::uint64_t cycles) {
  for (std::uint64_t i = 0; i < cycles; ++i) {
    std::uint16_t raised = 0;
    while (!interrupts_.empty() && interrupts_.back().cycle <= cycle_) {
      raised = static_cast<std::uint16_t>(raised | 1u << interrupts_.back().core);
      interrupts_.pop_back();
    }
    model_->external_irq_i = raised;
    // The program's output of this cycle is visible before the edge.
    model_->clk_i = 0;
    model_->eval();
    for (unsigned said = model_->trace_valid_o; said != 0; said &= said - 1) {
      const auto core = static_cast<unsigned>(std::countr_zero(said));
      const auto t = static_cast<isa::tag>(model_->trace_tag_o >> (4 * core) & 15);
      events_.push_back({cycle_, core, t, model_->trace_data_o[core]});
      if (t == tag::exit) exited_ |= 1u << core;
    }
    arrivals_ += static_cast<unsigned>(std::popcount(unsigned{model_->arrive_o}));
    queued_ += static_cast<unsigned>(std::popcount(unsigned{model_->queued_o}));
    tick();
    ++cycle_;
  }
}

bool system::run(std::uint64_t most) {
  const std::uint32_t all = (1u << settings_.cores) - 1;
  for (std::uint64_t i = 0; i < most; ++i) {
    step(1);
    if (((exited_ | model_->halted_o) & all) == all) return true;
  }
  return false;
}

bool system::halted(unsigned core) const noexcept { return model_->halted_o >> core & 1; }

std::vector<std::uint32_t> system::data(isa::tag t, int core) const {
  std::vector<std::uint32_t> found;
  for (const event& e : events_)
    if (e.tag == t && (core < 0 || e.core == static_cast<unsigned>(core))) found.push_back(e.data);
  return found;
}

std::vector<std::string> check_episodes(const std::vector<event>& events, unsigned cores,
                                        unsigned threads, std::uint32_t episodes) {
  struct seen {
    unsigned arrived = 0, departed = 0;
  };
  std::vector<std::string> wrong;
  // Indexed by thread << 20 | episode.
  std::map<std::uint32_t, seen> of;
  for (const event& e : events) {
    if (e.tag != tag::arrive && e.tag != tag::depart) continue;
    const std::uint32_t key = e.data & 0xffffffu;
    const std::string name = "thread " + std::to_string(key >> 20) + ", episode " +
                             std::to_string(key & 0xfffffu) + ", core " + std::to_string(e.core);
    seen& s = of[key];
    if (e.tag == tag::arrive) {
      if (++s.arrived > cores) wrong.push_back(name + ": one arrival too many");
    } else {
      if (s.arrived < cores)
        wrong.push_back(name + ": departed when " + std::to_string(s.arrived) + " of " +
                        std::to_string(cores) + " had arrived");
      if (++s.departed > cores) wrong.push_back(name + ": one departure too many");
    }
  }
  for (std::uint32_t t = 0; t < threads; ++t)
    for (std::uint32_t n = 1; n <= episodes; ++n) {
      const seen s = of[t << 20 | n];
      if (s.arrived != cores || s.departed != cores)
        wrong.push_back("thread " + std::to_string(t) + ", episode " + std::to_string(n) + ": " +
                        std::to_string(s.arrived) + " arrivals, " + std::to_string(s.departed) +
                        " departures of " + std::to_string(cores));
    }
  return wrong;
}

}  // namespace tutti::isa
