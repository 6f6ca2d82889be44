// SPDX-License-Identifier: Apache-2.0
// The list of termination detectors between threads: those that share memory, and each protocol of
// protocol/algorithms.hpp. any_detector, the tests of communicators, the model checker, the
// benchmarks, `tutti info` and the table of docs/messages.md are made from it. A new detector is a
// header and an entry here; a new protocol is an entry there.
// Hosted only: it names the detectors by std::string_view.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "tutti/platform/config.hpp"
#include "tutti/termination/counter.hpp"
#include "tutti/termination/protocol/algorithms.hpp"
#include "tutti/termination/protocol_detector.hpp"
#include "tutti/termination/snapshot.hpp"

namespace tutti {

struct detector_info {
  std::string_view name;
  std::string_view summary;
  // The cost of an episode without messages, for n participants.
  std::string_view cost;
  std::string_view use_when;
  // Whether it also works between processes.
  bool is_protocol = false;
};

namespace registry {

// An entry describes a detector, names its type for a memory policy and for the function object
// that wakes a participant, and calls make with the arguments of the constructor.
template <template <class> class Detector>
struct detector_entry {
  template <class Memory, class Wake>
  using type = Detector<Memory>;
  template <class Wake, class Make>
  static auto construct(rank_t participants, Wake /*wake*/, Make make) {
    return make(participants);
  }
};

struct counter : detector_entry<counter_detector> {
  static constexpr detector_info info{
      "counter", "one word that every participant changes when it becomes idle",
      "one read-modify-write each, one line to all",
      "few participants, or more than cores: the default there"};
};
struct snapshot : detector_entry<snapshot_detector> {
  static constexpr detector_info info{
      "snapshot", "each participant writes its own line, and rank 0 reads all lines twice",
      "n - 1 lines read, one line to all", "many participants with a core each: the default there"};
};

// A protocol, between threads.
template <class Protocol>
struct protocol_entry {
  static constexpr detector_info info{Protocol::info.name, Protocol::info.summary,
                                      Protocol::info.messages, Protocol::info.use_when, true};
  template <class Memory, class Wake>
  using type = protocol_detector<Memory, Wake>;
  template <class Wake, class Make>
  static auto construct(rank_t participants, Wake wake, Make make) {
    return make(info.name, participants, wake);
  }
};

// The detectors between threads only.
using shared_detectors = std::tuple<counter, snapshot>;

template <class... Shared, class... Protocol>
auto with_protocols(std::tuple<Shared...>*, std::tuple<Protocol...>*)
    -> std::tuple<Shared..., protocol_entry<Protocol>...>;

using detectors = decltype(with_protocols(static_cast<shared_detectors*>(nullptr),
                                          static_cast<protocol::registry::algorithms*>(nullptr)));

}  // namespace registry

// The same list as values.
inline constexpr auto detectors = []<class... D>(std::tuple<D...>*) {
  return std::array{D::info...};
}(static_cast<registry::detectors*>(nullptr));

}  // namespace tutti
