// SPDX-License-Identifier: Apache-2.0
/// A leaf of the tree: counts the arrivals at one port, and reports once in each episode that its
/// group is complete.
module tutti_tree_leaf #(
    /// The maximum number of participants at this port.
    parameter int unsigned Group = 4,
    /// Derived; do not set.
    parameter int unsigned CountBits = $clog2(Group + 1)
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic clear_i,
    /// Participants at this port; with 0 the leaf takes no part.
    input logic [CountBits-1:0] size_i,
    input logic arrive_i,
    /// The whole barrier is complete.
    input logic release_i,
    output logic [CountBits-1:0] count_o,
    /// All participants of this port have arrived; stays until the release.
    output logic done_o,
    /// An arrival at a complete leaf: a participant arrived twice. It does not count.
    output logic over_o
);
  if (Group < 1 || Group > 128) $fatal(1, "tutti_tree_leaf: Group must be 1 to 128");

  logic [CountBits-1:0] count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i || release_i) count_q <= '0;
    else if (arrive_i && !done_o) count_q <= count_q + CountBits'(1);
  end
  assign count_o = count_q;
  assign done_o = count_q == size_i;
  assign over_o = arrive_i && done_o;
endmodule
