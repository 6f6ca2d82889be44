// SPDX-License-Identifier: Apache-2.0
// 10^6 notifications by each kind of event, with the default policy and with one that sleeps at
// once, 10^6 posts of eight senders to one worker and to two, and as many actions in one place of
// the table as make the numbers of their names begin anew.
#include "tests/event/notifications.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t million = 1'000'000;
using adapting = adaptive_wait<memory>;

template <class Wait>
class EventLong : public testing::Test {};
using waits = testing::Types<adapting, parking_at_once>;
struct name_of_wait {
  template <class Wait>
  static std::string GetName(int) {
    return std::is_same_v<Wait, adapting> ? "Adaptive" : "Parked";
  }
};
TYPED_TEST_SUITE(EventLong, waits, name_of_wait);

TYPED_TEST(EventLong, Condition) { notify_a_condition<TypeParam>(million); }
TYPED_TEST(EventLong, Steps) { notify_in_steps<TypeParam>(million); }
TYPED_TEST(EventLong, ConditionVariable) { notify_under_a_mutex<TypeParam>(million); }
TYPED_TEST(EventLong, Signal) { signal_one<TypeParam>(million); }
TYPED_TEST(EventLong, Broadcast) { broadcast_to_one<TypeParam>(million); }
TYPED_TEST(EventLong, Post) { post_to_one<TypeParam>(million); }
TYPED_TEST(EventLong, PostFromEight) { post_from_many<TypeParam>(8, 1, million / 8); }
TEST(EventLongOfTwo, PostFromEight) { post_from_many<adapting>(8, 2, million / 8); }

TEST(EventLongOfOne, ActionsWhoseNamesBeginAnew) {
  event_workers all(1, 1);
  const auto count = [](void* runs, rank_t, std::uintptr_t) { ++*static_cast<int*>(runs); };
  int runs = 0;
  const action_id first = all.add(count, &runs);
  ASSERT_TRUE(all.remove(first));
  std::uint64_t between = 0;
  for (;; ++between) {
    const action_id name = all.add(count, &runs);
    ASSERT_NE(name, event_workers::no_action);
    if (name == first) break;
    ASSERT_TRUE(all.remove(name));
  }
  EXPECT_GT(between, 100 * million);
  all.post(0, 0, first, 0);
  EXPECT_EQ(all.wait(0), 1u);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace tutti::test
