// SPDX-License-Identifier: Apache-2.0
/// A link between nodes: a delay line made of a ring in memory. It stops while the message at its
/// end is not taken.
module tutti_detector_link
  import tutti_detector_pkg::*;
#(
    /// Cycles from one end to the other, 1 to 1024.
    parameter int unsigned Latency = 149
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input message_t message_i,
    output logic valid_o,
    input logic ready_i,
    output message_t message_o
);
  /*verilator no_inline_module*/
  if (Latency < 1 || Latency > 1024) $fatal(1, "tutti_detector_link: Latency must be 1 to 1024");

  localparam int unsigned AtBits = Latency == 1 ? 1 : $clog2(Latency);
  message_t line_q[Latency];
  logic [Latency-1:0] valid_q;
  logic [AtBits-1:0] at_q;
  logic move;

  assign valid_o = valid_q[at_q];
  assign message_o = line_q[at_q];
  assign move = !valid_o || ready_i;
  assign ready_o = move;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      at_q <= '0;
    end else if (move) begin
      valid_q[at_q] <= valid_i;
      at_q <= at_q == AtBits'(Latency - 1) ? '0 : at_q + 1'b1;
    end
    if (move && valid_i) line_q[at_q] <= message_i;
  end

`ifdef VERILATOR
  message_t held_q;
  logic stalled_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= rst_ni && valid_o && !ready_i;
    held_q <= message_o;
    if (rst_ni && stalled_q) a_stands_still: assert (valid_o && message_o == held_q);
  end
`endif
endmodule
