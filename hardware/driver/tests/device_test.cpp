// SPDX-License-Identifier: Apache-2.0
// Tests that the driver reports a device that it cannot use, in one sentence.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/driver/accelerator.hpp"
#include "hardware/driver/harp_barrier.hpp"
#include "hardware/driver/hbs_barrier.hpp"
#include "hardware/driver/mapped_device.hpp"
#include "hardware/driver/providers.hpp"
#include "hardware/model/mask_unit.hpp"
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
  expect_refused<std::exception>([&] { harp_barrier(unit, 2, {.arrival = arrival_path::message}); },
                                 "sends no messages");
  constexpr tutti::rank_t many = 0xffff'ffff;
  expect_refused<std::invalid_argument>([&] { harp_barrier(unit, many); }, "not 4294967295");
  // Such registers keep the error bits that the driver writes to clear them.
  expect_refused<std::exception>([&] { harp_barrier(unit, 2); }, "refuses its configuration");
}

// A mask unit on a device that could send messages. It takes none, but says that it has an address
// for each of 8, as one of an earlier version does.
class mask_with_messages : public device {
 public:
  std::uint64_t read(std::uint64_t offset) override {
    return step(offset, false, 0) | (offset == capability ? 8 << 16 : 0);
  }
  void write(std::uint64_t offset, std::uint64_t value) override {
    if (offset == control) controls.push_back(value);
    step(offset, true, value);
    unit_.step({});
  }
  // What has been written to the control register.
  std::vector<std::uint64_t> controls;
  const std::string& name() const noexcept override { return name_; }
  std::uint64_t window() const noexcept override { return window_bytes; }
  unsigned message_addresses() const noexcept override { return 8; }
  void send(unsigned) override {}

 private:
  std::uint64_t step(std::uint64_t offset, bool is_write, std::uint64_t value) {
    model::register_request request{};
    request.valid = true;
    request.is_write = is_write;
    request.offset = offset;
    request.value = value;
    return unit_.step(request);
  }
  model::mask_unit unit_{4};
  std::string name_{"mask"};
};

TEST(HarpBarrier, IsNoneIfTheUnitObjectsToItsConfiguration) {
  mask_with_messages unit;
  expect_refused<std::runtime_error>(
      [&] { harp_barrier(unit, 2, {.arrival = arrival_path::message}); },
      "refuses its configuration: error register 2");
  // It does nothing any more.
  EXPECT_EQ(unit.controls.back(), std::uint64_t{control_reset});
  harp_barrier barrier(unit, 1);
  barrier.arrive_and_wait(0);
}

TEST(HbsBarrier, IsRefusedIfTheStructureObjects) {
  const file bar(hbs::window_bytes);
  const auto unit = std::make_shared<mapped_device>(bar.path(), hbs::window_bytes);
  unit->write(hbs::id, hbs::id_value);
  unit->write(hbs::version, hbs::version_value);
  // 16 threads in this socket, 2 barriers, 2 words.
  unit->write(hbs::capability, std::uint64_t{8} << 56 | std::uint64_t{16} << 40 |
                                   std::uint64_t{2} << 32 | 2 << 16 | 16);
  const tutti::barrier_provider make = hbs_barriers(unit);
  expect_refused<std::invalid_argument>([&] { make(0xffff'ffff); },
                                        "takes 1 to 16 participants, not 4294967295");
  // Such registers keep the error bit that the driver writes to clear it. The place is free again.
  for (int i = 0; i < 3; ++i)
    expect_refused<std::runtime_error>([&] { make(4); }, "refuses a barrier of 4 threads");
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

// A list of feature headers in a file.
class FeatureHeaders : public testing::Test {
 protected:
  static constexpr std::uint64_t is_accelerator = std::uint64_t{1} << 60,
                                 is_feature = std::uint64_t{3} << 60, ends = std::uint64_t{1} << 40;
  static constexpr std::uint64_t next(std::uint64_t distance) { return distance << 16; }
  void put(std::uint64_t offset, std::uint64_t header, accelerator_id id) {
    platform_->write(offset, header);
    platform_->write(offset + 8, id.low);
    platform_->write(offset + 16, id.high);
  }
  std::string refusal() {
    return tutti::test::refusal_of<std::exception>([&] { accelerator unit(platform_); });
  }

  static constexpr std::size_t bytes = 0x4'0000;
  const file bar_{bytes};
  std::shared_ptr<mapped_device> platform_ = std::make_shared<mapped_device>(bar_.path(), bytes);
};

TEST_F(FeatureHeaders, AreWalkedToTheAccelerator) {
  put(0, is_accelerator | next(0x1000), {7, 8});
  put(0x1000, is_feature | next(0x2000), {9, 10});
  put(0x3000, is_accelerator | ends, counting_accelerator);
  EXPECT_EQ(find_accelerator(*platform_, counting_accelerator), 0x3000u);
  accelerator unit(platform_);
  unit.write(id, id_value);
  EXPECT_EQ(platform_->read(0x3000 + 0x1'0000), id_value);
  EXPECT_EQ(unit.window(), bytes - 0x1'3000);
}

TEST_F(FeatureHeaders, NameTheOthers) {
  put(0, is_accelerator | next(0x1000), {7, 8});
  put(0x1000, is_accelerator | ends, {0x1234'5678'9ABC'DEF0, 0x1122'3344'5566'7788});
  EXPECT_NE(refusal().find("it has 00000000-0000-0007-0000-000000000008, "
                           "12345678-9abc-def0-1122-334455667788"),
            std::string::npos)
      << refusal();
  // A feature is no accelerator, whatever it holds.
  put(0, is_feature | ends, counting_accelerator);
  EXPECT_NE(refusal().find("and no other"), std::string::npos) << refusal();
}

TEST_F(FeatureHeaders, AreNoList) {
  EXPECT_NE(refusal().find("has no device feature header at offset 0"), std::string::npos);
  put(0, is_feature | next(bytes - 8), {});
  EXPECT_NE(refusal().find("leaves the window at offset " + std::to_string(bytes - 8)),
            std::string::npos);
  put(0, is_feature | next(0x3'0000), {});
  put(0x3'0000, is_accelerator | ends, counting_accelerator);
  EXPECT_NE(refusal().find("bytes are mapped, the registers need"), std::string::npos);
}

TEST(MappedMemory, IsSharedByTwoMappings) {
  const file memory(16384);
  const auto mine = std::make_shared<mapped_memory>(memory.path(), 16384, 0x1000);
  const mapped_memory other(memory.path(), 16384, 0x1000);
  mine->memory().words[5].store(77);
  EXPECT_EQ(other.memory().words[5].load(), 77u);
  const file bar(window_bytes);
  mapped_device unit(bar.path(), window_bytes);
  EXPECT_EQ(unit.memory().words, nullptr);
  unit.share(mine);
  EXPECT_EQ(unit.memory().bus_address, 0x1000u);
  expect_refused<std::exception>([&] { mapped_memory(memory.path(), 16384, 0x1008); },
                                 "does not begin a line of 64 bytes");
  expect_refused<std::exception>([&] { mapped_memory(memory.path(), 16385, 0x1000); },
                                 "has 16384 bytes, the lines of the participants need 16385");
}

TEST(MappedMemory, FindsItsAddressInAFile) {
  const tutti::test::scratch folder;
  EXPECT_EQ(bus_address_in(folder.write("good", "0x12340000\n")), 0x1234'0000u);
  expect_refused<std::exception>([&] { bus_address_in(folder.write("bad", "12x\n")); },
                                 "has no address but: 12x");
  expect_refused<std::exception>([] { bus_address_in("/no/such/file"); }, "cannot be read");
}

}  // namespace
