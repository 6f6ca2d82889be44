// SPDX-License-Identifier: Apache-2.0
// 10^6 notifications by each kind of event, with the default policy and with one that sleeps at
// once, and 10^6 posts of eight senders to one worker and to two.
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

}  // namespace
}  // namespace tutti::test
