// SPDX-License-Identifier: Apache-2.0
/// The store under any frames, any reader and resets at any time: what comes out are the good frames,
/// in order. A symbol chooses a beat by its number among those of good frames; the specification
/// counts, and remembers that beat only.
module tutti_bus_frame_store_formal
  import tutti_innetwork_pkg::*;
#(
    parameter int unsigned Queues = 2,
    parameter int unsigned Depth = 8
) (
    input logic clk_i,
    // Free inputs.
    input logic rst_ni,
    input logic valid_i,
    input logic [63:0] data_i,
    input logic [7:0] keep_i,
    input logic last_i,
    input logic bad_i,
    input logic [7:0] source_i,
    input logic ready_i,
    // Held constant.
    input logic [7:0] symbol_i
);
  logic init_q = 1'b1;
  logic rst_n;
  logic [7:0] symbol_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    symbol_q <= symbol_i;
  end
  assign rst_n = rst_ni && !init_q;

  logic ready, out_valid, out_last, dropped;
  logic [63:0] out_data;
  logic [7:0] out_keep;
  source_t out_source;
  tutti_bus_frame_store #(
      .Queues(Queues),
      .Depth(Depth)
  ) i_store (
      .clk_i,
      .rst_ni(rst_n),
      .in_valid_i(valid_i),
      .in_ready_o(ready),
      .in_data_i(data_i),
      .in_keep_i(keep_i),
      .in_last_i(last_i),
      .in_bad_i(bad_i),
      .in_source_i(source_i),
      .out_valid_o(out_valid),
      .out_ready_i(ready_i),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .out_source_o(out_source),
      .dropped_o(dropped)
  );

  localparam int unsigned Most = Depth - 1;
  logic takes, leaves, good;
  // Numbers, modulo 256: beats of good frames so far, beats of the open frame, beats that left.
  logic [7:0] entered_q, left_q;
  logic [15:0] open_q;
  logic drops_q;
  // The chosen beat, once it has come in, and the source of its frame once that is good.
  logic [7:0] number;
  logic known_q, good_q, last_q;
  logic [63:0] data_q;
  logic [7:0] keep_q;
  source_t source_q;
  logic [3:0] kept;
  logic [3:0] queue;
  logic one;
  always_comb begin
    kept = '0;
    queue = '0;
    one = 1'b0;
    for (int unsigned b = 0; b < 8; ++b) begin
      kept = kept + 4'(keep_i[b]);
      if (b < Queues && source_i == 8'(1 << b)) begin
        one = 1'b1;
        queue = 4'(b);
      end
    end
  end
  assign takes = valid_i && ready;
  assign leaves = out_valid && ready_i;
  assign number = entered_q + open_q[7:0];
  assign good = takes && last_i && !bad_i && one && open_q < 16'(Most);

  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      entered_q <= '0;
      left_q <= '0;
      open_q <= '0;
      known_q <= 1'b0;
      good_q <= 1'b0;
      drops_q <= 1'b0;
    end else begin
      drops_q <= takes && last_i && !good;
      if (takes) open_q <= last_i ? '0 : open_q < 16'(Most) ? open_q + 16'd1 : open_q;
      if (good) entered_q <= number + 8'd1;
      if (leaves) left_q <= left_q + 8'd1;
      if (takes && !good_q && open_q < 16'(Most) && number == symbol_i) begin
        known_q <= 1'b1;
        {last_q, keep_q, data_q} <= {last_i, keep_i, data_i};
      end
      if (takes && last_i && !good && !good_q) known_q <= 1'b0;
      if (good && !good_q && (known_q || number == symbol_i)) begin
        good_q <= 1'b1;
        source_q <= '{bytes: open_q * 16'd8 + 16'(kept), origin: queue};
      end
    end
  end

  // The symbol's beat is watched at its first use of the number only.
  logic watched;
  assign watched = good_q && left_q == symbol_i;
  logic done_q;
  always_ff @(posedge clk_i) begin
    if (!rst_n) done_q <= 1'b0;
    else if (leaves && watched) done_q <= 1'b1;
  end

  always_comb begin
    assume (!init_q || !rst_ni);
    assume (init_q || symbol_i == symbol_q);
  end

  always_comb begin
    if (rst_n) begin
      // Beats that left are beats of good frames, and no other beat waits.
      a_no_more: assert (!out_valid || left_q != entered_q);
      a_none_lost: assert (out_valid || left_q == entered_q);
      // The chosen beat comes out as it went in, with its frame's source and bytes.
      a_beat: assert (!(out_valid && watched && !done_q) || (out_data == data_q
          && out_keep == keep_q && out_last == last_q));
      a_source: assert (!(out_valid && watched && !done_q) || out_source == source_q);
      // A frame is dropped for its reason and for nothing else, and is reported.
      a_dropped: assert (dropped == drops_q);
      // The input stops only while the output has something to give.
      a_never_stuck: assert (ready || out_valid);
    end
  end

  logic [1:0] frames_q;
  logic long_q;
  always_ff @(posedge clk_i) begin
    if (!rst_n) {frames_q, long_q} <= '0;
    else begin
      if (leaves && out_last && frames_q != 2'd3) frames_q <= frames_q + 2'd1;
      long_q <= long_q || (takes && last_i && open_q == 16'(Most));
    end
  end
  always_comb begin
    c_two_frames: cover (rst_n && frames_q == 2'd2 && done_q);
    c_long: cover (rst_n && long_q && frames_q == 2'd1);
    c_full: cover (rst_n && !ready);
    c_bad_between: cover (rst_n && dropped && frames_q == 2'd1 && out_valid);
  end
endmodule
