// SPDX-License-Identifier: Apache-2.0
// The peers: what MPI itself offers for the same purposes.
#include <mpi.h>

#include <array>

#include "bench/mpi/ranks.hpp"
#include "bench/mpi/series.hpp"

namespace tutti::bench {
namespace {

void barriers(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

void nonblocking_barriers(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

// Two counters, as a four-counter wave would add up.
void reductions(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::array<std::uint64_t, 2> mine{i, i};
    std::array<std::uint64_t, 2> all{};
    MPI_Allreduce(mine.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
}

// NBX (Hoefler, Siebert and Lumsdaine 2010): a synchronous send is complete when it is received;
// whoever's sends are complete enters a non-blocking barrier, and receives until that is complete.
void nbx(std::uint64_t count) {
  const int next = (my_rank() + 1) % all_ranks();
  for (std::uint64_t i = 0; i < count; ++i) {
    MPI_Request send, barrier = MPI_REQUEST_NULL;
    // Messages must not cross rounds: every other round has another tag.
    const int tag = static_cast<int>(i % 2);
    MPI_Issend(&i, 1, MPI_UINT64_T, next, tag, MPI_COMM_WORLD, &send);
    for (int is_over = 0; is_over == 0;) {
      int is_here = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_here, &status);
      std::uint64_t got = 0;
      if (is_here != 0)
        MPI_Recv(&got, 1, MPI_UINT64_T, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (barrier != MPI_REQUEST_NULL) {
        MPI_Test(&barrier, &is_over, MPI_STATUS_IGNORE);
        continue;
      }
      int is_sent = 0;
      MPI_Test(&send, &is_sent, MPI_STATUS_IGNORE);
      if (is_sent != 0) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    }
  }
}

// 64 at a time to the next rank, and as many from the one before.
void messages(std::uint64_t count) {
  constexpr int window = 64;
  const int size = all_ranks(), next = (my_rank() + 1) % size,
            before = (my_rank() + size - 1) % size;
  std::array<MPI_Request, 2 * window> requests;
  std::array<std::uint64_t, window> in{}, out{};
  for (std::uint64_t done = 0; done < count; done += window) {
    for (int i = 0; i < window; ++i) {
      const auto at = static_cast<std::size_t>(i);
      MPI_Irecv(&in[at], 1, MPI_UINT64_T, before, 2, MPI_COMM_WORLD, &requests[at]);
      MPI_Isend(&out[at], 1, MPI_UINT64_T, next, 2, MPI_COMM_WORLD, &requests[at + window]);
    }
    MPI_Waitall(2 * window, requests.data(), MPI_STATUSES_IGNORE);
  }
}

void hops(std::uint64_t count) {
  const int size = all_ranks(), rank = my_rank(), next = (rank + 1) % size;
  // The same as in tutti's series: the token's hop i ends at rank i mod size.
  const auto sizes = static_cast<std::uint64_t>(size);
  const auto turn = static_cast<std::uint64_t>((rank + size - 1) % size);
  std::uint64_t token = count;
  if (rank == 0) MPI_Send(&token, 1, MPI_UINT64_T, next, 3, MPI_COMM_WORLD);
  for (std::uint64_t hop = turn; hop < count; hop += sizes) {
    MPI_Recv(&token, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (hop + 1 < count) MPI_Send(&token, 1, MPI_UINT64_T, next, 3, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

void add_mpi_series(std::vector<mpi_series>& all, const char* family) {
  all.push_back({"idle", family, "MPI_Barrier", "empty", barriers});
  all.push_back({"idle", family, "MPI_Ibarrier", "empty", nonblocking_barriers});
  all.push_back({"idle", family, "MPI_Allreduce", "empty", reductions});
  all.push_back({"idle", family, "NBX", "one_message", nbx});
  all.push_back({"message", family, "MPI_Isend", "next", messages});
  all.push_back({"hop", family, "MPI_Send", "one_way", hops});
}

}  // namespace tutti::bench
