// SPDX-License-Identifier: Apache-2.0
// Tests the parts that need no MPI: the launchers' variables, messages to oneself, numbers of
// operations.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/mpi/introduction.hpp"
#include "src/mpi/launch.hpp"
#include "tutti/mpi/operation_number.hpp"
#include "tutti/mpi/self_queue.hpp"

namespace tutti::mpi {
namespace {

std::map<std::string, std::string> variables;
const char* look_up(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

TEST(find_launch, reads_what_each_launcher_sets) {
  variables = {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}};
  auto found = find_launch(look_up);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->family, "openmpi");
  EXPECT_EQ(found->size, 4);
  EXPECT_EQ(found->rank, 3);
  variables = {{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}};
  found = find_launch(look_up);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->family, "mpich");
  variables.clear();
  EXPECT_FALSE(find_launch(look_up));
}

TEST(find_launch, refuses_what_cannot_be) {
  for (const char* size : {"", "0", "-1", "x", "3x", "99999999999999999999"}) {
    variables = {{"PMI_SIZE", size}, {"PMI_RANK", "0"}};
    EXPECT_THROW(find_launch(look_up), std::runtime_error) << size;
  }
  variables = {{"PMI_SIZE", "2"}};
  EXPECT_THROW(find_launch(look_up), std::runtime_error);
  variables = {{"PMI_SIZE", "2"},
               {"PMI_RANK", "0"},
               {"OMPI_COMM_WORLD_SIZE", "2"},
               {"OMPI_COMM_WORLD_RANK", "0"}};
  EXPECT_THROW(find_launch(look_up), std::runtime_error);
}

// Three machines with two CPUs each. The first has two nodes, with one process on each.
TEST(is_crowded, compares_the_participants_of_a_machine_with_its_cpus) {
  std::vector<introduction> all(5);
  layout where;
  where.participants.resize(all.size());
  const std::uint64_t machines[] = {70, 70, 80, 90, 90}, nodes[] = {0, 1, 2, 3, 3};
  const std::size_t participants[] = {1, 1, 2, 2, 1};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].machine = machines[i];
    all[i].node = nodes[i];
    all[i].cpus[0] = 3;
    where.participants[i].resize(participants[i]);
  }
  EXPECT_FALSE(is_crowded(all, where, 70));
  EXPECT_FALSE(is_crowded(all, where, 80));
  EXPECT_TRUE(is_crowded(all, where, 90));
  where.participants[1].resize(2);
  EXPECT_TRUE(is_crowded(all, where, 70));
}

// Messages of random sizes are taken in order and released in any order; memory blocks come and go.
TEST(self_queue, gives_messages_back_in_their_order) {
  self_queue queue(5);
  std::mt19937 random(1);
  std::uint32_t pushed = 0, taken = 0;
  std::vector<received> held;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      std::vector<std::uint32_t> data(1 + random() % (step % 100 == 0 ? 20000 : 20), pushed++);
      queue.push(data.data(), data.size() * sizeof data[0]);
    } else if (queue.has_message()) {
      held.push_back(queue.take());
      EXPECT_EQ(held.back().source, 5u);
      std::uint32_t value = 0, last = 0;
      std::memcpy(&value, held.back().data, sizeof value);
      std::memcpy(&last, held.back().data + held.back().size - sizeof last, sizeof last);
      ASSERT_EQ(value, taken);
      ASSERT_EQ(last, taken++);
    }
    if (held.size() > 10 || (!held.empty() && random() % 3 == 0)) {
      const std::size_t at = random() % held.size();
      queue.release(held[at].index);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ASSERT_EQ(queue.held(), held.size());
  }
}

TEST(operation_number, tells_types_and_operations_apart) {
  EXPECT_EQ((operation_number<double, plus>()), (operation_number<double, plus>()));
  EXPECT_NE((operation_number<double, plus>()), (operation_number<float, plus>()));
  EXPECT_NE((operation_number<double, plus>()), (operation_number<double, minimum>()));
  EXPECT_GE((operation_number<int, maximum>()), 1u);
  EXPECT_LE((operation_number<int, maximum>()), 254u);
}

TEST(contribution_of, carries_the_value_and_its_operation) {
  const auto one = contribution_of<double, plus>(true, 1.5);
  const auto two = contribution_of<double, plus>(false, 2.0);
  EXPECT_EQ(one.vote, 1u);
  EXPECT_EQ(two.vote, 0u);
  EXPECT_EQ(static_cast<double>(one.combine(one.value, two.value)), 3.5);
}

}  // namespace
}  // namespace tutti::mpi
