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
using tutti::test::expect_refused;

// A file in place of a BAR: its registers only store values.
class file {
 public:
  explicit file(std::size_t bytes) : path_(folder_.write("bar", std::string(bytes, '\0'))) {}
  const std::string& path() const { return path_; }

 private:
  tutti::test::scratch folder_;
  std::string path_;
};

TEST(MappedDevice, IsMissing) {
  EXPECT_EQ(
      tutti::test::refusal_of<std::exception>([] { mapped_device("/dev/no_such_uio", 4096); }),
      "tutti: hardware device '/dev/no_such_uio': cannot be opened: No such file or directory");
}

TEST(MappedDevice, IsTooSmall) {
  const file bar(4096);
  expect_refused<std::exception>([&] { mapped_device(bar.path(), window_bytes); },
                                 "has 4096 bytes, the registers need 65536");
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
  expect_refused<std::exception>([&] { harp_barrier(unit, 2); },
                                 "is no barrier unit: its identity is 0");
  unit.write(id, ~std::uint64_t{0});
  expect_refused<std::exception>([&] { harp_barrier(unit, 2); }, "does not answer");
}

TEST(HarpBarrier, RefusesAnotherVersion) {
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  unit.write(id, id_value);
  unit.write(version, 7 << 16 | 3);
  expect_refused<std::exception>([&] { harp_barrier(unit, 2); },
                                 "is of version 7.3; this driver is for version 1");
}

TEST(HarpBarrier, RefusesWhatTheUnitLacks) {
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  unit.write(id, id_value);
  unit.write(version, std::uint64_t{version_major} << 16);
  unit.write(capability, 8 << 24 | 28);
  expect_refused<std::exception>([&] { harp_barrier(unit, 29); },
                                 "takes 1 to 28 participants, not 29");
  expect_refused<std::exception>([&] { harp_barrier(unit, 0); }, "not 0");
  expect_refused<std::exception>([&] { harp_barrier(unit, 2, {.arrival = arrival_path::memory}); },
                                 "reaches no shared memory");
  // Such registers keep the error bits that the driver writes to clear them.
  expect_refused<std::exception>([&] { harp_barrier(unit, 2); }, "refuses its configuration");
}

TEST(HbsStructure, RefusesAForeignDeviceAndAnotherVersion) {
  const file bar(hbs::window_bytes);
  mapped_device unit(bar.path(), hbs::window_bytes);
  expect_refused<std::exception>([&] { hbs_structure structure(unit); },
                                 "is no hardware barrier structure");
  unit.write(hbs::id, hbs::id_value);
  unit.write(hbs::version, 0x0009'0000);
  expect_refused<std::exception>([&] { hbs_structure structure(unit); }, "is of version 9");
}

}  // namespace
