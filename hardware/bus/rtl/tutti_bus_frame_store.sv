// SPDX-License-Identifier: Apache-2.0
/// Keeps a frame until its end is known to be good, and counts its bytes. It drops a frame whose
/// last beat says that it is bad, one whose source is not exactly one queue, and one of Depth beats
/// or more.
///
/// The stream never stops for ever: a frame that would fill the store is dropped, so that a full
/// store contains a whole frame.
module tutti_bus_frame_store
  import tutti_innetwork_pkg::*;
#(
    /// Queues from which frames come, 1 to 8.
    parameter int unsigned Queues = 8,
    /// Number of beats, a power of two, 8 to 4096.
    parameter int unsigned Depth = 256
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic [7:0] in_keep_i,
    input logic in_last_i,
    /// With the last beat.
    input logic in_bad_i,
    /// One bit for each queue, with the last beat.
    input logic [7:0] in_source_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic [7:0] out_keep_o,
    output logic out_last_o,
    /// With every beat.
    output source_t out_source_o,
    /// A frame was dropped.
    output logic dropped_o
);
  if (Queues < 1 || Queues > 8) $fatal(1, "tutti_bus_frame_store: Queues must be 1 to 8");
  // Bytes are counted in 16 bits.
  if (Depth > 4096) $fatal(1, "tutti_bus_frame_store: Depth must be at most 4096");

  localparam int unsigned CountBits = $clog2(Depth);

  // Beats of the open frame before this one; stays at Depth - 1 once the frame is too long.
  logic [CountBits-1:0] beats_q;
  logic takes, too_long, one_source, good;
  logic [7:0] rest;
  queue_t origin;
  logic [3:0] kept;
  source_t source;
  logic beat_ready, frame_ready, beat_valid, frame_valid, ends, unused_beat, unused_frame;

  assign takes = in_valid_i && in_ready_o;
  assign too_long = beats_q == CountBits'(Depth - 1);
  // Without its lowest bit.
  assign rest = in_source_i & (in_source_i - 8'd1);
  assign one_source = in_source_i != '0 && rest == '0 && (in_source_i >> Queues) == '0;
  assign good = !in_bad_i && !too_long && one_source;
  always_comb begin
    origin = '0;
    kept = '0;
    for (int unsigned b = 0; b < 8; ++b) begin
      if (in_source_i[b]) origin |= queue_t'(b);
      kept = kept + 4'(in_keep_i[b]);
    end
  end
  assign source = '{bytes: 16'(beats_q) * 16'd8 + 16'(kept), origin: origin};
  // A beat of a frame that is too long is taken, and leaves nothing.
  assign in_ready_o = beat_ready && frame_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beats_q <= '0;
      dropped_o <= 1'b0;
    end else begin
      if (takes) beats_q <= in_last_i ? '0 : too_long ? beats_q : beats_q + CountBits'(1);
      dropped_o <= takes && in_last_i && !good;
    end
  end

  tutti_innetwork_fifo #(
      .Depth(Depth),
      .Width(73)
  ) i_beats (
      .clk_i,
      .rst_ni,
      .in_valid_i(takes),
      .in_ready_o(beat_ready),
      .room_o(unused_beat),
      .in_data_i({in_last_i, in_keep_i, in_data_i}),
      .commit_i(in_last_i && good),
      .drop_i(too_long || (in_last_i && !good)),
      .out_valid_o(beat_valid),
      .out_ready_i(out_ready_i && frame_valid),
      .out_data_o({out_last_o, out_keep_o, out_data_o})
  );

  // One entry for each frame; a frame has at least one beat.
  tutti_innetwork_fifo #(
      .Depth(Depth),
      .Width($bits(source_t))
  ) i_frames (
      .clk_i,
      .rst_ni,
      .in_valid_i(takes && in_last_i && good),
      .in_ready_o(frame_ready),
      .room_o(unused_frame),
      .in_data_i(source),
      .commit_i(1'b1),
      .drop_i(1'b0),
      .out_valid_o(frame_valid),
      .out_ready_i(ends),
      .out_data_o(out_source_o)
  );
  assign out_valid_o = beat_valid && frame_valid;
  assign ends = out_valid_o && out_ready_i && out_last_o;
endmodule
