// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/calls.hpp"

namespace tutti::preload {

int bcast_packed(const library& mpi, communicator& served, void* data, int count, handle type,
                 int root, handle comm, std::size_t bytes, bool is_root) noexcept {
  std::byte packed[room::most_bytes];
  const int size = static_cast<int>(bytes);
  int position = 0;
  if (is_root) {
    const int error = mpi.pack(data, count, type, packed, size, &position, comm);
    if (error != 0) return error;
  }
  const int error = served.bcast(packed, bytes, root);
  if (error != 0 || is_root) return error;
  position = 0;
  return mpi.unpack(packed, size, &position, data, count, type, comm);
}

}  // namespace tutti::preload
