// SPDX-License-Identifier: Apache-2.0
/// The tree barrier: at every port, one participant of its group arrives or looks in a cycle, in
/// any order, with resets. The chain `prefix` counts within a leaf, so that each step of the
/// induction is local.
module tutti_tree_barrier_formal #(
    parameter int unsigned Threads = 4,
    parameter int unsigned Ports = 2,
    parameter int unsigned Group = (Threads + Ports - 1) / Ports,
    parameter int unsigned CountBits = $clog2(Group + 1),
    parameter int unsigned SlotBits = Group > 1 ? $clog2(Group) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [Ports-1:0] act_i,
    input logic [Ports-1:0] look_i,
    // The participant's place in its group.
    input logic [Ports-1:0][SlotBits-1:0] slot_i,
    input logic clear_i,
    input logic [7:0] size_i
);
  localparam int unsigned Places = Ports * Group;

  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [7:0] size_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    size_q <= size_i;
  end

  logic [Places-1:0] member, arrived_q, leaving_q, parity_q, comes, departs;
  logic [Ports-1:0] arrive, over;
  logic [Ports-1:0][CountBits-1:0] count;
  logic [31:0] episodes;
  logic episode_q, completes, complete;

  for (genvar p = 0; p < Ports; ++p) begin : gen_port
    for (genvar g = 0; g < Group; ++g) begin : gen_place
      localparam int unsigned T = p * Group + g;
      logic acts;
      assign member[T] = 8'(T) < size_i;
      assign acts = !init_q && !clear_i && act_i[p] && slot_i[p] == SlotBits'(g);
      assign comes[T] = acts && !look_i[p];
      assign departs[T] = acts && look_i[p] && parity_q[T] != episodes[0];
      always_comb begin
        assume (!(acts && !member[T]));
        assume (!acts || look_i[p] == (arrived_q[T] || leaving_q[T]));
      end
    end
    assign arrive[p] = !init_q && !clear_i && act_i[p] && !look_i[p];
    always_comb assume (32'(slot_i[p]) < Group);
  end

  tutti_tree_barrier #(
      .Threads(Threads),
      .Ports(Ports)
  ) i_barrier (
      .clk_i,
      .rst_ni(!init_q),
      .clear_i,
      .size_i,
      .arrive_i(arrive),
      .count_o(count),
      .over_o(over),
      .complete_o(complete),
      .episodes_o(episodes)
  );

  // When all have arrived, the unit reports it in the next cycle, when the last leaf is done.
  assign completes = arrived_q == member;
  always_ff @(posedge clk_i) begin
    if (init_q || clear_i) begin
      arrived_q <= '0;
      leaving_q <= '0;
      parity_q <= '0;
      episode_q <= 1'b0;
    end else begin
      arrived_q <= completes ? '0 : arrived_q | comes;
      leaving_q <= completes ? member : leaving_q & ~departs;
      parity_q <= parity_q ^ departs;
      if (completes) episode_q <= !episode_q;
    end
  end

  always_comb begin
    assume (size_i >= 8'd1 && size_i <= 8'(Threads));
    assume (init_q || size_i == size_q);
  end

  for (genvar p = 0; p < Ports; ++p) begin : gen_chain
    logic [Group-1:0][CountBits-1:0] prefix_q;
    for (genvar g = 0; g < Group; ++g) begin : gen_prefix
      localparam int unsigned T = p * Group + g;
      always_ff @(posedge clk_i) begin
        if (init_q || clear_i || completes) prefix_q[g] <= '0;
        else if (arrive[p] && 32'(slot_i[p]) <= g) prefix_q[g] <= prefix_q[g] + CountBits'(1);
      end
      logic [CountBits-1:0] below;
      if (g == 0) begin : gen_first
        assign below = '0;
      end else begin : gen_next
        assign below = prefix_q[g-1];
      end
      always_comb begin
        if (!init_q) begin
          a_chain: assert (prefix_q[g] == below + CountBits'(arrived_q[T]));
          a_bound: assert (32'(prefix_q[g]) <= g + 1);
          a_no_early_departure: assert (!departs[T] || leaving_q[T]);
          a_released: assert (!(act_i[p] && slot_i[p] == SlotBits'(g) && look_i[p]
              && leaving_q[T] && !clear_i) || departs[T]);
          a_member: assert (member[T] || !(arrived_q[T] || leaving_q[T] || parity_q[T]));
          a_state: assert (!(arrived_q[T] && leaving_q[T]));
          a_parity: assert (!member[T] || parity_q[T] == (leaving_q[T] ? !episode_q : episode_q));
        end
      end
    end
    always_comb begin
      if (!init_q) a_count: assert (count[p] == prefix_q[Group-1]);
    end
  end
  always_comb begin
    if (!init_q) begin
      a_completes: assert (complete == completes);
      // No arrival of a participant that has not arrived is taken for a second one.
      a_over: assert (over == '0);
      a_episode: assert (episodes[0] == episode_q);
    end
  end

  logic [1:0] episodes_q;
  always_ff @(posedge clk_i) begin
    if (init_q) episodes_q <= '0;
    else if (completes && !clear_i && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
  end
  always_comb begin
    c_three_episodes: cover (!init_q && episodes_q == 2'd3 && size_i == 8'(Threads));
    c_overlap: cover (!init_q && arrived_q != '0 && leaving_q != '0);
    c_parallel: cover (!init_q && (&arrive) && Ports > 1);
    c_empty_leaf: cover (!init_q && completes && size_i == 8'd1);
  end
endmodule
