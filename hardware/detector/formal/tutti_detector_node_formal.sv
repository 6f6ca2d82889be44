// SPDX-License-Identifier: Apache-2.0
/// A node with its trees, compared with the plain history of its cores: all parts of a reply were
/// true in one and the same cycle.
///
/// The specification adds the wires one by one in each cycle and remembers the sums for as many
/// cycles as the trees are deep.
module tutti_detector_node_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned Cores = 4,
    parameter int unsigned Radix = 4,
    parameter int unsigned Bits = 6,
    // Width of the values.
    parameter int unsigned ValueBits = 2
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [Cores-1:0] send_i,
    input logic [Cores-1:0] receive_i,
    input logic [Cores-1:0] idle_i,
    input logic [Cores-1:0] vote_i,
    input logic [Cores-1:0] left_i,
    input total_t [Cores-1:0] total_i,
    input logic order_i,
    input phase_t order_phase_i,
    input logic order_vote_i,
    input total_t order_total_i,
    input logic ready_i
);
  localparam int unsigned Levels = tree_levels(Cores, Radix);
  localparam int unsigned Age = Levels + 1;

  // Whether trees of all sizes have as few levels as hold their leaves.
  function automatic logic levels_are_least();
    for (int unsigned radix = 2; radix <= 16; ++radix) begin
      for (int unsigned leaves = 1; leaves <= 256; ++leaves) begin
        int unsigned levels = tree_levels(leaves, radix);
        if (tree_width(leaves, radix, levels) != 1) return 1'b0;
        if (levels > 0 && tree_width(leaves, radix, levels - 1) == 1) return 1'b0;
      end
    end
    return 1'b1;
  endfunction
  localparam logic LevelsAreLeast = levels_are_least();

  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  // The total of two, as the specification has it: what threads gave for the same aggregator is
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

  // The master sends one order at a time, in the order of the phases.
  logic asked_q = 1'b0;
  phase_t phase_q = Enable;
  logic order, released_q = 1'b0;
  logic reply_valid, reply_black, reply_vote, release_now, unanimous, enable;
  logic [Bits-1:0] reply_count, count;
  total_t reply_total, result;
  phase_t reply_phase;
  logic [2:0] error;

  assign order = order_i && !init_q && !asked_q;
  always_comb begin
    assume (!order || order_phase_i == (phase_q == Release ? Enable : Detect)
            || (order_phase_i == Release && phase_q == Detect));
    // After a release the cores show within two cycles that threads are leaving; here they do at
    // once.
    assume ((idle_i & (send_i | receive_i)) == '0);
    assume (enable || init_q || send_i == '0);
    // A value is as wide as this node's, and there is none without an aggregator.
    for (int unsigned c = 0; c < Cores; ++c) begin
      assume (total_i[c].value >> ValueBits == '0);
      assume (total_i[c].how != TotalNone || total_i[c].value == '0);
    end
  end

  always_ff @(posedge clk_i) begin
    if (init_q) begin
      asked_q <= 1'b0;
      phase_q <= Enable;
    end else if (order) begin
      asked_q <= 1'b1;
      phase_q <= order_phase_i;
    end else if (reply_valid && ready_i) begin
      asked_q <= 1'b0;
    end
    released_q <= order && order_phase_i == Release;
  end

  tutti_detector_node #(
      .Cores(Cores),
      .Radix(Radix),
      .Bits(Bits),
      .ValueBits(ValueBits)
  ) i_node (
      .clk_i,
      .rst_ni(!init_q),
      .send_i,
      .receive_i,
      .idle_i,
      .vote_i,
      .left_i,
      .total_i,
      .order_valid_i(order),
      .order_phase_i,
      .order_vote_i,
      .order_total_i,
      .reply_valid_o(reply_valid),
      .reply_ready_i(ready_i),
      .reply_phase_o(reply_phase),
      .reply_black_o(reply_black),
      .reply_vote_o(reply_vote),
      .reply_count_o(reply_count),
      .reply_total_o(reply_total),
      .release_o(release_now),
      .unanimous_o(unanimous),
      .total_o(result),
      .enable_o(enable),
      .count_o(count),
      .error_o(error)
  );

  // The node's counts, kept without trees. [0] is this cycle's count, [a] that of a cycles ago.
  logic [Bits-1:0] now;
  logic [Age:0][Bits-1:0] sum;
  logic [Age:0] idle, vote, left;
  total_t whole;
  total_t [Age:0] total;
  always_comb begin
    now = '0;
    whole = '0;
    for (int unsigned c = 0; c < Cores; ++c) begin
      now = now + Bits'(send_i[c]) - Bits'(receive_i[c]);
      whole = both(whole, total_i[c]);
    end
  end
  logic [Bits-1:0] books_q = '0;
  logic [Age-1:0][Bits-1:0] sum_q = '0;
  logic [Age-1:0] idle_q = '0, vote_q = '0, left_q = '0;
  total_t [Age-1:0] total_q = '0;
  always_ff @(posedge clk_i) begin
    if (!init_q) begin
      books_q <= sum[0];
      sum_q <= sum[Age-1:0];
      idle_q <= idle[Age-1:0];
      vote_q <= vote[Age-1:0];
      left_q <= left[Age-1:0];
      total_q <= total[Age-1:0];
    end else {books_q, sum_q, idle_q, vote_q, left_q, total_q} <= '0;
  end
  assign sum = {sum_q, books_q + now};
  assign idle = {idle_q, &idle_i};
  assign vote = {vote_q, &vote_i};
  assign left = {left_q, &left_i};
  assign total = {total_q, whole};

  // The expected content of the reply: the node's state in the cycle before the reply is seen. A
  // node is black if it has not been idle all the time since its last reply.
  logic active_q = 1'b0;
  logic [3:0] since_q = '0;
  always_ff @(posedge clk_i) begin
    if (init_q || (order && order_phase_i == Release)) since_q <= '0;
    else if (since_q != '1) since_q <= since_q + 1'b1;
  end
  // The reply of the next cycle gives this cycle's state.
  logic answers;
  assign answers = !init_q && asked_q && !reply_valid && idle[Age] && phase_q == Detect;
  always_ff @(posedge clk_i) begin
    if (init_q) active_q <= 1'b0;
    else if (answers) active_q <= 1'b0;
    else if (!idle[Age]) active_q <= 1'b1;
  end
  logic [Bits-1:0] told_count_q;
  logic told_vote_q, told_black_q, told_idle_q, told_left_q;
  total_t told_total_q, ordered_q = '0;
  // What the last release brought.
  always_ff @(posedge clk_i) begin
    if (init_q) ordered_q <= '0;
    else if (order && order_phase_i == Release) ordered_q <= order_total_i;
  end
  always_ff @(posedge clk_i) begin
    if (!reply_valid) begin
      told_count_q <= sum[Age];
      told_vote_q <= vote[Age];
      told_total_q <= total[Age];
      told_black_q <= active_q;
      told_idle_q <= idle[Age];
      told_left_q <= left[Age];
    end
  end

  always_comb begin
    a_levels: assert (LevelsAreLeast);
    if (!init_q) begin
      a_conservation: assert (count == sum[Age]);
      a_no_error: assert (error == '0);
      a_asked: assert (!reply_valid || asked_q);
      a_phase: assert (!reply_valid || reply_phase == phase_q);
      a_release: assert (release_now == released_q);
      a_result: assert (result == ordered_q);
      a_no_messages_in_release: assert (!release_now || !enable);
      if (reply_valid && phase_q == Detect) begin
        a_idle: assert (told_idle_q);
        a_count: assert (reply_count == told_count_q);
        a_vote: assert (reply_vote == told_vote_q);
        a_total: assert (reply_total == told_total_q);
        a_black: assert (reply_black == told_black_q);
      end
      if (reply_valid && phase_q == Release) begin
        a_left: assert (told_left_q && since_q > 4'(Levels + 2));
      end
      a_enabled: assert (!(reply_valid && phase_q == Enable) || enable);
      // Invariants for the induction.
      a_node: assert (i_node.i_core.idle_q == idle[Age] && i_node.i_core.black_q == active_q
                      && i_node.i_core.vote_q == vote[Age] && i_node.i_core.left_q == left[Age]
                      && i_node.i_core.total_q == total[Age]);
      a_held: assert (asked_q == (i_node.i_core.held_q || i_node.i_core.reply_q)
                      && !(i_node.i_core.held_q && i_node.i_core.reply_q));
      a_order: assert (!asked_q || i_node.i_core.phase_q == phase_q);
      a_settle: assert (phase_q != Release || !asked_q || since_q > 4'(Levels + 2)
                        || 4'(i_node.i_core.settle_q) == 4'(Levels + 3) - since_q);
    end
  end

  logic [1:0] episodes_q = '0;
  always_ff @(posedge clk_i) begin
    if (order && order_phase_i == Enable && episodes_q != 2'd3) episodes_q <= episodes_q + 1'b1;
  end
  always_comb begin
    c_white: cover (!init_q && reply_valid && !reply_black && phase_q == Detect
        && reply_count == Bits'(2));
    c_held: cover (!init_q && reply_valid && reply_black && reply_vote && reply_count == '1);
    c_unanimous: cover (!init_q && release_now && unanimous);
    c_total: cover (!init_q && reply_valid && phase_q == Detect && reply_total.how == TotalMin
        && reply_total.value == 32'd2);
    c_again: cover (!init_q && release_now && episodes_q == 2'd1);
  end
endmodule
