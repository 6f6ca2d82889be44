// SPDX-License-Identifier: Apache-2.0
/// A queue of beats whose end can be withdrawn: the beats since the last commit are either
/// committed, and may then be read, or dropped as if they had never arrived.
module tutti_innetwork_fifo #(
    /// Number of beats, a power of two, 8 to 4096.
    parameter int unsigned Depth = 16,
    parameter int unsigned Width = 8
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic in_valid_i,
    output logic in_ready_o,
    /// There is room for three beats.
    output logic room_o,
    input logic [Width-1:0] in_data_i,
    /// With a beat: commit this beat and all before it.
    input logic commit_i,
    /// With a beat: drop this beat and all since the last commit.
    input logic drop_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [Width-1:0] out_data_o
);
  if (Depth < 8 || Depth > 4096 || (Depth & (Depth - 1)) != 0)
    $fatal(1, "tutti_innetwork_fifo: Depth must be a power of two, 8 to 4096");

  localparam int unsigned PlaceBits = $clog2(Depth);
  logic [Width-1:0] beats[Depth];
  // One additional bit tells full from empty.
  logic [PlaceBits:0] written_q, committed_q, read_q;

  assign in_ready_o = (written_q - read_q) != (PlaceBits + 1)'(Depth);
  assign room_o = (written_q - read_q) <= (PlaceBits + 1)'(Depth - 3);
  assign out_valid_o = committed_q != read_q;
  assign out_data_o = beats[read_q[PlaceBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      written_q <= '0;
      committed_q <= '0;
      read_q <= '0;
    end else begin
      if (in_valid_i && in_ready_o) begin
        written_q <= drop_i ? committed_q : written_q + (PlaceBits + 1)'(1);
        if (commit_i && !drop_i) committed_q <= written_q + (PlaceBits + 1)'(1);
      end
      if (out_valid_o && out_ready_i) read_q <= read_q + (PlaceBits + 1)'(1);
    end
    if (in_valid_i && in_ready_o) beats[written_q[PlaceBits-1:0]] <= in_data_i;
  end
endmodule
