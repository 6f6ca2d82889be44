// SPDX-License-Identifier: Apache-2.0
// The engine of the vertex programs of include/tutti/graph/program.hpp on this machine: the
// vertices of one core. It sends what they want to send, receives what has come, and is idle when
// there is neither.
//
// A vertex sends one message to each core that has targets of it. Its words: a header, which names
// the sender, and three of the content; longer contents travel in several messages, which stay in
// order. The receiver has a list of targets for each sender. A message to the same core is
// delivered directly.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hardware/machine/software/messages.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::rtl {

// The kinds of messages: of vertices, and of a detector in software.
inline constexpr std::uint32_t header_kind = 1u << 31;
// A part of a content, by number.
inline constexpr std::uint32_t header_part = 1u << 24;

// The heap is for one core at a time.
inline spin_lock heap_lock;
template <class T>
T* make_array(std::size_t count) noexcept {
  heap_lock.lock();
  T* const first = static_cast<T*>(allocate(count * sizeof(T) + 1, CACHE_LINE));
  heap_lock.unlock();
  for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(first + i)) T();
  return first;
}

// A program may have an aggregator: `static constexpr aggregator total`. Its vertices give values
// in step(), and each sees the total in the next one. Such a program is one of this machine: the
// library has no aggregators.
template <class P>
concept aggregating_program = requires {
  { P::total } -> std::same_as<const aggregator&>;
};
// The value that changes no total.
constexpr std::uint32_t neutral(aggregator how) noexcept {
  switch (how) {
    case aggregator::min: return 0x7fff'ffff;
    case aggregator::max: return 0x8000'0000;
    case aggregator::bit_and:
    case aggregator::min_unsigned: return 0xffff'ffff;
    default: return 0;
  }
}

// The detector of the machine. What takes its place has the same functions.
class hardware_idle {
 public:
  // A message of a vertex was sent, or came.
  void sent() noexcept {}
  void received() noexcept {}
  // Takes a message of its own; returns whether the message waits until the next step.
  template <class Engine>
  bool keeps(Engine&, const letter&) noexcept {
    return false;
  }
  template <class Engine>
  ended idle(Engine&, bool vote) noexcept {
    return mailbox::idle(vote);
  }
  template <class Engine>
  ended idle(Engine&, bool vote, aggregator how, std::uint32_t value) noexcept {
    return mailbox::idle(vote, how, value);
  }
  // After the end: of the values of all cores.
  std::uint32_t total() const noexcept { return mailbox::total(); }
  template <class F>
  void take_kept(F) noexcept {}
};

template <graph::vertex_program Program, class Idle, class Host>
class vertex_engine {
  using edge = typename Program::edge;
  using message = typename Program::message;
  static constexpr bool gathers = graph::gathering_program<Program>;
  static constexpr bool aggregates = aggregating_program<Program>;
  static constexpr std::size_t payload = MESSAGE_WORDS - 1;
  static constexpr std::size_t content_words = (sizeof(message) + 3) / 4;
  static constexpr std::size_t parts = (content_words + payload - 1) / payload;

 public:
  vertex_engine(const Program& program, const graph::csr& all, Idle& detector, Host host,
                bool newest_first) noexcept
      : program_(program), all_(all), detector_(detector), host_(host) {
    mine_.newest_first = newest_first;
    const std::uint32_t me = THIS_CORE, n = all.vertices, each = (n + CORES - 1) / CORES;
    mine_.graph = &all;
    mine_.first = me * each < n ? me * each : n;
    mine_.count = n - mine_.first < each ? n - mine_.first : each;
    mine_.states = make_array<typename Program::state>(mine_.count);
    mine_.inboxes = make_array<typename graph::detail::inbox_of<Program>::type>(mine_.count);
    mine_.in_degrees = make_array<std::uint32_t>(mine_.count);
    mine_.wanted = make_array<std::uint32_t>(mine_.count);
    mine_.is_queued = make_array<bool>(mine_.count);
    mine_.ring = make_array<graph::vertex_t>(mine_.count);
    mine_.ring_size = mine_.count;
    contents_ = make_array<words_of_message>(CORES);
    receivers_ = make_array<std::uint64_t>(mine_.count);
    for (std::uint32_t local = 0; local < mine_.count; ++local) {
      const std::uint32_t v = mine_.first + local;
      for (std::uint32_t e = all.first[v]; e < all.first[v + 1]; ++e)
        receivers_[local] |= std::uint64_t{1} << all.targets[e] / each;
    }
    make_lists();
  }

  void run() noexcept {
    for_all([&](vertex_& v) { program_.init(v); });
    bool vote = false;
    if constexpr (aggregates) mine_.given = neutral(Program::total);
    for (;;) {
      send_all();
      const ended now = idle(vote);
      if (now == ended::no) continue;
      ++detections_;
      if (now == ended::unanimously) break;
      vote = true;
      if constexpr (aggregates) {
        mine_.total = mine_.time == 0 ? 0 : detector_.total();
        mine_.given = neutral(Program::total);
      }
      for_all([&](vertex_& v) { vote = !program_.step(v) && vote; });
      ++mine_.time;
    }
    for_all([&](vertex_& v) {
      message last{};
      if (program_.finish(v, last)) host_(v.id(), last);
    });
  }

  std::uint32_t detections() const noexcept { return detections_; }
  // Sends of vertices, and messages to other cores.
  std::uint32_t sends() const noexcept { return sends_; }
  std::uint32_t messages() const noexcept { return messages_; }

  // Receives while there is no room.
  void post(std::uint32_t core, const std::uint32_t* words, std::size_t count) noexcept {
    for (;;) {
      for (std::size_t i = 0; i < count; ++i) message_slot(0)[i] = words[i];
      if (message_send(core, 0, static_cast<std::uint32_t>(count)) != 0) return;
      message_wait(MESSAGE_CAN_SEND | MESSAGE_CAN_RECEIVE);
      receive_all();
    }
  }
  void receive_all() noexcept {
    detector_.take_kept([&](std::uint32_t got) {
      const letter kept(got);
      take(kept);
      message_alloc(kept.slot());
    });
    while ((message_status() & MESSAGE_CAN_RECEIVE) != 0) receive_one();
  }
  // There is a message.
  void receive_one() noexcept {
    const std::uint32_t got = message_receive();
    const letter m(got);
    if (detector_.keeps(*this, m)) return;
    if ((m[0] & header_kind) == 0) take(m);
    message_alloc(m.slot());
  }

 private:
  using vertex_ = graph::vertex<Program>;
  struct words_of_message {
    std::uint32_t words[parts * payload];
  };

  ended idle(bool vote) noexcept {
    if constexpr (aggregates)
      return detector_.idle(*this, vote, Program::total, mine_.given);
    else
      return detector_.idle(*this, vote);
  }

  // The list of a sender: its targets here, and the weights of the edges.
  void make_lists() noexcept {
    const std::uint32_t n = all_.vertices;
    list_first_ = make_array<std::uint32_t>(n + 1);
    for (int fills = 0; fills < 2; ++fills) {
      std::uint32_t count = 0;
      for (std::uint32_t v = 0; v < n; ++v) {
        list_first_[v] = count;
        for (std::uint32_t e = all_.first[v]; e < all_.first[v + 1]; ++e) {
          const std::uint32_t local = all_.targets[e] - mine_.first;
          if (all_.targets[e] < mine_.first || local >= mine_.count) continue;
          if (fills != 0) {
            list_targets_[count] = local;
            list_weights_[count] = all_.weights[e];
            ++mine_.in_degrees[local];
          }
          ++count;
        }
      }
      list_first_[n] = count;
      if (fills != 0) break;
      list_targets_ = make_array<std::uint32_t>(count);
      list_weights_ = make_array<float>(count);
    }
  }

  template <class F>
  void for_all(F f) noexcept {
    for (std::uint32_t local = 0; local < mine_.count; ++local) {
      vertex_ v(mine_, local);
      f(v);
    }
  }

  void send_all() noexcept {
    receive_all();
    while (mine_.waiting != 0) {
      send_one();
      receive_all();
    }
  }
  void send_one() noexcept {
    const graph::vertex_t local = mine_.take();
    vertex_ v(mine_, local);
    const graph::pin where = v.ready_to_send();
    if (where == graph::no_pin) return;
    message content{};
    program_.send(v, content);
    ++sends_;
    // A vertex that is still ready waits again.
    mine_.want(local, v.ready_to_send());
    if (where == graph::host_pin) return host_(v.id(), content);
    if (where != graph::pin(0)) __builtin_trap();
    const std::uint32_t me = THIS_CORE;
    std::uint64_t to = receivers_[local];
    for (std::uint32_t core = 0; to != 0; ++core, to >>= 1) {
      if ((to & 1) == 0) continue;
      if (core == me)
        deliver(v.id(), content);
      else
        send_to(core, v.id(), content);
    }
  }
  void send_to(std::uint32_t core, graph::vertex_t from, const message& content) noexcept {
    std::uint32_t words[parts * payload]{};
    __builtin_memcpy(words, &content, sizeof content);
    for (std::size_t part = 0; part < parts; ++part) {
      std::uint32_t packet[MESSAGE_WORDS]{static_cast<std::uint32_t>(from | part * header_part)};
      std::size_t count = 1;
      for (std::size_t i = part * payload; i < content_words && count < MESSAGE_WORDS; ++i)
        packet[count++] = words[i];
      detector_.sent();
      ++messages_;
      post(core, packet, count);
    }
  }

  void take(const letter& m) noexcept {
    detector_.received();
    const std::uint32_t part = m[0] / header_part;
    std::uint32_t* const words = contents_[m.from()].words;
    for (std::uint32_t i = 1; i < m.length(); ++i) words[part * payload + i - 1] = m[i];
    if (part + 1 != parts) return;
    message content;
    __builtin_memcpy(&content, words, sizeof content);
    deliver(m[0] % header_part, content);
  }
  void deliver(graph::vertex_t from, const message& content) noexcept {
    for (std::uint32_t i = list_first_[from]; i < list_first_[from + 1]; ++i) {
      edge e{};
      if constexpr (!std::is_empty_v<edge>) e = list_weights_[i];
      if constexpr (gathers) {
        program_.gather(mine_.inboxes[list_targets_[i]], content, e);
      } else {
        vertex_ v(mine_, list_targets_[i]);
        program_.recv(v, content, e);
      }
    }
  }

  const Program& program_;
  const graph::csr& all_;
  Idle& detector_;
  Host host_;
  graph::detail::local_vertices<Program> mine_;
  // The cores that have targets of a vertex.
  std::uint64_t* receivers_ = nullptr;
  std::uint32_t *list_first_ = nullptr, *list_targets_ = nullptr;
  float* list_weights_ = nullptr;
  // By sender: the content of which parts have come.
  words_of_message* contents_ = nullptr;
  std::uint32_t detections_ = 0, sends_ = 0, messages_ = 0;
};

}  // namespace tutti::rtl
