// SPDX-License-Identifier: Apache-2.0
/// Asserts that what is offered stays, unchanged, until it is taken.
module tutti_check_handshake #(
    parameter int unsigned Width = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic ready_i,
    input logic [Width-1:0] data_i
);
  logic waits_q;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && valid_i && !ready_i;
    data_q <= data_i;
    if (rst_ni && waits_q) begin
      a_stays: assert (valid_i)
      else $error("%m: what was offered is withdrawn before it was taken");
      a_unchanged: assert (!valid_i || data_i == data_q)
      else $error("%m: what was offered changes before it is taken");
    end
  end
endmodule
