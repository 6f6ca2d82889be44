// SPDX-License-Identifier: Apache-2.0
// The predefined types and operations of both families: the symbol whose address is the handle in
// Open MPI, and the number that is the handle in every library with the ABI of MPICH.
// The tests use the names of the mpi.h that is installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "preload/mpi/operations.hpp"

namespace tutti::preload {

template <class Value>
struct predefined {
  const char* name;  // in mpi.h
  const char* symbol;
  std::uint32_t number;
  Value means;
};

constexpr kind signed_of(std::size_t bytes) noexcept {
  return bytes == 1 ? kind::i8 : bytes == 2 ? kind::i16 : bytes == 4 ? kind::i32 : kind::i64;
}
constexpr kind unsigned_of(std::size_t bytes) noexcept {
  return bytes == 1 ? kind::u8 : bytes == 2 ? kind::u16 : bytes == 4 ? kind::u32 : kind::u64;
}

inline constexpr predefined<kind> predefined_types[] = {
    {"MPI_CHAR", "ompi_mpi_char", 0x4c000101, kind::text},
    {"MPI_SIGNED_CHAR", "ompi_mpi_signed_char", 0x4c000118, kind::i8},
    {"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char", 0x4c000102, kind::u8},
    {"MPI_BYTE", "ompi_mpi_byte", 0x4c00010d, kind::bytes},
    {"MPI_SHORT", "ompi_mpi_short", 0x4c000203, kind::i16},
    {"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short", 0x4c000204, kind::u16},
    {"MPI_INT", "ompi_mpi_int", 0x4c000405, kind::i32},
    {"MPI_UNSIGNED", "ompi_mpi_unsigned", 0x4c000406, kind::u32},
    {"MPI_LONG", "ompi_mpi_long", sizeof(long) == 8 ? 0x4c000807 : 0x4c000407,
     signed_of(sizeof(long))},
    {"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long", sizeof(long) == 8 ? 0x4c000808 : 0x4c000408,
     unsigned_of(sizeof(long))},
    {"MPI_LONG_LONG_INT", "ompi_mpi_long_long_int", 0x4c000809, kind::i64},
    {"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long", 0x4c000819, kind::u64},
    {"MPI_FLOAT", "ompi_mpi_float", 0x4c00040a, kind::f32},
    {"MPI_DOUBLE", "ompi_mpi_double", 0x4c00080b, kind::f64},
    {"MPI_LONG_DOUBLE", "ompi_mpi_long_double", 0x4c00100c, kind::extended},
    {"MPI_INT8_T", "ompi_mpi_int8_t", 0x4c000137, kind::i8},
    {"MPI_INT16_T", "ompi_mpi_int16_t", 0x4c000238, kind::i16},
    {"MPI_INT32_T", "ompi_mpi_int32_t", 0x4c000439, kind::i32},
    {"MPI_INT64_T", "ompi_mpi_int64_t", 0x4c00083a, kind::i64},
    {"MPI_UINT8_T", "ompi_mpi_uint8_t", 0x4c00013b, kind::u8},
    {"MPI_UINT16_T", "ompi_mpi_uint16_t", 0x4c00023c, kind::u16},
    {"MPI_UINT32_T", "ompi_mpi_uint32_t", 0x4c00043d, kind::u32},
    {"MPI_UINT64_T", "ompi_mpi_uint64_t", 0x4c00083e, kind::u64},
    {"MPI_AINT", "ompi_mpi_aint", 0x4c000843, kind::i64},
    {"MPI_OFFSET", "ompi_mpi_offset", 0x4c000844, kind::i64},
    {"MPI_COUNT", "ompi_mpi_count", 0x4c000845, kind::i64},
    {"MPI_C_BOOL", "ompi_mpi_c_bool", 0x4c00013f, kind::boolean},
    {"MPI_C_FLOAT_COMPLEX", "ompi_mpi_c_float_complex", 0x4c000840, kind::c32},
    {"MPI_C_DOUBLE_COMPLEX", "ompi_mpi_c_double_complex", 0x4c001041, kind::c64},
    // Fortran, with the sizes of its compilers' defaults; library.cpp checks them.
    {"MPI_CHARACTER", "ompi_mpi_character", 0x4c00011a, kind::text},
    {"MPI_INTEGER", "ompi_mpi_integer", 0x4c00041b, kind::i32},
    {"MPI_REAL", "ompi_mpi_real", 0x4c00041c, kind::f32},
    {"MPI_DOUBLE_PRECISION", "ompi_mpi_dblprec", 0x4c00081f, kind::f64},
    {"MPI_COMPLEX", "ompi_mpi_cplex", 0x4c00081e, kind::c32},
    {"MPI_DOUBLE_COMPLEX", "ompi_mpi_dblcplex", 0x4c001022, kind::c64},
    {"MPI_REAL4", "ompi_mpi_real4", 0x4c000427, kind::f32},
    {"MPI_REAL8", "ompi_mpi_real8", 0x4c000829, kind::f64},
    {"MPI_COMPLEX8", "ompi_mpi_complex8", 0x4c000828, kind::c32},
    {"MPI_COMPLEX16", "ompi_mpi_complex16", 0x4c00102a, kind::c64},
    {"MPI_INTEGER1", "ompi_mpi_integer1", 0x4c00012d, kind::i8},
    {"MPI_INTEGER2", "ompi_mpi_integer2", 0x4c00022f, kind::i16},
    {"MPI_INTEGER4", "ompi_mpi_integer4", 0x4c000430, kind::i32},
    {"MPI_INTEGER8", "ompi_mpi_integer8", 0x4c000831, kind::i64},
};

inline constexpr predefined<operation> predefined_operations[] = {
    {"MPI_MAX", "ompi_mpi_op_max", 0x58000001, operation::max},
    {"MPI_MIN", "ompi_mpi_op_min", 0x58000002, operation::min},
    {"MPI_SUM", "ompi_mpi_op_sum", 0x58000003, operation::sum},
    {"MPI_PROD", "ompi_mpi_op_prod", 0x58000004, operation::product},
    {"MPI_LAND", "ompi_mpi_op_land", 0x58000005, operation::logical_and},
    {"MPI_BAND", "ompi_mpi_op_band", 0x58000006, operation::bit_and},
    {"MPI_LOR", "ompi_mpi_op_lor", 0x58000007, operation::logical_or},
    {"MPI_BOR", "ompi_mpi_op_bor", 0x58000008, operation::bit_or},
    {"MPI_LXOR", "ompi_mpi_op_lxor", 0x58000009, operation::logical_xor},
    {"MPI_BXOR", "ompi_mpi_op_bxor", 0x5800000a, operation::bit_xor},
};

}  // namespace tutti::preload
