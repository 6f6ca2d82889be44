// SPDX-License-Identifier: Apache-2.0
/// The local port of a tile: what leaves the mesh here is taken by exactly one of the threads, the
/// node and the master, whether or not something enters; and what enters is the message of the one
/// whose turn it is.
module tutti_detector_tile_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned MasterWest = 0
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input place_t here_i,
    input place_t master_i,
    input logic send_i,
    input logic receive_i,
    input logic idle_i,
    input logic vote_i,
    input logic left_i,
    input logic data_valid_i,
    input place_t data_to_i,
    input logic [CountBits-1:0] data_i,
    input logic data_ready_i,
    input logic master_valid_i,
    input message_t master_message_i,
    input logic [3:0] valid_i,
    input message_t [3:0] message_i,
    input logic [3:0] ready_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic data_ready, data_valid, master_ready, master_valid;
  logic [CountBits-1:0] data;
  message_t master_message;

  tutti_detector_tile #(
      .Cores(1),
      .MasterWest(MasterWest)
  ) i_tile (
      .clk_i,
      .rst_ni(!init_q),
      .here_i,
      .master_i,
      .send_i,
      .receive_i,
      .idle_i,
      .vote_i,
      .left_i,
      .total_i('0),
      .release_o(),
      .unanimous_o(),
      .total_o(),
      .enable_o(),
      .count_o(),
      .error_o(),
      .data_valid_i,
      .data_ready_o(data_ready),
      .data_to_i,
      .data_i,
      .data_valid_o(data_valid),
      .data_ready_i,
      .data_o(data),
      .master_valid_i,
      .master_ready_o(master_ready),
      .master_message_i,
      .master_valid_o(master_valid),
      .master_message_o(master_message),
      .valid_i,
      .ready_o(),
      .message_i,
      .valid_o(),
      .ready_i,
      .message_o()
  );

  // Messages are of the three kinds.
  always_comb begin
    assume (!master_valid_i || master_message_i.kind != kind_t'(2'd3));
    for (int unsigned i = 0; i < 4; ++i) assume (message_i[i].kind != kind_t'(2'd3));
  end

  logic [2:0] takers;
  assign takers = {data_valid, master_valid, i_tile.i_node.order_valid_i};
  logic [Ports-1:0] known;
  for (genvar i = 0; i < Ports; ++i) begin : gen_port
    assign known[i] = (i_tile.i_router.gen_port[i].i_fifo.used_q == '0
                       || i_tile.i_router.gen_port[i].i_fifo.first_q.kind != kind_t'(2'd3))
                      && (i_tile.i_router.gen_port[i].i_fifo.used_q != 2'd2
                       || i_tile.i_router.gen_port[i].i_fifo.second_q.kind != kind_t'(2'd3))
                      && i_tile.i_router.gen_port[i].i_fifo.used_q != 2'd3;
  end

  message_t local_data;
  always_comb begin
    local_data = '0;
    local_data.kind = Data;
    local_data.to = data_to_i;
    local_data.from = here_i;
    local_data.report.count = data_i;
  end

  always_comb begin
    if (!init_q) begin
      a_known: assert (&known);
      a_one_taker: assert ($countones(takers) == 32'(i_tile.out_valid));
      a_right_taker: assert (!i_tile.out_valid
                             || takers == (i_tile.out.kind == Data ? 3'b100
                                           : i_tile.out.kind == Reply ? 3'b010 : 3'b001));
      a_is_taken: assert (!i_tile.out_valid || i_tile.out_ready == (!data_valid || data_ready_i));
      a_says: assert ((!data_valid || data == i_tile.out.report.count)
                      && (!master_valid || master_message == i_tile.out));
      if (i_tile.in_valid && i_tile.in_ready) begin
        // The node's reply comes first, then the master, then the threads.
        a_reply: assert (!i_tile.reply_valid
                         || (i_tile.in == i_tile.reply && i_tile.in.kind == Reply
                             && i_tile.in.to_master && i_tile.in.to == master_i
                             && i_tile.in.from == here_i && !master_ready && !data_ready));
        a_master: assert (i_tile.reply_valid || !master_valid_i
                          || (i_tile.in == master_message_i && master_ready && !data_ready));
        a_data: assert (i_tile.reply_valid || master_valid_i
                        || (i_tile.in == local_data && data_ready));
      end
      // Nobody is told that a message was taken that does not enter.
      a_nothing_lost: assert ((!(master_valid_i && master_ready) && !(data_valid_i && data_ready))
                              || (i_tile.in_valid && i_tile.in_ready && !i_tile.reply_valid));
      a_reply_kept: assert (i_tile.i_node.reply_ready_i == i_tile.in_ready);
    end
  end

  always_comb begin
    c_reply_leaves_while_full: cover (!init_q && master_valid && !i_tile.in_ready);
    c_data_waits: cover (!init_q && data_valid && !data_ready_i);
    c_reply_enters: cover (!init_q && i_tile.reply_valid && i_tile.in_ready && master_valid_i);
  end
endmodule
