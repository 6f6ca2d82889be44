// SPDX-License-Identifier: Apache-2.0
/// The coherent memory of a machine: a cache for each core, directories with their memory, and the
/// network inside and between the sockets.
module tutti_machine_coherent
  import tutti_machine_pkg::*;
#(
    /// Cores, 1 to 64, the same number in each socket: core c is in socket c / (Cores / Sockets).
    parameter int unsigned Cores = 16,
    /// Sockets, 1 to 4.
    parameter int unsigned Sockets = 1,
    /// Homes, a power of two to 64. Home b is in socket b % Sockets and has the lines b modulo Banks.
    parameter int unsigned Banks = 4,
    /// See tutti_machine_cache.
    parameter int unsigned LineBytes = 64,
    parameter int unsigned CacheBytes = 8192,
    parameter int unsigned Ways = 2,
    parameter int unsigned HoldCycles = 64,
    parameter logic [31:0] MemoryBase = 32'h8000_0000,
    parameter int unsigned MemoryBytes = 16 << 20,
    /// See tutti_machine_directory.
    parameter int unsigned Transactions = 4,
    parameter int unsigned DirectoryLatency = 8,
    parameter int unsigned NearBytes = 1 << 20,
    parameter int unsigned NearLatency = 12,
    parameter int unsigned MemoryLatency = 100,
    /// See tutti_machine_network.
    parameter int unsigned HopLatency = 6,
    parameter int unsigned LineCycles = 2,
    parameter int unsigned LinkLatency = 48,
    parameter int unsigned LinkLineCycles = 8
) (
    input logic clk_i,
    /// Synchronous reset, active low. What the caches had not written home is lost.
    input logic rst_ni,
    /// Each core's accesses; see tutti_machine_cache.
    input logic [Cores-1:0] data_valid_i,
    input data_request_t [Cores-1:0] data_request_i,
    output logic [Cores-1:0] data_ready_o,
    output logic [Cores-1:0][31:0] data_rdata_o,
    output logic [Cores-1:0] data_fault_o,
    /// For a report of who waits for what.
    output cache_status_t [Cores-1:0] cache_status_o,
    output transaction_status_t [Banks-1:0][Transactions-1:0] transaction_status_o
);
endmodule
