// SPDX-License-Identifier: Apache-2.0
/// A whole network: no host is released from an episode before every host has called it.
///
/// Cables have any delay and may deliver their last message again at any time, even after later
/// events elsewhere. Hosts call at any time. Topology 1: ring; 2: binary tree; 3: star; 4:
/// butterfly (2, 4 or 8 nodes).
///
/// Model 1 has the core's specification in place of the core: the one that the proof `core` shows
/// it to keep, in which a message sets its bit at once, and a row that is complete ends when there is
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
  localparam int unsigned Ports = Topology == 3 && Nodes > 4 ? Nodes - 1 : 3;
  localparam int unsigned Stages = 4;
  localparam int unsigned Bits = 1 + 2 * Ports;
  localparam logic [Bits-1:0] Host = Bits'(1);

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
      return {s == 0 ? Host : arrive(s - 1), s == last_row(n) ? Host : arrive(s)};
    end
    for (int unsigned c = 0; c < (Topology == 2 ? children(n) : n == 0 ? Nodes - 1 : 0); ++c) begin
      below |= arrive(c);
      release_below |= free(c);
    end
    if (n == 0) return {Host | below, Host | release_below};
    return s == 0 ? {Host | below, arrive(Topology == 2 ? 2 : 0)}
        : {free(Topology == 2 ? 2 : 0), Host | release_below};
  endfunction
  function automatic logic [Bits-1:0] need(int unsigned n, int unsigned s);
    return s <= last_row(n) ? Bits'(row(n, s) >> Bits) : '0;
  endfunction
  function automatic logic [Bits-1:0] sending(int unsigned n, int unsigned s);
    return s <= last_row(n) ? Bits'(row(n, s)) : '0;
  endfunction
  function automatic int unsigned last_row(int unsigned n);
    if (Topology == 4) return $clog2(Nodes);
    return n == 0 && Topology != 1 ? 0 : 1;
  endfunction
  // Returns {node, port} at the other end of port p of node n; node 15 means that there is none.
  function automatic logic [6:0] cable(int unsigned n, int unsigned p);
    if (Topology == 1) begin
      if (p == 0) return {4'((n + 1) % Nodes), 3'd1};
      if (p == 1) return {4'((n + Nodes - 1) % Nodes), 3'd0};
    end
    if (Topology == 2) begin
      if (p < children(n)) return {4'(2 * n + 1 + p), 3'd2};
      if (p == 2 && n != 0) return {4'((n - 1) / 2), 3'((n - 1) % 2)};
    end
    if (Topology == 3) begin
      if (n == 0 && p < Nodes - 1) return {4'(p + 1), 3'd0};
      if (n != 0 && p == 0) return {4'd0, 3'(n - 1)};
    end
    if (Topology == 4 && (1 << p) < Nodes) return {4'(n ^ (1 << p)), 3'(p)};
    return {4'd15, 3'd0};
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
  // The state of each node's specification: what has come for the open episode and for the next,
  // the row, the episode, and whether one has ended.
  logic [Nodes-1:0][Bits-1:0] came_now, came_early;
  logic [Nodes-1:0][1:0] at_row, open;
  logic [Nodes-1:0] begun;

  for (genvar n = 0; n < Nodes; ++n) begin : gen_node
    logic [Stages-1:0][Bits-1:0] needs, sends;
    for (genvar s = 0; s < Stages; ++s) begin : gen_row
      assign needs[s] = need(n, s);
      assign sends[s] = sending(n, s);
    end
    // The cables that leave the node are free.
    logic [Ports-1:0] room;
    for (genvar p = 0; p < Ports; ++p) begin : gen_room
      localparam logic [6:0] To = cable(n, p);
      if (To[6:3] != 4'd15) begin : gen_wired
        assign room[p] = !full_q[To[6:3]][To[2:0]];
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
      assign came_now[n] = came_q;
      assign came_early[n] = early_q;
      assign at_row[n] = row_q;
      assign open[n] = open_q;
      assign begun[n] = begun_q;
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
      localparam logic [6:0] From = cable(n, p);
      if (From[6:3] != 4'd15) begin : gen_wired
        logic sent;
        assign sent = job[From[6:3]]
            && (send[From[6:3]][1+32'(From[2:0])] || send[From[6:3]][1+Ports+32'(From[2:0])]);
        always_ff @(posedge clk_i) begin
          if (init_q) begin
            full_q[n][p] <= 1'b0;
            used_q[n][p] <= 1'b0;
            release_q[n][p] <= 1'b0;
            tag_q[n][p] <= '0;
          end else if (sent) begin
            full_q[n][p] <= 1'b1;
            used_q[n][p] <= 1'b1;
            release_q[n][p] <= send[From[6:3]][1+Ports+32'(From[2:0])];
            tag_q[n][p] <= job_tag[From[6:3]];
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

  // What makes the property above inductive, for any number of nodes: it says of each node and
  // cable what their neighbours must have done before. Numbers of episodes are modulo 4, and nodes
  // are never further apart than that can tell.
  if (Model) begin : gen_invariant
    for (genvar n = 0; n < Nodes; ++n) begin : gen_of_node
      logic past_rows_came, is_in_table;
      always_comb begin
        past_rows_came = 1'b1;
        for (int unsigned s = 0; s < Stages; ++s) begin
          if (s < 32'(at_row[n])) past_rows_came &= (need(n, s) & ~came_now[n]) == '0;
        end
        is_in_table = 32'(at_row[n]) <= last_row(n);
      end
      always_comb begin
        if (!init_q) begin
          a_row: assert (is_in_table && past_rows_came);
          a_calls: assert (calls_q[n] == open[n] + 2'(waits_q[n]));
          a_host: assert ((!came_now[n][0] || waits_q[n]) && !came_early[n][0]);
        end
      end
      for (genvar o = 0; o < Nodes; ++o) begin : gen_apart
        logic [1:0] calls_apart, apart;
        assign calls_apart = calls_q[o] - open[n];
        assign apart = open[o] - open[n];
        always_comb begin
          if (!init_q) a_apart: assert (calls_apart != 2'd3 && apart != 2'd2);
        end
      end
      for (genvar p = 0; p < Ports; ++p) begin : gen_of_cable
        localparam logic [6:0] From = cable(n, p);
        if (From[6:3] != 4'd15) begin : gen_wired
          localparam int unsigned M = 32'(From[6:3]);
          localparam int unsigned Q = 32'(From[2:0]);
          // The neighbour has sent row s of its episode, and any row to this cable.
          logic [Stages-1:0] has_sent;
          logic has_sent_any;
          always_comb begin
            has_sent_any = 1'b0;
            for (int unsigned s = 0; s < Stages; ++s) begin
              has_sent[s] = s < 32'(at_row[M]);
              has_sent_any |= has_sent[s] && (sending(M, s) & (arrive(Q) | free(Q))) != '0;
            end
          end
          // Its last message there is of its episode, of the one before, or, if it has echoed and
          // not sent since, of the one before that.
          logic last_is_sent;
          logic [1:0] age;
          assign age = open[M] - tag_q[n][p];
          always_comb begin
            last_is_sent = 1'b0;
            for (int unsigned s = 0; s < Stages; ++s) begin
              if ((sending(M, s) & (release_q[n][p] ? free(Q) : arrive(Q))) != '0) begin
                last_is_sent |= age == 2'd0 && has_sent[s];
                last_is_sent |= age == 2'd1 && begun[M];
                last_is_sent |= age == 2'd2 && begun[M] && !has_sent_any;
              end
            end
          end
          always_comb begin
            if (!init_q) a_last: assert (!(used_q[n][p] || full_q[n][p]) || last_is_sent);
          end
          for (genvar b = 0; b < 2; ++b) begin : gen_of_bit
            localparam int unsigned Bit = 1 + p + b * Ports;
            logic sent_now, sent_next;
            always_comb begin
              sent_now = 1'b0;
              sent_next = 1'b0;
              for (int unsigned s = 0; s < Stages; ++s) begin
                if ((sending(M, s) & (b == 1 ? free(Q) : arrive(Q))) != '0) begin
                  sent_now |= open[M] == open[n] + 2'd1 || (open[M] == open[n] && has_sent[s]);
                  sent_next |= open[M] == open[n] + 2'd1 && has_sent[s];
                end
              end
            end
            logic is_needed, has_caused_an_end;
            always_comb begin
              is_needed = 1'b0;
              has_caused_an_end = 1'b0;
              for (int unsigned s = 0; s < Stages; ++s) begin
                is_needed |= (need(n, s) & Bits'(1 << Bit)) != '0;
                has_caused_an_end |= has_sent[s]
                    && (sending(M, s) & (b == 1 ? free(Q) : arrive(Q))) != '0;
              end
            end
            always_comb begin
              if (!init_q) begin
                a_came: assert (!came_now[n][Bit] || sent_now);
                a_early: assert (!came_early[n][Bit] || sent_next);
                a_ended: assert (!is_needed || open[n] != open[M] + 2'd1 || has_caused_an_end);
              end
            end
          end
        end
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
