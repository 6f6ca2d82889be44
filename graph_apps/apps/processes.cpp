// SPDX-License-Identifier: Apache-2.0
// What the processes of a run tell each other about its results.
#include "graph_apps/apps/processes.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "tutti/team/team.hpp"

namespace tutti::graph_apps {
namespace {

// The values of columns, all of which have 8 bytes, as bytes.
static_assert(sizeof(double) == 8);

std::size_t rows_of(const std::vector<column>& columns) {
  return columns.empty()
             ? 0
             : std::visit([](const auto& all) { return all.size(); }, columns[0].values);
}

// Rows on their way: a message has as many as fit a short one.
class rows_in_messages {
 public:
  static constexpr std::size_t most_values = 30;
  explicit rows_in_messages(std::size_t columns)
      : columns_(columns), at_a_time_(std::max<std::size_t>(1, most_values / columns)) {}

  void send(mpi::endpoint& me, rank_t to, const std::vector<column>& from) {
    const std::uint64_t rows = rows_of(from);
    const auto nothing = [](const received&) {};
    me.send_wait(to, rows, nothing);
    std::vector<std::byte> bytes(at_a_time_ * columns_ * 8);
    for (std::size_t row = 0; row < rows; row += at_a_time_) {
      const std::size_t count = std::min<std::size_t>(at_a_time_, rows - row);
      std::byte* at = bytes.data();
      for (const column& each : from) {
        std::visit([&](const auto& all) { std::memcpy(at, all.data() + row, count * 8); },
                   each.values);
        at += count * 8;
      }
      me.send_wait(to, bytes.data(), count * columns_ * 8, nothing);
    }
  }

  // Appends the rows of a message to the columns; returns how many they are.
  std::size_t take(const received& message_in, std::vector<column>& to) const {
    const std::size_t count = message_in.size / (columns_ * 8);
    const std::byte* at = message_in.data;
    for (column& each : to) {
      std::visit(
          [&](auto& all) {
            all.resize(all.size() + count);
            std::memcpy(all.data() + all.size() - count, at, count * 8);
          },
          each.values);
      at += count * 8;
    }
    return count;
  }

 private:
  std::size_t columns_, at_a_time_;
};

// Empty columns of the same names and types.
std::vector<column> like(const std::vector<column>& columns) {
  std::vector<column> made;
  for (const column& each : columns)
    made.push_back({each.name, std::visit(
                                   [](const auto& all) -> decltype(column::values) {
                                     return std::decay_t<decltype(all)>();
                                   },
                                   each.values)});
  return made;
}
void clear(std::vector<column>& columns) {
  for (column& each : columns) std::visit([](auto& all) { all.clear(); }, each.values);
}

// Waits for the next message, which is still to be released.
received next_message(mpi::endpoint& me) {
  while (!me.can_recv()) me.idle(false);
  return me.recv();
}

// The rows of the process with this participant, which are asked for.
void take_rows_of(mpi::endpoint& me, rank_t from, const rows_in_messages& rows,
                  std::vector<column>& portion,
                  const std::function<void(const std::vector<column>&)>& take) {
  constexpr std::size_t portion_rows = 4096;
  me.send_wait(from, std::uint32_t{1}, [](const received&) {});
  const received first = next_message(me);
  auto left = first.as<std::uint64_t>();
  me.release(first);
  while (left > 0) {
    const received message_in = next_message(me);
    left -= rows.take(message_in, portion);
    me.release(message_in);
    if (left > 0 && rows_of(portion) < portion_rows) continue;
    take(portion);
    clear(portion);
  }
}

}  // namespace

void on_each_thread(mpi::communicator& comm,
                    const std::function<void(rank_t thread, mpi::endpoint& me)>& body) {
  team threads(team_options{.threads = comm.threads(), .place = platform::placement::none});
  threads.run([&](member& me) { body(me.rank(), comm.local(me.rank())); });
}

void bring_to_owners(mpi::communicator& comm, std::span<const graph::vertex_t> blocks,
                     std::span<const vertex_number> numbers,
                     const std::function<void(const vertex_number&)>& take) {
  const auto on_message = [&](const received& m) { take(m.as<vertex_number>()); };
  on_each_thread(comm, [&](rank_t thread, mpi::endpoint& me) {
    if (thread == 0)
      for (const vertex_number& each : numbers) {
        const auto after = std::upper_bound(blocks.begin() + 1, blocks.end(), each.vertex);
        const auto owner = static_cast<rank_t>(after - blocks.begin() - 1);
        // The first participant of the owner's process.
        me.send_wait(owner - owner % comm.threads(), each, on_message);
      }
    while (me.idle(true) == idle_result::message) {
      const received m = me.recv();
      on_message(m);
      me.release(m);
    }
  });
}

void gather_rows(mpi::communicator& comm, const std::vector<column>& mine,
                 const std::function<void(const std::vector<column>&)>& take) {
  rows_in_messages rows(std::max<std::size_t>(1, mine.size()));
  // After a failure the rows still come, so that no process waits for ever.
  std::exception_ptr failure;
  const auto try_to_take = [&](const std::vector<column>& portion) {
    if (failure) return;
    try {
      take(portion);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  on_each_thread(comm, [&](rank_t thread, mpi::endpoint& me) {
    if (me.rank() == 0) {
      try_to_take(mine);
      std::vector<column> portion = like(mine);
      // One process after another, so that the rows come in order.
      for (rank_t p = comm.threads(); p < comm.size(); p += comm.threads())
        take_rows_of(me, p, rows, portion, try_to_take);
    }
    for (;;) {
      const idle_result now = me.idle(true);
      if (now == idle_result::unanimous) return;
      if (now != idle_result::message) continue;
      me.release(me.recv());
      if (thread == 0) rows.send(me, 0, mine);
    }
  });
  if (failure) std::rethrow_exception(failure);
}

double peak_megabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

}  // namespace tutti::graph_apps
