// SPDX-License-Identifier: Apache-2.0
/// A barrier of two levels: a counting leaf at every port, and an AND over the complete leaves.
///
/// Each port takes an arrival a cycle, so that with P ports n participants need n / P cycles and
/// not n.
module tutti_tree_barrier #(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// Number of ports; participant t belongs to port t / Group.
    parameter int unsigned Ports = 7,
    /// Derived; do not set.
    parameter int unsigned Group = (Threads + Ports - 1) / (Ports > 0 ? Ports : 1),
    /// Derived; do not set.
    parameter int unsigned CountBits = $clog2(Group + 1)
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic clear_i,
    /// Number of participants, 1 .. Threads; changes only together with clear_i.
    input logic [7:0] size_i,
    /// An arrival at each port.
    input logic [Ports-1:0] arrive_i,
    output logic [Ports-1:0][CountBits-1:0] count_o,
    /// A port's participants have all arrived, and one of them arrives again.
    output logic [Ports-1:0] over_o,
    /// The episode is complete: from the next cycle on, episodes_o shows it.
    output logic complete_o,
    /// Number of completed episodes, which wraps.
    output logic [31:0] episodes_o
);
  if (Ports < 1 || Ports > Threads) $fatal(1, "tutti_tree_barrier: Ports must be 1 to Threads");
  if (Threads < 1 || Threads > 128) $fatal(1, "tutti_tree_barrier: Threads must be 1 to 128");

  logic [Ports-1:0] done;
  logic [31:0] episodes_q;
  logic complete;

  for (genvar p = 0; p < Ports; ++p) begin : gen_leaf
    localparam logic [7:0] First = 8'(p * Group);
    logic [CountBits-1:0] size;
    always_comb begin
      if (size_i <= First) size = '0;
      else if (size_i - First >= 8'(Group)) size = CountBits'(Group);
      else size = CountBits'(size_i - First);
    end
    tutti_tree_leaf #(
        .Group(Group)
    ) i_leaf (
        .clk_i,
        .rst_ni,
        .clear_i,
        .size_i(size),
        .arrive_i(arrive_i[p]),
        .release_i(complete),
        .count_o(count_o[p]),
        .done_o(done[p]),
        .over_o(over_o[p])
    );
  end

  assign complete = &done && size_i != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) episodes_q <= '0;
    else if (complete) episodes_q <= episodes_q + 32'd1;
  end
  assign complete_o = complete;
  assign episodes_o = episodes_q;
endmodule
