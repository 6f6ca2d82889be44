// SPDX-License-Identifier: Apache-2.0
#include "hardware/machine/sim/system.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "hardware/machine/sim/model.hpp"

namespace tutti::machine {

namespace {

constexpr std::size_t parameters_at = 0x80 / 4;
constexpr std::uint32_t ram_base = 0x80000000u;
enum class report_kind : unsigned { trace, console, end };

constexpr const char* access_names[] = {"load",   "store",   "lr",     "sc",    "amoswap",
                                        "amoadd", "amoxor",  "amoand", "amoor", "amomin",
                                        "amomax", "amominu", "amomaxu"};

std::vector<built_model>& known_models() {
  static std::vector<built_model> all;
  return all;
}

// The smallest model in whose sockets the cores fit.
const built_model& choose(const settings& s) {
  if (s.sockets < 1 || s.sockets > 4)
    throw std::invalid_argument("sockets: " + std::to_string(s.sockets) + " is not in 1 to 4");
  if (s.cores < 1 || s.cores % s.sockets != 0)
    throw std::invalid_argument("cores: " + std::to_string(s.cores) + " cannot be the same in " +
                                std::to_string(s.sockets) + " sockets");
  if (s.threads < 1 || s.cores % (s.sockets * s.threads) != 0)
    throw std::invalid_argument("threads: " + std::to_string(s.cores) + " in " +
                                std::to_string(s.sockets) + " sockets are not cores of " +
                                std::to_string(s.threads) + " threads");
  if (s.unit_distance > 63)
    throw std::invalid_argument("unit_distance: " + std::to_string(s.unit_distance) +
                                " is not in 0 to 63");
  if (s.unit_link < 1 || s.unit_link > 1023)
    throw std::invalid_argument("unit_link: " + std::to_string(s.unit_link) +
                                " is not in 1 to 1023");
  std::string built;
  for (const built_model& m : models()) {
    if (m.ideal == s.ideal && m.messages == s.messages && m.sockets == s.sockets &&
        m.threads == s.threads && m.cores >= s.cores)
      return m;
    built += (built.empty() ? "" : ", ") + std::to_string(m.cores) + " in " +
             std::to_string(m.sockets) +
             (m.threads > 1 ? " (" + std::to_string(m.threads) + " threads a core)" : "") +
             (m.ideal ? " (ideal)" : "") + (m.messages ? " (messages)" : "");
  }
  throw std::invalid_argument(
      "no model has " + std::to_string(s.cores) + " cores in " + std::to_string(s.sockets) +
      " sockets" + (s.threads > 1 ? " with " + std::to_string(s.threads) + " threads a core" : "") +
      (s.ideal ? " and an ideal RAM" : "") + (s.messages ? " and mailboxes" : "") +
      "; this build has " + built);
}

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

const std::vector<built_model>& models() { return known_models(); }

bool add_model(const built_model& built) {
  auto& all = known_models();
  all.push_back(built);
  std::sort(all.begin(), all.end(),
            [](const built_model& a, const built_model& b) { return a.cores < b.cores; });
  return true;
}

void settings::command_line(const std::string& text) {
  if (text.size() >= sizeof parameters)
    throw std::invalid_argument("the command line has " + std::to_string(text.size()) +
                                " characters; there is room for " +
                                std::to_string(sizeof parameters - 1));
  parameters = {};
  std::memcpy(parameters.data(), text.data(), text.size());
}

system::system(const std::string& image, const settings& s) : settings_(s) {
  const built_model& chosen = choose(s);
  model_ = chosen.make();
  built_cores_ = chosen.cores;
  cores_.resize(s.cores);
  number_.fill(64);
  const unsigned each = s.cores / s.sockets, built_each = chosen.cores / chosen.sockets;
  for (unsigned c = 0; c < s.cores; ++c) {
    cores_[c].built = c / each * built_each + c % each;
    number_[cores_[c].built] = c;
  }
  model_->cores_of_a_socket(each);
  model_->unit_distance(s.unit_distance, s.unit_link);
  model_->external_interrupts(0);
  load(image);
  reset();
}

system::~system() = default;

void system::load(const std::string& image) {
  std::ifstream in(image, std::ios::binary);
  if (!in) throw std::runtime_error(image + ": cannot be read");
  const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  const std::span<std::uint32_t> words = model_->image();
  if (bytes.empty() || bytes.size() > words.size_bytes())
    throw std::runtime_error(image + ": " + std::to_string(bytes.size()) +
                             " bytes; a program has 1 to " + std::to_string(words.size_bytes()));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::copy(settings_.parameters.begin(), settings_.parameters.end(),
            words.begin() + parameters_at);
}

void system::reset(unsigned cycles) {
  model_->reset(true);
  for (unsigned i = 0; i < cycles; ++i) {
    model_->settle();
    model_->rise();
  }
  model_->reset(false);
  for (core_state& c : cores_) c = {.built = c.built};
  events_.clear();
  waves_.clear();
  console_.clear();
  interrupts_.clear();
  cycle_ = last_retired_ = last_report_ = wave_begin_ = 0;
  running_ = settings_.cores;
}

void system::interrupts(std::vector<interrupt> at) {
  for (const interrupt& i : at)
    if (i.core >= settings_.cores)
      throw std::invalid_argument("interrupt: there is no core " + std::to_string(i.core));
  interrupts_ = std::move(at);
  // The next one is at the end.
  std::stable_sort(interrupts_.begin(), interrupts_.end(),
                   [](const interrupt& a, const interrupt& b) { return a.cycle > b.cycle; });
}

void system::report(unsigned core, unsigned built) {
  const std::uint32_t data = model_->report_data(built);
  last_report_ = cycle_;
  switch (static_cast<report_kind>(model_->report_kind(built))) {
    case report_kind::trace:
      events_.push_back({cycle_, core, data >> 28, data & 0x0fff'ffffu});
      break;
    case report_kind::console: console_ += static_cast<char>(data); break;
    default:
      if (!cores_[core].ended) --running_;
      cores_[core].ended = true;
      cores_[core].status = data;
  }
}

void system::note_wave() {
  const wave_state w = model_->wave();
  // A wave may begin in the cycle in which the last one ends; its first order leaves in the next.
  if (w.ends) {
    if (waves_.size() >= most_waves) waves_.erase(waves_.begin(), waves_.begin() + most_waves / 2);
    waves_.push_back({wave_begin_, cycle_, w.phase, w.detected});
  }
  if (w.begins) wave_begin_ = cycle_ + 1;
  if (model_->detector_is_wrong())
    throw std::runtime_error("the detector of messages reports misuse\n" + who_waits_for_what());
}

void system::step(std::uint64_t cycles) {
  for (std::uint64_t i = 0; i < cycles; ++i) {
    std::uint64_t raised = 0;
    while (!interrupts_.empty() && interrupts_.back().cycle <= cycle_) {
      raised |= std::uint64_t{1} << cores_[interrupts_.back().core].built;
      interrupts_.pop_back();
    }
    model_->external_interrupts(raised);
    model_->settle();
    for (std::uint64_t said = model_->reports(); said != 0; said &= said - 1) {
      const auto built = static_cast<unsigned>(std::countr_zero(said));
      report(number_[built], built);
    }
    std::uint64_t retired = model_->retired();
    if (settings_.messages) note_wave();
    if (retired != 0) last_retired_ = cycle_;
    for (; retired != 0; retired &= retired - 1) {
      core_state& c = cores_[number_[static_cast<unsigned>(std::countr_zero(retired))]];
      ++c.instructions;
      c.last_retired = cycle_;
    }
    model_->rise();
    ++cycle_;
  }
}

bool system::run(std::uint64_t most) {
  return run_until([this] { return running_ == 0; }, most);
}

bool system::run_core(unsigned core, std::uint64_t most) {
  return run_until([&] { return cores_[core].ended; }, most);
}

template <class IsOver>
bool system::run_until(IsOver is_over, std::uint64_t most) {
  for (std::uint64_t i = 0; i < most; ++i) {
    step(1);
    if (is_over()) return true;
    if (cycle_ - last_retired_ > settings_.patience)
      throw std::runtime_error("no core has retired an instruction for " +
                               std::to_string(settings_.patience) + " cycles\n" +
                               who_waits_for_what());
    if (cycle_ - last_report_ > settings_.silence)
      throw std::runtime_error("no program has reported anything for " +
                               std::to_string(settings_.silence) + " cycles\n" +
                               who_waits_for_what());
  }
  return false;
}

std::string system::waits_at_barrier(unsigned core) const {
  const unsigned built = cores_[core].built, built_each = built_cores_ / settings_.sockets;
  if (const unsigned far = model_->waits_at_structure(built); far != 0)
    return far == 192 ? "waits at the mask unit"
                      : "waits in barrier " + std::to_string(far) + " of the structures";
  if (const mailbox_state box = model_->mailbox(built); settings_.messages && box.idle)
    return std::string("is idle (votes ") + (box.vote ? "true" : "false") + ")";
  // All instructions of custom-0 are the mailbox's, and only idle and wait park.
  const std::span<const std::uint32_t> image = model_->image();
  const std::size_t word = model_->pc(built) / 4;
  if (settings_.messages && word < image.size() && (image[word] & 0x7f) == 0x0b)
    return "waits for a message or for room for one";
  const int at = model_->waits_at(built);
  if (at < 0) return "waits for the barrier unit";
  const barrier_state b = model_->barrier(built / built_each, static_cast<unsigned>(at));
  std::string text = "waits in barrier " + std::to_string(at) + " of its socket";
  std::string missing;
  for (unsigned k = 0; k < built_each; ++k)
    if ((b.participants & ~b.arrived) >> k & 1)
      missing += (missing.empty() ? " for core " : ", ") +
                 std::to_string(number_[built / built_each * built_each + k]);
  return text + missing;
}

std::string system::who_waits_for_what() const {
  static constexpr const char* steps[] = {"free", "looks up", "sends", "answers", "waits"};
  static constexpr const char* kinds[] = {"GetS", "GetM", "Upgrade", "Put"};
  const auto address_of = [](std::uint32_t line) { return hexadecimal(ram_base + line * 64); };
  std::string text;
  for (unsigned c = 0; c < cores_.size(); ++c) {
    const core_state& state = cores_[c];
    const unsigned built = state.built;
    const std::string access = std::string(access_names[model_->access_op(built)]) + " at " +
                               hexadecimal(model_->access_address(built));
    text += "core " + std::to_string(c) + ", pc " + hexadecimal(model_->pc(built)) + ": ";
    const std::string since = " for " + std::to_string(cycle_ - state.last_retired) + " cycles";
    if (state.ended)
      text += "has ended with status " + std::to_string(state.status);
    else if (model_->activity(built) == activity::accesses)
      text += "waits for its " + access + since;
    else if (model_->activity(built) == activity::extends)
      text += waits_at_barrier(c) + since;
    else if (model_->activity(built) == activity::sleeps)
      text += "waits for an interrupt" + since;
    else
      text += "runs, " + std::to_string(state.instructions) +
              " instructions, the last access of the RAM a " + access;
    if (const miss m = model_->miss(built); m.open)
      text += "; its cache waits for line " + address_of(m.line) +
              (m.has_data ? ", which it has," : "") + " and " + std::to_string(m.acks) +
              " acknowledgements";
    if (const mailbox_state box = model_->mailbox(built); settings_.messages)
      text += std::string(box.takes ? "" : "; has no empty slot for a message") +
              (box.sends ? "; the network has not taken its message" : "");
    text += '\n';
  }
  for (unsigned t = 0; t < model_->transactions(); ++t) {
    const transaction what = model_->transaction(t);
    if (what.step == 0) continue;
    text += std::string("a home ") + (what.step < std::size(steps) ? steps[what.step] : "?") +
            " for the " + (what.kind < std::size(kinds) ? kinds[what.kind] : "message") +
            " of core " + std::to_string(number_[what.requester]) + ", line " +
            address_of(what.line) + '\n';
  }
  return text;
}

}  // namespace tutti::machine
