// SPDX-License-Identifier: Apache-2.0
// The communicators of this process, by handle. Each call looks its communicator up, so the look-up
// is in the header.
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <mutex>

#include "preload/mpi/library.hpp"

namespace tutti::preload {

class communicator;

// Lookups take no lock. An entry keeps its key when its communicator is freed, because MPI will
// use the handle again. A table that is full is replaced by a larger one, and stays, since a lookup
// may be reading it.
class communicator_table {
 public:
  communicator* find(handle key) const noexcept {
    // acquire: pairs with the release in grow().
    const slots* const all = current_.load(acquire);
    for (std::size_t at = first(key);; ++at) {
      const slot& one = all->at(at);
      // acquire: pairs with the release in put().
      const handle found = one.key.load(acquire);
      // acquire: pairs with the release in put().
      if (found == key) return one.value.load(acquire);
      if (found == none) return nullptr;
    }
  }
  void put(handle key, communicator* value) {
    const std::lock_guard lock(mutex_);
    // relaxed: only written under the mutex.
    slots* all = current_.load(relaxed);
    if (2 * (used_ + 1) > all->size()) all = grow(*all);
    put_into(*all, key, value);
  }
  // Takes those out for which is_gone(communicator) is true.
  template <class Gone>
  void take_out(Gone is_gone) {
    const std::lock_guard lock(mutex_);
    // relaxed: only written under the mutex.
    const slots& all = *current_.load(relaxed);
    for (std::size_t i = 0; i < all.size(); ++i) {
      // relaxed: as above.
      communicator* const value = all.at(i).value.load(relaxed);
      // relaxed: publishes nothing.
      if (value != nullptr && is_gone(*value)) all.at(i).value.store(nullptr, relaxed);
    }
  }

 private:
  // No handle has this value: communicators have addresses, or numbers with a kind in them.
  static constexpr handle none = 0;
  struct slot {
    std::atomic<handle> key{none};
    std::atomic<communicator*> value{nullptr};
  };
  // A power of two of them.
  class slots {
   public:
    constexpr slots(slot* all, std::size_t size) noexcept : all_(all), size_(size) {}
    std::size_t size() const noexcept { return size_; }
    slot& at(std::size_t i) const noexcept { return all_[i & (size_ - 1)]; }

   private:
    slot* all_;
    std::size_t size_;
  };

  static std::size_t first(handle key) noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32);
  }
  void put_into(slots& all, handle key, communicator* value) noexcept {
    for (std::size_t at = first(key);; ++at) {
      slot& one = all.at(at);
      // relaxed: only written under the mutex.
      const handle found = one.key.load(relaxed);
      if (found != none && found != key) continue;
      // release: publishes the communicator; pairs with find().
      one.value.store(value, release);
      if (found == none) ++used_;
      // release: publishes the value; pairs with find().
      one.key.store(key, release);
      return;
    }
  }
  slots* grow(slots& old) {
    auto* const larger = new slots(new slot[2 * old.size()], 2 * old.size());
    used_ = 0;
    for (std::size_t i = 0; i < old.size(); ++i) {
      // relaxed: only written under the mutex.
      communicator* const value = old.at(i).value.load(relaxed);
      // relaxed: as above.
      if (value != nullptr) put_into(*larger, old.at(i).key.load(relaxed), value);
    }
    // release: publishes the entries; pairs with find().
    current_.store(larger, release);
    return larger;
  }

  std::mutex mutex_;
  slot some_[256];
  slots first_{some_, std::size(some_)};
  std::atomic<slots*> current_{&first_};
  std::size_t used_ = 0;
};

// Calls look into it while the process ends, too; it has nothing to destroy.
inline constinit communicator_table the_communicators;

}  // namespace tutti::preload
