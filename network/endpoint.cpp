// SPDX-License-Identifier: Apache-2.0
#include "network/endpoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tutti::network {
namespace {

std::string listed(const std::vector<rank_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

}  // namespace

std::string absence::text() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (call_differently)
    add("ranks call differently: with another operation or another number of values");
  if (!late.empty()) add(listed(late) + (late.size() == 1 ? " has" : " have") + " not called");
  if (!silent.empty())
    add("the node of " + listed(silent) + (silent.size() == 1 ? " does" : " do") + " not answer");
  if (are_unknown)
    add("ranks have not called, or messages are lost; plain packets cannot tell which");
  if (text.empty())
    add("all ranks have called, but their messages are lost, or ranks have called differently");
  return text;
}

void endpoint::barrier(time_limit limit) { episode_with(TUTTI_NET_NO_OPERATION, {}, limit); }

void endpoint::allreduce(unsigned operation, std::span<std::uint64_t> values, time_limit limit) {
  if (operation == TUTTI_NET_NO_OPERATION || operation >= TUTTI_NET_OPERATIONS)
    throw std::invalid_argument("allreduce: this is no operation");
  if ((operation == TUTTI_NET_SUM || operation == TUTTI_NET_XOR) &&
      !counts_once(table_.topology, size()))
    throw std::invalid_argument(
        "allreduce: dissemination counts some ranks twice unless their number is a power of two; "
        "use another topology");
  episode_with(operation, values, limit);
}

void endpoint::broadcast(rank_t root, std::span<std::uint64_t> values, time_limit limit) {
  if (root >= size()) throw std::invalid_argument("broadcast: no rank has this number");
  if (rank() != root) std::ranges::fill(values, 0);
  episode_with(TUTTI_NET_OR, values, limit);
}

void endpoint::sum_in_rank_order(std::span<double> values, time_limit limit) {
  std::array<std::uint64_t, TUTTI_NET_VALUES> all{};
  const std::size_t mine = values.size();
  if (mine == 0 || mine * size() > all.size())
    throw std::invalid_argument("sum_in_rank_order: ranks * values must be 1 to 32");
  for (std::size_t i = 0; i < mine; ++i)
    all[rank() * mine + i] = std::bit_cast<std::uint64_t>(values[i]);
  episode_with(TUTTI_NET_OR, std::span(all).first(mine * size()), limit);
  for (std::size_t i = 0; i < mine; ++i) {
    double sum = std::bit_cast<double>(all[i]);
    for (rank_t r = 1; r < size(); ++r) sum += std::bit_cast<double>(all[r * mine + i]);
    values[i] = sum;
  }
}

bool endpoint::wait_with_work(clock::time_point until) {
  if (!how.meanwhile) return wait(episode_, until);
  for (;;) {
    const auto now = clock::now();
    if (wait(episode_, std::min(until, now + std::chrono::milliseconds(1)))) return true;
    if (now >= until) return false;
    how.meanwhile();
  }
}

std::chrono::nanoseconds endpoint::longer_by_chance(std::chrono::nanoseconds interval) {
  return interval + interval / 2 * static_cast<long>(chance_() % 256) / 256;
}

void endpoint::episode_with(unsigned operation, std::span<std::uint64_t> values, time_limit limit) {
  if (values.size() > TUTTI_NET_VALUES)
    throw std::invalid_argument("a packet carries at most 32 values of 8 bytes");
  if (operation != TUTTI_NET_NO_OPERATION && values.empty()) operation = TUTTI_NET_NO_OPERATION;
  if (table_.plain && operation != TUTTI_NET_NO_OPERATION)
    throw std::invalid_argument("plain packets, which RTL engines understand, carry no values");
  tutti_net_message m;
  tutti_net_compose(&table_, nullptr, episode_, TUTTI_NET_START, rank(), &m);
  m.words = static_cast<__u8>(values.size());
  m.operation = static_cast<__u8>(operation);
  static_assert(sizeof(__u64) == sizeof(std::uint64_t));
  std::array<std::uint64_t, TUTTI_NET_VALUES> sent{};
  std::ranges::copy(values, sent.begin());
  call(m, sent.data());
  auto interval = how.first_repeat;
  std::uint32_t times = 0;
  for (;;) {
    auto until = clock::now() + longer_by_chance(interval);
    if (limit) until = std::min(until, *limit);
    if (wait_with_work(until)) break;
    if (limit && clock::now() >= *limit) {
      const auto known = inquire(clock::now() + how.inquiry);
      if (wait(episode_, clock::now())) break;
      absence who;
      who.call_differently = disagreements() > disagreed_before_;
      who.are_unknown = known.empty();
      for (rank_t r = 0; r < known.size(); ++r) {
        if (r == rank()) continue;
        if (!known[r]) {
          who.silent.push_back(r);
        } else if (known[r]->episode == episode_) {
          if (!known[r]->called) who.late.push_back(r);
          who.call_differently = who.call_differently || known[r]->differs;
        }
      }
      throw deadline_error(std::move(who));
    }
    ++repeats_;
    is_repeated(++times);
    call(m, sent.data());
    interval = std::min(interval * 2, how.longest_repeat);
  }
  if (!values.empty()) result(episode_, values);
  ++episode_;
  disagreed_before_ = disagreements();
}

}  // namespace tutti::network
