// SPDX-License-Identifier: Apache-2.0
/// The sum of five words is their one's complement sum: what adding them one by one gives, each time with its carry.
module tutti_innetwork_sum_formal
  import tutti_innetwork_pkg::*;
(
    input logic clk_i,
    // Free.
    input logic [15:0] a_i,
    input logic [15:0] b_i,
    input logic [15:0] c_i,
    input logic [15:0] d_i,
    input logic [15:0] e_i
);
  function automatic logic [15:0] add(logic [15:0] a, logic [15:0] b);
    logic [16:0] sum;
    sum = 17'(a) + 17'(b);
    return sum[15:0] + 16'(sum[16]);
  endfunction
  logic unused_q;
  always_ff @(posedge clk_i) unused_q <= a_i[0];
  always_comb begin
    a_sum: assert (fold5(a_i, b_i, c_i, d_i, e_i) == add(add(add(add(a_i, b_i), c_i), d_i), e_i));
    c_carries: cover (a_i == '1 && b_i == '1 && c_i == 16'd2 && fold5(a_i, b_i, c_i, d_i, e_i) == 16'd1);
  end
endmodule
