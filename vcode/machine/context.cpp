// SPDX-License-Identifier: Apache-2.0
// Results and complaints, for all operations.
#include "machine/context.hpp"

#include <fmt/format.h>

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

result_vector::result_vector(context& c, kind type, std::int32_t length) : c_(c), type_(type) {
  if (length != 1) {
    block_ = c.memory.make(type, length);
    data_ = block_->data;
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
  data_ = block_->data;
}

result_vector::~result_vector() {
  if (shared_.address != nullptr) c_.memory.free_scratch(shared_);
}

value result_vector::finish() {
  return block_ != nullptr ? value(block_) : value::from(type_, data_);
}

}  // namespace tutti::vcode
