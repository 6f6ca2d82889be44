// SPDX-License-Identifier: Apache-2.0
/// A private data cache: write-back, MESI, one miss at a time, and one line on its way home.
///
/// A hit takes two cycles, an atomic operation three: the first reads the arrays at the line's set,
/// the second compares. The cache performs atomic operations on a line that it may write. It serves
/// the core and the directories in turn. A core's access is complete before the line that was
/// fetched for it can be taken away.
///
/// LoadReserved fetches the line for writing and holds it for HoldCycles, or until the core's next
/// access. An Invalidate or FwdGet waits that long, once: a LoadReserved does not hold a line for
/// which somebody waits. Hence a StoreConditional that follows within HoldCycles succeeds at the
/// second try at the latest, and nobody waits for ever.
module tutti_machine_cache
  import tutti_machine_pkg::*;
#(
    /// Bytes of a line, a power of two from 4.
    parameter int unsigned LineBytes = 64,
    /// Bytes of the cache, a power of two.
    parameter int unsigned CacheBytes = 8192,
    /// Lines of a set, 1 to 8.
    parameter int unsigned Ways = 2,
    /// The coherent memory; accesses to other addresses fault.
    parameter logic [31:0] MemoryBase = 32'h8000_0000,
    parameter int unsigned MemoryBytes = 16 << 20,
    /// How long LoadReserved holds its line, 1 to 255 cycles.
    parameter int unsigned HoldCycles = 64,
    localparam int unsigned LineBits = 8 * LineBytes
) (
    input logic clk_i,
    /// Synchronous reset, active low. The contents are lost.
    input logic rst_ni,
    /// The number of this cache.
    input core_t core_i,
    /// The core's access, held until `data_ready_o`.
    input logic data_valid_i,
    input data_request_t data_request_i,
    output logic data_ready_o,
    /// The word; 0 or 1 of a StoreConditional that succeeded or failed.
    output logic [31:0] data_rdata_o,
    output logic data_fault_o,
    /// To the homes.
    output logic request_valid_o,
    input logic request_ready_i,
    output message_t request_o,
    /// From the homes.
    input logic forward_valid_i,
    output logic forward_ready_o,
    input message_t forward_i,
    /// From homes and caches; always taken.
    input logic response_valid_i,
    output logic response_ready_o,
    input message_t response_i,
    input logic [LineBits-1:0] response_line_i,
    /// To homes and caches.
    output logic response_valid_o,
    input logic response_ready_i,
    output message_t response_o,
    output logic [LineBits-1:0] response_line_o,
    output cache_status_t status_o
);
endmodule
