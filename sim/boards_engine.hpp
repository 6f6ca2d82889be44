// SPDX-License-Identifier: Apache-2.0
// Runs a vertex program, unchanged, on a simulated machine of boards (boards.hpp). Its messages and
// results are those of the program, and its time is that of the machine.
//
// A thread takes the messages that have come before it sends. It sends along one edge at a time,
// for the vertex that asked last, as the machine of Naylor et al. 2020 does. Vertices are shared
// among boards by a streaming partition, and among the threads of a board by their numbers.
#pragma once

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "sim/boards.hpp"
#include "tutti/graph/partition.hpp"
#include "tutti/graph/run_result.hpp"
#include "tutti/graph/shards.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::sim {

// The thread of each vertex.
inline std::vector<std::uint32_t> threads_of_vertices(const graph::csr& graph,
                                                      const board_machine& m) {
  const std::vector<rank_t> board = graph::partition(graph, m.boards(), "streaming");
  std::vector<std::uint32_t> all(m.boards(), 0), placed(m.boards(), 0);
  for (const rank_t b : board) ++all[b];
  std::vector<std::uint32_t> thread(board.size());
  for (std::size_t v = 0; v < board.size(); ++v) {
    const rank_t b = board[v];
    const std::uint64_t place = std::uint64_t{placed[b]++} * m.threads / all[b];
    thread[v] = b * m.threads + static_cast<std::uint32_t>(place);
  }
  return thread;
}

template <graph::vertex_program Program>
class boards_engine {
  using edge = typename Program::edge;
  using message = typename Program::message;
  using vertex = graph::vertex<Program>;

 public:
  // Keeps references to its arguments. The shard holds all vertices.
  boards_engine(const Program& program, const graph::shard<edge>& all, const board_machine& m,
                std::vector<std::uint32_t> thread_of)
      : program_(program),
        graph_(all),
        machine_(m),
        thread_of_(std::move(thread_of)),
        vertices_(program, all, static_cast<graph::vertex_t>(all.vertices.size()),
                  graph::send_order::first_in_first_out),
        asks_(all.vertices.size(), 0),
        threads_(m.all_threads()),
        vertices_of_(m.all_threads(), 0),
        links_(m),
        handler_(static_cast<sim_time>(m.handler)),
        detection_(static_cast<sim_time>(detection(m))) {
    for (const std::uint32_t t : thread_of_) ++vertices_of_[t];
  }

  // Calls host(vertex, time, message) for each message to the host. Returns the cycles until the
  // end is detected; what finish() sends takes no time.
  template <class Host>
  double run(Host&& host) {
    each([&](vertex& v) { program_.init(v); });
    start_senders();
    for (bool vote = false;;) {
      run_until_idle(host);
      now_ += detection_;
      ++counted_.detections;
      if (vote) break;
      vote = !step_all();
      ++vertices_.time;
      start_senders();
    }
    counted_.time = vertices_.time;
    each([&](vertex& v) {
      message content{};
      if (program_.finish(v, content)) host(v.id(), vertices_.time, content);
    });
    return static_cast<double>(now_);
  }

  const graph::engine_statistics& statistics() const noexcept { return counted_; }

 private:
  struct event {
    std::uint32_t thread;
    // The thread may do something else; otherwise a message comes along the edge.
    bool is_turn;
    graph::edge_t target;
    message content;
  };
  struct arrived {
    graph::edge_t target;
    message content;
  };
  struct thread {
    sim_time free_at = 0;
    bool has_turn = false;
    std::deque<arrived> inbox;
    // Vertices that want to send; the last one is the first.
    std::vector<graph::vertex_t> senders;
    // What it sends at present, and the edges that are left.
    graph::edge_t next = 0, end = 0;
    message content{};
  };

  template <class F>
  void each(F f) {
    for (graph::vertex_t v = 0; v < vertices_.states.size(); ++v) {
      vertex handle(vertices_, v);
      f(handle);
    }
  }

  bool step_all() {
    bool any = false;
    each([&](vertex& v) { any = program_.step(v) || any; });
    for (std::size_t t = 0; t < threads_.size(); ++t)
      threads_[t].free_at = now_ + static_cast<sim_time>(machine_.step) * vertices_of_[t];
    return any;
  }

  // Notes who has asked to send, and by which thread that happens.
  template <class Asked>
  void note_senders(Asked asked) {
    while (!vertices_.senders.empty()) {
      const graph::vertex_t v = vertices_.senders.take();
      if (asks_[v] != 0) continue;
      asks_[v] = 1;
      threads_[thread_of_[v]].senders.push_back(v);
      asked(thread_of_[v]);
    }
  }
  void start_senders() {
    note_senders([&](std::uint32_t t) { give_turn(t); });
  }

  void give_turn(std::uint32_t t) {
    if (threads_[t].has_turn) return;
    threads_[t].has_turn = true;
    queue_.at(std::max(now_, threads_[t].free_at), {t, true, 0, {}});
  }

  template <class Host>
  void run_until_idle(Host& host) {
    sim_time last = now_;
    while (!queue_.empty()) {
      event e = queue_.take();
      now_ = queue_.now();
      if (e.is_turn) {
        threads_[e.thread].has_turn = false;
        take_turn(e.thread, host);
      } else {
        threads_[e.thread].inbox.push_back({e.target, e.content});
        give_turn(e.thread);
      }
      last = std::max(last, threads_[e.thread].free_at);
    }
    for (const thread& t : threads_) last = std::max(last, t.free_at);
    now_ = last;
  }

  template <class Host>
  void take_turn(std::uint32_t number, Host& host) {
    thread& t = threads_[number];
    if (!t.inbox.empty()) {
      const arrived in = t.inbox.front();
      t.inbox.pop_front();
      deliver(in);
      t.free_at = now_ + handler_;
    } else if (t.next != t.end || begin_sending(t, host)) {
      t.free_at = now_ + handler_;
      if (t.next != t.end) send_along(number, t.next++);
    }
    if (!t.inbox.empty() || t.next != t.end || !t.senders.empty()) give_turn(number);
  }

  void deliver(const arrived& in) {
    const graph::vertex_t to = graph_.targets[in.target];
    edge value{};
    if constexpr (graph::shard<edge>::has_values) value = graph_.values[in.target];
    vertex v(vertices_, to);
    if constexpr (graph::gathering_program<Program>)
      program_.gather(v.inbox(), in.content, value);
    else
      program_.recv(v, in.content, value);
    note_senders([](std::uint32_t) {});
  }

  // Returns false if no vertex of the thread wants to send any more.
  template <class Host>
  bool begin_sending(thread& t, Host& host) {
    while (!t.senders.empty()) {
      const graph::vertex_t from = t.senders.back();
      t.senders.pop_back();
      asks_[from] = 0;
      vertex v(vertices_, from);
      const graph::pin where = v.ready_to_send();
      if (where == graph::no_pin) continue;
      require(!where.is_edges() || where.number() < graph_.pins, "a vertex has no such pin");
      t.content = {};
      program_.send(v, t.content);
      vertices_.senders.put_back(from);
      note_senders([](std::uint32_t) {});
      ++counted_.sends;
      if (where == graph::host_pin) {
        ++counted_.host;
        host(v.id(), vertices_.time, t.content);
        return true;
      }
      const auto routes = graph_.routes_of(from, where.number());
      if (routes.empty()) continue;
      t.next = graph_.first_target[routes.front().list];
      t.end = graph_.first_target[routes.front().list + std::size_t{1}];
      return true;
    }
    return false;
  }

  void send_along(std::uint32_t from, graph::edge_t target) {
    const std::uint32_t to = thread_of_[graph_.targets[target]];
    ++(to == from ? counted_.local : counted_.remote);
    queue_.at(links_.arrival(from, to, threads_[from].free_at),
              {to, false, target, threads_[from].content});
  }

  const Program& program_;
  const graph::shard<edge>& graph_;
  const board_machine& machine_;
  const std::vector<std::uint32_t> thread_of_;
  graph::detail::local_vertices<Program> vertices_;
  // Whether a vertex is among the senders of its thread.
  std::vector<std::uint8_t> asks_;
  std::vector<thread> threads_;
  std::vector<std::uint32_t> vertices_of_;
  board_links links_;
  const sim_time handler_, detection_;
  near_event_queue<event> queue_;
  sim_time now_ = 0;
  graph::engine_statistics counted_;
};

// Does what graph::run does. run_seconds is simulated.
template <graph::vertex_program Program>
graph::run_result<Program> run_on_boards(
    const Program& program, std::span<const graph::edge_set<typename Program::edge>> pins,
    const board_machine& m) {
  graph::detail::require_graph_for<Program>(pins);
  require(!pins.empty() && pins[0].edges != nullptr, "a vertex program needs a graph");
  const std::vector<rank_t> owners(pins[0].edges->vertices, 0);
  const graph::shards<typename Program::edge> cut(pins, owners, 1);
  boards_engine engine(program, cut[0], m, threads_of_vertices(*pins[0].edges, m));
  graph::collecting_host<typename Program::message> host;
  graph::run_result<Program> result;
  result.run_seconds = m.seconds(engine.run(host));
  result.host = host.take();
  result.statistics = engine.statistics();
  result.of_participants = {result.statistics};
  return result;
}

}  // namespace tutti::sim
