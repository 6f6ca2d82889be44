// SPDX-License-Identifier: Apache-2.0
// The engine of one participant. It sends what its vertices want to send, receives what has
// arrived, and is idle when there is neither.
//
//   vertex_engine engine(program, shard, vertices, endpoint, host, options);
//   engine.run();                              // returns when all participants have finished
//
// All ways to run a program use this loop: alone (solo_endpoint), on threads, and across processes.
// A message to targets of the same participant is delivered directly and is never under way. If
// there is no room for a message, the participant receives while it waits, so two participants
// whose rings to each other are full make progress.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/graph/bundle.hpp"
#include "tutti/graph/engine_options.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/shard.hpp"
#include "tutti/graph/vertex.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::graph {

// Participant 0 calls host(vertex, time, message) for each message to the host, in the order in
// which a vertex sent them. With engine_options::own_results each participant calls it for its own
// vertices.
template <vertex_program Program, endpoint_like Endpoint, class Host>
class vertex_engine {
  using edge = typename Program::edge;
  using message = typename Program::message;
  using state = typename Program::state;
  using bundle = detail::bundle<message>;
  using host_bundle = detail::host_bundle<message>;

 public:
  // Keeps references to its arguments. `mine` is the shard of endpoint.rank(). `shared` has the
  // contents of the lists of the participants that share memory; null if none do.
  vertex_engine(const Program& program, const shard<edge>& mine, vertex_t vertices,
                Endpoint& endpoint, Host& host, const engine_options& options,
                detail::list_contents<message>* shared = nullptr)
      : program_(program),
        graph_(mine),
        endpoint_(endpoint),
        host_(host),
        options_(options),
        mine_(program, mine, vertices, options.order, shared),
        open_(endpoint.size()),
        wishes_(gathers ? in_lists::vertices_of_a_block : 0, no_pin),
        contents_(gathers ? std::make_unique<message[]>(in_lists::vertices_of_a_block) : nullptr) {}

  // Runs the program until all participants have finished. Throws run_cancelled, run_late, what the
  // endpoint throws, and what a handler throws.
  void run() {
    begin_ns_ = native::now_ns();
    init_all();
    // Nobody votes for the end before step() has run.
    bool vote = false;
    for (;;) {
      send_all();
      const idle_result now = idle(vote);
      if (now == idle_result::message) {
        receive_all();
        continue;
      }
      ++counted_.detections;
      if (now == idle_result::unanimous) break;
      vote = !step_all();
    }
    if constexpr (gathers) mine_.inboxes.gather_all();
    finish_all();
  }

  // The states of this participant's vertices, by local number.
  const std::vector<state>& states() const noexcept { return mine_.states; }

  engine_statistics statistics() const {
    engine_statistics all = counted_;
    const endpoint_statistics of_endpoint = endpoint_.statistics();
    all.time = mine_.time;
    if constexpr (gathers) {
      all.local = mine_.inboxes.own_edges();
      all.remote += mine_.inboxes.heard_edges();
      all.packets += mine_.inboxes.written();
    }
    if constexpr (combines) {
      // They were counted as local, like the rest of their lists.
      all.combined = mine_.slots.added();
      all.local -= all.combined;
      all.remote += all.combined;
    }
    all.refutations = of_endpoint.refutations;
    all.idle_seconds = static_cast<double>(of_endpoint.idle_ns) * 1e-9;
    return all;
  }

 private:
  static constexpr rank_t host_rank = 0;
  static constexpr bool gathers = gathering_program<Program>;
  static constexpr bool combines = combining_program<Program>;

  template <class F>
  void call_all(F f) {
    const auto count = static_cast<vertex_t>(graph_.vertices.size());
    for (vertex_t local = 0; local < count; ++local) {
      vertex<Program> v(mine_, local);
      f(v);
    }
  }

  void init_all() {
    in_turns([&](vertex<Program>& v) { program_.init(v); }, mine_.time);
  }
  // Calls step() of all vertices. Returns true if any vertex wants to go on.
  bool step_all() {
    bool any = false;
    in_turns([&](vertex<Program>& v) { any = program_.step(v) || any; }, mine_.time + 1);
    ++mine_.time;
    tell_progress();
    check_limit();
    return any;
  }
  // Calls handler(vertex) for all vertices, init() or step(). If the program gathers, a vertex gets
  // what has arrived just before, and sends just after, at the time `then`: while its state is in
  // the cache, and without a place in the queue of senders. Nothing that is sent meanwhile reaches
  // an inbox. Only the order of sends could tell that the others have not yet had their turn; so
  // the newest ones send first only from the queue.
  template <class Handler>
  void in_turns(Handler handler, std::uint64_t then) {
    if constexpr (gathers) {
      if (options_.order == send_order::first_in_first_out) {
        auto kept = mine_.inboxes.begin_turns();
        // A turn's instructions would fill the window in which a processor looks ahead for loads.
        // In a loop of their own, loads of several vertices wait at the same time.
        mine_.inboxes.for_each_block([&](vertex_t begin, vertex_t end) {
          kept.gather(begin);
          turns(begin, end, handler, then);
        });
        mine_.inboxes.end_turns();
        post_all();
        receive_all();
        return;
      }
      mine_.inboxes.gather_all();
    }
    call_all(handler);
  }
  // The handlers of a block come first and then what they asked to send, so that each loop is short
  // and its data close. The handlers and what they call come in here, so that a vertex's handle
  // needs no memory.
  template <class Handler>
  [[gnu::flatten]] void turns(vertex_t begin, vertex_t end, Handler& handler, std::uint64_t then) {
    for (vertex_t local = begin; local < end; ++local) {
      vertex<Program> v(mine_, local, wishes_[local - begin]);
      handler(v);
    }
    const std::uint64_t now = std::exchange(mine_.time, then);
    const std::uint64_t sends = counted_.sends;
    if (!send_on_first_pin(begin, end))
      for (vertex_t local = begin; local < end; ++local)
        if (wishes_[local - begin] != no_pin) send_in_turn(local, wishes_[local - begin]);
    unchecked_sends_ += counted_.sends - sends;
    if (unchecked_sends_ >= options_.burst) {
      unchecked_sends_ = 0;
      between_bursts();
    }
    mine_.time = now;
  }
  [[gnu::always_inline]] void send_in_turn(vertex_t local, pin& wish) {
    vertex<Program> v(mine_, local, wish);
    const pin where = wish;
    const message content = message_of(v, where);
    if (wish != no_pin) [[unlikely]] {
      // It wants to send again.
      mine_.senders.want(local, wish);
      wish = no_pin;
    }
    if (where == host_pin) return tell_host(local, content);
    write_routes(local, where, content);
  }
  [[gnu::always_inline]] void write_routes(vertex_t local, pin where, const message& content) {
    for (const route& r : graph_.routes_of(local, where.number()))
      if (!mine_.inboxes.write(r, content)) pack(r, content);
  }

  // Sends what the vertices of a block asked for, if the shard has the block's lists and nobody
  // asked for another pin than the first; otherwise returns false. Whether a vertex sends is the
  // only thing here that a processor cannot guess, so those who send are listed without a branch.
  [[gnu::always_inline]] bool send_on_first_pin(vertex_t begin, vertex_t end) {
    if (graph_.out_lists.empty()) return false;
    pin* const wishes = wishes_.data();
    std::uint8_t senders[in_lists::vertices_of_a_block];
    std::uint32_t count = 0, on_others = 0;
    for (std::uint32_t i = 0; i < end - begin; ++i) {
      senders[count] = static_cast<std::uint8_t>(i);
      count += wishes[i] != no_pin ? 1 : 0;
      on_others |= wishes[i].code() & ~pin(0).code();
    }
    if (on_others != 0) return false;

    message* const contents = contents_.get();
    std::uint32_t leading = 0, again = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t i = senders[k];
      vertex<Program> v(mine_, begin + i, wishes[i]);
      message content{};
      program_.send(v, content);
      contents[i] = content;
      leading += v.out_degree() != 0 ? 1 : 0;
      again |= wishes[i].code();
    }
    counted_.sends += count;
    if (again != 0) [[unlikely]]
      queue_wishes(begin, end);

    const out_lists::block block = graph_.out_lists.of(begin / in_lists::vertices_of_a_block);
    if (leading != block.leading) {
      for (std::uint32_t k = 0; k < count; ++k)
        write_routes(begin + senders[k], pin(0), contents[senders[k]]);
      return true;
    }
    const std::uint8_t* of_list = block.senders;
    for (const out_lists::stretch& each : block.stretches) {
      if (!mine_.inboxes.write(each, of_list, contents))
        for (std::uint32_t i = 0; i < each.count; ++i)
          pack({each.to, each.first + i}, contents[of_list[i]]);
      of_list += each.count;
    }
    return true;
  }
  // Vertices of a block that want to send again wait in the queue.
  [[gnu::noinline]] void queue_wishes(vertex_t begin, vertex_t end) {
    for (vertex_t local = begin; local < end; ++local)
      if (const pin wish = std::exchange(wishes_[local - begin], no_pin); wish != no_pin)
        mine_.senders.want(local, wish);
  }

  // Sends until no vertex here wants to send and nothing combined waits, and receives after each
  // burst.
  void send_all() {
    do {
      while (!mine_.senders.empty()) {
        std::uint32_t sent = 0;
        do send_one();
        while (++sent < options_.burst && !mine_.senders.empty());
        post_all();
        between_bursts();
      }
    } while (send_combined());
  }
  [[gnu::noinline]] void between_bursts() {
    receive_all();
    if (options_.progress && counted_.sends >= next_told_) tell_progress();
    check_limit();
  }

  // Sends what the slots hold. A message stays in its slot while vertices here want to send, so
  // that more may come to it. Returns whether there was any.
  bool send_combined() {
    if constexpr (combines) {
      if constexpr (gathers) mine_.inboxes.fold();
      if (mine_.slots.empty()) return false;
      mine_.slots.take_all([&](std::uint32_t slot, const message& all) {
        pack(graph_.slots[slot], all);
        ++counted_.combined_packets;
      });
      post_all();
      receive_all();
      return true;
    } else {
      return false;
    }
  }

  void send_one() {
    const vertex_t local = mine_.senders.take();
    vertex<Program> v(mine_, local);
    const pin where = v.ready_to_send();
    // The send was cancelled.
    if (where == no_pin) return;
    const message content = message_of(v, where);
    mine_.senders.put_back(local);
    send_along(local, where, content);
  }
  // What a vertex sends that wants to send on `where`.
  [[gnu::always_inline]] message message_of(vertex<Program>& v, pin where) {
    if (where.is_edges() && where.number() >= graph_.pins) [[unlikely]]
      refuse_pin(v.id(), where);
    message content{};
    program_.send(v, content);
    ++counted_.sends;
    return content;
  }
  void send_along(vertex_t local, pin where, const message& content) {
    if (where == host_pin) return tell_host(local, content);
    for (const route& r : graph_.routes_of(local, where.number())) {
      if (r.to != graph_.rank) {
        pack(r, content);
      } else {
        deliver_here(r.list, content);
        // The inboxes of a program that gathers count for themselves.
        if constexpr (!gathers) counted_.local += edges_of(r.list, 1);
      }
    }
  }

  [[gnu::noinline, gnu::cold, noreturn]] void refuse_pin(vertex_t id, pin where) const {
    refuse("vertex " + std::to_string(id) + " wants to send on pin(" +
           std::to_string(where.number()) + "): the engine was given only " +
           std::to_string(graph_.pins) + (graph_.pins == 1 ? " pin" : " pins"));
  }

  // Delivers a message of a vertex of this participant, some of whose targets may be slots.
  void deliver_here(std::uint32_t list, const message& content) {
    if constexpr (combines && !gathers) {
      if (!graph_.slots.empty()) return deliver_and_combine(list, content);
    }
    deliver(list, content);
  }
  void deliver_and_combine(std::uint32_t list, const message& content) {
    const edge_t end = graph_.first_target[list + std::size_t{1}];
    for (edge_t i = graph_.first_target[list]; i < end; ++i) {
      const vertex_t to = graph_.targets[i];
      if (to < graph_.vertices.size())
        receive_along(i, content);
      else
        mine_.slots.add(program_, static_cast<std::uint32_t>(to - graph_.vertices.size()),
                        detail::at_the_end_of(program_, graph_, i, content));
    }
  }
  void receive_along(edge_t i, const message& content) {
    vertex<Program> v(mine_, graph_.targets[i]);
    if constexpr (shard<edge>::has_values)
      program_.recv(v, content, graph_.values[i]);
    else
      program_.recv(v, content, edge{});
  }

  // Delivers one message to all targets of a list.
  void deliver(std::uint32_t list, const message& content) {
    if constexpr (gathers) {
      mine_.inboxes.keep(list, content);
    } else {
      const edge_t end = graph_.first_target[list + std::size_t{1}];
      for (edge_t i = graph_.first_target[list]; i < end; ++i) receive_along(i, content);
    }
  }
  void unpack(rank_t from, std::uint32_t first, std::uint32_t count, const std::byte* contents) {
    if constexpr (gathers) {
      mine_.inboxes.keep(from, first, count, contents);
    } else {
      for (std::uint32_t i = 0; i < count; ++i) {
        message content;
        std::memcpy(&content, contents + i * sizeof content, sizeof content);
        deliver(first + i, content);
      }
    }
  }
  std::uint64_t edges_of(std::uint32_t first, std::uint32_t count) const noexcept {
    return graph_.first_target[first + std::size_t{count}] - graph_.first_target[first];
  }
  // The same for lists that lead here from others, without the combined messages, which their
  // senders have counted.
  std::uint64_t edges_from_others(std::uint32_t first, std::uint32_t count) const noexcept {
    const std::uint32_t end = (std::min)(first + count, graph_.first_combined);
    return first < end ? edges_of(first, end - first) : 0;
  }

  void pack(const route& r, const message& content) {
    bundle& to = open_[r.to];
    if (!to.takes(r.list)) post_bundle(r.to);
    if (to.count == 0) packed_.push_back(r.to);
    to.add(r.list, content);
  }
  [[gnu::noinline]] void post_bundle(rank_t to) {
    bundle& full = open_[to];
    if (full.count == 0) return;
    counted_.packets += full.count;
    post(to, &full, full.bytes());
    full.count = 0;
  }
  void post_all() {
    for (const rank_t to : packed_) post_bundle(to);
    packed_.clear();
    post_to_host();
  }

  void receive_all() {
    while (endpoint_.can_recv()) {
      const received message_in = endpoint_.recv();
      take(message_in);
      endpoint_.release(message_in);
    }
  }
  void take(const received& message_in) {
    std::uint32_t first, count;
    std::memcpy(&first, message_in.data, sizeof first);
    std::memcpy(&count, message_in.data + sizeof first, sizeof count);
    if (first == host_bundle::to_host) {
      take_for_host(message_in.data, count);
    } else {
      unpack(message_in.source, first, count, message_in.data + offsetof(bundle, contents));
      counted_.remote += edges_from_others(first, count);
    }
  }

  // Sends, and waits for room if necessary. It receives while it waits, so a handler of another
  // vertex may run before this returns.
  void post(rank_t to, const void* data, std::size_t bytes) {
    if (endpoint_.try_send(to, data, bytes)) return;
    ++counted_.blocked;
    // Nothing wakes a participant when another one has failed, so it wakes up regularly by itself.
    std::chrono::nanoseconds at_a_stretch = std::chrono::milliseconds(5);
    if (options_.deadline.count() > 0) at_a_stretch = (std::min)(at_a_stretch, options_.deadline);
    const std::uint64_t begin = native::now_ns();
    while (!endpoint_.send_wait_for(to, data, bytes, at_a_stretch,
                                    [this](const received& message_in) { take(message_in); })) {
      // relaxed: reads nothing that the failed participant has written.
      if (options_.cancelled != nullptr && options_.cancelled->load(relaxed)) throw run_cancelled();
      if (options_.deadline.count() > 0 &&
          native::now_ns() - begin > static_cast<std::uint64_t>(options_.deadline.count()))
        refuse_late(" for room to send to participant " + std::to_string(to));
    }
  }

  bool is_host() const noexcept { return graph_.rank == host_rank || options_.own_results; }

  [[gnu::noinline]] void tell_host(vertex_t local, const message& content) {
    ++counted_.host;
    const vertex_t id = graph_.vertices[local];
    if (is_host()) return host_(id, mine_.time, content);
    for_host_.time = mine_.time;
    for_host_.entries[for_host_.count++] = {id, content};
    if (for_host_.count == host_bundle::most) post_to_host();
  }
  void post_to_host() {
    if (for_host_.count == 0) return;
    post(host_rank, &for_host_, for_host_.bytes());
    for_host_.count = 0;
  }
  void take_for_host(const std::byte* data, std::uint32_t count) {
    std::uint64_t time;
    std::memcpy(&time, data + offsetof(host_bundle, time), sizeof time);
    for (std::uint32_t i = 0; i < count; ++i) {
      typename host_bundle::entry e;
      std::memcpy(&e, data + offsetof(host_bundle, entries) + i * sizeof e, sizeof e);
      host_(e.vertex, time, e.content);
    }
  }

  void finish_all() {
    if constexpr (requires { host_.expect(vertex_t{}); })
      if (is_host())
        host_.expect(options_.own_results ? static_cast<vertex_t>(mine_.states.size())
                                          : mine_.total);
    const auto count = static_cast<vertex_t>(graph_.vertices.size());
    for (vertex_t local = 0; local < count; ++local) {
      vertex<Program> v(mine_, local);
      message content{};
      if (program_.finish(v, content)) tell_host(local, content);
    }
    post_to_host();
    // Waits until the host has received everything.
    while (idle(true) == idle_result::message) receive_all();
  }

  idle_result idle(bool vote) {
    if constexpr (requires { endpoint_.idle_for(vote, options_.deadline); }) {
      if (options_.deadline.count() > 0) {
        const timed_idle now = endpoint_.idle_for(vote, options_.deadline);
        if (!now) refuse_late(why_missing(now.missing));
        return now.result;
      }
    }
    return endpoint_.idle(vote);
  }

  void check_limit() const {
    if (options_.limit.count() > 0 &&
        native::now_ns() - begin_ns_ > static_cast<std::uint64_t>(options_.limit.count()))
      throw run_late("tutti: the run of the vertex program has taken longer than its limit");
  }

  [[noreturn]] void refuse_late(const std::string& why) const {
    throw run_late("tutti: participant " + std::to_string(graph_.rank) +
                   " has waited for too long" + why);
  }
  static std::string why_missing(const std::vector<absentee>& missing) {
    std::string who;
    for (const absentee& a : missing) {
      const char* const why = a.why == absence::running ? " is still running"
                              : a.why == absence::late  ? " has waited for too long as well"
                              : a.why == absence::holding
                                  ? " holds messages that it has not released"
                              : a.why == absence::gone ? " has left"
                                                       : " has messages under way to it";
      who += (who.empty() ? "participant " : ", participant ") + std::to_string(a.rank) + why;
    }
    return ": " + (who.empty() ? "nobody is missing now" : who);
  }

  void tell_progress() {
    if (!options_.progress || graph_.rank != host_rank) return;
    next_told_ = counted_.sends + told_every;
    options_.progress(mine_.time, counted_.sends);
  }
  static constexpr std::uint64_t told_every = 1 << 16;

  const Program& program_;
  const shard<edge>& graph_;
  Endpoint& endpoint_;
  Host& host_;
  const engine_options& options_;
  detail::local_vertices<Program> mine_;
  // One for each participant.
  std::vector<bundle> open_;
  // The participants whose bundles are not empty.
  std::vector<rank_t> packed_;
  host_bundle for_host_;
  engine_statistics counted_;
  std::uint64_t next_told_ = told_every;
  // By number in the block: where a vertex that has its turn wants to send.
  std::vector<pin> wishes_;
  // By number in the block: what a vertex that has its turn sends.
  std::unique_ptr<message[]> contents_;
  // Sends of vertices in their turns since messages were looked for.
  std::uint64_t unchecked_sends_ = 0;
  // When run() began.
  std::uint64_t begin_ns_ = 0;
};

}  // namespace tutti::graph
