// SPDX-License-Identifier: Apache-2.0
// A message that its receiver holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

// The largest message for which can_send() promises room, in bytes.
inline constexpr std::size_t inline_message = 64;

// A message that has been received and not yet released. Until release() the bytes stay valid and
// keep their room in the sender's ring. The bytes are 8-byte aligned.
struct received {
  const std::byte* data = nullptr;
  // Bytes.
  std::uint32_t size = 0;
  // The rank of the sender.
  rank_t source = 0;
  // The number of this message among those of its source; only the transport uses it.
  std::uint64_t index = 0;

  // The message's bytes; valid until release().
  std::span<const std::byte> bytes() const noexcept { return {data, size}; }
  // The value that was sent.
  // Throws std::invalid_argument, even in builds without checks, unless T is as large as the
  // message.
  template <class T>
  T as(call_site where = call_site::here()) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (size != sizeof(T)) [[unlikely]]
      refuse_size(sizeof(T), where);
    T value;
    std::memcpy(&value, data, sizeof(T));
    return value;
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_size(std::size_t wanted,
                                                          call_site where) const {
    const std::string what = "a message of " + std::to_string(size) + " bytes of rank " +
                             std::to_string(source) + " is read as a value of " +
                             std::to_string(wanted) + " bytes";
    if (where.checks()) on_misuse(what, where.at());
    refuse(what);
  }
};

}  // namespace tutti
