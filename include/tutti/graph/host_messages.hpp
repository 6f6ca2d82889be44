// SPDX-License-Identifier: Apache-2.0
// The messages of vertices to the host, in the order in which the host gets them.
//
//   for (const auto& [vertex, time, content] : result.host) ...
//
// Most come at the same time, from the end of the run. The time of each is kept once for as many
// messages as follow one another with it: it would make a message of 4 bytes three times as large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

// A message of a vertex to the host.
template <class Message>
struct host_message {
  vertex_t vertex;
  // The vertex's time() when it sent the message.
  std::uint64_t time;
  Message content;
};

// A sequence that makes each message when it is read: references to its elements do not exist.
template <class Message>
class host_messages {
 public:
  using value_type = host_message<Message>;
  class const_iterator;

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  // Precondition: i < size(). Takes longer, the more often the time changes: log2 of that.
  value_type operator[](std::size_t i) const {
    const auto next =
        std::upper_bound(times_.begin(), times_.end(), i,
                         [](std::size_t at, const stretch& s) { return at < s.begin; });
    return {entries_[i].vertex, std::prev(next)->time, entries_[i].content};
  }
  // Throws std::out_of_range if there are not so many.
  value_type at(std::size_t i) const {
    if (i >= size()) throw std::out_of_range("host_messages::at");
    return (*this)[i];
  }
  const_iterator begin() const noexcept { return {*this, 0}; }
  const_iterator end() const noexcept { return {*this, size()}; }

  void reserve(std::size_t messages) { entries_.reserve(messages); }
  void add(vertex_t vertex, std::uint64_t time, const Message& content) {
    if (times_.empty() || times_.back().time != time) times_.push_back({time, size()});
    entries_.push_back({vertex, content});
  }
  // Adds the messages of another sequence at the end. Throws std::invalid_argument for this
  // sequence itself.
  void append(const host_messages& more) {
    require(&more != this, "a sequence of messages to the host cannot be added to itself");
    for (const stretch& s : more.times_)
      if (times_.empty() || times_.back().time != s.time)
        times_.push_back({s.time, size() + s.begin});
    entries_.insert(entries_.end(), more.entries_.begin(), more.entries_.end());
  }
  // By time, then by vertex; those of one vertex and time stay in their order.
  void sort() {
    if (is_sorted()) return;
    std::vector<value_type> all(begin(), end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::pair(a.time, a.vertex) < std::pair(b.time, b.vertex);
    });
    entries_.clear();
    times_.clear();
    for (const auto& m : all) add(m.vertex, m.time, m.content);
  }

 private:
  struct entry {
    vertex_t vertex;
    Message content;
  };
  // The messages from `begin` up to the next stretch have this time.
  struct stretch {
    std::uint64_t time;
    std::size_t begin;
  };

  bool is_sorted() const {
    for (std::size_t s = 0; s < times_.size(); ++s) {
      const bool is_last = s + 1 == times_.size();
      if (!is_last && times_[s].time > times_[s + 1].time) return false;
      const auto at = [&](std::size_t i) {
        return entries_.begin() + static_cast<std::ptrdiff_t>(i);
      };
      // clang 14 takes `a.vertex <` for the class template.
      if (!std::is_sorted(at(times_[s].begin), at(is_last ? size() : times_[s + 1].begin),
                          [](const entry& a, const entry& b) { return b.vertex > a.vertex; }))
        return false;
    }
    return true;
  }

  std::vector<entry> entries_;
  std::vector<stretch> times_;
};

template <class Message>
class host_messages<Message>::const_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = host_message<Message>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  const_iterator() = default;
  const_iterator(const host_messages& all, std::size_t at) noexcept : all_(&all), at_(at) {}

  value_type operator*() const noexcept {
    const auto& [vertex, content] = all_->entries_[at_];
    return {vertex, all_->times_[time_].time, content};
  }
  const_iterator& operator++() noexcept {
    ++at_;
    if (time_ + 1 < all_->times_.size() && all_->times_[time_ + 1].begin == at_) ++time_;
    return *this;
  }
  const_iterator operator++(int) noexcept { return std::exchange(*this, ++const_iterator(*this)); }
  bool operator==(const const_iterator& o) const noexcept { return at_ == o.at_; }

 private:
  const host_messages* all_ = nullptr;
  std::size_t at_ = 0;
  // The stretch of the message.
  std::size_t time_ = 0;
};

}  // namespace tutti::graph
