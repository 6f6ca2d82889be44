// SPDX-License-Identifier: Apache-2.0
// Reads the information of the boot loader (PVH or multiboot 1) and the firmware's tables: MADT for
// the cores, SRAT for the NUMA nodes.
#include "kernel/arch/x86_64/parts.hpp"
#include "kernel/core/panic.hpp"
#include "kernel/core/text.hpp"

extern "C" char image_begin[], image_end[];

namespace tutti::kernel::machine {

description the_description;
const description& described() noexcept { return the_description; }

namespace {

template <class T>
const T& at(u64 address) noexcept {
  return *reinterpret_cast<const T*>(address);
}

// --- memory

constexpr u64 page = 4096;

void add_memory(u64 begin, u64 end) noexcept {
  description& d = the_description;
  // The first MiB belongs to the firmware and to the start of the other cores.
  if (begin < 0x100000) begin = 0x100000;
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end && d.memory_ranges < 64) d.memory[d.memory_ranges++] = {begin, end, 0};
}

// Takes [begin, end) out of the usable memory.
void reserve(u64 begin, u64 end) noexcept {
  description& d = the_description;
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  const u32 count = d.memory_ranges;
  for (u32 i = 0; i < count; ++i) {
    memory_range& r = d.memory[i];
    if (end <= r.begin || r.end <= begin) continue;
    const memory_range old = r;
    r.end = begin > old.begin ? begin : old.begin;
    if (end < old.end && d.memory_ranges < 64) d.memory[d.memory_ranges++] = {end, old.end, 0};
  }
}

// --- loaders

struct pvh_info {
  u32 magic, version, flags, modules;
  u64 module_list, command_line, rsdp, memory_map;
  u32 memory_entries, reserved;
};
struct pvh_module {
  u64 begin, bytes, command_line, reserved;
};
struct pvh_memory {
  u64 begin, bytes;
  u32 type, reserved;
};

u64 read_pvh(u64 information) noexcept {
  const auto& info = at<pvh_info>(information);
  the_description.loader = "pvh";
  the_description.command_line = reinterpret_cast<const char*>(info.command_line);
  for (u32 i = 0; i < info.memory_entries; ++i) {
    const auto& m = at<pvh_memory>(info.memory_map + i * sizeof(pvh_memory));
    if (m.type == 1) add_memory(m.begin, m.begin + m.bytes);
  }
  if (info.modules > 0) {
    const auto& m = at<pvh_module>(info.module_list);
    the_description.file = reinterpret_cast<const char*>(m.begin);
    the_description.file_bytes = m.bytes;
  }
  return info.rsdp;
}

struct multiboot_info {
  u32 flags, memory_lower, memory_upper, boot_device, command_line, modules, module_list;
  u32 symbols[4];
  u32 memory_bytes, memory_map;
};
struct [[gnu::packed]] multiboot_memory {
  u32 size;
  u64 begin, bytes;
  u32 type;
};
struct multiboot_module {
  u32 begin, end, text, reserved;
};

// Looks for the firmware's root pointer where a BIOS puts it.
u64 find_rsdp() noexcept {
  // The compiler must not know that this is an address near 0, which it takes for a mistake.
  u64 pointer = 0x40E;
  asm("" : "+r"(pointer));
  const u64 extended_area = u64{at<u16>(pointer)} << 4;
  const u64 areas[][2] = {{extended_area, extended_area + 1024}, {0xE0000, 0x100000}};
  for (const auto& area : areas)
    for (u64 address = area[0]; address + 16 <= area[1]; address += 16)
      if (text::is_same(reinterpret_cast<const char*>(address), "RSD PTR ", 8)) return address;
  return 0;
}

u64 read_multiboot(u64 information) noexcept {
  const auto& info = at<multiboot_info>(information);
  the_description.loader = "multiboot";
  if (info.flags & 4)
    the_description.command_line = reinterpret_cast<const char*>(u64{info.command_line});
  if ((info.flags & 0x40) == 0) panic("the boot loader gave no map of the memory");
  for (u64 m = info.memory_map; m < u64{info.memory_map} + info.memory_bytes;
       m += at<multiboot_memory>(m).size + 4)
    if (at<multiboot_memory>(m).type == 1)
      add_memory(at<multiboot_memory>(m).begin,
                 at<multiboot_memory>(m).begin + at<multiboot_memory>(m).bytes);
  if ((info.flags & 8) != 0 && info.modules > 0) {
    const auto& m = at<multiboot_module>(info.module_list);
    the_description.file = reinterpret_cast<const char*>(u64{m.begin});
    the_description.file_bytes = m.end - m.begin;
  }
  return find_rsdp();
}

// --- the firmware's tables (ACPI)

struct [[gnu::packed]] table_header {
  char name[4];
  u32 bytes;
  char rest[28];
};

u64 find_table(u64 rsdp, const char* name) noexcept {
  if (rsdp == 0) return 0;
  const bool is_extended = at<u8>(rsdp + 15) >= 2 && at<u64>(rsdp + 24) != 0;
  const u64 root = is_extended ? at<u64>(rsdp + 24) : u64{at<u32>(rsdp + 16)};
  const u32 step = is_extended ? 8 : 4;
  for (u64 entry = root + sizeof(table_header); entry < root + at<table_header>(root).bytes;
       entry += step) {
    const u64 table = is_extended ? at<u64>(entry) : u64{at<u32>(entry)};
    if (text::is_same(at<table_header>(table).name, name, 4)) return table;
  }
  return 0;
}

// Calls visit(entry) for the variable-length entries of a table from `first` on.
template <class Visit>
void for_entries(u64 table, u64 first, Visit visit) noexcept {
  const u64 end = table + at<table_header>(table).bytes;
  for (u64 entry = table + first; entry + 2 <= end && at<u8>(entry + 1) != 0;
       entry += at<u8>(entry + 1))
    visit(entry);
}

void add_core(u32 hardware_id, u32 flags) noexcept {
  description& d = the_description;
  const bool is_enabled = (flags & 1) != 0;
  if (!is_enabled || hardware_id == d.hardware_id[0] || d.cores >= most_cores) return;
  d.hardware_id[d.cores++] = hardware_id;
}

void read_cores(u64 rsdp) noexcept {
  description& d = the_description;
  d.hardware_id[0] = own_hardware_id();
  d.cores = 1;
  const u64 madt = find_table(rsdp, "APIC");
  if (madt == 0) return;
  for_entries(madt, 44, [](u64 entry) {
    if (at<u8>(entry) == 0) add_core(at<u8>(entry + 3), at<u32>(entry + 4));
    if (at<u8>(entry) == 9) add_core(at<u32>(entry + 4), at<u32>(entry + 8));
  });
}

// Numbers the proximity domains in the order in which they appear.
u32 node_of_domain(u32 domain) noexcept {
  static u32 domains[most_nodes];
  static u32 count = 0;
  for (u32 i = 0; i < count; ++i)
    if (domains[i] == domain) return i;
  if (count == most_nodes) return most_nodes - 1;
  domains[count++] = domain;
  the_description.nodes = count;
  return count - 1;
}

void put_core_on_node(u32 hardware_id, u32 node) noexcept {
  description& d = the_description;
  for (u32 i = 0; i < d.cores; ++i)
    if (d.hardware_id[i] == hardware_id) d.node_of_core[i] = node;
}

void put_memory_on_node(u64 begin, u64 end, u32 node) noexcept {
  description& d = the_description;
  const u32 count = d.memory_ranges;
  for (u32 i = 0; i < count; ++i) {
    memory_range& r = d.memory[i];
    if (end <= r.begin || r.end <= begin) continue;
    const memory_range old = r;
    const auto add_rest = [&](u64 from, u64 to) {
      if (from < to && d.memory_ranges < 64) d.memory[d.memory_ranges++] = {from, to, old.node};
    };
    add_rest(old.begin, begin);
    add_rest(end, old.end);
    r = {begin > old.begin ? begin : old.begin, end < old.end ? end : old.end, node};
  }
}

void read_nodes(u64 rsdp) noexcept {
  const u64 srat = find_table(rsdp, "SRAT");
  if (srat == 0) return;
  for_entries(srat, 48, [](u64 entry) {
    const u8 type = at<u8>(entry);
    if (type == 0 && (at<u32>(entry + 4) & 1) != 0) {
      const u32 domain = at<u8>(entry + 2) | (at<u32>(entry + 8) & 0xFFFFFF00u);
      put_core_on_node(at<u8>(entry + 3), node_of_domain(domain));
    } else if (type == 1 && (at<u32>(entry + 28) & 1) != 0) {
      const u64 begin = at<u64>(entry + 8), bytes = at<u64>(entry + 16);
      put_memory_on_node(begin, begin + bytes, node_of_domain(at<u32>(entry + 2)));
    } else if (type == 2 && (at<u32>(entry + 12) & 1) != 0) {
      put_core_on_node(at<u32>(entry + 8), node_of_domain(at<u32>(entry + 4)));
    }
  });
}

}  // namespace

void read_boot_information(u64 protocol, u64 information) noexcept {
  description& d = the_description;
  if (protocol != 0 && protocol != 0x2BADB002) panic("loaded neither by PVH nor by multiboot");
  const u64 rsdp = protocol == 0 ? read_pvh(information) : read_multiboot(information);
  if (d.command_line == nullptr) d.command_line = "";
  reserve(0x100000, reinterpret_cast<u64>(image_end));
  // The loader's texts lie in memory that it says is free: they are kept.
  reserve(information, information + page);
  const u64 line = reinterpret_cast<u64>(d.command_line);
  reserve(line, line + text::length(d.command_line) + 1);
  if (d.file != nullptr) {
    const u64 file = reinterpret_cast<u64>(d.file);
    reserve(file, file + d.file_bytes);
  }
  constexpr u32 hypervisor_bit = 1u << 31;
  d.is_virtual = (cpuid(1).c & hypervisor_bit) != 0;
  read_cores(rsdp);
  read_nodes(rsdp);
}

}  // namespace tutti::kernel::machine
