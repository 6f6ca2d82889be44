// SPDX-License-Identifier: Apache-2.0
/// A queue for two messages. ready_o depends on registers only, never on ready_i, so the ready signals
/// form no combinational chain through routers.
module tutti_detector_fifo
  import tutti_detector_pkg::*;
(
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
  logic [1:0] used_q;
  message_t first_q, second_q;
  logic push, pop;

  assign ready_o = used_q != 2'd2;
  assign valid_o = used_q != 2'd0;
  assign message_o = first_q;
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q <= '0;
    end else begin
      used_q <= used_q + 2'(push) - 2'(pop);
    end
    // used_q tells which of the two hold a message; the others' contents do not matter.
    if (pop) first_q <= used_q == 2'd2 ? second_q : message_i;
    else if (push && used_q == 2'd0) first_q <= message_i;
    if (push) second_q <= message_i;
  end

`ifdef VERILATOR
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_no_overflow: assert (used_q != 2'd3);
      a_no_push_when_full: assert (!(push && used_q == 2'd2));
    end
  end
`endif
endmodule
