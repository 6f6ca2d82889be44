// SPDX-License-Identifier: Apache-2.0
// Sending and receiving packets, and the credits that bound their number.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "src/mpi/neighbours.hpp"
#include "tutti/mpi/process.hpp"

namespace tutti::mpi {

packet* process::take() {
  const std::lock_guard mine(turn_);
  return unused();
}

packet* process::unused() {
  if (free_ != nullptr) return std::exchange(free_, free_->next);
  return packets_.emplace_back(packet::make(packet_bytes_)).get();
}

void process::put_back(packet* p) noexcept {
  p->next = free_;
  free_ = p;
}

void process::hand_over(packet* p, std::uint32_t to) {
  const std::lock_guard mine(turn_);
  if (to == index_) return deliver(p);
  send(p, to);
}

void process::send(packet* p, std::uint32_t to) {
  packet_header& header = p->header();
  // The credits of thread 0 travel in the header of any packet to that process.
  const rank_t first = where_.participants[to].front();
  const std::uint32_t granted = std::min<std::uint32_t>(owed_[first], UINT16_MAX);
  header.credits = static_cast<std::uint16_t>(granted);
  owed_[first] -= granted;
  owed_to_[to] -= granted;
  check(mpi_.send(p->bytes(), static_cast<int>(header.bytes), static_cast<int>(to), comm_,
                  &p->request),
        "MPI_Isend", to);
  sends_.push_back(p);
}

void process::retire_sends() {
  while (!sends_.empty()) {
    bool done = false;
    check(mpi_.test(&sends_.front()->request, &done, nullptr), "MPI_Isend", index_);
    if (!done) return;
    put_back(sends_.front());
    sends_.pop_front();
  }
}

void process::post(std::size_t slot) {
  packet* const p = unused();
  posted_[slot] = p;
  check(mpi_.receive(p->bytes(), static_cast<int>(packet_bytes_), any_source, comm_, &p->request),
        "MPI_Irecv", index_);
}

// Receives complete in the order in which they were posted, so that packets keep their order.
bool process::receive_one() {
  packet* const p = posted_[next_posted_];
  bool done = false;
  arrival from;
  check(mpi_.test(&p->request, &done, &from), "MPI_Irecv", index_);
  if (!done) return false;
  posted_[next_posted_] = nullptr;
  post(next_posted_);
  next_posted_ = (next_posted_ + 1) % posted_.size();
  handle_packet(p, from);
  return true;
}

void process::handle_packet(packet* p, const arrival& from) {
  const packet_header& header = p->header();
  p->from_process = static_cast<std::uint32_t>(from.source);
  if (static_cast<std::size_t>(from.bytes) < sizeof header ||
      header.bytes != static_cast<std::size_t>(from.bytes))
    fail("process " + std::to_string(from.source) + " sent a packet of a wrong size");
  if (header.credits > 0) {
    const credit_grant grant_of_first{0, header.credits};
    grant(&grant_of_first, 1, p->from_process);
  }
  const std::byte* const body = p->bytes() + sizeof header;
  const std::size_t body_bytes = header.bytes - sizeof header;
  switch (header.kind) {
    case packet_kind::messages: return deliver(p);
    case packet_kind::control: {
      protocol::control control;
      std::memcpy(&control, body, sizeof control);
      note(machine_->receive(
          control, [&](rank_t to, const protocol::control& c) { controls_.emplace_back(to, c); }));
      break;
    }
    case packet_kind::credits:
      grant(reinterpret_cast<const credit_grant*>(body), body_bytes / sizeof(credit_grant),
            p->from_process);
      break;
    case packet_kind::ask:
      take_question(p->from_process, reinterpret_cast<const participant_status*>(body));
      break;
    case packet_kind::answer:
      take_answer(p->from_process, reinterpret_cast<const participant_status*>(body));
      break;
    case packet_kind::departure:
      take_departure(p->from_process, header.episode,
                     reinterpret_cast<const participant_status*>(body));
      break;
    case packet_kind::goodbye:
      has_left_[p->from_process] = 1;
      left_in_[p->from_process] = header.episode;
      break;
    case packet_kind::values:
      take_values(header, reinterpret_cast<const protocol::value_t*>(body));
      break;
    case packet_kind::result: take_result(*reinterpret_cast<const protocol::value_t*>(body)); break;
    default: fail("process " + std::to_string(from.source) + " sent a packet of an unknown kind");
  }
  put_back(p);
}

// Delivers a packet to the inboxes of the threads for which it has messages.
void process::deliver(packet* p) {
  const packet_header& header = p->header();
  // relaxed: the inboxes publish it.
  p->unreleased.store(header.messages, relaxed);
  const std::uint32_t* const first = p->first_records();
  const std::uint32_t source = header.source;
  const std::uint64_t episode = header.episode;
  for (std::uint32_t thread = 0; thread < threads_; ++thread)
    if (first[thread] != 0) inboxes_[thread]->push({p, first[thread], source, episode});
}

void process::emptied(packet* p) {
  const std::lock_guard mine(turn_);
  const std::uint32_t source = p->header().source;
  const std::uint32_t from = where_.process_of[source];
  if (from == index_) {
    // relaxed: a number of packets; nobody uses their contents any more.
    credits(where_.thread_of[source], index_).fetch_add(1, relaxed);
  } else {
    ++owed_[source];
    ++owed_to_[from];
  }
  put_back(p);
  if (from != index_) pay_credits(from, std::max<std::size_t>(1, packets_under_way_ / 2));
}

// Returns credits to a process once at least that many are owed: rarely, but before its
// participants run out of them.
void process::pay_credits(std::uint32_t to, std::size_t at_least) {
  if (owed_to_[to] < at_least) return;
  std::vector<credit_grant> grants;
  const auto& there = where_.participants[to];
  for (std::uint32_t thread = 0; thread < there.size(); ++thread) {
    const std::uint32_t packets = std::exchange(owed_[there[thread]], 0);
    if (packets > 0) grants.push_back({thread, packets});
  }
  owed_to_[to] = 0;
  send_items(packet_kind::credits, grants.data(), grants.size(), to);
}

void process::grant(const credit_grant* grants, std::size_t count, std::uint32_t from) {
  for (std::size_t i = 0; i < count; ++i) {
    if (grants[i].thread >= threads_)
      fail("process " + std::to_string(from) + " granted credits to a thread that does not exist");
    // relaxed: a number of packets.
    credits(grants[i].thread, from).fetch_add(grants[i].packets, relaxed);
  }
}

template <class Item>
void process::send_items(packet_kind kind, const Item* items, std::size_t count, std::uint32_t to) {
  if (is_leaving_) return;
  const std::size_t bytes = sizeof(packet_header) + count * sizeof(Item);
  if (bytes > packet_bytes_) fail("a packet of control is larger than packet_bytes");
  packet* const p = unused();
  p->header() = {.bytes = static_cast<std::uint32_t>(bytes),
                 .kind = kind,
                 .source = index_,
                 // relaxed: written in turns only.
                 .episode = episode_.load(relaxed)};
  if (count > 0) std::memcpy(p->bytes() + sizeof(packet_header), items, count * sizeof(Item));
  send(p, to);
}
template void process::send_items(packet_kind, const std::byte*, std::size_t, std::uint32_t);
template void process::send_items(packet_kind, const protocol::control*, std::size_t,
                                  std::uint32_t);
template void process::send_items(packet_kind, const participant_status*, std::size_t,
                                  std::uint32_t);
template void process::send_items(packet_kind, const protocol::value_t*, std::size_t,
                                  std::uint32_t);

void process::progress() {
  const std::unique_lock mine(turn_, std::try_to_lock);
  if (mine) poll();
}

void process::poll() {
  // The number is bounded, so that a flood of packets does not keep one thread here for ever.
  for (int packets = 0; packets < 8 && receive_one(); ++packets) {
  }
  run_controls();
  retire_sends();
  look_for_the_dead();
}

}  // namespace tutti::mpi
