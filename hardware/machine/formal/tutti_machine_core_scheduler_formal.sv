// SPDX-License-Identifier: Apache-2.0
/// The scheduler with anything at its ports and resets at any time: the core goes to the next thread
/// that is ready, and never to one that waits; whoever is ready has it after at most Threads - 1
/// turns of others; a turn ends at the first place where a thread gives way, but for the
/// instructions that a LoadReserved keeps it; a reservation is its thread's and of this turn, and ends
/// with traps, calls and the ends of their handlers.
module tutti_machine_core_scheduler_formal #(
    parameter int unsigned Threads = 2,
    localparam int unsigned ThreadBits = $clog2(Threads)
) (
    input logic clk_i,
    // Free inputs.
    input logic reset_i,
    input logic waits_i,
    input logic redirects_i,
    input logic traps_i,
    input logic returns_i,
    input logic retires_i,
    input logic reserves_i,
    input logic conditional_i,
    input logic [Threads-1:0] ready_i,
    // Held constant: a thread.
    input logic [ThreadBits-1:0] watched_i
);
  localparam int unsigned Hold = 15;
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;

  logic [ThreadBits-1:0] thread, next;
  logic switches, reserved, held;
  logic [3:0] hold;
  tutti_machine_core_scheduler #(
      .Threads(Threads)
  ) u_scheduler (
      .clk_i,
      .rst_ni(rst_n),
      .waits_i,
      .redirects_i,
      .traps_i,
      .returns_i,
      .retires_i,
      .reserves_i,
      .conditional_i,
      .ready_i,
      .thread_o(thread),
      .next_o(next),
      .switches_o(switches),
      .reserved_o(reserved),
      .formal_hold_o(hold),
      .formal_held_o(held)
  );

  logic [ThreadBits-1:0] watched_q, distance, to_next;
  assign distance = watched_i - thread;
  assign to_next = next - thread;
  logic others;
  assign others = (ready_i & ~(Threads'(1) << thread)) != '0;

  // Turns of others since the watched thread has been ready without the core.
  logic [3:0] turns_q = '0;
  // Instructions since the first LoadReserved of this turn, if there was one.
  logic first_q = 1'b0;
  logic [4:0] since_q = '0;
  // The last LoadReserved, unless a StoreConditional, a trap, a call, the end of a handler or another
  // thread came behind it.
  logic reserved_q = 1'b0;
  logic [ThreadBits-1:0] by_q;
  logic gives_way;
  assign gives_way = waits_i || traps_i || (redirects_i && !(first_q && 32'(since_q) < Hold));
  logic past_q = 1'b0;
  logic [ThreadBits-1:0] next_q;
  always_ff @(posedge clk_i) begin
    power_q   <= 1'b0;
    watched_q <= watched_i;
    past_q    <= rst_n;
    next_q    <= next;
    turns_q   <= !rst_n || distance == '0 || !ready_i[watched_i] || next == watched_i ? '0 :
        turns_q + 4'(switches);
    // A StoreConditional ends what its LoadReserved has begun.
    if (!rst_n || gives_way) begin
      first_q <= 1'b0;
      since_q <= '0;
    end else if (conditional_i) begin
      first_q <= first_q || reserves_i;
      since_q <= 5'(Hold);
    end else if (first_q) begin
      if (retires_i && 32'(since_q) < Hold) since_q <= since_q + 5'd1;
    end else if (reserves_i) begin
      first_q <= 1'b1;
      since_q <= '0;
    end
    if (!rst_n) reserved_q <= 1'b0;
    else if (switches || conditional_i || traps_i || returns_i) reserved_q <= 1'b0;
    else if (reserves_i) reserved_q <= 1'b1;
    if (reserves_i) by_q <= thread;
  end

  always_comb begin
    assume (power_q || watched_i == watched_q);
    // What retires is one instruction, and it cannot also wait.
    assume (!(reserves_i && conditional_i));
    assume (retires_i || !(reserves_i || conditional_i));
    assume (!(retires_i && (waits_i || traps_i)));
    // A LoadReserved and a StoreConditional are no jumps, and the end of a handler is one.
    assume (!(redirects_i && (reserves_i || conditional_i)));
    assume (!returns_i || (redirects_i && retires_i));
  end
  always_comb begin
    if (rst_n) begin
      a_next: assert (!past_q || thread == next_q);
      a_stays: assert (switches || next == thread);
      a_switches: assert (!switches || (next != thread && ready_i[next]
          && (waits_i || traps_i || redirects_i)));
      a_gives_way: assert (!(gives_way && others) || switches);
      a_keeps: assert (gives_way || !switches);
      a_in_turn: assert (!(switches && watched_i != next && ready_i[watched_i] && distance != '0)
          || distance > to_next);
      // Each turn brings the core nearer to a thread that is ready.
      a_nobody_starves: assert (distance == '0 || 32'(turns_q) <= Threads - 32'(distance) - 1);
      a_hold: assert (hold == (first_q ? 4'(Hold - 32'(since_q)) : 4'd0));
      a_held: assert (held == first_q);
      a_since: assert (32'(since_q) <= Hold);
      a_reservation: assert (reserved == reserved_q);
      a_of_its_thread: assert (!reserved || by_q == thread);
    end
  end
  always_comb begin
    if (rst_n) begin
      c_waits_for_all: cover (32'(turns_q) == Threads - 2 && distance == ThreadBits'(1)
          && switches && next == watched_i);
      c_is_kept: cover (redirects_i && others && !switches);
      c_is_kept_no_longer: cover (redirects_i && switches && first_q);
      c_loses_its_reservation: cover (reserved && switches);
      c_loses_it_at_a_trap: cover (reserved && traps_i && !switches);
      c_loses_it_at_a_return: cover (reserved && returns_i && !switches);
      c_reservation: cover (reserved && conditional_i);
    end
  end
endmodule
