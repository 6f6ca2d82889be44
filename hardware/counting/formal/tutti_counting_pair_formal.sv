// SPDX-License-Identifier: Apache-2.0
/// Two copies of the counting core under software that alternates between them: one request a
/// cycle, in any order, with resets in between.
///
/// The specification has a bit for each participant; the unit has only counts. The agreement of
/// both is inductive through the chain `prefix`: prefix[k] counts the arrived among participants 0
/// .. k. Each step of the argument is then local, and the solver never has to reason about a sum of
/// all bits.
module tutti_counting_pair_formal #(
    parameter int unsigned Threads = 4,
    parameter int unsigned GenerationBits = 8,
    parameter int unsigned CountBits = $clog2(Threads + 1),
    parameter int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs: what the participants do.
    input logic act_i,
    // 0: arrive, 1: read the departure sense.
    input logic look_i,
    input logic [ThreadBits-1:0] thread_i,
    input logic clear_i,
    input logic [CountBits-1:0] size_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [CountBits-1:0] size_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    size_q <= size_i;
  end

  // The specification.
  logic [Threads-1:0] member, arrived_q, leaving_q, parity_q;
  // The episode's parity.
  logic episode_q;
  for (genvar t = 0; t < Threads; ++t) begin : gen_member
    assign member[t] = CountBits'(t) < size_i;
  end

  logic arrive, look, mine, completes;
  logic [Threads-1:0] me, arrived_now;
  assign me = Threads'(1) << thread_i;
  assign mine = parity_q[thread_i];
  assign arrive = !init_q && !clear_i && act_i && !look_i;
  assign look = !init_q && !clear_i && act_i && look_i;
  assign arrived_now = arrived_q | (arrive ? me : '0);
  assign completes = arrive && arrived_now == member;

  // The unit.
  logic [1:0] departing, complete;
  logic [1:0][CountBits-1:0] count;
  logic [1:0][GenerationBits-1:0] generation;
  for (genvar c = 0; c < 2; ++c) begin : gen_copy
    tutti_counting_core #(
        .Threads(Threads),
        .GenerationBits(GenerationBits)
    ) i_core (
        .clk_i,
        .rst_ni(!init_q),
        .clear_i,
        .size_i,
        .arrive_i(arrive && mine == 1'(c)),
        .count_o(count[c]),
        .departing_o(departing[c]),
        .generation_o(generation[c]),
        .complete_o(complete[c])
    );
  end

  logic departs;
  assign departs = look && departing[mine];

  always_ff @(posedge clk_i) begin
    if (init_q || clear_i) begin
      arrived_q <= '0;
      leaving_q <= '0;
      parity_q <= '0;
      episode_q <= 1'b0;
    end else begin
      arrived_q <= completes ? '0 : arrived_now;
      leaving_q <= completes ? member : (departs ? leaving_q & ~me : leaving_q);
      if (departs) parity_q[thread_i] <= !mine;
      if (completes) episode_q <= !episode_q;
    end
  end

  // Assumptions about software.
  always_comb begin
    assume (size_i >= CountBits'(1) && size_i <= CountBits'(Threads));
    assume (init_q || size_i == size_q);
    assume (32'(thread_i) < Threads);
    assume (!act_i || member[thread_i]);
    assume (!act_i || init_q || look_i == (arrived_q[thread_i] || leaving_q[thread_i]));
  end

  // The chain, and the generations as the specification counts them.
  logic [Threads-1:0][CountBits-1:0] prefix_q;
  logic [1:0][GenerationBits-1:0] uses_q;
  for (genvar k = 0; k < Threads; ++k) begin : gen_prefix
    always_ff @(posedge clk_i) begin
      if (init_q || clear_i || completes) prefix_q[k] <= '0;
      else if (arrive && 32'(thread_i) <= k) prefix_q[k] <= prefix_q[k] + CountBits'(1);
    end
    logic [CountBits-1:0] below;
    if (k == 0) begin : gen_first
      assign below = '0;
    end else begin : gen_next
      assign below = prefix_q[k-1];
    end
    always_comb begin
      if (!init_q) begin
        a_chain: assert (prefix_q[k] == below + CountBits'(arrived_q[k]));
        a_bound: assert (32'(prefix_q[k]) <= k + 1);
        a_member: assert (member[k] || !(arrived_q[k] || leaving_q[k] || parity_q[k]));
        a_state: assert (!(arrived_q[k] && leaving_q[k]));
        a_parity: assert (!member[k] || parity_q[k] == (leaving_q[k] ? !episode_q : episode_q));
      end
    end
  end
  for (genvar c = 0; c < 2; ++c) begin : gen_uses
    always_ff @(posedge clk_i) begin
      if (init_q || clear_i) uses_q[c] <= '0;
      else if (completes && episode_q == 1'(c)) uses_q[c] <= uses_q[c] + GenerationBits'(1);
    end
  end

  logic [CountBits-1:0] open_count, done_count;
  assign open_count = count[episode_q];
  assign done_count = count[!episode_q];

  always_comb begin
    if (!init_q) begin
      // Safety: a participant departs only from an episode that all have reached.
      a_no_early_departure: assert (!departs || leaving_q[thread_i]);
      // No arrival is lost and none is added: the unit completes exactly when the specification
      // does.
      a_completes: assert (complete == (completes ? (episode_q ? 2'b10 : 2'b01) : 2'b00));
      // Liveness: from the next cycle on, every look of a participant that may leave succeeds.
      a_released: assert (!(look && leaving_q[thread_i]) || departs);
      a_generation: assert (generation == uses_q);
      // Invariants.
      a_count: assert (departing[episode_q] ? prefix_q[Threads-1] == '0 && open_count == size_i
                                            : open_count == prefix_q[Threads-1]);
      a_open: assert (!departing[episode_q] || arrived_q == '0);
      a_not_full: assert (arrived_q != member);
      a_done: assert (departing[!episode_q] ? done_count == size_i : done_count == '0
          && leaving_q == '0);
    end
  end

  // Reachable: both copies are used, generations overlap, and a reset comes in the middle of an
  // episode.
  logic [1:0] episodes_q;
  logic interrupted_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      episodes_q <= '0;
      interrupted_q <= 1'b0;
    end else begin
      if (completes && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
      if (clear_i && arrived_q != '0) interrupted_q <= 1'b1;
    end
  end
  always_comb begin
    c_three_episodes: cover (!init_q && episodes_q == 2'd3 && size_i == CountBits'(Threads));
    c_overlap: cover (!init_q && arrived_q != '0 && leaving_q != '0);
    c_interrupted: cover (!init_q && interrupted_q && episodes_q == 2'd2);
    c_smaller: cover (!init_q && completes && size_i == CountBits'(Threads - 1));
  end
endmodule
