// SPDX-License-Identifier: Apache-2.0
/// The master, with replies of any place and phase at any time, between waves too. It behaves as its
/// specification: only the first reply of a node to the present phase counts, and everything else is
/// reported and changes nothing.
module tutti_detector_master_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned Columns = 2,
    parameter int unsigned Rows = 2,
    parameter int unsigned Bits = 4,
    parameter int unsigned ValueBits = 2,
    localparam int unsigned Nodes = Columns * Rows
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic run_i,
    input logic order_ready_i,
    input logic reply_i,
    input place_t reply_from_i,
    input phase_t reply_phase_i,
    input logic reply_black_i,
    input logic reply_vote_i,
    input logic [Bits-1:0] reply_count_i,
    input total_t reply_total_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic order_valid, order_vote, begins, ends, detected, strange;
  place_t order_to;
  phase_t order_phase, phase;
  total_t order_total;
  logic [Nodes-1:0] missing;
  tutti_detector_master #(
      .Columns(Columns),
      .Rows(Rows),
      .Bits(Bits),
      .ValueBits(ValueBits)
  ) i_master (
      .clk_i,
      .rst_ni(!init_q),
      .run_i,
      .order_valid_o(order_valid),
      .order_ready_i,
      .order_to_o(order_to),
      .order_phase_o(order_phase),
      .order_vote_o(order_vote),
      .order_total_o(order_total),
      .reply_valid_i(reply_i),
      .reply_from_i,
      .reply_phase_i,
      .reply_black_i,
      .reply_vote_i,
      .reply_count_i,
      .reply_total_i,
      .begin_o(begins),
      .phase_o(phase),
      .end_o(ends),
      .detected_o(detected),
      .missing_o(missing),
      .strange_o(strange)
  );

  // The specification: how many nodes have no order yet, and which have not replied.
  logic open_q, black_q, alike_q, unanimous_q;
  logic [8:0] orders_q, place;
  logic [Nodes-1:0] waits_q, who;
  logic [Bits-1:0] sum_q;
  phase_t phase_q;
  total_t given_q, given_d, result_q;
  logic counts, is_over, is_found, opens;
  assign place = 9'(32'(reply_from_i.y) * Columns + 32'(reply_from_i.x));
  assign who = 32'(reply_from_i.x) < Columns && 32'(reply_from_i.y) < Rows ? Nodes'(1) << place : '0;
  assign counts = reply_i && open_q && reply_phase_i == phase_q && (who & waits_q) != '0;
  assign is_over = open_q && orders_q == '0 && waits_q == '0;
  assign is_found = is_over && phase_q == Detect && !black_q && sum_q == '0;
  assign opens = open_q ? is_found || (is_over && phase_q == Release) : run_i;
  tutti_detector_combine #(
      .Bits(ValueBits)
  ) i_combine (
      .a_i(given_q),
      .b_i(reply_total_i),
      .total_o(given_d)
  );

  always_ff @(posedge clk_i) begin
    if (init_q) begin
      open_q <= 1'b0;
      black_q <= 1'b0;
      alike_q <= 1'b0;
      unanimous_q <= 1'b0;
      orders_q <= '0;
      waits_q <= '0;
      sum_q <= '0;
      phase_q <= Detect;
      given_q <= '0;
      result_q <= '0;
    end else if (opens || is_over) begin
      open_q <= opens;
      if (opens) begin
        orders_q <= 9'(Nodes);
        waits_q <= '1;
        black_q <= 1'b0;
        alike_q <= 1'b1;
        sum_q <= '0;
        given_q <= '0;
      end
      if (is_over) phase_q <= is_found ? Release : phase_q == Release ? Enable : Detect;
      if (is_found) begin
        unanimous_q <= alike_q;
        result_q <= given_q;
      end
    end else begin
      if (orders_q != '0 && order_ready_i) orders_q <= orders_q - 9'd1;
      if (counts) begin
        waits_q <= waits_q & ~who;
        black_q <= black_q || reply_black_i;
        alike_q <= alike_q && reply_vote_i;
        sum_q <= sum_q + reply_count_i;
        given_q <= given_d;
      end
    end
  end

  always_comb begin
    if (!init_q) begin
      a_strange: assert (strange == (reply_i && !counts));
      a_missing: assert (missing == waits_q);
      a_begins: assert (begins == opens);
      a_ends: assert (ends == is_over);
      a_detected: assert (detected == is_found);
      a_phase: assert (phase == phase_q);
      // Each node gets one order, the farthest first.
      a_order: assert (order_valid == (orders_q != '0));
      a_to: assert (!order_valid || 32'(order_to.y) * Columns + 32'(order_to.x) + 32'd1
          == 32'(orders_q));
      a_told: assert (!order_valid || (order_phase == phase_q && order_vote == unanimous_q
          && order_total == result_q));
      // Invariants for the induction.
      a_on_the_mesh: assert (!order_valid
          || (32'(order_to.x) < Columns && 32'(order_to.y) < Rows));
      a_open: assert (i_master.busy_q == open_q && (open_q || (orders_q == '0 && waits_q == '0)));
      a_books: assert (!open_q || (i_master.black_q == black_q && i_master.vote_q == alike_q
          && i_master.sum_q == sum_q && i_master.total_q == given_q));
      a_result: assert (i_master.unanimous_q == unanimous_q && i_master.result_q == result_q);
    end
  end

  // A reply was refused in this wave.
  logic refused_q = 1'b0;
  always_ff @(posedge clk_i) refused_q <= !init_q && !opens && (refused_q || (open_q && strange));
  always_comb begin
    c_found_beside_strangers: cover (!init_q && refused_q && detected && alike_q);
    c_between_waves: cover (!init_q && !open_q && strange && result_q != '0);
  end
endmodule
