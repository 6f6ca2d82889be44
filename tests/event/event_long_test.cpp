// SPDX-License-Identifier: Apache-2.0
// 10^6 notifications by each kind of event, with the default policy and with one that sleeps at
// once, and 10^6 posts of eight senders to one worker and to two.
#include "tests/event/notifications.hpp"

namespace tutti::test {
namespace {

constexpr std::uint64_t million = 1'000'000;
using adapting = adaptive_wait<memory>;

TEST(EventLong, ConditionAdaptive) { notify_a_condition<adapting>(million); }
TEST(EventLong, ConditionParked) { notify_a_condition<parking_at_once>(million); }
TEST(EventLong, StepsAdaptive) { notify_in_steps<adapting>(million); }
TEST(EventLong, StepsParked) { notify_in_steps<parking_at_once>(million); }
TEST(EventLong, ConditionVariableAdaptive) { notify_under_a_mutex<adapting>(million); }
TEST(EventLong, ConditionVariableParked) { notify_under_a_mutex<parking_at_once>(million); }
TEST(EventLong, SignalAdaptive) { signal_one<adapting>(million); }
TEST(EventLong, SignalParked) { signal_one<parking_at_once>(million); }
TEST(EventLong, BroadcastAdaptive) { broadcast_to_one<adapting>(million); }
TEST(EventLong, BroadcastParked) { broadcast_to_one<parking_at_once>(million); }
TEST(EventLong, PostAdaptive) { post_to_one<adapting>(million); }
TEST(EventLong, PostParked) { post_to_one<parking_at_once>(million); }
TEST(EventLong, PostFromEightAdaptive) { post_from_many<adapting>(8, 1, million / 8); }
TEST(EventLong, PostFromEightParked) { post_from_many<parking_at_once>(8, 1, million / 8); }
TEST(EventLong, PostFromEightToTwo) { post_from_many<adapting>(8, 2, million / 8); }

}  // namespace
}  // namespace tutti::test
