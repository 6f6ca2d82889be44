// SPDX-License-Identifier: Apache-2.0
#include "kernel/core/park.hpp"

namespace tutti::kernel {

namespace {
constexpr u32 buckets = 256;
bucket all_buckets[buckets];
}  // namespace

bucket& bucket_of(const void* address) noexcept {
  const u64 number = address_of(address) >> 2;
  return all_buckets[(number ^ number >> 8 ^ number >> 16) % buckets];
}

u32 unpark(const void* address, u32 most, wake_up how) noexcept {
  bucket& b = bucket_of(address);
  const locked hold(b.lock);
  u32 count = 0;
  for (thread* t = b.waiting.first(); t != nullptr && count < most;) {
    thread* const following = t->next;
    if (t->waits_for == address) {
      b.waiting.remove(*t);
      // relaxed: the bucket's lock orders it.
      t->waits_in.store(nullptr, relaxed);
      make_ready(*t, how);
      ++count;
    }
    t = following;
  }
  return count;
}

void end_wait_at_deadline(thread& t) noexcept {
  // relaxed: read again under the lock.
  bucket* const b = t.waits_in.load(relaxed);
  if (b == nullptr) return;
  b->lock.lock();
  // relaxed: the bucket's lock orders it.
  if (t.waits_in.load(relaxed) == b) {
    b->waiting.remove(t);
    // relaxed: the bucket's lock orders it.
    t.waits_in.store(nullptr, relaxed);
    t.timed_out = true;
    make_ready(t, wake_up::kicked);
  }
  b->lock.unlock();
}

}  // namespace tutti::kernel
