// SPDX-License-Identifier: Apache-2.0
// A bundle carries several messages whose lists have consecutive numbers: the number of the first
// list, and one content per list. Vertices that send one after another have consecutive lists, so a
// program in which all vertices send pays for one transport in dozens of messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti::graph::detail {

// The number of contents that fit the smallest ring that a communicator makes by default; a content
// that is larger travels alone.
constexpr std::uint32_t most_in_bundle(std::size_t header, std::size_t content) noexcept {
  constexpr std::size_t most_bytes = 256;
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, (most_bytes - header) / content));
}

template <class Message>
struct bundle {
  static constexpr std::uint32_t most = most_in_bundle(8, sizeof(Message));

  std::uint32_t first = 0;
  std::uint32_t count = 0;
  Message contents[most];

  std::size_t bytes() const noexcept {
    return offsetof(bundle, contents) + count * sizeof(Message);
  }
  // Whether the content of list `list` may be added next.
  bool takes(std::uint32_t list) const noexcept {
    return count == 0 || (count != most && list == first + count);
  }
  void add(std::uint32_t list, const Message& content) noexcept {
    if (count == 0) first = list;
    contents[count++] = content;
  }
};

// Messages to the host from vertices that sent them at the same time.
template <class Message>
struct host_bundle {
  struct entry {
    std::uint32_t vertex;
    Message content;
  };
  // Stands in place of a bundle's first list.
  static constexpr std::uint32_t to_host = UINT32_MAX;
  static constexpr std::uint32_t most = most_in_bundle(16, sizeof(entry));

  std::uint32_t first = to_host;
  std::uint32_t count = 0;
  std::uint64_t time = 0;
  entry entries[most];

  std::size_t bytes() const noexcept {
    return offsetof(host_bundle, entries) + count * sizeof(entry);
  }
};

}  // namespace tutti::graph::detail
