// SPDX-License-Identifier: Apache-2.0
/// Asserts that each answer belongs to one request with its tag, and that no tag is used twice at
/// once. Requests that were on their way at a reset may still be answered.
module tutti_check_answers #(
    parameter int unsigned Tags = 4,
    localparam int unsigned TagBits = Tags > 1 ? $clog2(Tags) : 1
) (
    input logic clk_i,
    input logic ask_i,
    input logic [TagBits-1:0] ask_tag_i,
    input logic answer_i,
    input logic [TagBits-1:0] answer_tag_i
);
  logic [Tags-1:0] open_q = '0;
  always_ff @(posedge clk_i) begin
    if (answer_i) open_q[answer_tag_i] <= 1'b0;
    if (ask_i) open_q[ask_tag_i] <= 1'b1;
    if (answer_i) begin
      a_asked: assert (32'(answer_tag_i) < Tags && open_q[answer_tag_i])
      else $error("%m: an answer to what was not asked");
    end
    if (ask_i) begin
      a_once: assert (!open_q[ask_tag_i] || (answer_i && answer_tag_i == ask_tag_i))
      else $error("%m: a tag is used again before its answer");
    end
  end
endmodule
