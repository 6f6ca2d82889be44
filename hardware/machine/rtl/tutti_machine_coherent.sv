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
    /// Homes, a power of two to 64; home b is in socket b % Sockets.
    parameter int unsigned Banks = 4,
    /// A line's home is its number modulo Banks: 0; or a hash, which spreads regular accesses: 1.
    parameter int unsigned HomeHash = 1,
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
  localparam int unsigned LineBits = 8 * LineBytes;
  logic [Cores-1:0] request_valid, request_ready, forward_valid, forward_ready;
  logic [Cores-1:0] sent_valid, sent_ready, response_valid, response_ready;
  message_t [Cores-1:0] request, forward, sent, response;
  logic [Cores-1:0][LineBits-1:0] sent_line, response_line;
  logic [Banks-1:0] home_request_valid, home_request_ready, home_forward_valid, home_forward_ready;
  logic [Banks-1:0] home_sent_valid, home_sent_ready, home_response_valid, home_response_ready;
  message_t [Banks-1:0] home_request, home_forward, home_sent, home_response;
  logic [Banks-1:0][LineBits-1:0] home_sent_line, home_response_line;

  for (genvar c = 0; c < Cores; ++c) begin : gen_cache
    tutti_machine_cache #(
        .LineBytes(LineBytes),
        .CacheBytes(CacheBytes),
        .Ways(Ways),
        .MemoryBase(MemoryBase),
        .MemoryBytes(MemoryBytes),
        .HoldCycles(HoldCycles)
    ) i_cache (
        .clk_i,
        .rst_ni,
        .core_i(core_t'(c)),
        .data_valid_i(data_valid_i[c]),
        .data_request_i(data_request_i[c]),
        .data_ready_o(data_ready_o[c]),
        .data_rdata_o(data_rdata_o[c]),
        .data_fault_o(data_fault_o[c]),
        .request_valid_o(request_valid[c]),
        .request_ready_i(request_ready[c]),
        .request_o(request[c]),
        .forward_valid_i(forward_valid[c]),
        .forward_ready_o(forward_ready[c]),
        .forward_i(forward[c]),
        .response_valid_i(response_valid[c]),
        .response_ready_o(response_ready[c]),
        .response_i(response[c]),
        .response_line_i(response_line[c]),
        .response_valid_o(sent_valid[c]),
        .response_ready_i(sent_ready[c]),
        .response_o(sent[c]),
        .response_line_o(sent_line[c]),
        .status_o(cache_status_o[c])
    );
  end

  for (genvar b = 0; b < Banks; ++b) begin : gen_home
    tutti_machine_directory #(
        .Cores(Cores),
        .Banks(Banks),
        .LineBytes(LineBytes),
        .MemoryBytes(MemoryBytes),
        .Transactions(Transactions),
        .DirectoryLatency(DirectoryLatency),
        .NearBytes(NearBytes),
        .NearLatency(NearLatency),
        .MemoryLatency(MemoryLatency)
    ) i_directory (
        .clk_i,
        .rst_ni,
        .request_valid_i(home_request_valid[b]),
        .request_ready_o(home_request_ready[b]),
        .request_i(home_request[b]),
        .forward_valid_o(home_forward_valid[b]),
        .forward_ready_i(home_forward_ready[b]),
        .forward_o(home_forward[b]),
        .response_valid_i(home_response_valid[b]),
        .response_ready_o(home_response_ready[b]),
        .response_i(home_response[b]),
        .response_line_i(home_response_line[b]),
        .response_valid_o(home_sent_valid[b]),
        .response_ready_i(home_sent_ready[b]),
        .response_o(home_sent[b]),
        .response_line_o(home_sent_line[b]),
        .status_o(transaction_status_o[b])
    );
  end

  tutti_machine_network #(
      .Cores(Cores),
      .Sockets(Sockets),
      .Banks(Banks),
      .HomeHash(HomeHash),
      .LineBytes(LineBytes),
      .HopLatency(HopLatency),
      .LineCycles(LineCycles),
      .LinkLatency(LinkLatency),
      .LinkLineCycles(LinkLineCycles)
  ) i_network (
      .clk_i,
      .rst_ni,
      .request_valid_i(request_valid),
      .request_ready_o(request_ready),
      .request_i(request),
      .forward_valid_o(forward_valid),
      .forward_ready_i(forward_ready),
      .forward_o(forward),
      .response_valid_i(sent_valid),
      .response_ready_o(sent_ready),
      .response_i(sent),
      .response_line_i(sent_line),
      .response_valid_o(response_valid),
      .response_ready_i(response_ready),
      .response_o(response),
      .response_line_o(response_line),
      .home_request_valid_o(home_request_valid),
      .home_request_ready_i(home_request_ready),
      .home_request_o(home_request),
      .home_forward_valid_i(home_forward_valid),
      .home_forward_ready_o(home_forward_ready),
      .home_forward_i(home_forward),
      .home_response_valid_i(home_sent_valid),
      .home_response_ready_o(home_sent_ready),
      .home_response_i(home_sent),
      .home_response_line_i(home_sent_line),
      .home_response_valid_o(home_response_valid),
      .home_response_ready_i(home_response_ready),
      .home_response_o(home_response),
      .home_response_line_o(home_response_line)
  );
endmodule
