// SPDX-License-Identifier: Apache-2.0
/// A link between sockets: carries a barrier's number with a latency. It stops while the message at
/// its end is not taken.
module tutti_hbs_link #(
    /// Cycles from one end to the other, at least 1.
    parameter int unsigned Latency = 8,
    parameter int unsigned BarrierBits = 3
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input logic [BarrierBits-1:0] barrier_i,
    output logic valid_o,
    input logic ready_i,
    output logic [BarrierBits-1:0] barrier_o
);
  if (Latency < 1 || Latency > 1024) $fatal(1, "tutti_hbs_link: Latency must be 1 to 1024");

  logic [Latency-1:0] valid_q;
  logic [Latency-1:0][BarrierBits-1:0] barrier_q;
  logic move;
  assign move = !valid_q[Latency-1] || ready_i;
  assign ready_o = move;
  assign valid_o = valid_q[Latency-1];
  assign barrier_o = barrier_q[Latency-1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      barrier_q <= '0;
    end else if (move) begin
      valid_q <= (valid_q << 1) | Latency'(valid_i);
      barrier_q <= (barrier_q << BarrierBits) | (Latency * BarrierBits)'(barrier_i);
    end
  end
endmodule
