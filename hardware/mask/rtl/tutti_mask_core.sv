// SPDX-License-Identifier: Apache-2.0
/// A barrier with one bit for each participant: all arrivals of a cycle count at once, and repeated
/// ones change nothing.
///
/// An arrival carries the parity of its episode. An arrival for a past episode is a repetition. So
/// one copy is enough, and the unit stays correct even when the interconnect delivers an arrival
/// twice.
module tutti_mask_core #(
    /// Number of participants, 1 to 64.
    parameter int unsigned Threads = 28
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Hard reset by software.
    input logic clear_i,
    /// The participants; changes only together with clear_i.
    input logic [Threads-1:0] members_i,
    input logic [Threads-1:0] arrive_i,
    /// Parity of the episode of each arrival.
    input logic [Threads-1:0] parity_i,
    output logic [Threads-1:0] arrived_o,
    /// Number of completed episodes, which wraps. Its lowest bit is the parity of the open episode.
    output logic [31:0] episodes_o,
    /// This cycle's arrivals complete the episode.
    output logic complete_o,
    /// A participant arrived twice.
    output logic again_o,
    /// A thread that is no participant arrived.
    output logic foreign_o
);
  if (Threads < 1 || Threads > 64) $fatal(1, "tutti_mask_core: Threads must be 1 to 64");

  logic [Threads-1:0] arrived_q, valid, meant;
  logic [31:0] episodes_q;

  // Bits of the threads whose parity is that of the open episode.
  assign meant = parity_i ^ {Threads{!episodes_q[0]}};
  assign valid = arrive_i & members_i & meant;
  assign complete_o = !clear_i && members_i != '0 && (arrived_q | valid) == members_i;
  assign again_o = (arrive_i & members_i & (arrived_q | ~meant)) != '0;
  assign foreign_o = (arrive_i & ~members_i) != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      arrived_q <= '0;
      episodes_q <= '0;
    end else begin
      arrived_q <= complete_o ? '0 : arrived_q | valid;
      if (complete_o) episodes_q <= episodes_q + 32'd1;
    end
  end

  assign arrived_o = arrived_q;
  assign episodes_o = episodes_q;
endmodule
