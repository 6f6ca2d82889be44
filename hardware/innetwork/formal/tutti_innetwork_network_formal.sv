// SPDX-License-Identifier: Apache-2.0
/// A whole network: no host is released from an episode before every host has called it.
///
/// Cables have any delay and may deliver their last message again at any time, even after later
/// events elsewhere. Hosts call at any time. Topology 1: ring; 2: binary tree; 3: star; 4:
/// butterfly (2 or 4 nodes).
///
/// Model 1 has the core's specification in place of the core: the one that the proof `core` shows it
/// to keep, in which a message sets its bit at once, and a row that is complete ends when there is
/// room on the cables. What the core takes longer is a longer cable. An echo is any row that the
/// specification of echoes allows.
module tutti_innetwork_network_formal #(
    parameter int unsigned Topology = 1,
    parameter int unsigned Nodes = 3,
    // Nodes may echo repeated messages.
    parameter bit Echo = 1'b0,
    // The specification in place of the core.
    parameter bit Model = 1'b0
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [Nodes-1:0] call_i,
    // The host's last call is delivered again.
    input logic [Nodes-1:0] repeat_call_i,
    // The cable from which the node takes a message.
    input logic [Nodes-1:0][2:0] port_i,
    // That cable's last message is delivered again.
    input logic [Nodes-1:0] again_i,
    // The output is free.
    input logic [Nodes-1:0] go_i,
    // The node echoes.
    input logic [Nodes-1:0] echo_i
);
  localparam int unsigned Ports = 3;
  localparam int unsigned Stages = 3;
  localparam int unsigned Bits = 1 + 2 * Ports;
  localparam logic [Bits-1:0] Host = 7'b0000001;

  function automatic logic [Bits-1:0] arrive(int unsigned port);
    return Bits'(1) << (1 + port);
  endfunction
  function automatic logic [Bits-1:0] free(int unsigned port);
    return Bits'(1) << (1 + Ports + port);
  endfunction
  function automatic int unsigned children(int unsigned n);
    return 2 * n + 2 < Nodes ? 2 : 2 * n + 1 < Nodes ? 1 : 0;
  endfunction
  // Returns {need, send} of a row.
  function automatic logic [2*Bits-1:0] row(int unsigned n, int unsigned s);
    logic [Bits-1:0] below, release_below;
    below = '0;
    release_below = '0;
    if (Topology == 1) begin
      if (n == 0) return s == 0 ? {Host, arrive(0)} : {arrive(1), Host | free(0)};
      return s == 0 ? {Host | arrive(1), arrive(0)}
          : {free(1), Host | (n == Nodes - 1 ? Bits'(0) : free(0))};
    end
    if (Topology == 4) begin
      if (s == 0) return {Host, arrive(0)};
      if (s == 1) return {arrive(0), Nodes == 2 ? Host : arrive(1)};
      return {arrive(1), Host};
    end
    for (int unsigned c = 0; c < (Topology == 2 ? children(n) : n == 0 ? Nodes - 1 : 0); ++c) begin
      below |= arrive(c);
      release_below |= free(c);
    end
    if (n == 0) return {Host | below, Host | release_below};
    return s == 0 ? {Host | below, arrive(Topology == 2 ? 2 : 0)}
        : {free(Topology == 2 ? 2 : 0), Host | release_below};
  endfunction
  function automatic int unsigned last_row(int unsigned n);
    if (Topology == 4) return Nodes == 2 ? 1 : 2;
    return n == 0 && Topology != 1 ? 0 : 1;
  endfunction
  // Returns {node, port} at the other end of port p of node n; node 7 means that there is none.
  function automatic logic [5:0] cable(int unsigned n, int unsigned p);
    if (Topology == 1) begin
      if (p == 0) return {3'((n + 1) % Nodes), 3'd1};
      if (p == 1) return {3'((n + Nodes - 1) % Nodes), 3'd0};
    end
    if (Topology == 2) begin
      if (p < children(n)) return {3'(2 * n + 1 + p), 3'd2};
      if (p == 2 && n != 0) return {3'((n - 1) / 2), 3'((n - 1) % 2)};
    end
    if (Topology == 3) begin
      if (n == 0 && p < Nodes - 1) return {3'(p + 1), 3'd0};
      if (n != 0 && p == 0) return {3'd0, 3'(n - 1)};
    end
    if (Topology == 4 && (1 << p) < Nodes) return {3'(n ^ (1 << p)), 3'(p)};
    return {3'd7, 3'd0};
  endfunction

  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  // The cable that ends at each port of each node.
  logic [Nodes-1:0][Ports-1:0] full_q, used_q, release_q;
  logic [Nodes-1:0][Ports-1:0][1:0] tag_q;
  // Calls of each host.
  logic [Nodes-1:0][1:0] calls_q;
  logic [Nodes-1:0] waits_q, called_q;
  logic [Nodes-1:0] offered, job, ready, takes, released, calls;
  logic [Nodes-1:0][Bits-1:0] send;
  logic [Nodes-1:0][1:0] job_tag;

  for (genvar n = 0; n < Nodes; ++n) begin : gen_node
    logic [Stages-1:0][Bits-1:0] needs, sends;
    for (genvar s = 0; s < Stages; ++s) begin : gen_row
      assign {needs[s], sends[s]} = s <= last_row(n) ? row(n, s) : '0;
    end
    // The cables that leave the node are free.
    logic [Ports-1:0] room;
    for (genvar p = 0; p < Ports; ++p) begin : gen_room
      localparam logic [5:0] To = cable(n, p);
      if (To[5:3] != 3'd7) begin : gen_wired
        assign room[p] = !full_q[To[5:3]][To[2:0]];
      end else begin : gen_free
        assign room[p] = 1'b1;
      end
    end
    assign ready[n] = !init_q && go_i[n] && room == '1;

    logic from_host, from_cable, bit_is_release, was_q;
    logic [1:0] tag;
    logic [Bits-1:0] message;
    assign calls[n] = !init_q && !was_q && call_i[n] && !waits_q[n];
    // Messages to a core are not adjacent.
    assign from_host = !was_q && (calls[n] || (!init_q && repeat_call_i[n] && called_q[n]));
    assign takes[n] = !init_q && !was_q && !from_host && 32'(port_i[n]) < Ports
        && full_q[n][port_i[n]];
    assign from_cable = takes[n]
        || (!init_q && !was_q && !from_host && 32'(port_i[n]) < Ports && again_i[n]
            && used_q[n][port_i[n]]);
    assign bit_is_release = release_q[n][port_i[n]];
    assign tag = calls[n] ? calls_q[n] : from_host ? calls_q[n] - 2'd1 : tag_q[n][port_i[n]];
    assign message = from_host ? Host
        : Bits'(1) << (1 + 32'(port_i[n]) + (bit_is_release ? Ports : 0));

    if (Model) begin : gen_model
      logic [Bits-1:0] came_q, early_q, used, came, early;
      logic [1:0] row_q, open_q, again_row;
      logic begun_q, is_now, is_next, complete, ends, echoes;
      always_comb begin
        used = '0;
        for (int unsigned s = 0; s < Stages; ++s) used |= needs[s];
      end
      assign is_now = (from_host || from_cable) && tag == open_q;
      assign is_next = (from_host || from_cable) && tag == open_q + 2'd1 && !message[0];
      assign came = came_q | (is_now ? message & used : '0);
      assign early = early_q | (is_next ? message & used : '0);
      assign complete = !init_q && (needs[row_q] & ~came_q) == '0;
      // A row of this episode that has ended, or any of the one before.
      assign again_row = port_i[n][1:0];
      assign echoes = !init_q && Echo && echo_i[n] && !complete && 32'(again_row) <= last_row(n)
          && (again_i[n] ? begun_q : again_row < row_q);
      assign offered[n] = complete || echoes;
      assign send[n] = complete ? sends[row_q] : sends[again_row] & ~Host;
      assign job_tag[n] = complete || !again_i[n] ? open_q : open_q - 2'd1;
      assign ends = complete && ready[n] && 32'(row_q) == last_row(n);
      always_ff @(posedge clk_i) begin
        if (init_q) begin
          came_q <= '0;
          early_q <= '0;
          row_q <= '0;
          open_q <= '0;
          begun_q <= 1'b0;
        end else begin
          came_q <= ends ? early : came;
          early_q <= ends ? '0 : early;
          if (complete && ready[n]) row_q <= ends ? '0 : row_q + 2'd1;
          if (ends) open_q <= open_q + 2'd1;
          if (ends) begun_q <= 1'b1;
        end
      end
    end else begin : gen_core
      logic counted, repeated, stranger;
      logic job_index;
      logic [Bits-1:0] arrived;
      logic [1:0] stage, episode;
      tutti_innetwork_core #(
          .Ports(Ports),
          .Communicators(1),
          .Stages(Stages),
          .EpisodeBits(2)
      ) i_core (
          .clk_i,
          .rst_ni(!init_q),
          .need_i(needs),
          .send_i(sends),
          .last_i(2'(last_row(n))),
          .clear_i(init_q),
          .echo_i(Echo && echo_i[n]),
          .hold_i(from_host || from_cable),
          .msg_valid_i(from_host || from_cable),
          .msg_for_i(1'b1),
          .msg_bit_i(message),
          .msg_episode_i(tag),
          .msg_before_i(tag - 2'd1),
          .msg_after_i(tag + 2'd1),
          .index_o(),
          .counted_o(counted),
          .repeated_o(repeated),
          .stranger_o(stranger),
          .call_o(),
          .since_call_o(),
          .job_valid_o(offered[n]),
          .job_ready_i(ready[n]),
          .job_index_o(job_index),
          .job_send_o(send[n]),
          .job_episode_o(job_tag[n]),
          .job_again_o(),
          .arrived_o(arrived),
          .stage_o(stage),
          .episode_o(episode)
      );
    end
    assign job[n] = offered[n] && ready[n];
    assign released[n] = job[n] && send[n][0];
    always_ff @(posedge clk_i) begin
      if (init_q) begin
        calls_q[n] <= '0;
        waits_q[n] <= 1'b0;
        was_q <= 1'b0;
        called_q[n] <= 1'b0;
      end else begin
        was_q <= !Model && (from_host || from_cable);
        if (calls[n]) calls_q[n] <= calls_q[n] + 2'd1;
        called_q[n] <= called_q[n] || calls[n];
        waits_q[n] <= (waits_q[n] || calls[n]) && !released[n];
      end
    end

    for (genvar p = 0; p < Ports; ++p) begin : gen_cable
      localparam logic [5:0] From = cable(n, p);
      if (From[5:3] != 3'd7) begin : gen_wired
        logic sent;
        assign sent = job[From[5:3]]
            && (send[From[5:3]][1+32'(From[2:0])] || send[From[5:3]][1+Ports+32'(From[2:0])]);
        always_ff @(posedge clk_i) begin
          if (init_q) begin
            full_q[n][p] <= 1'b0;
            used_q[n][p] <= 1'b0;
            release_q[n][p] <= 1'b0;
            tag_q[n][p] <= '0;
          end else if (sent) begin
            full_q[n][p] <= 1'b1;
            used_q[n][p] <= 1'b1;
            release_q[n][p] <= send[From[5:3]][1+Ports+32'(From[2:0])];
            tag_q[n][p] <= job_tag[From[5:3]];
          end else if (takes[n] && 32'(port_i[n]) == p) full_q[n][p] <= 1'b0;
        end
      end else begin : gen_none
        assign full_q[n][p] = 1'b0;
        assign used_q[n][p] = 1'b0;
        assign release_q[n][p] = 1'b0;
        assign tag_q[n][p] = '0;
      end
    end
  end

  // When a host is released from its call k, each of the others has called k or k + 1 times.
  for (genvar n = 0; n < Nodes; ++n) begin : gen_safe
    for (genvar o = 0; o < Nodes; ++o) begin : gen_other
      logic [1:0] ahead;
      assign ahead = calls_q[o] - calls_q[n];
      always_comb begin
        if (!init_q) a_all_called: assert (!released[n] || (waits_q[n] && ahead <= 2'd1));
      end
    end
  end

  logic [Nodes-1:0] free_q;
  logic [1:0] done_q;
  logic again_q;
  always_ff @(posedge clk_i) begin
    if (init_q || free_q == '1) free_q <= init_q ? '0 : released;
    else free_q <= free_q | released;
    if (init_q) done_q <= '0;
    else if (free_q == '1 && done_q != 2'd3) done_q <= done_q + 2'd1;
    again_q <= !init_q && (again_q || (again_i != '0 && used_q != '0));
  end
  always_comb c_two_episodes: cover (!init_q && done_q == 2'd2 && again_q);
endmodule
