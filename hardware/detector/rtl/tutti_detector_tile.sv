// SPDX-License-Identifier: Apache-2.0
/// A node of the mesh: its part of the detector, its router, and the arbitration of the router's
/// local port.
module tutti_detector_tile
  import tutti_detector_pkg::*;
#(
    /// Cores of the node.
    parameter int unsigned Cores = 4,
    /// Inputs of an entry of the trees.
    parameter int unsigned Radix = 4,
    /// Width of the values that threads give, at most 32; 0: there are none.
    parameter int unsigned ValueBits = 0,
    /// See tutti_detector_router.
    parameter int unsigned MasterWest = 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Positions of this node and of the master.
    input place_t here_i,
    input place_t master_i,
    /// The wires of the cores.
    input logic [Cores-1:0] send_i,
    input logic [Cores-1:0] receive_i,
    input logic [Cores-1:0] idle_i,
    input logic [Cores-1:0] vote_i,
    input logic [Cores-1:0] left_i,
    input total_t [Cores-1:0] total_i,
    output logic release_o,
    output logic unanimous_o,
    output total_t total_o,
    output logic enable_o,
    output logic [CountBits-1:0] count_o,
    output logic [2:0] error_o,
    /// Messages of the threads to other nodes.
    input logic data_valid_i,
    output logic data_ready_o,
    input place_t data_to_i,
    input logic [CountBits-1:0] data_i,
    /// Messages of the threads from other nodes.
    output logic data_valid_o,
    input logic data_ready_i,
    output logic [CountBits-1:0] data_o,
    /// The master's port, if the master is in this node.
    input logic master_valid_i,
    output logic master_ready_o,
    input message_t master_message_i,
    output logic master_valid_o,
    output message_t master_message_o,
    /// North, east, south and west.
    input logic [3:0] valid_i,
    output logic [3:0] ready_o,
    input message_t [3:0] message_i,
    output logic [3:0] valid_o,
    input logic [3:0] ready_i,
    output message_t [3:0] message_o
);
  /*verilator no_inline_module*/
  logic in_valid, in_ready, out_valid, out_ready, is_data, is_order;
  message_t in, out, reply;
  logic reply_valid;

  always_comb begin
    in = '0;
    in.kind = Data;
    in.to = data_to_i;
    in.from = here_i;
    in.report.count = data_i;
    if (master_valid_i) in = master_message_i;
    if (reply_valid) in = reply;
  end
  assign in_valid = reply_valid || master_valid_i || data_valid_i;
  assign master_ready_o = in_ready && !reply_valid;
  assign data_ready_o = in_ready && !reply_valid && !master_valid_i;

  assign is_data = out_valid && out.kind == Data;
  assign is_order = out_valid && out.kind == Order;
  assign data_valid_o = is_data;
  assign data_o = out.report.count;
  assign master_valid_o = out_valid && out.kind == Reply;
  assign master_message_o = out;
  assign out_ready = !is_data || data_ready_i;

  assign reply.kind = Reply;
  assign reply.to_master = 1'b1;
  assign reply.to = master_i;
  assign reply.from = here_i;

  tutti_detector_node #(
      .Cores(Cores),
      .Radix(Radix),
      .ValueBits(ValueBits)
  ) i_node (
      .clk_i,
      .rst_ni,
      .send_i,
      .receive_i,
      .idle_i,
      .vote_i,
      .left_i,
      .total_i,
      .order_valid_i(is_order),
      .order_phase_i(out.report.phase),
      .order_vote_i(out.report.vote),
      .order_total_i(out.report.total),
      .reply_valid_o(reply_valid),
      .reply_ready_i(in_ready),
      .reply_phase_o(reply.report.phase),
      .reply_black_o(reply.report.black),
      .reply_vote_o(reply.report.vote),
      .reply_count_o(reply.report.count),
      .reply_total_o(reply.report.total),
      .release_o,
      .unanimous_o,
      .total_o,
      .enable_o,
      .count_o,
      .error_o
  );

  tutti_detector_router #(
      .MasterWest(MasterWest)
  ) i_router (
      .clk_i,
      .rst_ni,
      .here_i,
      .valid_i({in_valid, valid_i}),
      .ready_o({in_ready, ready_o}),
      .message_i({in, message_i}),
      .valid_o({out_valid, valid_o}),
      .ready_i({out_ready, ready_i}),
      .message_o({out, message_o})
  );
endmodule
