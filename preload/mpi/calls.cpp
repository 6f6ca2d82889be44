// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/calls.hpp"

#include <cstdint>
#include <limits>

namespace tutti::preload {
namespace {

int bcast_bytes(communicator& served, void* data, broadcast& b) noexcept {
  const inside_a_call now;
  return served.bcast(data, b.bytes, b.root, b.sent);
}

// MPI packs and unpacks data that lies scattered. Every rank packs, so that all find that a type is
// not committed, and none waits for another.
void bcast_packed(const library& mpi, communicator& served, broadcast& b) {
  std::byte packed[room::most_bytes];
  const int size = static_cast<int>(b.bytes);
  int position = 0;
  b.sent = b.bytes;
  const int count = static_cast<int>(b.count);
  b.error = mpi.pack(b.data, count, b.type, packed, size, &position, b.comm);
  if (b.error != 0) return;
  b.error = bcast_bytes(served, packed, b);
  if (b.error != 0 || b.sent > b.bytes || served.rank() == b.root) return;
  position = 0;
  b.error = mpi.unpack(packed, size, &position, b.data, count, b.type, b.comm);
}

// Data at MPI_BOTTOM, which is a null pointer in both families, has a type with absolute addresses.
// MPICH packs nothing from there, so it gets another place, and a type that is as much shifted.
void bcast_at_bottom(const library& mpi, communicator& served, broadcast& b) {
  handle_space type;
  const int count = static_cast<int>(b.count);
  const auto shift = -reinterpret_cast<std::intptr_t>(&type);
  b.error = mpi.type_create_hindexed(1, &count, &shift, b.type, &type);
  if (b.error == 0) b.error = mpi.type_commit(&type);
  if (b.error != 0) return;
  broadcast shifted = b;
  shifted.data = &type;
  shifted.count = 1;
  shifted.type = mpi.value(type);
  bcast_packed(mpi, served, shifted);
  b.sent = shifted.sent;
  b.error = shifted.error;
  mpi.type_free(&type);
}

// Whether MPI refuses a null pointer, which is MPI_BOTTOM only for types with absolute addresses.
bool has_no_address(const library& mpi, handle type) {
  std::intptr_t begin = 0, extent = 0;
  return mpi.type_get_true_extent(type, &begin, &extent) != 0 || begin == 0;
}

// Whether this is a communicator that MPI knows; then MPI answers other questions, too. If not, and
// if MPI has told that to the program, then `error` is not 0.
bool is_known_to_mpi(const library& mpi, handle comm, int& size, int& error) {
  if (!communicator::can_be_asked_for(mpi, comm)) return false;
  error = mpi.comm_size(comm, &size);
  if (error != 0) return false;
  mpi.check_sizes();
  return true;
}

// Whether a type may be sent. If not, MPI has told that to the program, and `error` is not 0.
bool is_committed(const library& mpi, handle type, handle comm, int& error) {
  std::byte none[1];
  int position = 0;
  error = mpi.pack(none, 0, type, none, sizeof none, &position, comm);
  return error == 0;
}

communicator* set_up(const library& mpi, handle comm) noexcept {
  const inside_a_call now;
  return communicator::of(mpi, comm);
}

}  // namespace

communicator* find_or_set_up(const library& mpi, handle comm, int& error) {
  int size = 0;
  if (communicator::is_set_up(mpi, comm)) return communicator::of_if_known(mpi, comm);
  return is_known_to_mpi(mpi, comm, size, error) ? set_up(mpi, comm) : nullptr;
}

bool perform(const library& mpi, broadcast& b) {
  if (b.count <= 0 || b.data == mpi.in_place) return false;
  communicator* served = communicator::of_if_known(mpi, b.comm);
  int ranks = 0;
  if (served == nullptr) [[unlikely]] {
    if (communicator::is_set_up(mpi, b.comm)) return false;
    if (!is_known_to_mpi(mpi, b.comm, ranks, b.error)) return b.error != 0;
  }
  const kind k = mpi.kind_of(b.type);
  int size = static_cast<int>(size_of(k));
  // Its bytes lie one behind the other.
  const bool is_plain = k != kind::none;
  if (is_plain ? b.data == nullptr : !mpi.is_type(b.type) || mpi.type_size(b.type, &size) != 0)
    return false;
  if (b.data == nullptr && has_no_address(mpi, b.type)) return false;
  // MPI does not tell a size that is no int. Other ranks may describe the data by smaller types,
  // and all must find the same.
  if (size == mpi.undefined) size = std::numeric_limits<int>::max();
  if (size <= 0) return false;
  b.bytes = bytes_of(b.count, static_cast<std::size_t>(size));
  if (served == nullptr) [[unlikely]] {
    // Between two groups other numbers are roots, too, but those calls are MPI's anyway.
    if (b.bytes > room::most_bytes || b.root < 0 || b.root >= ranks) return false;
    if (!is_plain && !is_committed(mpi, b.type, b.comm, b.error)) return true;
    served = set_up(mpi, b.comm);
    if (served == nullptr) return false;
  }
  const bool is_valid = b.root >= 0 && b.root < served->size();
  if (b.bytes > room::most_bytes || !is_valid) {
    served->note_passed_on();
    return false;
  }
  if (is_plain)
    b.error = bcast_bytes(*served, b.data, b);
  else if (b.data == nullptr)
    bcast_at_bottom(mpi, *served, b);
  else
    bcast_packed(mpi, *served, b);
  return true;
}

bool can_serve(const library& mpi, large_count count, handle type, handle op) noexcept {
  const kind k = mpi.kind_of(type);
  const std::size_t bytes = bytes_of(count, size_of(k));
  return bytes != 0 && bytes <= room::most_bytes &&
         find_combine(mpi.operation_of(op), k) != nullptr;
}

}  // namespace tutti::preload
