// SPDX-License-Identifier: Apache-2.0
// A program of MPI that knows nothing of tutti. It checks the results of its collective calls
// against arithmetic, or against the MPI's own functions, which it looks up in the MPI's library.
#include "preload/mpi/tests/program.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace program {

[[noreturn]] void fail(const std::string& what) {
  std::printf("rank %d: %s\n", world_rank, what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
void expect(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}
void check_sum(MPI_Comm comm, std::int64_t salt) {
  const std::int64_t rank = rank_in(comm), size = size_of(comm);
  std::int64_t mine = salt * (rank + 1), all = -1;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, comm);
  expect(all == salt * size * (size + 1) / 2, "a sum is wrong");
}

namespace {

std::string program_path;

// --- scenarios -----------------------------------------------------------------------------------

// Each rank publishes its episode first; after the barrier everybody's is checked.
void barriers() {
  std::atomic<int>* base = nullptr;
  MPI_Win window;
  MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  std::vector<std::atomic<int>*> of;
  for (int i = 0; i < world_size; ++i) {
    MPI_Aint bytes;
    int unit;
    void* at;
    MPI_Win_shared_query(window, i, &bytes, &unit, &at);
    of.push_back(static_cast<std::atomic<int>*>(at));
  }
  std::mt19937 dice(static_cast<unsigned>(world_rank));
  for (int episode = 1; episode <= 2000; ++episode) {
    if (dice() % 500 == 0) usleep(300);
    of[static_cast<std::size_t>(world_rank)]->store(episode, std::memory_order_relaxed);
    MPI_Barrier(MPI_COMM_WORLD);
    for (const auto* each : of)
      expect(each->load(std::memory_order_relaxed) >= episode, "a barrier opened too early");
  }
  MPI_Win_free(&window);
}

// The same between hosts of a test bed, which are on one machine: rank 0 offers the memory.
void published() {
  int where[2] = {getpid(), memfd_create("published", 0)};
  constexpr int episodes = 400;
  const std::size_t bytes = 64 * static_cast<std::size_t>(world_size);
  if (world_rank == 0)
    expect(ftruncate(where[1], static_cast<off_t>(bytes)) == 0, "there is no memory");
  const int own = where[1];
  MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int fd = open(
      ("/proc/" + std::to_string(where[0]) + "/fd/" + std::to_string(where[1])).c_str(), O_RDWR);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  expect(memory != MAP_FAILED, "the hosts do not share memory");
  const auto of = [&](int rank) -> std::atomic<int>& {
    return static_cast<std::atomic<int>*>(memory)[16 * rank];
  };
  std::mt19937 dice(static_cast<unsigned>(world_rank));
  for (int episode = 1; episode <= episodes; ++episode) {
    if (dice() % 100 == 0) usleep(300);
    of(world_rank).store(episode, std::memory_order_relaxed);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 0; rank < world_size; ++rank)
      expect(of(rank).load(std::memory_order_relaxed) >= episode, "a barrier opened too early");
  }
  munmap(memory, bytes);
  close(fd);
  close(own);
}

struct named_type {
  const char* name;
  MPI_Datatype type;
};
struct named_op {
  const char* name;
  MPI_Op op;
};

// All operations that MPI defines on each type, compared with the MPI's own result.
void operations() {
  const auto own_allreduce =
      own<int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm)>("PMPI_Allreduce");
  const std::vector<named_type> integers = {{"int", MPI_INT},
                                            {"unsigned", MPI_UNSIGNED},
                                            {"long", MPI_LONG},
                                            {"unsigned long", MPI_UNSIGNED_LONG},
                                            {"short", MPI_SHORT},
                                            {"unsigned short", MPI_UNSIGNED_SHORT},
                                            {"signed char", MPI_SIGNED_CHAR},
                                            {"unsigned char", MPI_UNSIGNED_CHAR},
                                            {"long long", MPI_LONG_LONG},
                                            {"unsigned long long", MPI_UNSIGNED_LONG_LONG},
                                            {"int8", MPI_INT8_T},
                                            {"int16", MPI_INT16_T},
                                            {"int32", MPI_INT32_T},
                                            {"int64", MPI_INT64_T},
                                            {"uint8", MPI_UINT8_T},
                                            {"uint16", MPI_UINT16_T},
                                            {"uint32", MPI_UINT32_T},
                                            {"uint64", MPI_UINT64_T},
                                            {"aint", MPI_AINT},
                                            {"offset", MPI_OFFSET}};
  const std::vector<named_op> for_integers = {
      {"max", MPI_MAX},   {"min", MPI_MIN},  {"sum", MPI_SUM},   {"prod", MPI_PROD},
      {"land", MPI_LAND}, {"lor", MPI_LOR},  {"lxor", MPI_LXOR}, {"band", MPI_BAND},
      {"bor", MPI_BOR},   {"bxor", MPI_BXOR}};
  // Elements are combined one by one, so fewer elements have the same results.
  const auto compare = [&](const named_type& t, const named_op& o, const auto& fill) {
    constexpr int most = 400;
    int size = 0;
    MPI_Type_size(t.type, &size);
    std::vector<unsigned char> mine(static_cast<std::size_t>(most * size)), all(mine.size());
    fill(mine.data(), most, size);
    own_allreduce(mine.data(), all.data(), most, t.type, o.op, MPI_COMM_WORLD);
    for (const int count : {1, 3, 100, most}) {
      const auto bytes = count * size;
      std::vector<unsigned char> served(mine.size() + 1, 0x55);
      MPI_Allreduce(mine.data(), served.data(), count, t.type, o.op, MPI_COMM_WORLD);
      const std::string what = std::string(t.name) + ", " + o.name + ", " + std::to_string(count);
      expect(std::equal(all.begin(), all.begin() + bytes, served.begin()), what + ": wrong result");
      expect(served[static_cast<std::size_t>(bytes)] == 0x55, what + ": wrote too much");
      served = mine;
      MPI_Allreduce(MPI_IN_PLACE, served.data(), count, t.type, o.op, MPI_COMM_WORLD);
      expect(std::equal(all.begin(), all.begin() + bytes, served.begin()),
             what + ", in place: wrong result");
    }
  };
  std::mt19937_64 dice(static_cast<unsigned>(world_rank));
  for (const named_type& t : integers)
    for (const named_op& o : for_integers)
      compare(t, o, [&](unsigned char* to, int count, int size) {
        // Open MPI 4.1.4 and MPICH 4.0.2 compare unsigned numbers as signed ones, and Open MPI's
        // sums of short numbers end at the largest one.
        std::memset(to, 0, static_cast<std::size_t>(count * size));
        for (int i = 0; i < count * size; i += size) {
          if (size > 2)
            for (int k = 0; k + 1 < size; ++k)
              to[i + k] = dice() % 4 == 0 ? 0 : static_cast<unsigned char>(dice());
          else
            to[i] = static_cast<unsigned char>(dice() % 3);
        }
      });
  // Small whole numbers, which have the same result in every order.
  const auto real = [&]<class T>(T) {
    return [&](unsigned char* to, int count, int size) {
      std::memset(to, 0, static_cast<std::size_t>(count * size));
      for (int i = 0; i < count * size / static_cast<int>(sizeof(T)); ++i) {
        const T value = static_cast<T>(static_cast<int>(dice() % 4));
        std::memcpy(to + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
      }
    };
  };
  for (const named_op& o :
       {named_op{"max", MPI_MAX}, {"min", MPI_MIN}, {"sum", MPI_SUM}, {"prod", MPI_PROD}}) {
    compare({"float", MPI_FLOAT}, o, real(1.0f));
    compare({"double", MPI_DOUBLE}, o, real(1.0));
    compare({"real", MPI_REAL}, o, real(1.0f));
    compare({"double precision", MPI_DOUBLE_PRECISION}, o, real(1.0));
  }
  // The sign of a product's zero depends on the order.
  compare({"float complex", MPI_C_FLOAT_COMPLEX}, {"sum", MPI_SUM}, real(1.0f));
  compare({"double complex", MPI_C_DOUBLE_COMPLEX}, {"sum", MPI_SUM}, real(1.0));
  for (const named_op& o : {named_op{"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}})
    compare({"byte", MPI_BYTE}, o, [&](unsigned char* to, int count, int size) {
      for (int i = 0; i < count * size; ++i) to[i] = static_cast<unsigned char>(dice());
    });
  for (const named_op& o : {named_op{"max", MPI_MAX}, {"sum", MPI_SUM}})
    compare({"integer", MPI_INTEGER}, o, real(1));
  // What the preload does not serve must still have its result.
  struct {
    double value;
    int where;
  } mine{static_cast<double>(world_rank), world_rank}, all{};
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  expect(all.where == world_size - 1, "MPI_MAXLOC is wrong");
  MPI_Op last;
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i)
          static_cast<int*>(inout)[i] =
              std::max(static_cast<int*>(in)[i], static_cast<int*>(inout)[i]);
      },
      1, &last);
  int rank = world_rank, greatest = -1;
  MPI_Allreduce(&rank, &greatest, 1, MPI_INT, last, MPI_COMM_WORLD);
  expect(greatest == world_size - 1, "an operation of the program is wrong");
  MPI_Op_free(&last);
}

// A sum whose bits depend on the order has the same bits on all ranks and in every run.
void order() {
  double mine = 1.0 / (3.0 + world_rank) * (world_rank % 2 == 0 ? 1e16 : 1.0), first = 0;
  for (int i = 0; i < 200; ++i) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (i == 0) first = all;
    expect(std::memcmp(&all, &first, sizeof all) == 0, "a sum changed its bits");
  }
  double of_rank_0 = first;
  MPI_Bcast(&of_rank_0, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  expect(std::memcmp(&of_rank_0, &first, sizeof first) == 0, "ranks have different bits");
}

void broadcasts() {
  for (const int count : {1, 2, 100, 128, 129, 5000})
    for (int i = 0; i < 40; ++i) {
      const int root = i % world_size;
      std::vector<double> values(static_cast<std::size_t>(count), -1);
      if (world_rank == root) values.assign(values.size(), count + i);
      MPI_Bcast(values.data(), count, MPI_DOUBLE, root, MPI_COMM_WORLD);
      expect(std::all_of(values.begin(), values.end(), [&](double v) { return v == count + i; }),
             "a broadcast is wrong");
    }
  // Every second int of eight, described by another type on each other rank.
  MPI_Datatype every_second;
  MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  for (int i = 0; i < 40; ++i) {
    const int root = i % world_size;
    std::vector<int> values(8, -1);
    const bool is_root = world_rank == root, is_scattered = (world_rank + i) % 2 == 0;
    const std::size_t step = is_scattered ? 2 : 1;
    if (is_root)
      for (std::size_t k = 0; k < 4; ++k) values[k * step] = static_cast<int>(k) + i;
    if (is_scattered)
      MPI_Bcast(values.data(), 1, every_second, root, MPI_COMM_WORLD);
    else
      MPI_Bcast(values.data(), 4, MPI_INT, root, MPI_COMM_WORLD);
    for (std::size_t k = 0; k < 4; ++k)
      expect(values[k * step] == static_cast<int>(k) + i, "a scattered broadcast is wrong");
    if (is_scattered) expect(values[1] == -1, "a scattered broadcast wrote into a gap");
  }
  MPI_Type_free(&every_second);
  MPI_Bcast(nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

// Communicators of every kind, made, used and freed at random; several live at a time.
void communicators() {
  std::mt19937 common(7);
  std::vector<MPI_Comm> alive;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int i = 0; i < 120; ++i) {
    const auto kind = static_cast<unsigned>(common() % 6), salt = static_cast<unsigned>(common());
    MPI_Comm made = MPI_COMM_NULL;
    if (kind == 0) MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (kind == 1)
      MPI_Comm_split(MPI_COMM_WORLD,
                     static_cast<int>((static_cast<unsigned>(world_rank) + salt) % 2), -world_rank,
                     &made);
    if (kind == 2)
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    if (kind == 3 && world_rank > 0) {
      int range[1][3] = {{1, world_size - 1, 1}};
      MPI_Group some;
      MPI_Group_range_incl(all, 1, range, &some);
      MPI_Comm_create_group(MPI_COMM_WORLD, some, i, &made);
      MPI_Group_free(&some);
    }
    if (kind == 4) {
      const int dims[1] = {world_size}, periods[1] = {1};
      MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made);
    }
    if (kind == 5) {
      MPI_Group reversed;
      std::vector<int> ranks;
      for (int r = world_size - 1; r >= 0; --r) ranks.push_back(r);
      MPI_Group_incl(all, world_size, ranks.data(), &reversed);
      MPI_Comm_create(MPI_COMM_WORLD, reversed, &made);
      MPI_Group_free(&reversed);
    }
    if (made != MPI_COMM_NULL) {
      alive.push_back(made);
    } else {
      alive.push_back(MPI_COMM_SELF);
    }
    for (MPI_Comm comm : alive) {
      check_sum(comm, i + 1);
      int value = rank_in(comm) == 0 ? i : -1;
      MPI_Bcast(&value, 1, MPI_INT, 0, comm);
      expect(value == i, "a broadcast is wrong");
      MPI_Barrier(comm);
    }
    while (alive.size() > common() % 6) {
      const std::size_t which = common() % alive.size();
      if (alive[which] != MPI_COMM_SELF) MPI_Comm_free(&alive[which]);
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  MPI_Group_free(&all);
  // Between two groups MPI's own calls are used, on all ranks.
  if (world_size >= 2) {
    MPI_Comm half, between;
    const int side = world_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &between);
    MPI_Barrier(between);
    int mine = 1, others = 0;
    MPI_Allreduce(&mine, &others, 1, MPI_INT, MPI_SUM, between);
    int size = 0;
    MPI_Comm_remote_size(between, &size);
    expect(others == size, "a sum between two groups is wrong");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
  }
}

// 2 x 100 communicators, made and freed.
void hundreds() {
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<MPI_Comm> all(100);
    for (MPI_Comm& one : all) {
      MPI_Comm_dup(MPI_COMM_WORLD, &one);
      MPI_Barrier(one);
    }
    for (MPI_Comm& one : all) MPI_Comm_free(&one);
  }
}

// A thread for each communicator.
void threads() {
  int level = 0;
  MPI_Query_thread(&level);
  expect(level == MPI_THREAD_MULTIPLE, "MPI has no MPI_THREAD_MULTIPLE");
  std::vector<MPI_Comm> comms(3);
  for (MPI_Comm& one : comms) MPI_Comm_dup(MPI_COMM_WORLD, &one);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < comms.size(); ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < 150; ++i) {
        MPI_Barrier(comms[t]);
        check_sum(comms[t], static_cast<int>(t) + i);
        MPI_Request request;
        MPI_Ibarrier(comms[t], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm inner;
        if (i % 50 == 0) {
          MPI_Comm_dup(comms[t], &inner);
          check_sum(inner, i);
          MPI_Comm_free(&inner);
        }
      }
    });
  for (std::thread& one : all) one.join();
  for (MPI_Comm& one : comms) MPI_Comm_free(&one);
}

// MPI calls this while it is being finalized.
int at_the_end(MPI_Comm, int, void*, void*) {
  MPI_Barrier(MPI_COMM_WORLD);
  int mine = 1, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all != world_size) std::abort();
  return MPI_SUCCESS;
}
void finalize() {
  MPI_Barrier(MPI_COMM_WORLD);
  int key = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

// After MPI_Finalize main() makes a call on this communicator, which MPI must report.
MPI_Comm called_after_the_end = MPI_COMM_NULL;
void world_after_the_end() {
  MPI_Barrier(MPI_COMM_WORLD);
  called_after_the_end = MPI_COMM_WORLD;
}
void leaked_after_the_end() {
  MPI_Comm_dup(MPI_COMM_WORLD, &called_after_the_end);
  MPI_Barrier(called_after_the_end);
}

// A delete function of the program makes collective calls on the communicator that is freed, before
// or after the preload's own has been called: ranks set their attributes at different times.
int use_freed(MPI_Comm comm, int, void*, void*) {
  MPI_Barrier(comm);
  check_sum(comm, 3);
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int value = rank_in(comm) == 0 ? 5 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  expect(value == 5, "a broadcast on a communicator that is freed is wrong");
  return MPI_SUCCESS;
}
void deleted() {
  int key = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_freed, &key, nullptr);
  for (int i = 0; i < 6; ++i) {
    MPI_Comm all;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    const bool is_early = i % 3 == 0 || (i % 3 == 1 && world_rank % 2 == 0);
    if (is_early) MPI_Comm_set_attr(all, key, nullptr);
    if (i < 5) MPI_Barrier(all);
    if (!is_early) MPI_Comm_set_attr(all, key, nullptr);
    MPI_Comm_free(&all);
    // This one may get the handle. It has other ranks.
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? 0 : 1, 0, &some);
    check_sum(some, i + 1);
    MPI_Comm_free(&some);
  }
  MPI_Comm_free_keyval(&key);
}

void late() {
  for (int i = 0; i < 5; ++i) {
    const int who = i % world_size;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == who) usleep(20'000);
    const double start = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    const double took = MPI_Wtime() - start;
    if (world_rank != who) expect(took > 0.01, "a barrier did not wait for a late rank");
  }
}

// Rank 1 never comes. Only a deadline ends this.
void missing() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) sleep(30);
  MPI_Barrier(MPI_COMM_WORLD);
}
void missing_root() {
  int value = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) sleep(30);
  MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
}
void killed() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) kill(getpid(), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}
// Each half of the ranks makes its own communicators, at the same time as the other half.
void halves() {
  for (int i = 0; i < 40; ++i) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, world_rank, &half);
    MPI_Barrier(MPI_COMM_WORLD);
    check_sum(half, i);
    MPI_Comm_free(&half);
  }
}
void ten_barriers() {
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
}
// Only the test ends this.
void endless_barriers() {
  for (;;) MPI_Barrier(MPI_COMM_WORLD);
}
// Processes that the launcher starts later have its environment, which has no preload.
void spawned() {
  MPI_Comm other, all;
  MPI_Comm_get_parent(&other);
  const bool is_parent = other == MPI_COMM_NULL;
  std::string scenario = "spawned";
  char* arguments[] = {scenario.data(), nullptr};
  if (is_parent)
    MPI_Comm_spawn(program_path.c_str(), arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(other, is_parent ? 0 : 1, &all);
  MPI_Barrier(all);
  check_sum(all, 3);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&other);
}

const std::map<std::string, std::function<void()>> scenarios = {
    {"barriers", barriers},
    {"published", published},
    {"operations", operations},
    {"order", order},
    {"broadcasts", broadcasts},
    {"started", started},
    {"freed", freed},
    {"started_alone", started_alone},
    {"started_by_threads", started_by_threads},
    {"spawned", spawned},
    {"communicators", communicators},
    {"hundreds", hundreds},
    {"rendezvous", rendezvous},
    {"sent_by_the_last", sent_by_the_last},
    {"threads", threads},
    {"finalize", finalize},
    {"deleted", deleted},
    {"world_after_the_end", world_after_the_end},
    {"leaked_after_the_end", leaked_after_the_end},
    {"late", late},
    {"missing", missing},
    {"missing_root", missing_root},
    {"missing_first", missing_first},
    {"at_bottom", at_bottom},
    {"files", files},
    {"constant", constant_data},
    {"forked", forked},
    {"loading", loading},
    {"pending", pending},
    {"killed", killed},
    {"halves", halves},
    {"ten", ten_barriers},
    {"endless", endless_barriers},
    {"large_counts", large_counts},
    {"without_request", a_barrier_without_request_is_not_started},
    {"freeing", a_started_barrier_is_not_freed},
    {"cancelling", a_started_barrier_is_not_cancelled},
    {"completing", a_started_barrier_is_not_completed},
    {"errors", errors_are_reported},
    {"jumping", jumps_out_of_freeing},
    {"small_files", small_files},
    {"told_once", each_error_is_told_once}};

}  // namespace
}  // namespace program

using namespace program;

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "sessions") {
    sessions();
    if (world_rank == 0) std::printf("all scenarios held\n");
    return 0;
  }
  if (argc > 1 && std::string(argv[1]).starts_with("before_init")) call_before_init(argv[1]);
  int level = 0;
  const bool has_threads = argc > 1 && std::string(argv[1]).ends_with("threads");
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  program_path = argv[0];
  folder = program_path.substr(0, program_path.rfind('/') + 1);
  world_rank = rank_in(MPI_COMM_WORLD);
  world_size = size_of(MPI_COMM_WORLD);
  for (int i = 1; i < argc; ++i) {
    const double start = MPI_Wtime();
    scenarios.at(argv[i])();
    if (world_rank == 0) std::printf("%s: %.3f s\n", argv[i], MPI_Wtime() - start);
  }
  MPI_Finalize();
  if (called_after_the_end != MPI_COMM_NULL) MPI_Barrier(called_after_the_end);
  if (world_rank == 0) std::printf("all scenarios held\n");
}
