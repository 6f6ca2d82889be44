// SPDX-License-Identifier: Apache-2.0
// The C interface of messages, the refutable barrier and active messages.
#define TUTTI_CHECKS 0

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "src/c_abi.hpp"
#include "src/c_abi_operations.hpp"
#include "tutti/comm/active_messages.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/messages.h"

struct tutti_communicator {
  tutti::communicator object;
};

// An endpoint in C is the C++ object itself, which the communicator owns.
struct tutti_endpoint;

struct tutti_active {
  explicit tutti_active(tutti::endpoint& me) : object(me) {}
  tutti::active_messages<tutti::endpoint> object;
  std::uint32_t handlers = 0;
};

namespace {

using tutti::rank_t;
using tutti::c_abi::on;

tutti::endpoint& of(tutti_endpoint* me) noexcept { return *reinterpret_cast<tutti::endpoint*>(me); }
const tutti::endpoint& of(const tutti_endpoint* me) noexcept {
  return *reinterpret_cast<const tutti::endpoint*>(me);
}

std::chrono::nanoseconds duration(std::uint64_t timeout_ns) noexcept {
  // Half of the clock's range is practically endless.
  return std::chrono::nanoseconds(std::min<std::uint64_t>(timeout_ns, INT64_MAX / 2));
}

// Exceptions of C++ that pass through functions of the program.
struct thrown_by_function {};

template <class Call>
void call_of_program(Call call) {
  try {
    call();
  } catch (...) {
    throw thrown_by_function();
  }
}

// Calls what(), which returns an error, and turns exceptions into errors.
template <class What>
int guarded(What what) noexcept {
  return tutti::c_abi::guarded(what, on<thrown_by_function>(TUTTI_ETHROW),
                               on<std::logic_error>(TUTTI_EINVAL),
                               on<std::runtime_error>(TUTTI_EDIED));
}

int check_message(const tutti::endpoint& me, rank_t to, const void* data,
                  std::size_t bytes) noexcept {
  if ((data == nullptr && bytes > 0) || bytes > UINT32_MAX) return TUTTI_EINVAL;
  return to < me.size() ? TUTTI_OK : TUTTI_ERANK;
}

tutti_message in_c(const tutti::received& m) noexcept {
  return {m.data, m.size, m.source, m.index};
}

int why_in_c(tutti::absence why) noexcept {
  switch (why) {
    case tutti::absence::late: return TUTTI_LATE;
    case tutti::absence::holding: return TUTTI_HOLDING;
    case tutti::absence::gone: return TUTTI_GONE;
    default: return TUTTI_RUNNING;
  }
}

static_assert(static_cast<int>(tutti::idle_result::message) == TUTTI_IDLE_MESSAGE &&
              static_cast<int>(tutti::idle_result::idle) == TUTTI_IDLE_ALL &&
              static_cast<int>(tutti::idle_result::unanimous) == TUTTI_IDLE_UNANIMOUS);

template <class Send>
int send_wait(tutti_endpoint* me, std::uint32_t to, const void* data, std::size_t bytes,
              tutti_take_function take, void* arg, Send send) noexcept {
  if (me == nullptr || take == nullptr) return TUTTI_EINVAL;
  if (const int error = check_message(of(me), to, data, bytes)) return error;
  return guarded([&] {
    const auto on_message = [&](const tutti::received& m) {
      const tutti_message message = in_c(m);
      call_of_program([&] { take(arg, &message); });
    };
    return send(of(me), on_message) ? TUTTI_OK : TUTTI_ETIMEDOUT;
  });
}

}  // namespace

int tutti_communicator_create(tutti_communicator** out, uint32_t participants,
                              const tutti_communicator_options* options) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  tutti::communicator_options chosen;
  if (options != nullptr) {
    if (options->size < sizeof *options) return TUTTI_EINVAL;
    if (const int error = tutti::c_abi::check_later_members(*options)) return error;
    if (options->detector != nullptr) chosen.detector = options->detector;
    if (options->wait != nullptr) chosen.wait = options->wait;
    if (options->ring_bytes != 0) chosen.ring_bytes = options->ring_bytes;
  }
  if (!chosen.detector.empty() &&
      tutti::detail::find_by_name(tutti::detectors, chosen.detector) == nullptr)
    return TUTTI_ENAME;
  const std::string_view wait = chosen.wait.empty() ? tutti::default_wait : chosen.wait;
  if (const int error = tutti::c_abi::check_names(tutti::default_algorithm, wait)) return error;
  return guarded([&] {
    *out = new tutti_communicator{tutti::communicator(participants, chosen)};
    return TUTTI_OK;
  });
}

int tutti_communicator_group(tutti_communicator** out, const tutti_communicator* from,
                             const uint32_t* ranks, uint32_t count) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (from == nullptr || ranks == nullptr) return TUTTI_EINVAL;
  for (uint32_t i = 0; i < count; ++i)
    if (ranks[i] >= from->object.size()) return TUTTI_ERANK;
  return guarded([&] {
    *out = new tutti_communicator{from->object.group({ranks, ranks + count})};
    return TUTTI_OK;
  });
}

void tutti_communicator_destroy(tutti_communicator* communicator) { delete communicator; }

uint32_t tutti_communicator_size(const tutti_communicator* communicator) {
  return communicator == nullptr ? 0 : communicator->object.size();
}

int tutti_communicator_set_patience(tutti_communicator* communicator, const char* patience) {
  if (communicator == nullptr) return TUTTI_EINVAL;
  return tutti::c_abi::set_patience(
      patience, [&](tutti::patience p) { return communicator->object.set_patience(p); });
}

tutti_endpoint* tutti_communicator_endpoint(tutti_communicator* communicator, uint32_t rank) {
  if (communicator == nullptr || rank >= communicator->object.size()) return nullptr;
  return reinterpret_cast<tutti_endpoint*>(&communicator->object[rank]);
}

uint32_t tutti_endpoint_rank(const tutti_endpoint* me) {
  return me == nullptr ? TUTTI_NO_RANK : of(me).rank();
}
uint32_t tutti_endpoint_size(const tutti_endpoint* me) { return me == nullptr ? 0 : of(me).size(); }

int tutti_endpoint_try_send(tutti_endpoint* me, uint32_t to, const void* data, size_t bytes) {
  if (me == nullptr) return TUTTI_EINVAL;
  if (const int error = check_message(of(me), to, data, bytes)) return error;
  return guarded([&] { return of(me).try_send(to, data, bytes) ? TUTTI_OK : TUTTI_EAGAIN; });
}

int tutti_endpoint_send_wait(tutti_endpoint* me, uint32_t to, const void* data, size_t bytes,
                             tutti_take_function take, void* arg) {
  return send_wait(me, to, data, bytes, take, arg, [&](tutti::endpoint& e, const auto& on_message) {
    e.send_wait(to, data, bytes, on_message);
    return true;
  });
}
int tutti_endpoint_send_wait_for(tutti_endpoint* me, uint32_t to, const void* data, size_t bytes,
                                 tutti_take_function take, void* arg, uint64_t timeout_ns) {
  return send_wait(me, to, data, bytes, take, arg, [&](tutti::endpoint& e, const auto& on_message) {
    return e.send_wait_for(to, data, bytes, duration(timeout_ns), on_message);
  });
}

int tutti_endpoint_try_recv(tutti_endpoint* me, tutti_message* message) {
  if (me == nullptr || message == nullptr) return TUTTI_EINVAL;
  return guarded([&]() -> int {
    if (!of(me).can_recv()) return TUTTI_EAGAIN;
    *message = in_c(of(me).recv());
    return TUTTI_OK;
  });
}

int tutti_endpoint_release(tutti_endpoint* me, const tutti_message* message) {
  if (me == nullptr || message == nullptr || message->source >= of(me).size()) return TUTTI_EINVAL;
  return guarded([&] {
    of(me).release({static_cast<const std::byte*>(message->data), message->size, message->source,
                    message->index});
    return TUTTI_OK;
  });
}

int tutti_endpoint_flush(tutti_endpoint* me) {
  if (me == nullptr) return TUTTI_EINVAL;
  return guarded([&] { return of(me).flush(), TUTTI_OK; });
}

int tutti_endpoint_idle(tutti_endpoint* me, int vote, int* result) {
  if (me == nullptr || result == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    *result = static_cast<int>(of(me).idle(vote != 0));
    return TUTTI_OK;
  });
}

int tutti_endpoint_idle_for(tutti_endpoint* me, int vote, uint64_t timeout_ns, int* result,
                            tutti_absentee* missing, size_t capacity, size_t* count) {
  if (me == nullptr || result == nullptr || (missing == nullptr && capacity > 0))
    return TUTTI_EINVAL;
  return guarded([&]() -> int {
    const tutti::timed_idle now = of(me).idle_for(vote != 0, duration(timeout_ns));
    if (count != nullptr) *count = now.missing.size();
    for (std::size_t i = 0; i < std::min(capacity, now.missing.size()); ++i) {
      const tutti::absentee& one = now.missing[i];
      missing[i] = {one.rank, why_in_c(one.why), one.messages};
    }
    if (!now) return TUTTI_ETIMEDOUT;
    *result = static_cast<int>(now.result);
    return TUTTI_OK;
  });
}

int tutti_endpoint_idle_reduce(tutti_endpoint* me, int vote, void* values, size_t count, int type,
                               int operation, int* result) {
  using packet = tutti::c_abi::packet<tutti::largest_idle_value>;
  if (me == nullptr || values == nullptr || result == nullptr || count == 0) return TUTTI_EINVAL;
  const auto* const op = tutti::c_abi::find_operation(type, operation);
  if (op == nullptr || count > sizeof(packet) / op->size) return TUTTI_EINVAL;
  return guarded([&] {
    packet mine{};
    std::memcpy(mine.bytes, values, count * op->size);
    auto got = of(me).idle(vote != 0, mine, tutti::c_abi::combine_packets{op, count});
    *result = static_cast<int>(got.result);
    if (got.result == tutti::idle_result::message) return TUTTI_OK;
    op->make_canonical(got.value.bytes, count);
    std::memcpy(values, got.value.bytes, count * op->size);
    return TUTTI_OK;
  });
}

int tutti_endpoint_leave(tutti_endpoint* me) {
  if (me == nullptr) return TUTTI_EINVAL;
  return guarded([&] { return of(me).leave(), TUTTI_OK; });
}

int tutti_active_create(tutti_active** out, tutti_endpoint* me) {
  if (out == nullptr) return TUTTI_EINVAL;
  *out = nullptr;
  if (me == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    *out = new tutti_active(of(me));
    return TUTTI_OK;
  });
}

void tutti_active_destroy(tutti_active* active) { delete active; }

int tutti_active_add(tutti_active* active, tutti_active_function function, void* arg, int when,
                     uint32_t* handler) {
  if (active == nullptr || function == nullptr || handler == nullptr) return TUTTI_EINVAL;
  if (when != TUTTI_AT_ONCE && when != TUTTI_LATER) return TUTTI_EINVAL;
  const auto run = [function, arg](rank_t source, std::span<const std::byte> content) {
    call_of_program([&] { function(arg, source, content.data(), content.size()); });
  };
  return guarded([&] {
    *handler = when == TUTTI_LATER ? active->object.on_bytes_later(run).number
                                   : active->object.on_bytes(run).number;
    active->handlers = *handler + 1;
    return TUTTI_OK;
  });
}

int tutti_active_send(tutti_active* active, uint32_t to, uint32_t handler, const void* data,
                      size_t bytes) {
  if (active == nullptr || handler >= active->handlers) return TUTTI_EINVAL;
  if ((data == nullptr && bytes > 0) || bytes > UINT32_MAX - sizeof(handler)) return TUTTI_EINVAL;
  if (to >= active->object.size()) return TUTTI_ERANK;
  return guarded([&] {
    active->object.send(to, tutti::active_handler<void>{handler}, data, bytes);
    return TUTTI_OK;
  });
}

int tutti_active_poll(tutti_active* active, int* had_work) {
  if (active == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    const bool has_worked = active->object.poll();
    if (had_work != nullptr) *had_work = has_worked ? 1 : 0;
    return TUTTI_OK;
  });
}

int tutti_active_idle(tutti_active* active, int vote, int* result) {
  if (active == nullptr || result == nullptr) return TUTTI_EINVAL;
  return guarded([&] {
    *result = static_cast<int>(active->object.idle(vote != 0));
    return TUTTI_OK;
  });
}
