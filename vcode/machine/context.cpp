// SPDX-License-Identifier: Apache-2.0
// Results and errors of all operations.
#include "vcode/machine/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace tutti::vcode {

segment_view::segment_view(context& c, value descriptor)
    : segment_view([&c, descriptor] {
        if (!descriptor.is_scalar()) {
          force(c, value(descriptor.vector()->lengths));
          force(c, value(descriptor.vector()->offsets));
        }
        return descriptor;
      }()) {}

void fail(const std::string& sentence) { throw machine_error(sentence); }

void fail_lengths(const char* first, std::int64_t length, const char* second, std::int64_t other) {
  fail(fmt::format("{} has length {}, {} has length {}", first, length, second, other));
}

void touch_fresh(context& c, std::size_t elements) {
  const unsigned parts = c.workers.parts(elements);
  // Under engine spmd this would cost one barrier more than the engine of Hetland et al. 2019.
  if (parts == 1 || c.workers.is_spmd()) return;
  const auto [begin, bytes] = c.memory.memory().take_fresh(parts);
  if (bytes == 0) return;
  c.workers.each(parts, [begin = begin, bytes = bytes, parts](unsigned part) {
    constexpr std::size_t smallest_page = 4096;
    for (std::size_t at = part * allocator::page; at < bytes; at += parts * allocator::page) {
      const std::size_t end = std::min(bytes, at + allocator::page);
      for (std::size_t k = at; k < end; k += smallest_page) {
        // relaxed: the write changes nothing, as short vectors may already lie here; no other
        // thread accesses this page now.
        std::atomic_ref<unsigned char>(begin[k]).fetch_or(0, std::memory_order_relaxed);
      }
    }
  });
}

result_vector::result_vector(context& c, kind type, std::int32_t length) : c_(c), type_(type) {
  if (length != 1) {
    block_ = c.memory.make(type, length);
    data_ = block_->data;
    touch_fresh(c, static_cast<std::size_t>(length));
  } else if (c.workers.is_spmd()) {
    shared_ = c.memory.scratch(sizeof element_);
    data_ = shared_.address;
  } else {
    data_ = element_;
  }
}

result_vector::result_vector(context& c, kind type, value& operand) : c_(c), type_(type) {
  block_ = std::exchange(operand, value()).vector();
  block_->type = type;
  block_->bound = 0;
  data_ = block_->data;
}

result_vector::~result_vector() {
  if (shared_.address != nullptr) c_.memory.free_scratch(shared_);
}

value result_vector::finish() {
  return block_ != nullptr ? value(block_) : value::from(type_, data_);
}

}  // namespace tutti::vcode
