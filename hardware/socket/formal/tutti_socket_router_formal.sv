// SPDX-License-Identifier: Apache-2.0
/// The router with any messages at all inputs and any readiness of all outputs, and resets at any
/// time: of a message that a symbol chooses, as many are in the queues as came in and did not leave;
/// it leaves on the right output only; an output that is wanted and free gives a message, and gives
/// one input's only; an output without a message is 0. The arbiters, whose turns bound the wait, have
/// their own proof.
module tutti_socket_router_formal
  import tutti_socket_pkg::*;
(
    input logic clk_i,
    // Free inputs.
    input logic rst_ni,
    input place_t here_i,
    input logic [3:0] valid_i,
    input message_t [3:0] message_i,
    input logic [3:0] ready_i,
    input logic barrier_valid_i,
    input message_t barrier_i,
    input logic [1:0] barrier_side_i,
    input logic other_valid_i,
    input message_t other_i,
    input logic ready_from_tile_i,
    // Held constant.
    input message_t symbol_i
);
  logic init_q = 1'b1;
  logic rst_n;
  message_t symbol_q;
  place_t here_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    symbol_q <= symbol_i;
    here_q <= here_i;
  end
  assign rst_n = rst_ni && !init_q;

  logic [3:0] ready, valid;
  message_t [3:0] message;
  logic barrier_ready, other_ready, valid_to_tile;
  logic [4:0] from;
  message_t to_tile;
  tutti_socket_router i_router (
      .clk_i,
      .rst_ni(rst_n),
      .here_i,
      .valid_i,
      .ready_o(ready),
      .message_i,
      .valid_o(valid),
      .ready_i,
      .message_o(message),
      .barrier_valid_i,
      .barrier_ready_o(barrier_ready),
      .barrier_i,
      .barrier_side_i,
      .other_valid_i,
      .other_ready_o(other_ready),
      .other_i,
      .from_o(from),
      .message_to_tile_o(to_tile),
      .valid_to_tile_o(valid_to_tile),
      .ready_from_tile_i
  );

  // Where the symbol leaves; from the tile, a message of a barrier leaves on the side it names.
  logic [2:0] exit;
  always_comb begin
    if (symbol_i.kind != Other) exit = 3'(Local);
    else if (symbol_i.to.x > here_i.x) exit = 3'(East);
    else if (symbol_i.to.x < here_i.x) exit = 3'(West);
    else if (symbol_i.to.y > here_i.y) exit = 3'(South);
    else if (symbol_i.to.y < here_i.y) exit = 3'(North);
    else exit = 3'(Local);
  end

  logic [3:0] in, out;
  logic barrier_in, other_in, tile_out;
  logic [3:0] entered, left;
  logic [3:0][1:0] held;
  for (genvar i = 0; i < 4; ++i) begin : gen_side
    assign in[i] = valid_i[i] && ready[i] && message_i[i] == symbol_i;
    assign out[i] = valid[i] && ready_i[i] && message[i] == symbol_i;
    assign held[i] = 2'(i_router.gen_side[i].i_queue.used_q != '0
        && i_router.gen_side[i].i_queue.first_q == symbol_i)
        + 2'(i_router.gen_side[i].i_queue.used_q == 2'd2
        && i_router.gen_side[i].i_queue.second_q == symbol_i);
  end
  assign barrier_in = barrier_valid_i && barrier_ready && barrier_i == symbol_i;
  assign other_in = other_valid_i && other_ready && other_i == symbol_i;
  assign tile_out = valid_to_tile && ready_from_tile_i && to_tile == symbol_i;
  always_comb begin
    entered = 4'(barrier_in) + 4'(other_in);
    left = 4'(tile_out);
    for (int unsigned i = 0; i < 4; ++i) begin
      entered = entered + 4'(in[i]);
      left = left + 4'(out[i]);
    end
  end

  logic [3:0] inside_q;
  always_ff @(posedge clk_i) begin
    if (!rst_n) inside_q <= '0;
    else inside_q <= inside_q + entered - left;
  end

  always_comb begin
    assume (init_q || symbol_i == symbol_q);
    assume (init_q || here_i == here_q);
    assume (!barrier_valid_i || barrier_i.kind != Other);
    assume (!other_valid_i || other_i.kind == Other);
  end

  for (genvar o = 0; o < 4; ++o) begin : gen_output
    always_comb begin
      if (rst_n) begin
        a_side: assert (!(valid[o] && message[o] == symbol_i) || exit == 3'(o)
            || (symbol_i.kind != Other && barrier_valid_i && barrier_i == symbol_i
              && barrier_side_i == 2'(o)));
        a_wanted: assert (!valid[o] || (i_router.grant[o] != '0
            && (i_router.grant[o] & (i_router.grant[o] - 5'd1)) == '0));
        a_nothing: assert (valid[o] || message[o] == '0);
        a_queue: assert (i_router.gen_side[o].i_queue.used_q != 2'd3);
      end
    end
  end
  always_comb begin
    if (rst_n) begin
      a_flow: assert (inside_q == 4'(held[0]) + 4'(held[1]) + 4'(held[2]) + 4'(held[3]));
      a_tile: assert (!(valid_to_tile && to_tile == symbol_i) || exit == 3'(Local));
      a_nothing_to_tile: assert (valid_to_tile || (to_tile == '0 && from == '0));
      a_from: assert (!valid_to_tile || (from != '0 && (from & (from - 5'd1)) == '0));
      // A message at the head of its queue asks for its exit.
      a_asks: assert (!(i_router.gen_side[0].i_queue.used_q != '0
          && i_router.gen_side[0].i_queue.first_q == symbol_i) || i_router.wants[exit][0]);
      a_barrier_first: assert (!(barrier_valid_i && ready_i[barrier_side_i]
          && i_router.grant[barrier_side_i][Local]) || barrier_ready);
      a_not_both: assert (!(barrier_valid_i && other_ready));
    end
  end
  always_comb begin
    c_full: cover (rst_n && inside_q == 4'd3);
    c_through: cover (rst_n && out[East] && held[West] != '0);
    c_wait: cover (rst_n && barrier_valid_i && !barrier_ready && ready_i[barrier_side_i]);
  end
endmodule
