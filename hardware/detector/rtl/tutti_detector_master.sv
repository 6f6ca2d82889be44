// SPDX-License-Identifier: Apache-2.0
/// The master of the star: asks every node, adds the replies, and takes all nodes through release
/// and enable.
///
/// One bit for each node says whether it has replied. A repeated or unexpected reply therefore
/// changes nothing and is reported, and the missing nodes can be read.
module tutti_detector_master
  import tutti_detector_pkg::*;
#(
    /// Size of the mesh, 1 to 16 in each direction.
    parameter int unsigned Columns = 6,
    parameter int unsigned Rows = 8,
    /// Width of the message counts.
    parameter int unsigned Bits = CountBits,
    /// Width of the values that threads give, at most 32; 0: there are none.
    parameter int unsigned ValueBits = 0,
    localparam int unsigned Nodes = Columns * Rows
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Waves begin only while this is set.
    input logic run_i,
    output logic order_valid_o,
    input logic order_ready_i,
    output place_t order_to_o,
    output phase_t order_phase_o,
    output logic order_vote_o,
    output total_t order_total_o,
    /// A reply; replies are always accepted.
    input logic reply_valid_i,
    input place_t reply_from_i,
    input phase_t reply_phase_i,
    input logic reply_black_i,
    input logic reply_vote_i,
    input logic [Bits-1:0] reply_count_i,
    input total_t reply_total_i,
    /// A wave begins with the next cycle.
    output logic begin_o,
    /// The phase of the current wave or, between waves, of the next one.
    output phase_t phase_o,
    /// All replies of the phase have arrived; this is its last cycle.
    output logic end_o,
    /// Set in the last cycle of a detecting wave that finds termination.
    output logic detected_o,
    /// Nodes that have not replied in this phase; node (x, y) is bit y * Columns + x.
    output logic [Nodes-1:0] missing_o,
    /// An unexpected reply.
    output logic strange_o
);
  if (Columns < 1 || Columns > 16) $fatal(1, "tutti_detector_master: Columns must be 1 to 16");
  if (Rows < 1 || Rows > 16) $fatal(1, "tutti_detector_master: Rows must be 1 to 16");
  if (Bits < 1 || Bits > CountBits)
    $fatal(1, "tutti_detector_master: Bits must be at most that of a message's count");

  logic busy_q, sending_q, black_q, vote_q, unanimous_q;
  phase_t phase_q;
  place_t next_q;
  logic [Nodes-1:0] missing_q, who;
  logic [Bits-1:0] sum_q;
  logic last, expected;
  // The total of this wave's replies, and that of the last detection.
  total_t total_q, total_d, result_q;

  for (genvar y = 0; y < Rows; ++y) begin : gen_row
    for (genvar x = 0; x < Columns; ++x) begin : gen_column
      assign who[y*Columns+x] = reply_from_i.x == PlaceBits'(x) && reply_from_i.y == PlaceBits'(y);
    end
  end
  assign expected = busy_q && reply_phase_i == phase_q && (who & missing_q) != '0;
  assign strange_o = reply_valid_i && !expected;

  assign last = next_q == '0;
  assign end_o = busy_q && !sending_q && missing_q == '0;
  assign detected_o = end_o && phase_q == Detect && !black_q && sum_q == '0;
  // Only a wave after a release, or after a wave that found no termination, may be delayed.
  assign begin_o = busy_q ? end_o && (detected_o || phase_q == Release) : run_i;
  assign phase_o = phase_q;
  assign missing_o = missing_q;

  assign order_valid_o = busy_q && sending_q;
  assign order_to_o = next_q;
  assign order_phase_o = phase_q;
  assign order_vote_o = unanimous_q;
  assign order_total_o = result_q;
  if (ValueBits == 0) begin : gen_no_values
    assign total_d = '0;
    logic unused;
    assign unused = ^reply_total_i;
  end else begin : gen_values
    tutti_detector_combine #(
        .Bits(ValueBits)
    ) i_combine (
        .a_i(total_q),
        .b_i(reply_total_i),
        .total_o(total_d)
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      sending_q <= 1'b0;
      black_q <= 1'b0;
      vote_q <= 1'b0;
      unanimous_q <= 1'b0;
      phase_q <= Detect;
      next_q <= '0;
      missing_q <= '0;
      sum_q <= '0;
      total_q <= '0;
      result_q <= '0;
    end else begin
      if (order_valid_o && order_ready_i) begin
        // The farthest node comes first.
        if (next_q.x != '0) begin
          next_q.x <= next_q.x - 1'b1;
        end else begin
          next_q.x <= PlaceBits'(Columns - 1);
          next_q.y <= next_q.y - 1'b1;
        end
        if (last) sending_q <= 1'b0;
      end
      if (reply_valid_i && expected) begin
        missing_q <= missing_q & ~who;
        black_q <= black_q || reply_black_i;
        vote_q <= vote_q && reply_vote_i;
        sum_q <= sum_q + reply_count_i;
        total_q <= total_d;
      end
      if (end_o) begin
        busy_q <= 1'b0;
        phase_q <= detected_o ? Release : phase_q == Release ? Enable : Detect;
        if (detected_o) unanimous_q <= vote_q;
        if (detected_o) result_q <= total_q;
      end
      if (begin_o) begin
        busy_q <= 1'b1;
        sending_q <= 1'b1;
        next_q <= '{x: PlaceBits'(Columns - 1), y: PlaceBits'(Rows - 1)};
        missing_q <= '1;
        black_q <= 1'b0;
        vote_q <= 1'b1;
        sum_q <= '0;
        total_q <= '0;
      end
    end
  end
endmodule
