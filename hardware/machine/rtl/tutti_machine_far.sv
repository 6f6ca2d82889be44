// SPDX-License-Identifier: Apache-2.0
// The way of a core's one message between two sockets: it comes out `latency_i` cycles later. A
// message that stays in its socket passes at once.
module tutti_machine_far #(
    parameter int unsigned Width = 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    /// 1 to 1023.
    input  logic [      9:0] latency_i,
    /// The message goes to the other socket.
    input  logic             far_i,
    input  logic             valid_i,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    output logic [Width-1:0] data_o
);
  logic [9:0] left_q;
  logic [Width-1:0] data_q;
  assign valid_o = left_q == 10'd1 || (valid_i && !far_i);
  assign data_o = left_q == 10'd1 ? data_q : data_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (valid_i && far_i) left_q <= latency_i;
    else if (left_q != '0) left_q <= left_q - 1'b1;
    if (valid_i && far_i) data_q <= data_i;
  end
endmodule
