// SPDX-License-Identifier: Apache-2.0
/// A router with four sides and the tile. A message of a barrier leaves on the side that its tile
/// names and is given to the tile behind it. Other messages go along the row, then along the column,
/// so that routers of a mesh cannot wait for each other in a cycle. The senders of an output take
/// turns.
///
/// An output that is not ready shows a message of a sender, which may be another one in the next
/// cycle, or none: it counts only in the cycle in which it is taken. The links and the tile take
/// it so.
module tutti_socket_router
  import tutti_socket_pkg::*;
(
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input place_t here_i,
    /// From and to the next routers.
    input logic [3:0] valid_i,
    output logic [3:0] ready_o,
    input message_t [3:0] message_i,
    output logic [3:0] valid_o,
    input logic [3:0] ready_i,
    output message_t [3:0] message_o,
    /// From the tile; a message of a barrier goes before another one.
    input logic barrier_valid_i,
    output logic barrier_ready_o,
    input message_t barrier_i,
    input logic [1:0] barrier_side_i,
    input logic other_valid_i,
    output logic other_ready_o,
    input message_t other_i,
    /// To the tile, with the side from which it came.
    output logic [4:0] from_o,
    output message_t message_to_tile_o,
    output logic valid_to_tile_o,
    input logic ready_from_tile_i
);
  /*verilator no_inline_module*/
  logic [4:0] head_valid, head_ready;
  message_t [4:0] head;
  // Indexed by [output][input].
  logic [4:0][4:0] wants, grant;
  logic [4:0] free;

  for (genvar i = 0; i < 4; ++i) begin : gen_side
    tutti_socket_queue #(
        .Width($bits(message_t))
    ) i_queue (
        .clk_i,
        .rst_ni,
        .valid_i(valid_i[i]),
        .ready_o(ready_o[i]),
        .data_i(message_i[i]),
        .valid_o(head_valid[i]),
        .ready_i(head_ready[i]),
        .data_o(head[i])
    );
  end
  assign head_valid[Local] = barrier_valid_i || other_valid_i;
  assign head[Local] = barrier_valid_i ? barrier_i : other_i;
  assign barrier_ready_o = head_ready[Local];
  assign other_ready_o = head_ready[Local] && !barrier_valid_i;

  always_comb begin
    wants = '0;
    for (int unsigned i = 0; i < 5; ++i) begin
      if (head[i].kind != Other) begin
        if (i != Local) wants[Local][i] = head_valid[i];
        else wants[barrier_side_i][i] = head_valid[i];
      end else if (head[i].to.x > here_i.x) wants[East][i] = head_valid[i];
      else if (head[i].to.x < here_i.x) wants[West][i] = head_valid[i];
      else if (head[i].to.y > here_i.y) wants[South][i] = head_valid[i];
      else if (head[i].to.y < here_i.y) wants[North][i] = head_valid[i];
      else wants[Local][i] = head_valid[i];
    end
  end

  assign free = {ready_from_tile_i, ready_i};
  for (genvar o = 0; o < 5; ++o) begin : gen_output
    tutti_hbs_arbiter #(
        .Inputs(5)
    ) i_arbiter (
        .clk_i,
        .rst_ni,
        .request_i(wants[o]),
        .serve_i(free[o]),
        .grant_o(grant[o])
    );
  end

  always_comb begin
    head_ready = '0;
    message_o = '0;
    message_to_tile_o = '0;
    for (int unsigned o = 0; o < 5; ++o) if (free[o]) head_ready |= grant[o];
    for (int unsigned i = 0; i < 5; ++i) begin
      for (int unsigned o = 0; o < 4; ++o) if (grant[o][i]) message_o[o] = head[i];
      if (grant[Local][i]) message_to_tile_o = head[i];
    end
    for (int unsigned o = 0; o < 4; ++o) valid_o[o] = wants[o] != '0;
  end
  assign valid_to_tile_o = wants[Local] != '0;
  assign from_o = grant[Local];
endmodule
