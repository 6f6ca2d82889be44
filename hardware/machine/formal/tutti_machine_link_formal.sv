// SPDX-License-Identifier: Apache-2.0
/// The link with anything at its ports and resets at any time. Of a message that a symbol chooses, in
/// a virtual network that is chosen, as many are in the queue as came in and did not leave. The wire
/// takes one message at a time, a line for LineCycles, and none for a queue that is full; whoever has
/// a message and room waits for at most one turn of each other virtual network.
module tutti_machine_link_formal #(
    parameter int unsigned LineCycles = 3,
    parameter int unsigned Latency = 2,
    parameter int unsigned Depth = 2
) (
    input logic clk_i,
    // Free inputs.
    input logic reset_i,
    input logic [2:0] valid_i,
    input logic [1:0][2:0] short_i,
    input logic [2:0] long_i,
    input logic has_line_i,
    input logic [2:0] ready_i,
    // Held constant.
    input logic [2:0] symbol_i,
    input logic [1:0] network_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  logic [2:0] symbol_q;
  logic [1:0] network_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
    network_q <= network_i;
  end
  logic [2:0] ready, valid;
  logic [1:0][2:0] short;
  logic [2:0] long;
  tutti_machine_link #(
      .Width(3),
      .LongWidth(3),
      .LineCycles(LineCycles),
      .Latency(Latency),
      .Depth(Depth)
  ) i_link (
      .clk_i,
      .rst_ni(rst_n),
      .valid_i,
      .ready_o(ready),
      .short_i,
      .long_i,
      .has_line_i,
      .valid_o(valid),
      .ready_i,
      .short_o(short),
      .long_o(long)
  );

  logic [2:0][2:0] in, out;
  assign in = {long_i, short_i};
  assign out = {long, short};
  logic waits_q, enters, leaves;
  assign enters = valid_i[network_i] && ready[network_i] && in[network_i] == symbol_i;
  assign leaves = valid[network_i] && ready_i[network_i] && out[network_i] == symbol_i;
  logic can;
  assign can = valid_i[network_i] && i_link.free[network_i];
  logic [2:0] mine;
  assign mine = 3'd1 << network_i;
  logic [1:0] others_q, distance;
  assign distance = i_link.turn_q == network_i ? 2'd0
      : (i_link.turn_q == 2'd2 ? 2'd0 : i_link.turn_q + 2'd1) == network_i ? 2'd1 : 2'd2;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_n && can && !ready[network_i];
    if (!rst_n || !can || ready[network_i]) others_q <= '0;
    else if ((ready & ~mine) != '0) others_q <= others_q + 2'd1;
  end
  always_comb begin
    assume (power_q || (symbol_i == symbol_q && network_i == network_q));
    assume (network_i != 2'd3);
    assume (!waits_q || valid_i[network_i]);
  end

  // The chosen message in each queue, and what tutti_machine_queue_formal proves of the queues.
  logic [2:0][7:0] held;
  logic [2:0] queue_bad;
  for (genvar v = 0; v < 3; ++v) begin : gen_network
    logic [Depth-1:0][2:0] stored;
    logic [7:0] read, write, count, arrive, travelling, waiting;
    if (v == 2) begin : gen_long
      for (genvar d = 0; d < Depth; ++d) begin : gen_place
        assign stored[d] = i_link.i_long.data_q[d];
      end
      assign read = 8'(i_link.i_long.read_q);
      assign write = 8'(i_link.i_long.write_q);
      assign arrive = 8'(i_link.i_long.arrive_q);
      assign travelling = 8'(i_link.i_long.travelling_q);
      assign waiting = 8'(i_link.i_long.waiting_q);
    end else begin : gen_short
      for (genvar d = 0; d < Depth; ++d) begin : gen_place
        assign stored[d] = i_link.gen_short[v].i_queue.data_q[d];
      end
      assign read = 8'(i_link.gen_short[v].i_queue.read_q);
      assign write = 8'(i_link.gen_short[v].i_queue.write_q);
      assign arrive = 8'(i_link.gen_short[v].i_queue.arrive_q);
      assign travelling = 8'(i_link.gen_short[v].i_queue.travelling_q);
      assign waiting = 8'(i_link.gen_short[v].i_queue.waiting_q);
    end
    assign count = travelling + waiting;
    always_comb begin
      held[v] = '0;
      for (int unsigned d = 0; d < Depth; ++d)
        if ((8'(d) >= read ? 8'(d) - read : 8'(d + Depth) - read) < count && stored[d] == symbol_i)
          held[v] = held[v] + 8'd1;
      queue_bad[v] = count > 8'(Depth) || read >= 8'(Depth) || write != (read + count) % 8'(Depth)
          || arrive >= 8'(Depth);
    end
  end
  logic [7:0] inside_q;
  logic [8:0] since_q;
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      inside_q <= '0;
      since_q <= 9'(LineCycles);
    end else begin
      inside_q <= inside_q + 8'(enters) - 8'(leaves);
      if (ready[2] && has_line_i) since_q <= 9'd1;
      else if (since_q < 9'(LineCycles)) since_q <= since_q + 9'd1;
    end
  end
  always_comb begin
    if (!power_q) begin
      a_queues: assert (queue_bad == '0);
      a_flow: assert (inside_q == held[network_i]);
      a_one: assert ((ready & (ready - 3'd1)) == '0 && (ready & ~valid_i) == '0);
      a_room: assert ((ready & ~i_link.free) == '0);
      a_turn: assert (i_link.turn_q != 2'd3);
      a_occupied: assert (since_q != '0 && since_q <= 9'(LineCycles)
          && 9'(i_link.occupied_q) == 9'(LineCycles) - since_q);
      a_line: assert (ready == '0 || since_q == 9'(LineCycles));
      a_works: assert ((valid_i & i_link.free) == '0 || since_q != 9'(LineCycles) || ready != '0);
      a_fair: assert (others_q <= 2'd2);
      a_distance: assert (!waits_q || 4'(others_q) + 4'(distance) <= 4'd2);
      a_rest: assert (waits_q || others_q == '0);
    end
    c_full: cover (rst_n && inside_q == 8'(Depth));
    c_fair: cover (rst_n && others_q == 2'd2);
    c_line: cover (rst_n && since_q == 9'(LineCycles - 1) && valid_i != '0);
  end
endmodule
