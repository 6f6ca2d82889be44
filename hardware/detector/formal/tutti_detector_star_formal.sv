// SPDX-License-Identifier: Apache-2.0
/// The master and all nodes, with a network that delays and reorders arbitrarily and threads that
/// act arbitrarily. Proves that what is detected is true, that nothing is sent before all threads
/// are released, and that the result of the vote and the total of the values are right.
///
/// A node is the core without a tree, so its registers show what was true in the cycle before; the
/// trees are proved separately.
module tutti_detector_star_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned Nodes = 2,
    parameter int unsigned Bits  = 4,
    // Width of the values.
    parameter int unsigned ValueBits = 2
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [Nodes-1:0] send_i,
    input logic [Nodes-1:0] receive_i,
    input logic [Nodes-1:0] idle_i,
    input logic [Nodes-1:0] vote_i,
    input logic [Nodes-1:0] left_i,
    input total_t [Nodes-1:0] total_i,
    input logic [Nodes-1:0][3:0] to_i,
    input logic run_i,
    input logic order_ready_i,
    input logic [Nodes-1:0] deliver_i,
    input logic [Nodes-1:0] leave_i,
    input logic reply_i,
    input logic [3:0] reply_from_i
);
  // The most messages under way to a node.
  localparam int unsigned Most = (2 ** (Bits - 1) - 1) / Nodes;

  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  // The total of two, as the specification has it: what the threads gave for the same aggregator is
  // added, compared or combined; nothing is neutral; and different ones have no total.
  function automatic total_t both(total_t a, total_t b);
    logic [ValueBits-1:0] x, y, z;
    x = a.value[ValueBits-1:0];
    y = b.value[ValueBits-1:0];
    z = '0;
    if (a.how == TotalNone && b.how == TotalNone) return '0;
    if (a.how == TotalNone) return '{how: b.how, value: 32'(y)};
    if (b.how == TotalNone) return '{how: a.how, value: 32'(x)};
    if (a.how != b.how) return '{how: TotalMixed, value: '0};
    if (a.how == TotalSum) z = x + y;
    if (a.how == TotalAnd) z = x & y;
    if (a.how == TotalOr) z = x | y;
    if (a.how == TotalMinUnsigned) z = x > y ? y : x;
    if (a.how == TotalMaxUnsigned) z = x > y ? x : y;
    if (a.how == TotalMin) z = $signed(x) > $signed(y) ? y : x;
    if (a.how == TotalMax) z = $signed(x) > $signed(y) ? x : y;
    return '{how: a.how, value: 32'(z)};
  endfunction

  // An order or a reply may be under way between the master and a node, and any number of messages
  // to a node.
  logic [Nodes-1:0] order_q = '0, reply_q = '0;
  report_t [Nodes-1:0] order_says_q = '0, reply_says_q = '0;
  logic [Nodes-1:0][Bits-2:0] flying_q = '0;
  logic [Bits-1:0] flying;

  logic order_valid, order_vote, order_ready, reply, reply_now_black, begins, ends, detected,
      strange;
  place_t order_to;
  phase_t order_phase, phase;
  report_t reply_says;
  logic [Nodes-1:0] missing, told, told_ready, told_black, told_vote, release_now, unanimous,
      enable, overrun;
  phase_t [Nodes-1:0] told_phase;
  logic [Nodes-1:0][Bits-1:0] told_count, count;
  total_t order_total;
  total_t [Nodes-1:0] told_total, result;

  assign order_ready = order_ready_i && !init_q;
  assign reply = reply_i && !init_q && 32'(reply_from_i) < Nodes && reply_q[reply_from_i];
  assign reply_says = 32'(reply_from_i) < Nodes ? reply_says_q[reply_from_i] : '0;
  assign reply_now_black = reply_says.black;

  tutti_detector_master #(
      .Columns(Nodes),
      .Rows(1),
      .Bits(Bits),
      .ValueBits(ValueBits)
  ) i_master (
      .clk_i,
      .rst_ni(!init_q),
      .run_i,
      .order_valid_o(order_valid),
      .order_ready_i(order_ready),
      .order_to_o(order_to),
      .order_phase_o(order_phase),
      .order_vote_o(order_vote),
      .order_total_o(order_total),
      .reply_valid_i(reply),
      .reply_from_i('{x: reply_from_i, y: '0}),
      .reply_phase_i(reply_says.phase),
      .reply_black_i(reply_now_black),
      .reply_vote_i(reply_says.vote),
      .reply_count_i(reply_says.count[Bits-1:0]),
      .reply_total_i(reply_says.total),
      .begin_o(begins),
      .phase_o(phase),
      .end_o(ends),
      .detected_o(detected),
      .missing_o(missing),
      .strange_o(strange)
  );

  // The state of the nodes when the wave began, and what each has replied since.
  // A detecting wave is under way.
  logic wave_q = 1'b0;
  logic [Nodes-1:0] still_q = '0, vote0_q = '0, told_q = '0, told_black_q = '0, told_vote_q = '0;
  logic [Nodes-1:0][Bits-1:0] count0_q = '0, told_count_q = '0;
  logic [Bits-1:0] flying0_q = '0;
  total_t [Nodes-1:0] total, total0_q = '0, told_total_q = '0;
  logic [Nodes-1:0] idle, vote, black, held, left, core_told, leaving_q = '0;
  phase_t [Nodes-1:0] core_phase;
  logic [Nodes-1:0][1:0] settle;
  logic [Nodes-1:0] delivered;

  for (genvar k = 0; k < Nodes; ++k) begin : gen_node
    assign delivered[k] = order_q[k] && deliver_i[k] && !init_q;
    assign told_ready[k] = !reply_q[k];
    tutti_detector_core #(
        .SumBits(2),
        .Levels(0),
        .Bits(Bits),
        .ValueBits(ValueBits)
    ) i_core (
        .clk_i,
        .rst_ni(!init_q),
        .sum_i(2'(send_i[k]) - 2'(receive_i[k])),
        .idle_i(idle_i[k]),
        .vote_i(vote_i[k]),
        .left_i(left_i[k]),
        .total_i(total_i[k]),
        .order_valid_i(delivered[k]),
        .order_phase_i(order_says_q[k].phase),
        .order_vote_i(order_says_q[k].vote),
        .order_total_i(order_says_q[k].total),
        .reply_valid_o(told[k]),
        .reply_ready_i(told_ready[k]),
        .reply_phase_o(told_phase[k]),
        .reply_black_o(told_black[k]),
        .reply_vote_o(told_vote[k]),
        .reply_count_o(told_count[k]),
        .reply_total_o(told_total[k]),
        .release_o(release_now[k]),
        .unanimous_o(unanimous[k]),
        .total_o(result[k]),
        .enable_o(enable[k]),
        .count_o(count[k]),
        .overrun_o(overrun[k])
    );
    assign idle[k] = i_core.idle_q;
    assign vote[k] = i_core.vote_q;
    assign total[k] = i_core.total_q;
    assign black[k] = i_core.black_q;
    assign held[k] = i_core.held_q;
    assign left[k] = i_core.left_q;
    assign settle[k] = 2'(i_core.settle_q);
    assign core_told[k] = i_core.reply_q;
    assign core_phase[k] = i_core.phase_q;

    always_comb begin
      // A waiting thread neither sends nor receives; it continues only after a message or a
      // release, and keeps its vote and its value.
      assume (!idle[k] || idle_i[k] || receive_i[k] || leaving_q[k] || init_q);
      assume (!(idle[k] && idle_i[k]) || (vote_i[k] == vote[k] && total_i[k] == total[k]) || init_q);
      assume (!idle_i[k] || !(send_i[k] || receive_i[k] || leaving_q[k]));
      assume (!send_i[k] || (enable[k] && !init_q && 32'(to_i[k]) < Nodes));
      assume (!receive_i[k] || (flying_q[k] != '0 && !init_q));
      // The threads receive the release in the cycle that shows it; the next cycle shows that they
      // are leaving.
      assume (left_i[k] == !leaving_q[k]);
    end
    always_ff @(posedge clk_i) begin
      if (release_now[k]) leaving_q[k] <= 1'b1;
      else if (leave_i[k]) leaving_q[k] <= 1'b0;
      if (order_valid && order_ready && order_to.x == 4'(k)) begin
        order_q[k] <= 1'b1;
        order_says_q[k] <= '{phase: order_phase, black: 1'b0, vote: order_vote, count: '0,
            total: order_total};
      end else if (delivered[k]) begin
        order_q[k] <= 1'b0;
      end
      if (told[k] && told_ready[k]) begin
        reply_q[k] <= 1'b1;
        reply_says_q[k] <=
            '{phase: told_phase[k], black: told_black[k], vote: told_vote[k],
            count: CountBits'(told_count[k]), total: told_total[k]};
      end else if (reply && reply_from_i == 4'(k)) begin
        reply_q[k] <= 1'b0;
      end
      if (begins) begin
        still_q[k] <= idle[k] && !black[k];
        vote0_q[k] <= vote[k];
        total0_q[k] <= total[k];
        count0_q[k] <= count[k];
        told_q[k] <= 1'b0;
      end
      // The core takes its sample at the end of this cycle.
      if (i_core.answers) begin
        told_q[k] <= 1'b1;
        told_black_q[k] <= black[k];
        told_vote_q[k] <= vote[k];
        told_total_q[k] <= total[k];
        told_count_q[k] <= count[k];
      end
      if (init_q) begin
        order_q[k] <= 1'b0;
        reply_q[k] <= 1'b0;
        told_q[k] <= 1'b0;
        leaving_q[k] <= 1'b0;
      end
    end
  end

  logic [Nodes-1:0][Bits-2:0] flying_d;
  logic [Bits-1:0] counted, counted0, summed;
  logic was_black, was_vote;
  // The totals of those that have replied, and of all threads now.
  total_t was_total, whole;
  always_comb begin
    flying_d = flying_q;
    for (int unsigned k = 0; k < Nodes; ++k) begin
      for (int unsigned from = 0; from < Nodes; ++from)
        if (send_i[from] && to_i[from] == 4'(k)) flying_d[k] = flying_d[k] + 1'b1;
      if (receive_i[k]) flying_d[k] = flying_d[k] - 1'b1;
    end
    flying = '0;
    counted = '0;
    counted0 = '0;
    summed = '0;
    was_black = 1'b0;
    was_vote = 1'b1;
    was_total = '0;
    whole = '0;
    for (int unsigned k = 0; k < Nodes; ++k) begin
      flying = flying + Bits'(flying_q[k]);
      whole = both(whole, total[k]);
      counted = counted + count[k];
      counted0 = counted0 + count0_q[k];
      if (!missing[k]) begin
        summed = summed + told_count_q[k];
        was_black = was_black || told_black_q[k];
        was_vote = was_vote && told_vote_q[k];
        was_total = both(was_total, told_total_q[k]);
      end
    end
    // The number of messages fits the counts, as the limit of a real node does at 2^24.
    for (int unsigned k = 0; k < Nodes; ++k) assume (32'(flying_d[k]) <= Most);
  end
  always_ff @(posedge clk_i) begin
    flying_q <= flying_d;
    if (begins) begin
      wave_q <= !detected && phase != Release;
      flying0_q <= flying;
    end else if (ends) begin
      wave_q <= 1'b0;
    end
    if (init_q) begin
      flying_q <= '0;
      flying0_q <= '0;
      wave_q <= 1'b0;
    end
  end

  // What the threads had given when the end was detected.
  total_t given_q = '0;
  always_ff @(posedge clk_i) begin
    if (init_q) given_q <= '0;
    else if (detected) given_q <= whole;
  end

  // The wave is Detect if it begins from rest or after Enable has ended.
  logic over, over0;
  assign over = idle == '1 && flying == '0;
  assign over0 = still_q == '1 && flying0_q == '0;
  logic busy;
  assign busy = i_master.busy_q;

  always_comb begin
    if (!init_q) begin
      a_true: assert (!detected || over);
      a_vote: assert (!detected || (i_master.vote_q == (vote == '1)));
      a_total: assert (!detected || i_master.total_q == whole);
      a_given: assert (i_master.result_q == given_q);
      a_strange: assert (!strange && overrun == '0);
      a_conservation: assert (counted == flying);
      a_nothing_flies: assert (!(busy && phase == Release) || flying == '0);
      // Invariants for the induction.
      a_wave: assert (wave_q == (busy && phase == Detect));
      a_books: assert (counted0 == flying0_q || !wave_q);
      a_sum: assert (!wave_q
          || (i_master.sum_q == summed && i_master.black_q == was_black
          && i_master.vote_q == was_vote && i_master.total_q == was_total));
      a_over: assert (!(wave_q && over0) || (over && vote == vote0_q && total == total0_q));
      a_room: assert (!flying[Bits-1] && !flying0_q[Bits-1]);
      a_rest: assert (phase == Detect || (busy && (phase == Release || phase == Enable)));
      a_next: assert (!(busy && i_master.sending_q) || i_master.next_q.y == '0
          && 32'(i_master.next_q.x) < Nodes);
    end
  end
  for (genvar k = 0; k < Nodes; ++k) begin : gen_check
    // The master has sent this wave's order.
    logic ordered;
    assign ordered = busy && (!i_master.sending_q || i_master.next_q.x < PlaceBits'(k));
    always_comb begin
      if (!init_q) begin
        a_release: assert (!release_now[k] || (!enable[k] && idle[k]));
        a_unanimous: assert (!release_now[k] || unanimous[k] == i_master.unanimous_q);
        a_result: assert (!release_now[k] || result[k] == given_q);
        a_mute: assert (!(busy && phase == Release && (told_q[k] || held[k])) || !enable[k]);
        a_waits: assert (!(busy && phase == Release && !held[k] && !told_q[k])
            || (idle[k] && !leaving_q[k]));
        a_allowed: assert (!(busy && phase == Enable && !held[k] && !told_q[k]) || !enable[k]);
        a_few: assert (32'(flying_q[k]) <= Most);
        a_leaving: assert (!leaving_q[k] || (held[k] && busy && phase == Release));
        a_settles: assert (!release_now[k]
            || (busy && phase == Release && held[k] && settle[k] == 2'd3 && !leaving_q[k]));
        a_shown: assert (!(leaving_q[k] && left[k]) || settle[k] == 2'd2);
        // The position of this wave's token.
        a_one: assert ({2'b00, order_q[k]} + {2'b00, held[k]} + {2'b00, core_told[k]}
            + {2'b00, reply_q[k]} == 3'(ordered && missing[k]));
        a_told: assert (!busy || told_q[k] == (ordered && !order_q[k] && !held[k]));
        a_order: assert (!order_q[k]
            || (order_says_q[k].phase == phase && order_says_q[k].vote == i_master.unanimous_q
                && order_says_q[k].total == i_master.result_q));
        a_phase: assert (!(held[k] || core_told[k]) || core_phase[k] == phase);
        a_report: assert (!core_told[k]
            || (told_phase[k] == phase && told_count[k] == told_count_q[k]
                          && told_black[k] == told_black_q[k] && told_vote[k] == told_vote_q[k]
                          && told_total[k] == told_total_q[k]));
        a_reply: assert (!reply_q[k]
            || (reply_says_q[k].phase == phase
            && reply_says_q[k].count == CountBits'(told_count_q[k])
                         && reply_says_q[k].black == told_black_q[k]
                             && reply_says_q[k].vote == told_vote_q[k]
                             && reply_says_q[k].total == told_total_q[k]));
        a_missing: assert (!busy || missing[k] || (ordered && told_q[k]));
        // A node that can still reply white has not moved since the wave began; one that replied
        // white had not moved.
        a_still: assert (!(wave_q && !told_q[k] && idle[k] && !black[k])
                         || (still_q[k] && count[k] == count0_q[k] && vote[k] == vote0_q[k]
                             && total[k] == total0_q[k]));
        a_was_still: assert (!(wave_q && told_q[k] && !told_black_q[k])
                             || (still_q[k] && told_count_q[k] == count0_q[k]
                                 && told_vote_q[k] == vote0_q[k]
                                 && told_total_q[k] == total0_q[k]));
      end
    end
  end

  logic moved_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (send_i != '0 && !init_q) moved_q <= 1'b1;
  end
  always_comb begin
    c_detected: cover (!init_q && detected && moved_q);
    c_black: cover (!init_q && ends && phase == Detect && i_master.sum_q == '0 && i_master.black_q);
    c_flying: cover (!init_q && ends && phase == Detect && i_master.sum_q != '0
        && !i_master.black_q);
    c_unanimous: cover (!init_q && release_now != '0 && unanimous == '1);
    c_total: cover (!init_q && release_now != '0 && result[0].how == TotalSum
        && result[0].value != '0 && moved_q);
    c_mixed: cover (!init_q && release_now != '0 && result[0].how == TotalMixed);
  end
endmodule
