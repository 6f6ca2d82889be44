// SPDX-License-Identifier: Apache-2.0
/// A queue for two messages. ready_o depends on registers only, so that ready signals form no
/// combinational chain through routers.
module tutti_socket_queue #(
    parameter int unsigned Width = 8
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input logic [Width-1:0] data_i,
    output logic valid_o,
    input logic ready_i,
    output logic [Width-1:0] data_o
);
  if (Width < 1) $fatal(1, "tutti_socket_queue: Width must be at least 1");
  logic [1:0] used_q;
  logic [Width-1:0] first_q, second_q;
  logic push, pop;

  assign ready_o = used_q != 2'd2;
  assign valid_o = used_q != 2'd0;
  assign data_o = first_q;
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) used_q <= '0;
    else used_q <= used_q + 2'(push) - 2'(pop);
    if (pop) first_q <= used_q == 2'd2 ? second_q : data_i;
    else if (push && used_q == 2'd0) first_q <= data_i;
    if (push) second_q <= data_i;
  end
endmodule
