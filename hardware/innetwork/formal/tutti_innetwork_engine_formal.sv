// SPDX-License-Identifier: Apache-2.0
/// The engine as a stream: what it offers stays until it is taken, packets are never mixed, a
/// forwarded packet has the route of a network card, and only a barrier packet of a known
/// communicator reaches the core.
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
    input source_t in_source_i,
    input logic out_ready_i,
    input logic req_valid_i,
    input address_t req_addr_i,
    input logic [63:0] req_data_i
);
  localparam int unsigned Depth = 8;
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic in_ready, out_valid, out_last, rsp_valid;
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
      .in_source_i,
      .out_valid_o(out_valid),
      .out_ready_i(out_ready_i && !init_q),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
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
  logic last_q;
  route_t route_q;
  always_ff @(posedge clk_i) begin
    was_q <= !init_q && out_valid && !out_ready_i;
    {data_q, keep_q, last_q, route_q} <= {out_data, out_keep, out_last, out_route};
    if (init_q) inside_q <= 1'b0;
    else if (out_valid && out_ready_i) begin
      inside_q <= !out_last;
      built_q <= i_engine.built;
    end
  end

  // The communicators that the current packet names, and the assumption that no two in use have the
  // same identity.
  logic [Communicators-1:0] same;
  logic apart;
  always_comb begin
    apart = 1'b1;
    for (int unsigned c = 0; c < Communicators; ++c) begin
      same[c] = i_engine.header.communicator == i_engine.identity[c]
          && i_engine.header.topology == i_engine.topology[c];
      for (int unsigned o = 0; o < c; ++o)
        if (!i_engine.clear[c] && !i_engine.clear[o]
            && i_engine.identity[c] == i_engine.identity[o]) apart = 1'b0;
    end
  end

  always_comb begin
    if (!init_q) begin
      a_stays: assert (!was_q
          || (out_valid && out_data == data_q && out_keep == keep_q && out_last == last_q
          && out_route == route_q));
      a_not_mixed: assert (!(inside_q && out_valid) || i_engine.built == built_q);
      a_as_a_card: assert (!(out_valid && !i_engine.built)
          || out_route.to == (16'd1 << (out_route.origin ^ 4'd1)));
      a_only_known: assert (!i_engine.arrives || (i_engine.barrier && i_engine.hit != '0
          && i_engine.header.communicator == i_engine.identity[i_engine.index]
              && !i_engine.clear[i_engine.index]));
      // The fate is Keep: the queue drops the packet.
      a_kept_or_gone: assert (!i_engine.arrives || i_engine.fate == 2'd2);
      // Invariants.
      a_matched: assert (!i_engine.barrier || (i_engine.hit & ~same) == '0);
      a_apart: assert (apart);
      a_engaged: assert (!inside_q || (i_engine.engaged_q && i_engine.built_q == built_q));
      a_builder: assert (!(i_engine.engaged_q && i_engine.built_q) || i_engine.built_valid);
      a_rest: assert (i_engine.i_builder.todo_q != '0 || i_engine.i_builder.place_q == '0);
      a_room: assert (4'(i_engine.i_fifo.written_q - i_engine.i_fifo.read_q) <= 4'd8);
      a_committed: assert (4'(i_engine.i_fifo.committed_q - i_engine.i_fifo.read_q)
          <= 4'(i_engine.i_fifo.written_q - i_engine.i_fifo.read_q));
    end
  end
  always_comb begin
    c_stalled: cover (!init_q && was_q && i_engine.built);
    c_forwarded: cover (!init_q && out_valid && out_ready_i && out_last && !i_engine.built
        && inside_q);
  end
endmodule
