// SPDX-License-Identifier: Apache-2.0
/// The sums of the checksums, word by word: another word may be added before or after the carries
/// are folded in, and sums_up reports when the one's complement sum is FFFF. So both hold for any
/// number of words that a sum can hold.
module tutti_innetwork_sum_formal
  import tutti_innetwork_pkg::*;
(
    input logic clk_i,
    // Free inputs.
    input sum_t sum_i,
    input logic [15:0] word_i
);
  function automatic logic [15:0] add(logic [15:0] a, logic [15:0] b);
    logic [16:0] sum;
    sum = 17'(a) + 17'(b);
    return sum[15:0] + 16'(sum[16]);
  endfunction
  function automatic logic [15:0] folded(sum_t sum);
    return brought_round_again(brought_round(sum));
  endfunction
  logic unused_q;
  always_ff @(posedge clk_i) unused_q <= word_i[0];
  sum_t more;
  assign more = sum_i + sum_t'(word_i);
  always_comb begin
    // 32 words fit.
    assume (more >= sum_i);
    a_first: assert (folded(sum_t'(word_i)) == word_i);
    a_more: assert (folded(more) == add(folded(sum_i), word_i));
    a_sums_up: assert (sums_up(more) == (folded(more) == 16'hFFFF));
    a_four: assert (sum4({word_i, sum_i[15:0], ~word_i, 16'd7}) ==
        sum_t'(sum_i[15:0]) + sum_t'(65542));
    c_carries: cover (brought_round(more) == 17'h1_FFFF - 17'd65535 + 17'd1 && word_i == '1);
    c_twice: cover (sums_up(more) && more != sum_t'(65535));
  end
endmodule
