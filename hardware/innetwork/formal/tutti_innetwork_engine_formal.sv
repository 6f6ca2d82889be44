// SPDX-License-Identifier: Apache-2.0
/// The engine as a stream: what it offers stays until it is taken, packets are never mixed, a
/// forwarded packet has the route of a network card, and only a barrier packet of a known
/// communicator reaches the core, with the last beat of its frame and only if the frame is whole.
module tutti_innetwork_engine_formal
  import tutti_innetwork_pkg::*;
#(
    parameter int unsigned Communicators = 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic in_valid_i,
    input logic [63:0] in_data_i,
    input logic [7:0] in_keep_i,
    input logic in_last_i,
    input logic in_bad_i,
    input source_t in_source_i,
    input logic out_ready_i,
    input logic req_valid_i,
    input address_t req_addr_i,
    input logic [63:0] req_data_i
);
  localparam int unsigned Depth = 16;
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic in_ready, out_valid, out_last, out_bad, rsp_valid;
  logic [63:0] out_data, rsp_data;
  logic [7:0] out_keep;
  route_t out_route;
  tutti_innetwork_engine #(
      .Ports(1),
      .Communicators(Communicators),
      .Stages(1),
      .Depth(Depth)
  ) i_engine (
      .clk_i,
      .rst_ni(!init_q),
      .in_valid_i(in_valid_i && !init_q),
      .in_ready_o(in_ready),
      .in_data_i,
      .in_keep_i,
      .in_last_i,
      .in_bad_i,
      .in_source_i,
      .out_valid_o(out_valid),
      .out_ready_i(out_ready_i && !init_q),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .out_bad_o(out_bad),
      .out_route_o(out_route),
      .req_valid_i(req_valid_i && !init_q),
      .req_write_i(1'b1),
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data)
  );

  logic was_q, inside_q, built_q;
  logic [63:0] data_q;
  logic [7:0] keep_q;
  logic last_q, bad_q;
  route_t route_q;
  always_ff @(posedge clk_i) begin
    was_q <= !init_q && out_valid && !out_ready_i;
    {data_q, keep_q, last_q, bad_q, route_q} <= {out_data, out_keep, out_last, out_bad, out_route};
    if (init_q) inside_q <= 1'b0;
    else if (out_valid && out_ready_i) begin
      inside_q <= !out_last;
      built_q <= i_engine.built;
    end
  end

  // Whether a whole frame ended at the input one, two and three cycles ago.
  logic whole, whole_1_q, whole_2_q, whole_3_q;
  assign whole = !init_q && in_valid_i && in_ready && in_last_i && !in_bad_i;
  always_ff @(posedge clk_i) begin
    if (init_q) {whole_1_q, whole_2_q, whole_3_q} <= '0;
    else {whole_1_q, whole_2_q, whole_3_q} <= {whole, whole_1_q, whole_2_q};
  end

  // The communicators that the current packet names, and the assumption that no two in use have the
  // same identity.
  logic [Communicators-1:0] same;
  logic apart;
  logic [63:0] word;
  assign word = swapped(i_engine.beat.data);
  // The sixth beat has left the parser, or leaves it.
  logic [3:0] place;
  logic named, naming;
  assign place = i_engine.i_parser.out_place_q;
  assign named = place > 4'd5 || (place == 4'd5 && !i_engine.valid);
  assign naming = place == 4'd5 && i_engine.valid;
  always_comb begin
    apart = 1'b1;
    for (int unsigned c = 0; c < Communicators; ++c) begin
      same[c] = {i_engine.header.communicator, i_engine.header.topology}
          == {i_engine.identity[c], i_engine.topology[c]};
      if (naming) same[c] = word[31:8] == {i_engine.identity[c], i_engine.topology[c]};
      for (int unsigned o = 0; o < c; ++o)
        if (!i_engine.clear[c] && !i_engine.clear[o]
            && i_engine.identity[c] == i_engine.identity[o]) apart = 1'b0;
    end
  end

  // Whether the beat that came in last, and the one that left the parser last, ended a packet.
  logic in_ended_q, ended_q, arrived_q, ended_before_q;
  logic [3:0] earlier, held;
  assign earlier = ended_q ? 4'd0 : place >= 4'd8 ? 4'd8 : place + 4'd1;
  assign held = i_engine.i_parser.held_place_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      ended_q <= 1'b1;
      arrived_q <= 1'b0;
      ended_before_q <= 1'b0;
    end else begin
      if (i_engine.i_parser.held_valid_q) ended_q <= i_engine.i_parser.held_q.last;
      arrived_q <= i_engine.arrives;
      ended_before_q <= i_engine.ends;
    end
  end
  logic [4:0] undecided, waiting;
  assign undecided = i_engine.i_fifo.written_q - i_engine.i_fifo.committed_q;
  assign waiting = i_engine.i_fifo.written_q - i_engine.i_fifo.read_q;

  always_comb begin
    if (!init_q) begin
      a_stays: assert (!was_q
          || (out_valid && out_data == data_q && out_keep == keep_q && out_last == last_q
          && out_bad == bad_q && out_route == route_q));
      a_not_mixed: assert (!(inside_q && out_valid) || i_engine.built == built_q);
      a_as_a_card: assert (!(out_valid && !i_engine.built)
          || out_route.to == (16'd1 << (out_route.origin ^ 4'd1)));
      // A packet changes the state only when its end has come in, and that it is whole.
      a_whole: assert (!i_engine.arrives || whole_2_q);
      a_counts_whole: assert (!(i_engine.counted || i_engine.repeated || i_engine.stranger)
          || whole_3_q);
      a_only_known: assert (!i_engine.arrives
          || (i_engine.hit_q & ~i_engine.clear & ~same) == '0);
      a_one: assert ((i_engine.hit_q & (i_engine.hit_q - Communicators'(1))) == '0);
      // The fate is Keep: the queue drops the packet.
      a_kept_or_gone: assert (!i_engine.arrives || i_engine.fate == 2'd2);
      a_spaced: assert (!(i_engine.arrives && arrived_q));
      a_around: assert (!i_engine.arrives || (i_engine.episode_before == i_engine.episode - 32'd1
          && i_engine.episode_after == i_engine.episode + 32'd1));
      // A beat that has come in finds room, and the input stops only while something can leave.
      a_finds_room: assert (!i_engine.valid || waiting < 5'(Depth));
      a_never_stuck: assert (in_ready || i_engine.forward_valid);
      // Invariants.
      a_matched: assert (!(named || naming) || (i_engine.hit_q & ~i_engine.clear & ~same) == '0);
      a_apart: assert (apart);
      a_engaged: assert (!inside_q || (i_engine.engaged_q && i_engine.built_q == built_q));
      a_builder: assert (!(i_engine.engaged_q && i_engine.built_q) || i_engine.built_valid);
      a_rest: assert (i_engine.i_builder.todo_q != '0 || i_engine.i_builder.place_q == '0);
      a_room: assert (32'(waiting) + 32'(i_engine.valid) + 32'(i_engine.i_parser.held_valid_q)
          <= Depth);
      a_committed: assert (5'(i_engine.i_fifo.committed_q - i_engine.i_fifo.read_q) <= waiting);
      a_undecided: assert (undecided == (i_engine.valid
          ? (i_engine.fate_q == 2'd0 ? 5'(place) : 5'd0)
          : i_engine.fate_q != 2'd0 || ended_q ? 5'd0 : 5'(place) + 5'd1));
      a_open: assert (i_engine.fate_q != 2'd3
          && (i_engine.fate_q != 2'd0 || !i_engine.valid || place <= 4'd7)
          && (i_engine.fate_q != 2'd0 || i_engine.valid || ended_q || place <= 4'd6));
      a_decided: assert (i_engine.fate_q == 2'd0
          || (i_engine.valid ? place != '0 : !ended_q));
      a_keeps: assert (i_engine.fate_q != 2'd2
          || (i_engine.valid ? place == 4'd8 : !ended_q && place >= 4'd7));
      a_follows: assert (!i_engine.i_parser.held_valid_q || held == earlier);
      a_next: assert (i_engine.i_parser.place_q == (!i_engine.i_parser.held_valid_q ? earlier
          : i_engine.i_parser.held_q.last ? 4'd0 : held >= 4'd8 ? 4'd8 : held + 4'd1));
      a_ended: assert (!i_engine.valid || i_engine.beat.last == ended_q);
      a_began: assert (!(ended_before_q && i_engine.valid) || place == '0);
      a_rests: assert (!ended_before_q || i_engine.valid || ended_q);
      a_end_1: assert (whole_1_q == (i_engine.i_parser.held_valid_q
          && i_engine.i_parser.held_q.last && !i_engine.i_parser.held_q.bad));
      a_end_2: assert (whole_2_q == (i_engine.ends && !i_engine.beat.bad));
      a_end_3: assert (!arrived_q || whole_3_q);
      a_after: assert (i_engine.i_core.for_q == '0 || arrived_q);
      a_episode: assert (!named || place < 4'd7
          || (i_engine.episode_before == i_engine.episode - 32'd1
              && i_engine.episode_after == i_engine.episode + 32'd1));
    end
  end
  always_comb begin
    c_stalled: cover (!init_q && was_q && i_engine.built);
    c_forwarded: cover (!init_q && out_valid && out_ready_i && out_last && !i_engine.built
        && inside_q);
    c_damaged: cover (!init_q && i_engine.is_bad && !i_engine.clear[0]);
    c_counted: cover (!init_q && i_engine.counted);
  end
endmodule
