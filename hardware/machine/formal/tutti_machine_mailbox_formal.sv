// SPDX-License-Identifier: Apache-2.0
/// A mailbox with anything at its ports: instructions of any kind, stores, messages, releases and
/// resets at any time.
///
/// A message that the solver chooses comes out once, unchanged, behind those that came before it. A
/// slot belongs to one side at a time, and only its owner writes it. What is sent is the slot's content,
/// and stays until it is taken. The wires of the detector tell the truth: an idle thread neither sends
/// nor receives, and returns for a message or a release. Its group is the one that it named, from the
/// moment in which it leaves a release; its value is the one with which it became idle; and its total is
/// what the release brought. Each misuse is refused and changes nothing.
module tutti_machine_mailbox_formal
  import tutti_machine_message_pkg::*;
#(
    parameter int unsigned Slots = 4,
    parameter int unsigned Groups = 3,
    parameter int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [7:0] core_i,
    input logic [7:0] cores_i,
    input logic valid_i,
    input logic [31:0] insn_i,
    input logic [31:0] rs1_i,
    input logic [31:0] rs2_i,
    input logic cancel_i,
    input logic [15:0] word_addr_i,
    input logic store_i,
    input logic [31:0] word_data_i,
    input logic out_ready_i,
    input logic in_valid_i,
    input message_t in_i,
    input logic release_i,
    input logic unanimous_i,
    input logic enable_i,
    input group_reply_t group_i,
    // Free: the message that arrives now is the chosen one; a slot, held constant.
    input logic mark_i,
    input logic [SlotBits-1:0] symbol_i
);
  // The mailbox is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [SlotBits-1:0] symbol_q;
  always_ff @(posedge clk_i) begin
    power_q  <= 1'b0;
    symbol_q <= symbol_i;
  end

  logic known, ready, refused, exists, own, out_valid, in_ready, send, receive, idle, vote, left;
  logic [31:0] rd, word_data;
  message_t out;
  logic [Slots-1:0] given, empty;
  logic [Slots-1:0][SlotBits-1:0] order;
  logic [SlotBits:0] count;
  logic [SlotBits-1:0] first;
  message_t [Slots-1:0] stored;
  logic parked;
  logic [1:0] owed;
  cause_e cause;
  member_t member;
  group_t next;
  tutti_detector_pkg::total_t total;
  // The tile permits a store only to an own slot.
  logic writes;
  assign writes = store_i && exists && own;
  tutti_machine_mailbox #(
      .Slots(Slots),
      .Groups(Groups)
  ) u_mailbox (
      .clk_i,
      .rst_ni(!init_q),
      .core_i,
      .cores_i,
      .valid_i,
      .insn_i,
      .rs1_i,
      .rs2_i,
      .cancel_i,
      .known_o(known),
      .ready_o(ready),
      .refused_o(refused),
      .rd_o(rd),
      .word_addr_i,
      .word_write_i(writes),
      .word_data_i,
      .word_exists_o(exists),
      .word_own_o(own),
      .word_data_o(word_data),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_o(out),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_i,
      .send_o(send),
      .receive_o(receive),
      .idle_o(idle),
      .vote_o(vote),
      .left_o(left),
      .release_i,
      .unanimous_i,
      .enable_i,
      .member_o(member),
      .group_i,
      .formal_given_o(given),
      .formal_empty_o(empty),
      .formal_order_o(order),
      .formal_count_o(count),
      .formal_first_o(first),
      .formal_stored_o(stored),
      .formal_parked_o(parked),
      .formal_owed_o(owed),
      .formal_cause_o(cause),
      .formal_next_o(next),
      .formal_total_o(total)
  );

  // What the instruction asks, as the table of messages.md says.
  logic asks, arrives;
  op_e op;
  logic is_known;
  assign op = op_e'({insn_i[25], insn_i[14:12]});
  assign is_known = insn_i[6:0] == 7'h0b && insn_i[31:26] == '0
      && op inside {OpStatus, OpSend, OpAlloc, OpReceive, OpIdle, OpWait, OpCause, OpTotal, OpGroup};
  assign asks = valid_i && is_known;
  assign arrives = in_valid_i && in_ready;

  // Which slots wait in the queue of the received ones, and how often.
  logic [Slots-1:0][SlotBits:0] occurs;
  logic [Slots-1:0] once;
  logic [SlotBits:0] waiting;
  always_comb begin
    occurs = '0;
    waiting = '0;
    for (int unsigned i = 0; i < Slots; i++)
      if ((SlotBits + 1)'(i) < count)
        occurs[order[first+SlotBits'(i)]] = occurs[order[first+SlotBits'(i)]] + 1'b1;
    for (int unsigned s = 0; s < Slots; s++) begin
      waiting = waiting + (SlotBits + 1)'(given[s] && !empty[s]);
      once[s] = occurs[s] == (SlotBits + 1)'(given[s] && !empty[s]);
    end
  end

  // The chosen message.
  logic inside_q;
  logic [SlotBits:0] ahead_q;
  message_t what_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      inside_q <= 1'b0;
    end else if (!inside_q) begin
      if (arrives && mark_i) begin
        inside_q <= 1'b1;
        what_q <= in_i;
        ahead_q <= count - (SlotBits + 1)'(receive);
      end
    end else if (receive) begin
      ahead_q <= ahead_q - 1'b1;
      if (ahead_q == '0) inside_q <= 1'b0;
    end
  end
  logic [SlotBits-1:0] its_slot;
  assign its_slot = order[first+ahead_q[SlotBits-1:0]];

  // The thread's idleness, as a specification has it.
  logic in_idle_q, vote_q, returns;
  logic [1:0] result_q;
  assign returns = asks && op == OpIdle && (result_q != '0 || count != '0);
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      in_idle_q <= 1'b0;
      vote_q <= 1'b0;
      result_q <= '0;
    end else begin
      if (release_i && in_idle_q) result_q <= unanimous_i ? 2'd2 : 2'd1;
      if (asks && op == OpIdle) begin
        in_idle_q <= !returns;
        if (!in_idle_q) vote_q <= rs1_i[0];
        if (returns) result_q <= '0;
      end
    end
  end

  cause_e must;
  // Its group and its values.
  group_t group_q, next_q;
  tutti_detector_pkg::total_t value_q, total_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      group_q <= '0;
      next_q <= '0;
      value_q <= '0;
      total_q <= '0;
    end else begin
      if (asks && op == OpGroup && must == CauseNone) next_q <= rs1_i[2:0];
      if (returns && result_q != '0) group_q <= next_q;
      if (asks && op == OpIdle && !in_idle_q) begin
        value_q.how <= tutti_detector_pkg::aggregator_t'({1'b0, rs1_i[10:8]});
        value_q.value <= rs1_i[10:8] != '0 ? rs2_i : '0;
      end
      if (release_i && in_idle_q) total_q <= group_i.total;
    end
  end

  // What must be refused.
  logic [31:0] slot_of;
  assign slot_of = op == OpSend ? 32'(rs2_i[7:0]) : rs1_i;
  always_comb begin
    must = CauseNone;
    if (asks && in_idle_q && op inside {OpSend, OpAlloc, OpReceive, OpWait, OpTotal, OpGroup})
      must = CauseIdle;
    else if (asks && op == OpSend && rs1_i >= 32'(cores_i)) must = CauseNoCore;
    else if (asks && op == OpSend && group_i.stranger) must = CauseStranger;
    else if (asks && op == OpSend && 32'(rs2_i >> 8) > Words) must = CauseTooLong;
    else if (asks && op inside {OpSend, OpAlloc} && slot_of >= Slots) must = CauseNoSlot;
    else if (asks && op inside {OpSend, OpAlloc} && given[slot_of[SlotBits-1:0]]) must = CauseGiven;
    else if (asks && op == OpReceive && count == '0) must = CauseNoMessage;
    else if (asks && op == OpTotal && total_q.how == tutti_detector_pkg::TotalNone) must = CauseNoTotal;
    else if (asks && op == OpTotal && total_q.how == tutti_detector_pkg::TotalMixed) must = CauseMixed;
    else if (asks && op == OpGroup && rs1_i > 32'(Groups) - 32'd1) must = CauseNoGroup;
    else if (asks && op == OpGroup && rs1_i != '0 && group_q != '0 && group_q != rs1_i[2:0])
      must = CauseFromGroup;
  end

  // The state before this cycle's edge, for what must not change.
  logic was_q, refused_q, out_stays_q, sent_q, kept_q, empties_q, in_q;
  cause_e must_q;
  // The word that the program loads or stores, and the one that it has stored.
  localparam int unsigned WordBits = $clog2(Words);
  logic wrote_q = 1'b0;
  logic [SlotBits-1:0] slot_now, slot_q;
  logic [WordBits-1:0] word_now, word_q;
  logic [31:0] data_q;
  assign slot_now = word_addr_i[6+:SlotBits];
  assign word_now = word_addr_i[2+:WordBits];
  always_ff @(posedge clk_i) begin
    wrote_q <= !init_q && writes && exists;
    slot_q <= slot_now;
    word_q <= word_now;
    data_q <= word_data_i;
  end
  message_t out_q, sent_what_q, stored_q, in_what_q;
  logic [Slots-1:0] given_q;
  always_ff @(posedge clk_i) begin
    was_q <= !init_q;
    refused_q <= refused;
    must_q <= must;
    out_stays_q <= !init_q && out_valid && !out_ready_i;
    out_q <= out;
    sent_q <= !init_q && send;
    sent_what_q <= '{
        to: rs1_i[7:0],
        from: core_i,
        length: length_t'(rs2_i >> 8),
        words: stored[rs2_i[SlotBits-1:0]].words
    };
    given_q <= given;
    // Neither its owner nor a message writes the symbolic slot in this cycle.
    kept_q <= !(writes && word_addr_i[6+:SlotBits] == symbol_i)
        && !(arrives && empty[symbol_i]);
    stored_q <= stored[symbol_i];
  end

  always_comb begin
    assume (power_q || symbol_i == symbol_q);
    if (!init_q) begin
      a_empty: assert ((empty & ~given) == '0);
      a_count: assert (count == waiting && 32'(count) <= Slots);
      a_once: assert (once == '1);
      // The chosen message.
      a_there: assert (!inside_q || ahead_q < count);
      a_kept: assert (!inside_q || (stored[its_slot].words == what_q.words
          && stored[its_slot].from == what_q.from && stored[its_slot].length == what_q.length));
      a_comes_out: assert (!(inside_q && ahead_q == '0 && receive)
          || rd == {8'd0, what_q.from, 8'(what_q.length), 8'(its_slot)});
      a_takes: assert (in_ready == (empty != '0));
      // Slots.
      a_slot: assert (!was_q || !kept_q || stored[symbol_i].words == stored_q.words);
      a_load: assert (!exists || word_data == stored[slot_now].words[word_now]);
      a_store: assert (!wrote_q || stored[slot_q].words[word_q] == data_q);
      a_own: assert (own == !given[word_addr_i[6+:SlotBits]]);
      // What is sent.
      a_stays: assert (!out_stays_q || (out_valid && out == out_q));
      a_sent: assert (!sent_q || (out_valid && out == sent_what_q));
      a_sends: assert (send == (asks && op == OpSend && must == CauseNone && enable_i && !out_valid));
      a_said: assert (!(asks && op == OpSend && ready) || rd == 32'(send));
      a_never_waits: assert (!(asks && op != OpIdle && op != OpWait) || ready != refused);
      a_received: assert (receive == (asks && op == OpReceive && count != '0 && !in_idle_q));
      // Idleness.
      a_parked: assert (parked == in_idle_q && owed == result_q && (in_idle_q || result_q == '0));
      a_idle: assert (idle == (in_idle_q && count == '0 && result_q == '0));
      a_rests: assert (!idle || (!send && !receive));
      a_left: assert (left == (result_q == '0));
      a_vote: assert (vote == vote_q);
      a_returns: assert (!(asks && op == OpIdle) || (ready == returns
          && (!ready || rd == 32'(result_q))));
      a_waits: assert (!(asks && op == OpWait && must == CauseNone)
          || ready == ((rs1_i[0] && enable_i && !out_valid) || (rs1_i[1] && count != '0)));
      // Groups and values.
      a_group: assert (member.group == group_q && next == next_q);
      a_exists: assert (32'(group_q) < Groups && 32'(next_q) < Groups);
      a_from_all: assert (group_q == '0 || next_q == '0 || next_q == group_q);
      a_value: assert (member.value == value_q);
      a_nothing: assert (value_q.how != tutti_detector_pkg::TotalNone || value_q.value == '0);
      a_total: assert (total == total_q);
      a_asks: assert (!(asks && op == OpSend) || member.to == rs1_i[7:0]);
      a_tells_total: assert (!(asks && op == OpTotal && ready) || rd == total_q.value);
      a_tells_group: assert (!(asks && op == OpGroup && ready) || rd == 32'(group_q));
      // Misuse.
      a_known: assert (known == is_known);
      a_refused: assert (refused == (asks && (must != CauseNone || (cancel_i && !ready))));
      a_one_answer: assert (!(ready && refused) && (asks || !(ready || refused)));
      a_cause: assert (!was_q || !refused_q
          || cause == (must_q == CauseNone ? CauseInterrupt : must_q));
      a_tells: assert (!(asks && op == OpCause) || rd == 32'(cause));
    end
  end

  always_comb begin
    c_full: cover (!init_q && inside_q && 32'(count) == Slots);
    c_second: cover (!init_q && inside_q && ahead_q == '0 && receive && 32'(count) > 1);
    c_released: cover (!init_q && asks && op == OpIdle && ready && rd == 32'd2 && !cancel_i);
    c_woken: cover (!init_q && in_idle_q && asks && op == OpIdle && ready && rd == '0);
    c_interrupted: cover (!init_q && in_idle_q && left && asks && op == OpSend && refused
        && cause == CauseInterrupt);
    c_moves: cover (!init_q && group_q == 3'd2 && next_q == '0 && total_q.how != value_q.how);
    c_no_room: cover (!init_q && asks && op == OpSend && ready && !send && enable_i);
  end

  logic unused;
  assign unused = ^{given_q, sent_what_q};
endmodule
