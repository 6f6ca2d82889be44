// SPDX-License-Identifier: Apache-2.0
/// One beat of the queue, marked by a free choice on entry: if its packet is committed, the beat
/// comes out once, in order and unchanged; if its packet is dropped, it never does. An offered beat
/// stays.
module tutti_innetwork_fifo_formal #(
    parameter int unsigned Depth = 8,
    parameter int unsigned Width = 4
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic valid_i,
    input logic [Width-1:0] data_i,
    input logic commit_i,
    input logic drop_i,
    input logic ready_i,
    input logic mark_i
);
  localparam int unsigned CountBits = $clog2(Depth) + 1;
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic ready, valid;
  logic [Width-1:0] data;
  tutti_innetwork_fifo #(
      .Depth(Depth),
      .Width(Width)
  ) i_fifo (
      .clk_i,
      .rst_ni(!init_q),
      .in_valid_i(valid_i && !init_q),
      .in_ready_o(ready),
      .in_data_i(data_i),
      .commit_i,
      .drop_i,
      .out_valid_o(valid),
      .out_ready_i(ready_i && !init_q),
      .out_data_o(data)
  );

  logic in, out;
  assign in = !init_q && valid_i && ready;
  assign out = !init_q && valid && ready_i;

  // Beats before the marked one; open beats are not committed.
  logic [CountBits-1:0] before_q, kept_q, open_q;
  logic marked_q, fixed_q, was_q, offered_q;
  logic [Width-1:0] marked_data_q, offered_data_q;
  logic takes, leaves;
  assign takes = in && mark_i && !marked_q && !drop_i;
  assign leaves = out && marked_q && fixed_q && before_q == '0;
  always_ff @(posedge clk_i) begin
    offered_q <= !init_q && valid && !ready_i;
    offered_data_q <= data;
    if (init_q) begin
      marked_q <= 1'b0;
      fixed_q <= 1'b0;
      was_q <= 1'b0;
      before_q <= '0;
      kept_q <= '0;
      open_q <= '0;
    end else begin
      open_q <= in ? (commit_i || drop_i ? '0 : open_q + CountBits'(1)) : open_q;
      kept_q <=
          kept_q + (in && commit_i && !drop_i ? open_q + CountBits'(1) : '0) - CountBits'(out);
      if (takes) begin
        marked_q <= 1'b1;
        fixed_q <= commit_i;
        marked_data_q <= data_i;
        before_q <= kept_q + open_q - CountBits'(out);
      end else if (marked_q) begin
        if (out) before_q <= before_q - CountBits'(1);
        if (in && !fixed_q && drop_i) marked_q <= 1'b0;
        if (in && commit_i && !drop_i) fixed_q <= 1'b1;
        if (leaves) begin
          marked_q <= 1'b0;
          was_q <= 1'b1;
        end
      end
    end
  end

  // The place of the marked beat, for the invariants.
  logic [CountBits-1:0] place;
  assign place = i_fifo.read_q + before_q;
  always_comb begin
    if (!init_q) begin
      a_unchanged: assert (!leaves || data == marked_data_q);
      a_offered: assert (!offered_q || (valid && data == offered_data_q));
      a_in_order: assert (!(marked_q && !fixed_q) || before_q >= kept_q);
      // Invariants.
      a_kept: assert (kept_q == i_fifo.committed_q - i_fifo.read_q);
      a_open: assert (open_q == i_fifo.written_q - i_fifo.committed_q);
      a_room: assert (32'(kept_q) + 32'(open_q) <= Depth);
      a_ready: assert (ready == (32'(kept_q) + 32'(open_q) != Depth));
      a_valid: assert (valid == (kept_q != '0));
      a_place: assert (!marked_q
          || (fixed_q ? before_q < kept_q : 32'(before_q) < 32'(kept_q) + 32'(open_q)));
      a_stored: assert (!marked_q || i_fifo.beats[place[CountBits-2:0]] == marked_data_q);
    end
  end
  always_comb begin
    c_full: cover (!init_q && !ready && open_q != '0);
    c_out: cover (!init_q && was_q && !marked_q);
    c_dropped: cover (!init_q && in && drop_i && open_q != '0 && kept_q != '0 && marked_q
        && !fixed_q);
  end
endmodule
