// SPDX-License-Identifier: Apache-2.0
/// The error bits of a node whose cores and master may do whatever they want: each bit is set by its
/// own misuse, stays until the reset, and nothing else sets it. An order that comes too early changes
/// nothing else.
module tutti_detector_misuse_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned Cores = 4,
    parameter int unsigned Bits = 6
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs, misuse included.
    input logic [Cores-1:0] send_i,
    input logic [Cores-1:0] receive_i,
    input logic [Cores-1:0] idle_i,
    input logic [Cores-1:0] vote_i,
    input logic [Cores-1:0] left_i,
    input logic order_i,
    input phase_t order_phase_i,
    input logic order_vote_i,
    input logic ready_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic reply_valid, release_now, unanimous, enable;
  logic [2:0] error;
  phase_t reply_phase;

  tutti_detector_node #(
      .Cores(Cores),
      .Bits(Bits)
  ) i_node (
      .clk_i,
      .rst_ni(!init_q),
      .send_i,
      .receive_i,
      .idle_i,
      .vote_i,
      .left_i,
      .total_i('0),
      .order_valid_i(order_i),
      .order_phase_i,
      .order_vote_i,
      .order_total_i('0),
      .reply_valid_o(reply_valid),
      .reply_ready_i(ready_i),
      .reply_phase_o(reply_phase),
      .reply_black_o(),
      .reply_vote_o(),
      .reply_count_o(),
      .reply_total_o(),
      .release_o(release_now),
      .unanimous_o(unanimous),
      .total_o(),
      .enable_o(enable),
      .count_o(),
      .error_o(error)
  );

  // The node has an order whose reply nobody has taken. `accepted` is an order that counts.
  logic open_q = 1'b0;
  logic accepted;
  assign accepted = order_i && !open_q;
  // What each accepted order has changed.
  phase_t phase_q = Detect;
  logic enable_q = 1'b1, release_q = 1'b0, unanimous_q = 1'b0;
  logic [2:0] error_q = '0;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      open_q <= 1'b0;
      phase_q <= Detect;
      enable_q <= 1'b1;
      release_q <= 1'b0;
      unanimous_q <= 1'b0;
      error_q <= '0;
    end else begin
      if (reply_valid && ready_i) open_q <= 1'b0;
      if (accepted) begin
        open_q <= 1'b1;
        phase_q <= order_phase_i;
        if (order_phase_i == Release) begin
          enable_q <= 1'b0;
          unanimous_q <= order_vote_i;
        end
        if (order_phase_i == Enable) enable_q <= 1'b1;
      end
      release_q <= accepted && order_phase_i == Release;
      if (!enable_q && |send_i) error_q[0] <= 1'b1;
      if (|(idle_i & send_i) || |(idle_i & receive_i)) error_q[1] <= 1'b1;
      if (order_i && open_q) error_q[2] <= 1'b1;
    end
  end

  always_comb begin
    if (!power_q) begin
      a_error: assert (error == error_q);
      a_enable: assert (enable == enable_q);
      a_release: assert (release_now == release_q);
      a_unanimous: assert (unanimous == unanimous_q);
      a_replies_to_an_order: assert (!reply_valid || (open_q && reply_phase == phase_q));
      // Invariants for the induction.
      a_open: assert (open_q == (i_node.i_core.held_q || i_node.i_core.reply_q)
                      && !(i_node.i_core.held_q && i_node.i_core.reply_q));
      a_phase: assert (!open_q || i_node.i_core.phase_q == phase_q);
    end
  end

  always_comb begin
    c_sent_while_disabled: cover (error == 3'b001);
    c_idle_core_sends: cover (error == 3'b010);
    c_two_orders: cover (error == 3'b100 && enable);
  end
endmodule
