// SPDX-License-Identifier: Apache-2.0
#include "sim/contenders.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "sim/repeated_barrier.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/registry.hpp"

namespace tutti::sim {

namespace {

template <class Platform, class Wait>
auto made_default(rank_t n) {
  using wait = typename Wait::template type<Platform>;
  return std::make_unique<tutti::barrier<no_completion, Platform, wait>>(n);
}

template <class Wait>
contender default_barrier() {
  return {.family = "tutti",
          .name = "default",
          .wait = std::string(Wait::info.name),
          .summary = "tutti::barrier with ranks",
          .polls_without_end = Wait::info.name == "spin",
          .make = [](rank_t n) -> std::unique_ptr<repeated_object> {
            return made_for_width<Wait>(
                n, [](rank_t all) { return made_default<simulated, Wait>(all); },
                [](auto all) { return made_default<narrow_simulated, Wait>(all); });
          }};
}

// An addition after some work: the "complex function" of Berger and Stamatakis, section VI.C.
struct costly_plus {
  sim_time cost = 0;
  double operator()(double a, double b) const noexcept {
    world* const w = world::current();
    if (w != nullptr && cost > 0) w->spend(cost);
    return a + b;
  }
};

template <class Wait>
class repeated_reduction final : public repeated_object {
 public:
  repeated_reduction(rank_t n, reduction_algorithm algorithm, double operation_ns)
      : total_(n, {picoseconds(operation_ns)}, algorithm) {}
  void episode(rank_t rank) override {
    do_work(rank);
    static_cast<void>(total_.all(rank, 1.0));
  }

 private:
  reduction<double, costly_plus, simulated, Wait> total_;
};

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 2> waits_of_default{"adaptive", "spin"};

template <class... Wait>
void add_waits(std::vector<contender>& to, const std::vector<std::string>& waits,
               std::tuple<Wait...>*) {
  const auto add = [&]<class W>(W*) {
    if (!has(waits, W::info.name)) return;
    add_barriers_of_wait<W>(to);
    if (has(waits_of_default, W::info.name)) to.push_back(default_barrier<W>());
  };
  (add(static_cast<Wait*>(nullptr)), ...);
}

[[noreturn]] void refuse(const std::string& what, const std::string& name,
                         const std::vector<std::string>& known) {
  std::string text = "there is no " + what + " '" + name + "' for simulations; there are:";
  for (const std::string& each : known) text += " " + each;
  throw std::invalid_argument(text);
}

}  // namespace

std::vector<contender> barriers(const std::vector<std::string>& algorithms,
                                const std::vector<std::string>& waits) {
  std::vector<std::string> known_waits;
  for (const wait_info& info : wait_policies) known_waits.emplace_back(info.name);
  for (const std::string& name : waits)
    if (!has(known_waits, name)) refuse("wait policy", name, known_waits);
  const std::vector<std::string> known = names_of_barriers();
  for (const std::string& name : algorithms)
    if (name != "all" && name != "papers" && name != "hardware" && !has(known, name))
      refuse("barrier", name, known);
  const bool has_default = std::any_of(waits_of_default.begin(), waits_of_default.end(),
                                       [&](std::string_view wait) { return has(waits, wait); });
  if (has(algorithms, "default") && !has_default)
    throw std::invalid_argument(
        "'default' is there for simulations with the wait policies adaptive and spin only");
  std::vector<contender> made, chosen;
  add_waits(made, waits, static_cast<registry::waits*>(nullptr));
  for (contender& c : made)
    if (has(algorithms, "all") || has(algorithms, c.name)) chosen.push_back(std::move(c));
  for (contender& c : paper_barriers())
    if (has(algorithms, "papers") || has(algorithms, c.name)) chosen.push_back(std::move(c));
  for (contender& c : hardware_barriers())
    if (has(algorithms, "hardware") || has(algorithms, c.name)) chosen.push_back(std::move(c));
  return chosen;
}

contender barrier_named(const std::string& algorithm, const std::string& wait) {
  std::vector<contender> found = barriers({algorithm}, {wait});
  if (found.size() == 1) return std::move(found.front());
  throw std::invalid_argument("'" + algorithm + "' is a group of barriers, not one");
}

std::vector<contender> reductions(const std::vector<std::string>& algorithms, double operation_ns) {
  struct choice {
    const char* name;
    reduction_algorithm algorithm;
  };
  const choice choices[] = {{"default", reduction_algorithm::tuttis_choice},
                            {"exchange", reduction_algorithm::exchange},
                            {"tree", reduction_algorithm::tree},
                            {"counted", reduction_algorithm::counted}};
  std::vector<std::string> known;
  for (const choice& c : choices) known.emplace_back(c.name);
  for (const std::string& name : algorithms)
    if (name != "all" && !has(known, name)) refuse("reduction", name, known);
  std::vector<contender> made;
  for (const choice& c : choices) {
    if (!has(algorithms, "all") && !has(algorithms, c.name)) continue;
    for (const bool spins : {false, true})
      made.push_back({.family = "tutti",
                      .name = c.name,
                      .wait = spins ? "spin" : "adaptive",
                      .summary = "tutti::reduction of a double",
                      .polls_without_end = spins,
                      .make = [algorithm = c.algorithm, spins,
                               operation_ns](rank_t n) -> std::unique_ptr<repeated_object> {
                        if (spins)
                          return std::make_unique<repeated_reduction<spin_wait<simulated>>>(
                              n, algorithm, operation_ns);
                        return std::make_unique<repeated_reduction<adaptive_wait<simulated>>>(
                            n, algorithm, operation_ns);
                      }});
  }
  return made;
}

std::vector<std::string> names_of_barriers() {
  std::vector<std::string> names;
  for (const algorithm_info& info : algorithms) names.emplace_back(info.name);
  names.emplace_back("default");
  for (const contender& c : paper_barriers()) names.push_back(c.name);
  for (const contender& c : hardware_barriers()) names.push_back(c.name);
  return names;
}

namespace {

// What a part is called, and the section that describes it.
struct part_name {
  machine_part part;
  bool machine::*is_there;
  const char *name, *section;
};
constexpr part_name parts[] = {
    {machine_part::barrier_units, &machine::has_barrier_units, "barrier units", "[barrier_unit]"},
    {machine_part::interrupts, &machine::has_interrupts, "interrupts that wake", "[interrupt]"},
    {machine_part::accelerator, &machine::has_accelerator, "an accelerator", "[accelerator]"},
    {machine_part::structures, &machine::has_structures, "barrier structures", "[structure]"},
};

bool has_part(const machine& m, machine_part part) {
  for (const part_name& each : parts)
    if (each.part == part) return m.*each.is_there;
  return true;
}

}  // namespace

void refuse_without_part(const contender& who, const machine& m) {
  for (const part_name& each : parts)
    if (each.part == who.needs && !(m.*each.is_there))
      throw std::invalid_argument("'" + who.name + "' needs " + each.name +
                                  ", and the description of " + m.name + " has no section " +
                                  each.section);
}

void remove_without_part(std::vector<contender>& from, const std::vector<std::string>& algorithms,
                         const machine& m) {
  std::erase_if(from, [&](const contender& who) {
    return !has_part(m, who.needs) && !has(algorithms, who.name);
  });
  for (const contender& who : from) refuse_without_part(who, m);
  if (!from.empty()) return;
  std::string sections;
  for (const part_name& each : parts) sections += std::string(" ") + each.section;
  throw std::invalid_argument("the description of " + m.name + " has none of the sections" +
                              sections);
}

bool is_for_fewer(const contender& who, rank_t threads,
                  const std::vector<std::string>& algorithms) {
  return who.most_threads != 0 && threads > who.most_threads && !has(algorithms, who.name);
}

}  // namespace tutti::sim
