// SPDX-License-Identifier: Apache-2.0
/// The mask core with participants that arrive in any cycles, together or not, and with an
/// interconnect that may repeat each participant's last arrival at any time. The specification
/// never sees the repetitions.
module tutti_mask_core_formal #(
    parameter int unsigned Threads = 4
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs: a participant arrives, if it may.
    input logic [Threads-1:0] come_i,
    // The last arrival is delivered once more.
    input logic [Threads-1:0] repeat_i,
    input logic [Threads-1:0] look_i,
    input logic [Threads-1:0] members_i,
    input logic clear_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [Threads-1:0] members_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    members_q <= members_i;
  end

  logic [Threads-1:0] arrived_q, leaving_q, parity_q, came_q;
  logic [Threads-1:0] comes, arrive, parity, departs, arrived_now, arrived;
  logic episode_q, completes, complete, again, foreign;
  logic [31:0] episodes;

  assign comes = init_q || clear_i ? '0 : come_i & members_i & ~arrived_q & ~leaving_q;
  assign arrived_now = arrived_q | comes;
  assign completes = !init_q && !clear_i && arrived_now == members_i;
  // A repetition carries the parity of the arrival that it repeats.
  logic [Threads-1:0] repeats;
  assign repeats = init_q || clear_i ? '0 : repeat_i & came_q & ~comes;
  // An arrival during a reset is lost and must have no effect.
  assign arrive = clear_i ? come_i & members_i : comes | repeats;
  for (genvar t = 0; t < Threads; ++t) begin : gen_parity
    assign parity[t] = comes[t] || clear_i || arrived_q[t]
        || leaving_q[t] ? parity_q[t] : !parity_q[t];
  end
  assign departs = init_q || clear_i ? '0
      : look_i & (arrived_q | leaving_q) & (parity_q ^ {Threads{episodes[0]}});

  tutti_mask_core #(
      .Threads(Threads)
  ) i_core (
      .clk_i,
      .rst_ni(!init_q),
      .clear_i,
      .members_i,
      .arrive_i(arrive),
      .parity_i(parity),
      .arrived_o(arrived),
      .episodes_o(episodes),
      .complete_o(complete),
      .again_o(again),
      .foreign_o(foreign)
  );

  always_ff @(posedge clk_i) begin
    if (init_q || clear_i) begin
      arrived_q <= '0;
      leaving_q <= '0;
      parity_q <= '0;
      came_q <= '0;
      episode_q <= 1'b0;
    end else begin
      arrived_q <= completes ? '0 : arrived_now;
      leaving_q <= completes ? members_i : leaving_q & ~departs;
      parity_q <= parity_q ^ departs;
      came_q <= came_q | comes;
      if (completes) episode_q <= !episode_q;
    end
  end

  always_comb begin
    assume (members_i != '0);
    assume (init_q || members_i == members_q);
  end

  for (genvar t = 0; t < Threads; ++t) begin : gen_thread
    always_comb begin
      if (!init_q) begin
        a_no_early_departure: assert (!departs[t] || leaving_q[t]);
        a_released: assert (!(look_i[t] && leaving_q[t] && !clear_i) || departs[t]);
        a_member: assert (members_i[t] || !(arrived_q[t] || leaving_q[t] || came_q[t]));
        a_state: assert (!(arrived_q[t] && leaving_q[t])
            && (came_q[t] || !(arrived_q[t] || leaving_q[t])));
        a_parity: assert (!members_i[t] || parity_q[t] == (leaving_q[t] ? !episode_q : episode_q));
      end
    end
  end
  always_comb begin
    if (!init_q) begin
      a_completes: assert (complete == completes);
      a_arrived: assert (arrived == arrived_q);
      a_episode: assert (episodes[0] == episode_q);
      a_not_full: assert (arrived_q != members_i);
      a_again: assert (clear_i || again == (repeats != '0));
      a_foreign: assert (!foreign);
    end
  end

  logic [1:0] episodes_q;
  always_ff @(posedge clk_i) begin
    if (init_q) episodes_q <= '0;
    else if (completes && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
  end
  always_comb begin
    c_all_at_once: cover (!init_q && completes && arrived_q == '0 && members_i == '1);
    c_three_episodes: cover (!init_q && episodes_q == 2'd3 && members_i == '1);
    c_overlap: cover (!init_q && arrived_q != '0 && leaving_q != '0);
    c_repeated_late: cover (!init_q && (repeats & ~arrived_q & ~leaving_q) != '0);
  end
endmodule
