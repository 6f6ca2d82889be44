// SPDX-License-Identifier: Apache-2.0
/// One communicator of the core, chosen by a symbol, with any tables and any messages to all
/// communicators: it behaves as its specification, which sees only the messages to it. So nothing
/// is sent before its row is complete, each row sends once an episode and in order, and no message
/// to another communicator has an effect.
module tutti_innetwork_core_formal #(
    parameter int unsigned Ports = 2,
    parameter int unsigned Communicators = 3,
    parameter int unsigned Stages = 3,
    parameter int unsigned EpisodeBits = 3,
    parameter int unsigned Bits = 1 + 2 * Ports,
    parameter int unsigned IndexBits = Communicators > 1 ? $clog2(Communicators) : 1,
    parameter int unsigned StageBits = Stages > 1 ? $clog2(Stages) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs; the tables are constant while a communicator is in use.
    input logic [Communicators-1:0][Stages-1:0][Bits-1:0] need_i,
    input logic [Communicators-1:0][Stages-1:0][Bits-1:0] send_i,
    input logic [Communicators-1:0][StageBits-1:0] last_i,
    input logic [Communicators-1:0] clear_i,
    input logic [Communicators-1:0] echo_i,
    input logic valid_i,
    input logic [IndexBits-1:0] index_i,
    input logic [Bits-1:0] bit_i,
    input logic [EpisodeBits-1:0] episode_i,
    input logic ready_i,
    input logic [IndexBits-1:0] symbol_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic clear_q;
  logic [IndexBits-1:0] symbol_q;
  logic [Stages-1:0][Bits-1:0] need_q, send_q;
  logic [StageBits-1:0] last_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    clear_q <= clear_i[symbol_i];
    symbol_q <= symbol_i;
    need_q <= need_i[symbol_i];
    send_q <= send_i[symbol_i];
    last_q <= last_i[symbol_i];
  end

  logic counted, repeated, stranger, job_valid, job_again;
  logic [IndexBits-1:0] job_index;
  logic [Bits-1:0] job_send;
  logic [EpisodeBits-1:0] job_episode;
  logic [Communicators-1:0][Bits-1:0] arrived;
  logic [Communicators-1:0][StageBits-1:0] stage;
  logic [Communicators-1:0][EpisodeBits-1:0] episode;
  tutti_innetwork_core #(
      .Ports(Ports),
      .Communicators(Communicators),
      .Stages(Stages),
      .EpisodeBits(EpisodeBits)
  ) i_core (
      .clk_i,
      .rst_ni(!init_q),
      .need_i,
      .send_i,
      .last_i,
      .clear_i,
      .echo_i,
      .msg_valid_i(valid_i && !init_q),
      .msg_index_i(index_i),
      .msg_bit_i(bit_i),
      .msg_episode_i(episode_i),
      .counted_o(counted),
      .repeated_o(repeated),
      .stranger_o(stranger),
      .job_valid_o(job_valid),
      .job_ready_i(ready_i && !init_q),
      .job_index_o(job_index),
      .job_send_o(job_send),
      .job_episode_o(job_episode),
      .job_again_o(job_again),
      .arrived_o(arrived),
      .stage_o(stage),
      .episode_o(episode)
  );

  // The specification: the messages of the open and of the next episode that have arrived, the row,
  // and the episode.
  logic [Bits-1:0] came_q, early_q, used, fresh;
  logic [StageBits-1:0] row_q;
  logic [EpisodeBits-1:0] open_q;
  logic mine, now, next, fires, ends, in_use, begun_q;
  // What rows have sent in the open episode, and what all rows send.
  logic [Bits-1:0] sent, sends;
  assign in_use = !init_q && !clear_i[symbol_i];
  always_comb begin
    used = '0;
    for (int unsigned s = 0; s < Stages; ++s) if (s <= 32'(last_i[symbol_i])) used |=
        need_i[symbol_i][s];
  end
  assign mine = in_use && valid_i && index_i == symbol_i;
  assign now = mine && episode_i == open_q && (bit_i & used) != '0;
  assign next = mine && episode_i == open_q + EpisodeBits'(1) && (bit_i & used) != '0 && !bit_i[0];
  assign fresh = now ? bit_i & ~came_q : next ? bit_i & ~early_q : '0;
  assign fires = in_use && job_valid && !job_again && ready_i && job_index == symbol_i;
  always_comb begin
    sent = '0;
    sends = '0;
    for (int unsigned s = 0; s < Stages; ++s) begin
      if (s < 32'(row_q)) sent |= send_i[symbol_i][s];
      if (s <= 32'(last_i[symbol_i])) sends |= send_i[symbol_i][s];
    end
  end
  // Returns whether a message may go out once more: its row has sent it in that episode, which is
  // the open one or the one before.
  function automatic logic was_sent(logic [Bits-1:0] what, logic [EpisodeBits-1:0] when);
    return !what[0] && ((when == open_q && (what & ~sent) == '0)
        || (begun_q && when == open_q - EpisodeBits'(1) && (what & ~sends) == '0));
  endfunction
  assign ends = fires && row_q == last_i[symbol_i];
  always_ff @(posedge clk_i) begin
    if (!in_use) begin
      came_q <= '0;
      early_q <= '0;
      row_q <= '0;
      open_q <= '0;
      begun_q <= 1'b0;
    end else begin
      came_q <= ends ? early_q | (next ? bit_i : '0) : came_q | (now ? bit_i : '0);
      early_q <= ends ? '0 : early_q | (next ? bit_i : '0);
      if (fires) row_q <= ends ? '0 : row_q + StageBits'(1);
      if (ends) open_q <= open_q + EpisodeBits'(1);
      if (ends) begun_q <= 1'b1;
    end
  end

  always_comb begin
    assume (init_q || symbol_i == symbol_q);
    assume (32'(symbol_i) < Communicators && 32'(index_i) < Communicators);
    assume (!valid_i || (bit_i != '0 && (bit_i & (bit_i - Bits'(1))) == '0));
    // A table changes within a reset: not at its beginning, and not at its end.
    assume (init_q ? clear_i == '1 : (clear_q && clear_i[symbol_i])
        || (need_i[symbol_i] == need_q && send_i[symbol_i] == send_q
            && last_i[symbol_i] == last_q));
    for (int unsigned c = 0; c < Communicators; ++c) assume (32'(last_i[c]) < Stages);
    // The registers accept only tables that begin with the host.
    assume (need_i[symbol_i][0][0]);
  end

  always_comb begin
    if (!init_q) begin
      // A row is sent when all messages that it needs have arrived in this episode, and never
      // otherwise.
      a_needs: assert (!fires || (need_i[symbol_i][row_q] & ~came_q) == '0);
      a_sends: assert (!fires || job_send == send_i[symbol_i][row_q]);
      a_episode: assert (!fires || job_episode == open_q);
      // An echo is what has been sent before, and never releases the host.
      a_echo: assert (!(in_use && job_valid && job_again && job_index == symbol_i)
          || was_sent(job_send, job_episode));
      a_first_host: assert (!fires || came_q[0]);
      a_not_held: assert (!(job_valid && job_index == symbol_i && clear_i[symbol_i]));
      a_goes_on: assert (!(in_use && (need_i[symbol_i][row_q] & ~came_q) == '0) || job_valid);
      a_used: assert (!in_use || i_core.used_q[symbol_i] == used);
      a_row_is: assert (!in_use || (i_core.need_q[symbol_i] == need_i[symbol_i][row_q]
          && i_core.send_q[symbol_i] == send_i[symbol_i][row_q]));
      // The effect of each message is reported.
      a_counted: assert (!mine || counted == (fresh != '0));
      a_stranger: assert (!mine || stranger == ((bit_i & used) == '0));
      a_repeated: assert (!mine || repeated == ((bit_i & used) != '0 && fresh == '0));
      // Invariants.
      a_came: assert (arrived[symbol_i] == came_q && (came_q & ~used) == '0);
      a_early: assert (i_core.ahead_q[symbol_i] == early_q && (early_q & ~used) == '0
          && !early_q[0]);
      a_row: assert (stage[symbol_i] == row_q && row_q <= last_i[symbol_i]);
      a_open: assert (episode[symbol_i] == open_q);
      a_past_host: assert (row_q == '0 || came_q[0]);
      a_begun: assert (i_core.begun_q[symbol_i] == begun_q);
      a_again: assert (!(in_use && i_core.again_valid_q && i_core.again_index_q == symbol_i)
          || was_sent(i_core.again_send_q, i_core.again_episode_q));
      a_doubt: assert (!(in_use && i_core.doubt_valid_q && i_core.doubt_index_q == symbol_i)
          || (i_core.doubt_past_q ? begun_q && i_core.doubt_episode_q == open_q - EpisodeBits'(1)
          : i_core.doubt_episode_q == open_q));
    end
  end

  logic [1:0] episodes_q;
  logic early_before_q;
  always_ff @(posedge clk_i) begin
    if (!in_use) episodes_q <= '0;
    else if (ends && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
    early_before_q <= in_use && (early_before_q || (ends && early_q != '0));
  end
  always_comb begin
    c_two_episodes: cover (!init_q && episodes_q == 2'd2 && last_i[symbol_i] == StageBits'(1)
        && send_i[symbol_i][0] != '0);
    c_early: cover (!init_q && early_before_q && episodes_q == 2'd1 && ends);
    c_repeated: cover (!init_q && mine && repeated && now && came_q != '0);
    c_stale: cover (!init_q && mine && repeated && !now && !next && episodes_q != '0);
    c_echo_now: cover (!init_q && in_use && job_again && job_index == symbol_i && ready_i
        && job_episode == open_q);
    c_echo_past: cover (!init_q && in_use && job_again && job_index == symbol_i && ready_i
        && job_episode != open_q);
    c_other_between: cover (!init_q && in_use && came_q != '0 && counted && !mine
        && arrived[index_i] != '0);
  end
endmodule
