// SPDX-License-Identifier: Apache-2.0
// A doubly-linked list of objects that have the links `next` and `previous` themselves.
#pragma once

namespace tutti::kernel {

template <class T>
class list {
 public:
  bool is_empty() const noexcept { return first_ == nullptr; }
  T* first() const noexcept { return first_; }

  void append(T& item) noexcept {
    item.next = nullptr;
    item.previous = last_;
    (last_ == nullptr ? first_ : last_->next) = &item;
    last_ = &item;
  }
  void prepend(T& item) noexcept {
    item.next = first_;
    item.previous = nullptr;
    (first_ == nullptr ? last_ : first_->previous) = &item;
    first_ = &item;
  }
  void remove(T& item) noexcept {
    (item.previous == nullptr ? first_ : item.previous->next) = item.next;
    (item.next == nullptr ? last_ : item.next->previous) = item.previous;
    item.next = item.previous = nullptr;
  }
  // Removes and returns the first item, or null.
  T* take_first() noexcept {
    T* item = first_;
    if (item != nullptr) remove(*item);
    return item;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace tutti::kernel
