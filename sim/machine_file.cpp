// SPDX-License-Identifier: Apache-2.0
#include "sim/machine_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "sim/world.hpp"

namespace tutti::sim {

// The files in machines/, which CMake writes into a source.
extern const std::map<std::string, std::string> machines_of_tutti;

namespace {

// 1e12 ns: a thousand seconds.
constexpr double most_picoseconds = 1e15;

constexpr const char* list_of_times = "a list of times, numbers in the file's unit";

class reader {
 public:
  reader(const std::string& text, const std::string& path, const settings& with)
      : path_(path), with_(with) {
    try {
      root_ = toml::parse(text, path);
    } catch (const toml::parse_error& e) {
      refuse(e.source().begin.line, std::string(e.description()));
    }
  }

  machine read() {
    machine m;
    m.name = path_.substr(path_.rfind('/') + 1);
    if (m.name.ends_with(".toml")) m.name.resize(m.name.size() - 5);
    m.description = text("", "description");
    m.unit = one_of("", "unit", {"ns", "cycles"});
    m.clock_ghz = number_between("", "clock_ghz", 0.001, 1000, "");
    ps_per_unit_ = m.unit == "ns" ? 1000 : 1000 / m.clock_ghz;
    read_topology(m);
    read_memory(m);
    m.hit = time("core", "hit");
    m.atomic = time("core", "atomic");
    m.exclusive_pairs =
        find("core", "exclusive_pairs") != nullptr && yes_or_no("core", "exclusive_pairs");
    m.fence = time("core", "fence");
    m.is_narrow = find("core", "narrow") != nullptr && yes_or_no("core", "narrow");
    if (find("core", "poll_gap") != nullptr) m.poll_gap = time("core", "poll_gap");
    m.clock = time("core", "clock");
    m.pause = time("core", "pause");
    if (m.banks == 0) {
      m.waits_for_stores =
          find("core", "waits_for_stores") != nullptr && yes_or_no("core", "waits_for_stores");
      m.stores_ahead = count("core", "stores_ahead");
      if (m.waits_for_stores && m.stores_ahead > 1)
        refuse(line_of("core", "stores_ahead"),
               "core.stores_ahead must be 1 with core.waits_for_stores: a core has one store at "
               "a time");
      m.loads_ahead = count("core", "loads_ahead");
    }
    read_sharing(m);
    m.slice = time("system", "slice");
    m.context_switch = time("system", "context_switch");
    m.yield = time("system", "yield");
    m.futex_wait = time("system", "futex_wait");
    m.futex_wake = time("system", "futex_wake");
    m.futex_lock = time("system", "futex_lock");
    m.wake_up = time("system", "wake_up");
    read_system_options(m);
    if (find("core", "cold") != nullptr) m.cold = time("core", "cold");
    read_barrier_units(m);
    read_accelerator(m);
    read_structures(m);
    read_interrupts(m);
    if (m.hit == 0) refuse(line_of("core", "hit"), "core.hit must be above 0");
    if (m.slice == 0) refuse(line_of("system", "slice"), "system.slice must be above 0");
    refuse_unknown();
    for (const auto& [key, value] : with_)
      if (!numbers_.contains(key)) {
        std::string keys;
        for (const auto& [each, in_file] : numbers_) keys += " " + each;
        throw std::invalid_argument(path_ + " has no number '" + key + "'; numbers are:" + keys);
      }
    return m;
  }
  // The numbers of the file that read() has read.
  const settings& numbers() const { return numbers_; }
  const std::set<std::string>& counts() const { return counts_; }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& what) const {
    if (!with_.empty())
      throw std::invalid_argument(path_ + ", with the numbers that replace its own: " + what);
    throw std::invalid_argument(path_ + ":" + std::to_string(line) + ": " + what);
  }

  static std::string name_of(std::string_view section, std::string_view key) {
    return section.empty() ? std::string(key) : std::string(section) + "." + std::string(key);
  }
  // Null if there is no such section.
  const toml::table* table(std::string_view section) const {
    if (section.empty()) return &root_;
    const toml::node* const n = root_.get(section);
    if (n != nullptr && !n->is_table())
      refuse(n->source().begin.line,
             std::string(section) + " must be a section, [" + std::string(section) + "]");
    return n == nullptr ? nullptr : n->as_table();
  }
  const toml::node* find(std::string_view section, std::string_view key) {
    known_.insert(name_of(section, key));
    if (!section.empty()) known_.insert(std::string(section));
    const toml::table* const t = table(section);
    return t == nullptr ? nullptr : t->get(key);
  }
  // Whether the file has a section that a machine can do without.
  bool has(const std::string& section) {
    known_.insert(section);
    return table(section) != nullptr;
  }
  const toml::node& need(std::string_view section, std::string_view key,
                         const std::string& expected) {
    const toml::node* const n = find(section, key);
    if (n != nullptr) return *n;
    const toml::table* const t = table(section);
    refuse(t == nullptr ? 1 : t->source().begin.line,
           name_of(section, key) + " is missing: " + expected);
  }
  std::size_t line_of(std::string_view section, std::string_view key) {
    const toml::node* const n = find(section, key);
    return n == nullptr ? 1 : n->source().begin.line;
  }

  std::string text(std::string_view section, std::string_view key) {
    const toml::node& n = need(section, key, "a text in quotation marks");
    if (!n.is_string())
      refuse(n.source().begin.line, name_of(section, key) + " must be a text in quotation marks");
    return **n.as_string();
  }
  std::string one_of(std::string_view section, std::string_view key,
                     const std::vector<std::string>& names) {
    std::string list = "one of";
    for (const std::string& name : names) list += " \"" + name + "\"";
    const toml::node& n = need(section, key, list);
    const auto value = n.value<std::string>();
    if (!value || std::find(names.begin(), names.end(), *value) == names.end())
      refuse(n.source().begin.line, name_of(section, key) + " must be " + list);
    return *value;
  }
  double number_of(const toml::node& n, const std::string& name, const std::string& expected) {
    if (!n.is_number()) refuse(n.source().begin.line, name + " must be " + expected);
    const double value =
        n.is_integer() ? static_cast<double>(**n.as_integer()) : **n.as_floating_point();
    if (expected == list_of_times) return value;
    numbers_[name] = value;
    const auto other = with_.find(name);
    return other == with_.end() ? value : other->second;
  }
  double number(std::string_view section, std::string_view key, const std::string& expected) {
    return number_of(need(section, key, expected), name_of(section, key), expected);
  }
  double number_between(std::string_view section, std::string_view key, double least, double most,
                        const std::string& meaning) {
    std::ostringstream expected;
    expected << "a number from " << least << " to " << most << meaning;
    const double value = number(section, key, expected.str());
    // A value that is no number is not between them either.
    if (!(value >= least && value <= most))
      refuse(line_of(section, key), name_of(section, key) + " must be " + expected.str());
    return value;
  }
  unsigned count(std::string_view section, std::string_view key) {
    const std::string expected = "a whole number from 1 to 512";
    const toml::node& n = need(section, key, expected);
    const auto value = n.is_integer() ? n.value<std::int64_t>() : std::nullopt;
    if (!value || *value < 1 || *value > 512)
      refuse(n.source().begin.line, name_of(section, key) + " must be " + expected);
    numbers_[name_of(section, key)] = static_cast<double>(*value);
    counts_.insert(name_of(section, key));
    const auto other = with_.find(name_of(section, key));
    if (other == with_.end()) return static_cast<unsigned>(*value);
    if (!(other->second >= 1 && other->second <= 512 && other->second == std::floor(other->second)))
      refuse(n.source().begin.line, name_of(section, key) + " must be " + expected);
    return static_cast<unsigned>(other->second);
  }
  bool yes_or_no(std::string_view section, std::string_view key) {
    const toml::node& n = need(section, key, "true or false");
    if (!n.is_boolean())
      refuse(n.source().begin.line, name_of(section, key) + " must be true or false");
    return **n.as_boolean();
  }
  sim_time time_of(const toml::node& n, const std::string& name, bool is_in_list = false) {
    const double value =
        number_of(n, name, is_in_list ? list_of_times : "a time, a number in the file's unit");
    if (value < 0) refuse(n.source().begin.line, name + " must not be negative: it is a time");
    if (!(value * ps_per_unit_ <= most_picoseconds))
      refuse(n.source().begin.line, name + " must be at most 1e12 ns: it is a time");
    return static_cast<sim_time>(value * ps_per_unit_ + 0.5);
  }
  sim_time time(std::string_view section, std::string_view key) {
    return time_of(need(section, key, "a time, a number in the file's unit"),
                   name_of(section, key));
  }

  void read_topology(machine& m) {
    m.nodes = count("topology", "nodes");
    m.clusters = count("topology", "clusters");
    m.cores = count("topology", "cores");
    m.threads = count("topology", "threads");
    const std::string numbering =
        one_of("topology", "numbering", {"cores_first", "siblings_adjacent", "nodes_in_turn"});
    m.numbering = numbering == "cores_first"         ? cpu_numbering::cores_first
                  : numbering == "siblings_adjacent" ? cpu_numbering::siblings_adjacent
                                                     : cpu_numbering::nodes_in_turn;
    read_small(m);
    if (m.all_cores() > world::most_cores)
      refuse(line_of("topology", "cores"), "there are " + std::to_string(m.all_cores()) +
                                               " cores, and a simulation has at most " +
                                               std::to_string(world::most_cores));
    read_hops(m);
  }

  // A machine can do without this section.
  void read_small(machine& m) {
    if (!has("small")) return;
    m.small_clusters = count("small", "clusters");
    m.small_cores = count("small", "cores");
    m.small_slower = number_between("small", "slower", 1, 100, ": how many times as long");
    if (m.nodes > 1)
      refuse(line_of("topology", "nodes"), "topology.nodes must be 1 if there are small cores");
    if (m.numbering != cpu_numbering::siblings_adjacent)
      refuse(line_of("topology", "numbering"),
             "topology.numbering must be \"siblings_adjacent\" if there are small cores");
  }

  void read_hops(machine& m) {
    const toml::node* const n = find("topology", "hops");
    if (n == nullptr) return;
    const std::string expected = "a row for each of the " + std::to_string(m.nodes) +
                                 " nodes, with the hops to each node, 0 to itself";
    const toml::array* const rows = n->as_array();
    if (rows == nullptr || rows->size() != m.nodes)
      refuse(n->source().begin.line, "topology.hops must be " + expected);
    for (const toml::node& row : *rows) {
      const toml::array* const numbers = row.as_array();
      std::vector<unsigned> hops;
      constexpr unsigned too_many = 17;
      if (numbers != nullptr)
        for (const toml::node& each : *numbers) {
          const std::int64_t value = each.is_integer() ? **each.as_integer() : -1;
          hops.push_back(value < 0 || value > too_many ? too_many : static_cast<unsigned>(value));
        }
      if (hops.size() != m.nodes)
        refuse(row.source().begin.line, "topology.hops must be " + expected);
      for (unsigned other = 0; other < m.nodes; ++other)
        if ((hops[other] == 0) != (other == m.hops.size()) || hops[other] >= too_many)
          refuse(row.source().begin.line,
                 "topology.hops must be " + expected + " and 1 to 16 to another");
      m.hops.push_back(hops);
    }
    for (unsigned a = 0; a < m.nodes; ++a)
      for (unsigned b = 0; b < a; ++b)
        if (m.hops[a][b] != m.hops[b][a])
          refuse(n->source().begin.line,
                 "topology.hops must be the same in both directions: " + std::to_string(a) +
                     " and " + std::to_string(b) + " differ");
  }

  line_times times(std::string_view section, const machine& m) {
    const std::string s(section);
    line_times t;
    // Without other cores there is nothing to tell.
    const auto needed = [&](const char* key, bool is_needed, const std::string& why) {
      const toml::node* const n = find(section, key);
      if (n != nullptr && !is_needed)
        refuse(n->source().begin.line, s + "." + key + " has no use: " + why);
      return is_needed;
    };
    // A core asks the banks of its own cluster, too.
    const bool is_to_bank = section == "transfer" && has("bank");
    if (needed("cluster", is_to_bank || m.cores > 1 || m.small_cores > 1, "a cluster has one core"))
      t.cluster = time(section, "cluster");
    if (needed("node", m.clusters + m.small_clusters > 1, "a node has one cluster"))
      t.node = time(section, "node");
    unsigned most_hops = m.nodes > 1 ? 1 : 0;
    for (const auto& row : m.hops)
      for (const unsigned hops : row) most_hops = std::max(most_hops, hops);
    if (needed("hops", m.nodes > 1, "there is one node")) {
      const std::string expected =
          "a list of " + std::to_string(most_hops) + " times, for 1 hop and more";
      const toml::node& n = need(section, "hops", expected);
      const toml::array* const list = n.as_array();
      if (list == nullptr || list->size() != most_hops)
        refuse(n.source().begin.line, s + ".hops must be " + expected);
      for (const toml::node& each : *list) t.hops.push_back(time_of(each, s + ".hops", true));
      for (std::size_t i = 1; i < t.hops.size(); ++i)
        if (t.hops[i] < t.hops[i - 1])
          refuse(n.source().begin.line, s + ".hops must not fall: a farther node is not nearer");
    }
    if (m.clusters + m.small_clusters == 1) t.node = t.cluster;
    // Where a cluster has one core, its time is that of the small ones, which may be farther apart.
    if ((is_to_bank || (m.cores > 1 && m.small_clusters == 0)) && t.node < t.cluster)
      refuse(line_of(section, "node"),
             s + ".node must be at least " + s + ".cluster: another cluster is not nearer");
    if (m.small_clusters > 0) {
      const sim_time farther = time("small", "farther");
      t.hops = {t.node + farther, t.node + 2 * farther};
      return t;
    }
    if (!t.hops.empty() && t.hops.front() < t.node)
      refuse(line_of(section, "hops"),
             s + ".hops must be at least " + s + ".node: another node is not nearer");
    return t;
  }

  void read_memory(machine& m) {
    m.transfer = times("transfer", m);
    if (!has("bank")) {
      read_lines(m);
      read_homes(m);
      return;
    }
    m.banks = count("bank", "count");
    m.bank_access = time("bank", "access");
    m.bank_atomic = time("bank", "atomic");
    // A thread that polls without a pause would take no time for ever.
    if (m.bank_access == 0) refuse(line_of("bank", "access"), "bank.access must be above 0");
    if (m.transfer.cluster < m.bank_access)
      refuse(line_of("transfer", "cluster"),
             "transfer.cluster must be at least bank.access, which it contains");
  }

  // What a system's section can do without.
  void read_system_options(machine& m) {
    const auto optional = [&](const char* key, sim_time otherwise) {
      return find("system", key) == nullptr ? otherwise : time("system", key);
    };
    m.displace = optional("displace", m.wake_up);
    m.tick = optional("tick", 0);
    m.tick_offset = optional("tick_offset", 0);
    m.tick_work = optional("tick_work", 0);
    m.wake_interrupt = optional("wake_interrupt", 0);
    m.deep_after = optional("deep_after", 0);
    m.deep_wake_up = optional("deep_wake_up", m.wake_up);
    for (const char* const key : {"tick_offset", "tick_work"})
      if (const sim_time time = optional(key, 0); time > 0 && time >= m.tick)
        refuse(line_of("system", key),
               "system." + std::string(key) + " must be less than system.tick");
    if (m.deep_wake_up < m.wake_up)
      refuse(line_of("system", "deep_wake_up"),
             "system.deep_wake_up must be at least system.wake_up: a deeper sleep ends no sooner");
    if ((m.deep_after == 0) != (m.deep_wake_up == m.wake_up))
      refuse(line_of("system", m.deep_after == 0 ? "deep_wake_up" : "deep_after"),
             "system.deep_after and system.deep_wake_up need each other");
  }

  void read_lines(machine& m) {
    m.invalidate = times("invalidate", m);
    if (find("line", "invalidate_gap") != nullptr)
      m.invalidate_gap = time("line", "invalidate_gap");
    m.memory = time("line", "memory");
    m.hold = time("line", "hold");
    m.read_gap = time("line", "read_gap");
    m.reads_by_node = yes_or_no("line", "reads_by_node");
    m.nearest_first = yes_or_no("line", "nearest_first");
    m.changes_first =
        find("line", "changes_first") != nullptr && yes_or_no("line", "changes_first");
    m.broadcasts = yes_or_no("line", "broadcasts");
  }

  void read_homes(machine& m) {
    m.homes_in_all_nodes = one_of("home", "nodes", {"first", "all"}) == "all";
    m.directories = count("home", "directories");
    m.homes_serve_clusters = yes_or_no("home", "serves_clusters");
    m.directory_busy = time("home", "occupancy");
    const toml::node* const link = find("home", "link");
    if (m.nodes > 1)
      m.link_busy = time("home", "link");
    else if (link != nullptr)
      refuse(link->source().begin.line, "home.link has no use: there is one node");
  }

  void read_sharing(machine& m) {
    const toml::node* const n = find("core", "sharing");
    if (m.threads == 1) {
      if (n != nullptr)
        refuse(n->source().begin.line, "core.sharing has no use: a core has one thread");
      return;
    }
    m.sharing = number_between("core", "sharing", 0, 10, "");
  }

  // A machine can do without this section.
  void read_barrier_units(machine& m) {
    m.has_barrier_units = has("barrier_unit");
    if (!m.has_barrier_units) return;
    m.unit_arrive = time("barrier_unit", "arrive");
    m.unit_leave = time("barrier_unit", "leave");
  }

  // A machine can do without this section.
  void read_accelerator(machine& m) {
    m.has_accelerator = has("accelerator");
    if (!m.has_accelerator) return;
    if (m.banks > 0)
      refuse(table("accelerator")->source().begin.line,
             "[accelerator] has no use: it reads and writes cache lines, and there are none");
    machine::accelerator_part& a = m.accelerator;
    const double mhz = number_between("accelerator", "clock_mhz", 0.001, 100'000, "");
    a.cycle = std::max<sim_time>(1, picoseconds(1e3 / mhz));
    a.threads = count("accelerator", "threads");
    if (a.threads > 128)
      refuse(line_of("accelerator", "threads"),
             "accelerator.threads must be at most 128: the unit's");
    a.requests = count("accelerator", "requests");
    a.request = time("accelerator", "request");
    a.answer = time("accelerator", "answer");
    a.read = time("accelerator", "read");
    a.cached = time("accelerator", "cached");
    if (a.cached > a.read)
      refuse(line_of("accelerator", "cached"),
             "accelerator.cached must be at most accelerator.read, which goes beyond its cache");
    a.snoop = time("accelerator", "snoop");
    a.vl0 = time("accelerator", "vl0");
    a.vh0 = time("accelerator", "vh0");
    a.vh1 = time("accelerator", "vh1");
  }

  // A machine can do without this section.
  void read_structures(machine& m) {
    m.has_structures = has("structure");
    if (!m.has_structures) return;
    m.nodes_of_structure = count("structure", "nodes");
    if (m.nodes % m.nodes_of_structure != 0)
      refuse(line_of("structure", "nodes"), "structure.nodes must divide topology.nodes, " +
                                                std::to_string(m.nodes) +
                                                ": the nodes of a socket");
    const unsigned sockets = m.nodes / m.nodes_of_structure;
    if (sockets > 8)
      refuse(line_of("structure", "nodes"), "there are " + std::to_string(sockets) +
                                                " sockets, and a structure has at most 7 peers");
    if (m.cpus() / sockets > 256)
      refuse(line_of("structure", "nodes"), "a socket has " + std::to_string(m.cpus() / sockets) +
                                                " CPUs, and a structure has bits for at most 256");
    m.structure_access = time("structure", "access");
    const toml::node* const link = find("structure", "link");
    if (sockets > 1)
      m.structure_link = time("structure", "link");
    else if (link != nullptr)
      refuse(link->source().begin.line, "structure.link has no use: there is one socket");
  }

  // A machine can do without this section.
  void read_interrupts(machine& m) {
    m.has_interrupts = has("interrupt");
    if (!m.has_interrupts) return;
    m.interrupt_send = time("interrupt", "send");
    m.interrupt_way = times("interrupt", m);
    m.interrupt_enter = time("interrupt", "enter");
    m.system_call = time("interrupt", "system_call");
    m.background = time("interrupt", "background");
  }

  // Only now all known keys have been asked for.
  void refuse_unknown() const {
    const auto look = [&](const toml::table& t, std::string_view section) {
      for (const auto& [key, value] : t) {
        const std::string name = name_of(section, key.str());
        // "line.hold" in quotation marks is a key of no section.
        const bool is_one_word = key.str().find('.') == std::string_view::npos;
        if (is_one_word && known_.contains(name)) continue;
        std::string text = "unknown key " + name + "; known are:";
        for (const std::string& each : known_)
          if (each.rfind(section.empty() ? std::string() : std::string(section) + ".", 0) == 0 &&
              (!section.empty() || each.find('.') == std::string::npos))
            text += " " + each;
        refuse(key.source().begin.line, text);
      }
    };
    look(root_, "");
    for (const auto& [key, value] : root_)
      if (value.is_table()) look(*value.as_table(), key.str());
  }

  std::string path_;
  const settings& with_;
  settings numbers_;
  std::set<std::string> counts_;
  toml::table root_;
  double ps_per_unit_ = 1;
  std::set<std::string> known_;
};

}  // namespace

std::string text_of_file(const std::string& path, const std::string& kind,
                         const std::vector<std::string>& names) {
  refuse_other_than_file(path);
  std::ifstream file(path);
  // Copying nothing fails.
  if (file && file.peek() == std::ifstream::traits_type::eof()) return {};
  std::ostringstream text;
  if (file && (text << file.rdbuf())) return text.str();
  std::string known;
  for (const std::string& name : names) known += " " + name;
  throw std::invalid_argument("there is no " + kind + " and no file '" + path + "'; " + kind +
                              "s are:" + known);
}

void refuse_other_than_file(const std::string& path) {
  std::error_code error;
  switch (std::filesystem::status(path, error).type()) {
    case std::filesystem::file_type::directory:
      throw std::invalid_argument("'" + path + "' is a folder and not a file");
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      throw std::invalid_argument("'" + path + "' is a device and not a file");
    default: return;
  }
}

machine parse_machine(const std::string& text, const std::string& path, const settings& with) {
  try {
    return reader(text, path, with).read();
  } catch (const std::invalid_argument&) {
    // What is wrong with the file itself has a line in it.
    if (!with.empty()) static_cast<void>(parse_machine(text, path));
    throw;
  }
}

namespace {

// The text of a description and the name of its file.
std::pair<std::string, std::string> text_of(const std::string& name_or_file) {
  if (const auto found = machines_of_tutti.find(name_or_file); found != machines_of_tutti.end())
    return {found->second, name_or_file + ".toml"};
  return {text_of_file(name_or_file, "machine", names_of_machines()), name_or_file};
}

}  // namespace

machine find_machine(const std::string& name_or_file, const settings& with) {
  const auto [text, path] = text_of(name_or_file);
  return parse_machine(text, path, with);
}

settings numbers_of(const std::string& name_or_file) {
  const auto [text, path] = text_of(name_or_file);
  const settings none;
  reader file(text, path, none);
  static_cast<void>(file.read());
  return file.numbers();
}

std::set<std::string> counts_of(const std::string& name_or_file) {
  const auto [text, path] = text_of(name_or_file);
  const settings none;
  reader file(text, path, none);
  static_cast<void>(file.read());
  return file.counts();
}

std::vector<std::string> names_of_machines() {
  std::vector<std::string> names;
  for (const auto& [name, text] : machines_of_tutti) names.push_back(name);
  return names;
}

std::string description_of(const std::string& name_or_file) { return text_of(name_or_file).first; }

}  // namespace tutti::sim
