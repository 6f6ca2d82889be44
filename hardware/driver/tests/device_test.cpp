// SPDX-License-Identifier: Apache-2.0
// Tests that the driver reports a device that it cannot use, in one sentence.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/driver/harp_barrier.hpp"
#include "hardware/driver/hbs_barrier.hpp"
#include "hardware/driver/mapped_device.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/scratch.hpp"

namespace {

using namespace tutti::hardware;

// A file in place of a BAR: its registers only store values.
class file {
 public:
  explicit file(std::size_t bytes) : path_(folder_.write("bar", std::string(bytes, '\0'))) {}
  const std::string& path() const { return path_; }

 private:
  tutti::test::scratch folder_;
  std::string path_;
};

template <class Action>
std::string message_of(Action action) {
  return tutti::test::refusal_of<std::exception>(action);
}

TEST(MappedDevice, IsMissing) {
  EXPECT_EQ(
      message_of([] { mapped_device("/dev/no_such_uio", 4096); }),
      "tutti: hardware device '/dev/no_such_uio': cannot be opened: No such file or directory");
}

TEST(MappedDevice, IsTooSmall) {
  const file bar(4096);
  EXPECT_NE(message_of([&] {
              mapped_device(bar.path(), window_bytes);
            }).find("has 4096 bytes, the registers need 65536"),
            std::string::npos);
}

TEST(MappedDevice, RemembersWhatIsWritten) {
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  unit.write(0x100, 0x0123'4567'89AB'CDEF);
  EXPECT_EQ(unit.read(0x100), 0x0123'4567'89AB'CDEFu);
  mapped_device again(bar.path(), window_bytes);
  EXPECT_EQ(again.read(0x100), 0x0123'4567'89AB'CDEFu);
}

TEST(HarpBarrier, RefusesAForeignDevice) {
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  EXPECT_NE(
      message_of([&] { harp_barrier(unit, 2); }).find("is no barrier unit: its identity is 0"),
      std::string::npos);
  unit.write(id, ~std::uint64_t{0});
  EXPECT_NE(message_of([&] { harp_barrier(unit, 2); }).find("does not answer"), std::string::npos);
}

TEST(HarpBarrier, RefusesAnotherVersion) {
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  unit.write(id, id_value);
  unit.write(version, 7 << 16 | 3);
  EXPECT_NE(message_of([&] {
              harp_barrier(unit, 2);
            }).find("is of version 7.3; this driver is for version 1"),
            std::string::npos);
}

TEST(HarpBarrier, RefusesWhatTheUnitLacks) {
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  unit.write(id, id_value);
  unit.write(version, std::uint64_t{version_major} << 16);
  unit.write(capability, 8 << 24 | 28);
  EXPECT_NE(message_of([&] { harp_barrier(unit, 29); }).find("takes 1 to 28 participants, not 29"),
            std::string::npos);
  EXPECT_NE(message_of([&] { harp_barrier(unit, 0); }).find("not 0"), std::string::npos);
  EXPECT_NE(message_of([&] {
              harp_barrier(unit, 2, {.arrival = arrival_path::memory});
            }).find("reaches no shared memory"),
            std::string::npos);
  // Such registers keep the error bits that the driver writes to clear them.
  EXPECT_NE(message_of([&] { harp_barrier(unit, 2); }).find("refuses its configuration"),
            std::string::npos);
}

TEST(HbsStructure, RefusesAForeignDeviceAndAnotherVersion) {
  const file bar(hbs::window_bytes);
  mapped_device unit(bar.path(), hbs::window_bytes);
  EXPECT_NE(
      message_of([&] { hbs_structure structure(unit); }).find("is no hardware barrier structure"),
      std::string::npos);
  unit.write(hbs::id, hbs::id_value);
  unit.write(hbs::version, 0x0009'0000);
  EXPECT_NE(message_of([&] { hbs_structure structure(unit); }).find("is of version 9"),
            std::string::npos);
}

}  // namespace
