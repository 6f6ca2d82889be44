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
    input logic hold_i,
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

  logic counted, repeated, stranger, call, since_call, job_valid, job_again, valid;
  logic [IndexBits-1:0] index, job_index;
  logic [Bits-1:0] job_send;
  logic [EpisodeBits-1:0] job_episode;
  logic [Communicators-1:0][Bits-1:0] arrived;
  logic [Communicators-1:0][StageBits-1:0] stage;
  logic [Communicators-1:0][EpisodeBits-1:0] episode;
  assign valid = valid_i && !init_q;
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
      .hold_i,
      .msg_valid_i(valid),
      .msg_for_i(Communicators'(1) << index_i),
      .msg_bit_i(bit_i),
      .msg_episode_i(episode_i),
      .msg_before_i(episode_i - EpisodeBits'(1)),
      .msg_after_i(episode_i + EpisodeBits'(1)),
      .index_o(index),
      .counted_o(counted),
      .repeated_o(repeated),
      .stranger_o(stranger),
      .call_o(call),
      .since_call_o(since_call),
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

  logic in_use;
  assign in_use = !init_q && !clear_i[symbol_i];

  // The message of the cycle before, if it was for this communicator, which was in use; and whether
  // there was a message for any.
  logic mine_q, any_q;
  logic [Bits-1:0] bit_q;
  logic [EpisodeBits-1:0] number_q;
  always_ff @(posedge clk_i) begin
    mine_q <= in_use && valid_i && index_i == symbol_i;
    any_q <= valid;
    bit_q <= bit_i;
    number_q <= episode_i;
  end

  // The specification: the messages of the open and of the next episode that have arrived, the row,
  // and the episode.
  logic [Bits-1:0] came_q, early_q, used, fresh;
  logic [StageBits-1:0] row_q;
  logic [EpisodeBits-1:0] open_q;
  logic mine, now, next, fires, ends, begun_q, complete, complete_q;
  // What rows have sent in the open episode, and what all rows send.
  logic [Bits-1:0] sent, sends;
  // A row's messages that wait to be sent.
  logic owed_q, owes;
  logic [Bits-1:0] owed_send_q;
  logic [EpisodeBits-1:0] owed_episode_q;
  always_comb begin
    used = '0;
    for (int unsigned s = 0; s < Stages; ++s) if (s <= 32'(last_i[symbol_i])) used |=
        need_i[symbol_i][s];
  end
  assign mine = in_use && mine_q;
  assign now = mine && number_q == open_q && (bit_q & used) != '0;
  assign next = mine && number_q == open_q + EpisodeBits'(1) && (bit_q & used) != '0 && !bit_q[0];
  assign fresh = now ? bit_q & ~came_q : next ? bit_q & ~early_q : '0;
  assign complete = in_use && (need_i[symbol_i][row_q] & ~came_q) == '0;
  assign fires = in_use && i_core.fires[symbol_i];
  assign owes = in_use && job_valid && !job_again && job_index == symbol_i;
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
      owed_q <= 1'b0;
      complete_q <= 1'b0;
    end else begin
      came_q <= ends ? early_q | (next ? bit_q : '0) : came_q | (now ? bit_q : '0);
      early_q <= ends ? '0 : early_q | (next ? bit_q : '0);
      if (fires) row_q <= ends ? '0 : row_q + StageBits'(1);
      if (ends) open_q <= open_q + EpisodeBits'(1);
      if (ends) begun_q <= 1'b1;
      complete_q <= complete && !fires;
      owed_q <= fires || (owed_q && !(owes && ready_i));
      if (fires) owed_send_q <= send_i[symbol_i][row_q];
      if (fires) owed_episode_q <= open_q;
    end
  end

  always_comb begin
    assume (init_q || symbol_i == symbol_q);
    assume (32'(symbol_i) < Communicators && 32'(index_i) < Communicators);
    assume (!valid_i || (bit_i != '0 && (bit_i & (bit_i - Bits'(1))) == '0));
    // The engine's packets are farther apart.
    assume (!valid_i || (hold_i && !any_q));
    // A table changes within a reset: not at its beginning, and not at its end.
    assume (init_q ? clear_i == '1 : (clear_q && clear_i[symbol_i])
        || (need_i[symbol_i] == need_q && send_i[symbol_i] == send_q
            && last_i[symbol_i] == last_q));
    for (int unsigned c = 0; c < Communicators; ++c) assume (32'(last_i[c]) < Stages);
    // The registers accept only tables that begin with the host.
    assume (need_i[symbol_i][0][0]);
  end

  // What the rows send that were looked up for an echo.
  logic [Bits-1:0] rows_send;
  always_comb begin
    rows_send = '0;
    for (int unsigned s = 0; s < Stages; ++s)
      if (i_core.rows_q[s]) rows_send |= send_i[symbol_i][s];
    rows_send[0] = 1'b0;
  end

  // The repeated message that the core keeps, and all that the rows which needed it have sent: once the
  // rows are looked up, then as what goes out again, then as a job.
  logic [Bits-1:0] asked_q, answer, answer_rows_q, answer_again_q, answer_job_q;
  logic asked_past_q;
  always_comb begin
    answer = '0;
    for (int unsigned s = 0; s < Stages; ++s)
      if (s <= 32'(last_i[symbol_i]) && (asked_past_q || s < 32'(row_q))
          && (need_i[symbol_i][s] & asked_q) != '0) answer |= send_i[symbol_i][s];
    answer[0] = 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (mine && i_core.has_doubt) begin
      asked_q <= bit_q;
      asked_past_q <= number_q != open_q;
    end
    if (i_core.looks_up && i_core.doubt_index_q == symbol_i) answer_rows_q <= answer;
    if (i_core.looks_on && i_core.rows_index_q == symbol_i) answer_again_q <= answer_rows_q;
    if (i_core.goes_again && i_core.again_index_q == symbol_i) answer_job_q <= answer_again_q;
  end

  // What the core keeps of a repeated message goes on until it is sent, but not beyond the episode: the
  // message, the rows, the echo, the job. The four are those that must be there in this cycle.
  logic asks, kept_doubt_q, kept_rows_q, kept_again_q, kept_job_q;
  logic has_doubt, has_rows, has_again, may_go;
  assign asks = mine && echo_i[symbol_i] && !now && !next && (bit_q & used) != '0
      && begun_q && number_q + EpisodeBits'(1) == open_q
      || mine && echo_i[symbol_i] && now && fresh == '0;
  assign has_doubt = in_use && i_core.doubt_valid_q && i_core.doubt_index_q == symbol_i;
  assign has_rows = in_use && i_core.rows_valid_q && i_core.rows_index_q == symbol_i;
  assign has_again = in_use && i_core.again_valid_q && i_core.again_index_q == symbol_i
      && i_core.again_send_q != '0;
  assign may_go = !hold_i && !i_core.job_valid_q && i_core.over_q == '0;
  always_ff @(posedge clk_i) begin
    kept_doubt_q <= !ends && (asks && !i_core.doubt_valid_q
        || has_doubt && i_core.rows_valid_q);
    kept_rows_q <= !ends && (has_doubt && !i_core.rows_valid_q
        || has_rows && i_core.again_valid_q);
    kept_again_q <= !ends && (has_rows && !i_core.again_valid_q && answer_rows_q != '0
        || has_again && !may_go);
    kept_job_q <= has_again && may_go;
  end

  // The communicator that the core looks at is the one it looked up.
  logic indexed;
  always_comb begin
    indexed = 1'b1;
    for (int unsigned c = 0; c < Communicators; ++c)
      if (i_core.for_q[c] && 32'(i_core.index_q) != c) indexed = 1'b0;
  end

  always_comb begin
    if (!init_q) begin
      // A row ends when all messages that it needs have arrived in this episode, and never
      // otherwise. What it sends is offered until it is taken, once.
      a_needs: assert (!fires || complete);
      a_owed: assert (!in_use || owes == owed_q);
      a_one_job: assert (!(fires && owed_q));
      a_sends: assert (!owes || job_send == owed_send_q);
      a_episode: assert (!owes || job_episode == owed_episode_q);
      // An echo is what has been sent before, and never releases the host.
      a_echo: assert (!(in_use && job_valid && job_again && job_index == symbol_i)
          || was_sent(job_send, job_episode));
      a_answer: assert (!(in_use && job_valid && job_again && job_index == symbol_i)
          || job_send == answer_job_q);
      a_kept_doubt: assert (!(in_use && kept_doubt_q) || has_doubt);
      a_kept_rows: assert (!(in_use && kept_rows_q) || has_rows);
      a_kept_again: assert (!(in_use && kept_again_q) || has_again);
      a_kept_job: assert (!(in_use && kept_job_q) || (job_valid && job_again
          && job_index == symbol_i));
      a_first_host: assert (!fires || came_q[0]);
      a_not_held: assert (!(job_valid && job_index == symbol_i && clear_i[symbol_i]));
      // A complete row is noticed in the next cycle, and then some row ends unless it is the turn
      // of a message or of a job; a communicator that is cleared may waste its turn.
      a_noticed: assert (!in_use || i_core.over_q[symbol_i] == complete_q);
      a_goes_on: assert (!(in_use && complete_q && !hold_i) || i_core.job_valid_q
          || i_core.fires != '0 || (i_core.chosen & clear_i) != '0);
      a_held: assert (!(hold_i && i_core.fires != '0));
      a_used: assert (!in_use || i_core.used_q[symbol_i] == used);
      a_row_is: assert (!in_use || (i_core.need_q[symbol_i] == need_i[symbol_i][row_q]
          && i_core.send_q[symbol_i] == send_i[symbol_i][row_q]));
      // The effect of each message is reported.
      a_counted: assert (!mine || counted == (fresh != '0));
      a_stranger: assert (!mine || stranger == ((bit_q & used) == '0));
      a_repeated: assert (!mine || repeated == ((bit_q & used) != '0 && fresh == '0));
      a_whose: assert (!mine || index == symbol_i);
      a_call: assert (!(mine && counted) || (call == bit_q[0]
          && since_call == (now && (bit_q[0] || came_q[0]))));
      a_nobodys: assert (any_q || !(counted || repeated || stranger));
      // Invariants.
      a_came: assert (arrived[symbol_i] == came_q && (came_q & ~used) == '0);
      a_early: assert (i_core.ahead_q[symbol_i] == early_q && (early_q & ~used) == '0
          && !early_q[0]);
      a_row: assert (stage[symbol_i] == row_q && row_q <= last_i[symbol_i]);
      a_open: assert (episode[symbol_i] == open_q);
      a_over: assert (!(in_use && i_core.over_q[symbol_i]) || complete);
      a_past_host: assert (row_q == '0 || came_q[0]);
      a_begun: assert (i_core.begun_q[symbol_i] == begun_q);
      a_again: assert (!(in_use && i_core.again_valid_q && i_core.again_index_q == symbol_i)
          || was_sent(i_core.again_send_q, i_core.again_episode_q));
      a_doubt: assert (!(in_use && i_core.doubt_valid_q && i_core.doubt_index_q == symbol_i)
          || (i_core.doubt_past_q ? begun_q && i_core.doubt_episode_q == open_q - EpisodeBits'(1)
          : i_core.doubt_episode_q == open_q));
      a_asked: assert (!(in_use && i_core.doubt_valid_q && i_core.doubt_index_q == symbol_i)
          || (i_core.doubt_bit_q == asked_q && i_core.doubt_past_q == asked_past_q));
      a_answer_rows: assert (!(in_use && i_core.rows_valid_q && i_core.rows_index_q == symbol_i)
          || rows_send == answer_rows_q);
      a_answer_again: assert (!(in_use && i_core.again_valid_q && i_core.again_index_q == symbol_i)
          || i_core.again_send_q == answer_again_q);
      a_rows: assert (!(in_use && i_core.rows_valid_q && i_core.rows_index_q == symbol_i)
          || was_sent(rows_send, i_core.rows_episode_q));
      a_for: assert (!in_use || i_core.for_q[symbol_i] == mine_q);
      a_one: assert ((i_core.for_q & (i_core.for_q - Communicators'(1))) == '0);
      a_index: assert (indexed);
      a_none: assert (any_q || i_core.for_q == '0);
      a_bit: assert (!mine || (bit_q != '0 && (bit_q & (bit_q - Bits'(1))) == '0
          && i_core.known_q == (bit_q & used) && i_core.index_q == symbol_i
          && i_core.msg_episode_q == number_q));
      a_compared: assert (!mine || (i_core.is_now_q == (number_q == open_q)
          && i_core.is_next_q == (number_q - EpisodeBits'(1) == open_q && !bit_q[0])
          && i_core.is_past_q == (number_q + EpisodeBits'(1) == open_q && begun_q)));
      a_looked_up: assert (!mine || (i_core.is_known_q == ((bit_q & used) != '0)
          && i_core.new_now_q == ((bit_q & used & ~came_q) != '0)
          && i_core.new_next_q == ((bit_q & used & ~early_q) != '0)
          && i_core.has_called_q == (bit_q[0] || came_q[0])));
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
    c_echo_now: cover (!init_q && in_use && job_valid && job_again && job_index == symbol_i
        && ready_i && job_episode == open_q);
    c_echo_past: cover (!init_q && in_use && job_valid && job_again && job_index == symbol_i
        && ready_i && job_episode != open_q);
    c_other_between: cover (!init_q && in_use && came_q != '0 && counted && !mine
        && arrived[index] != '0);
  end
endmodule
