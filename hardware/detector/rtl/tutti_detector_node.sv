// SPDX-License-Identifier: Apache-2.0
/// A node of the detector: the trees and the core that replies. This is what termination detection
/// adds to a node.
module tutti_detector_node
  import tutti_detector_pkg::*;
#(
    /// Cores of the node, 1 to 256.
    parameter int unsigned Cores = 64,
    /// Inputs of an entry of the trees.
    parameter int unsigned Radix = 4,
    /// Width of the message count.
    parameter int unsigned Bits = CountBits,
    /// Width of the values that threads give, at most 32; 0: there are none.
    parameter int unsigned ValueBits = 0
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Wires of the cores; see tutti_detector_tree. An idle core neither sends nor receives in that
    /// cycle.
    input logic [Cores-1:0] send_i,
    input logic [Cores-1:0] receive_i,
    input logic [Cores-1:0] idle_i,
    input logic [Cores-1:0] vote_i,
    input logic [Cores-1:0] left_i,
    input total_t [Cores-1:0] total_i,
    /// See tutti_detector_core.
    input logic order_valid_i,
    input phase_t order_phase_i,
    input logic order_vote_i,
    input total_t order_total_i,
    output logic reply_valid_o,
    input logic reply_ready_i,
    output phase_t reply_phase_o,
    output logic reply_black_o,
    output logic reply_vote_o,
    output logic [Bits-1:0] reply_count_o,
    output total_t reply_total_o,
    output logic release_o,
    output logic unanimous_o,
    output total_t total_o,
    output logic enable_o,
    output logic [Bits-1:0] count_o,
    /// Misuse, kept until reset: [0] sent while disabled, [1] sent or received while idle, [2] two
    /// orders at once.
    output logic [2:0] error_o
);
  localparam int unsigned SumBits = $clog2(Cores) + 2;

  logic [SumBits-1:0] sum;
  logic idle, vote, left, overrun;
  total_t total;

  tutti_detector_tree #(
      .Cores(Cores),
      .Radix(Radix),
      .ValueBits(ValueBits)
  ) i_tree (
      .clk_i,
      .rst_ni,
      .send_i,
      .receive_i,
      .idle_i,
      .vote_i,
      .left_i,
      .total_i,
      .sum_o (sum),
      .idle_o(idle),
      .vote_o(vote),
      .left_o(left),
      .total_o(total)
  );

  tutti_detector_core #(
      .SumBits(SumBits),
      .Levels(tree_levels(Cores, Radix)),
      .Bits(Bits),
      .ValueBits(ValueBits)
  ) i_core (
      .clk_i,
      .rst_ni,
      .sum_i(sum),
      .idle_i(idle),
      .vote_i(vote),
      .left_i(left),
      .total_i(total),
      .order_valid_i,
      .order_phase_i,
      .order_vote_i,
      .order_total_i,
      .reply_valid_o,
      .reply_ready_i,
      .reply_phase_o,
      .reply_black_o,
      .reply_vote_o,
      .reply_count_o,
      .reply_total_o,
      .release_o,
      .unanimous_o,
      .total_o,
      .enable_o,
      .count_o,
      .overrun_o(overrun)
  );

  logic [2:0] error_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      error_q <= '0;
    end else begin
      error_q[0] <= error_q[0] || (!enable_o && send_i != '0);
      error_q[1] <= error_q[1] || (idle_i & (send_i | receive_i)) != '0;
      error_q[2] <= error_q[2] || overrun;
    end
  end
  assign error_o = error_q;
endmodule
