// SPDX-License-Identifier: Apache-2.0
/// The agent under any requests of its port, and any messages of the units, for a symbolic barrier:
/// a wait departs once for each end of an episode in which the core has arrived, through interrupts,
/// timeouts and restarts in any order.
module tutti_machine_agent_formal
  import tutti_isa_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    parameter int unsigned Structures = 2
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input request_t request_i,
    input reply_t unit_reply_i,
    input logic arrive_done_i,
    input complete_t complete_i,
    input logic pin_complete_i,
    // The barrier: 128 and up, or 192. Held constant.
    input logic [7:0] symbol_i
);
  // The agent is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [7:0] symbol_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
  end

  reply_t reply, answer;
  request_t unit_request;
  logic arrive_valid, waiting, sending, cancelled, parity;
  logic [5:0] arrive_barrier;
  pin_t pin;
  logic [Structures:0] installed, arrived, owed;
  logic [7:0] at, waits;
  logic [31:0] left;
  tutti_machine_agent #(
      .Structures(Structures)
  ) u_agent (
      .clk_i,
      .rst_ni(!init_q),
      .request_i,
      .reply_o(reply),
      .unit_request_o(unit_request),
      .unit_reply_i,
      .arrive_valid_o(arrive_valid),
      .arrive_barrier_o(arrive_barrier),
      .arrive_done_i,
      .complete_i,
      .pin_o(pin),
      .pin_complete_i,
      .waits_o(waits),
      .formal_installed_o(installed),
      .formal_arrived_o(arrived),
      .formal_owed_o(owed),
      .formal_waiting_o(waiting),
      .formal_sending_o(sending),
      .formal_cancelled_o(cancelled),
      .formal_at_o(at),
      .formal_parity_o(parity),
      .formal_answer_o(answer),
      .formal_left_o(left)
  );

  logic is_mask, here, ours, opens, waits_here, kernel_here;
  logic [7:0] place;
  assign is_mask = symbol_i == 8'd192;
  assign place = is_mask ? 8'(Structures) : 8'(symbol_i[5:0]);
  assign here = request_i.index == symbol_i;
  // What the agent answers itself.
  assign ours = request_i.index[7] && request_i.op inside {OpWait, OpInit, OpSet, OpGet};
  assign opens = request_i.valid && request_i.op != OpCancel;
  assign waits_here = opens && request_i.op == OpWait && here && !request_i.privileged;
  assign kernel_here = opens && here && request_i.privileged;

  // The request that is open, and the barrier's state as a specification has it.
  logic open_q, open_wait_q, open_here_q, open_ours_q, open_kernel_q, cancelled_q;
  logic allowed_q, in_q, done_q, sent_q;
  logic complete_here, arrives_here, departs_here;
  assign complete_here = is_mask ? pin_complete_i
      : complete_i.valid && complete_i.barrier == symbol_i[5:0];
  assign arrives_here = waits_here && allowed_q && !in_q;
  assign departs_here = open_q && open_wait_q && open_here_q && reply.valid
      && reply.kind == ReplyDone;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      {open_q, open_wait_q, open_here_q, open_ours_q, open_kernel_q, cancelled_q} <= '0;
      {allowed_q, in_q, done_q, sent_q} <= '0;
    end else begin
      open_q <= (open_q || opens) && !reply.valid;
      if (opens) begin
        open_wait_q <= request_i.op == OpWait;
        open_here_q <= here;
        open_ours_q <= ours;
        open_kernel_q <= request_i.privileged;
        cancelled_q <= 1'b0;
      end else begin
        cancelled_q <= cancelled_q || request_i.valid;
      end
      // In: between the arrival and the departure; done: the episode has ended meanwhile.
      if (departs_here) {in_q, done_q} <= '0;
      else if (arrives_here) {in_q, done_q} <= 2'b10;
      else if (complete_here && in_q) done_q <= 1'b1;
      if (kernel_here && request_i.op == OpInit) {allowed_q, in_q, done_q} <= 3'b100;
      if (kernel_here && request_i.op == OpSet && request_i.field == FieldParticipants
          && request_i.data == '0)
        allowed_q <= 1'b0;
      // The structure has taken the arrival of the open wait.
      sent_q <= opens ? 1'b0 : sent_q || arrive_done_i;
    end
  end

  // An arrival that the structure has not taken; the time that the kernel gives a wait, and whether
  // it begins now: with the arrival, and anew when the kernel sets it meanwhile.
  logic pending_q, begins_q, sets_here;
  logic [31:0] limit_q;
  assign sets_here = kernel_here && request_i.op == OpSet && request_i.field == FieldTimeout;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      {pending_q, begins_q} <= '0;
      limit_q <= '0;
    end else begin
      pending_q <= (pending_q || (arrives_here && !is_mask)) && !arrive_done_i;
      begins_q <= arrives_here || (sets_here && in_q && !done_q);
      if (sets_here) limit_q <= request_i.data;
    end
  end

  logic was_waiting_q, was_set_q;
  logic [31:0] was_left_q;
  always_ff @(posedge clk_i) begin
    was_waiting_q <= !init_q && waiting;
    was_set_q <= init_q || (opens && request_i.op == OpSet);
    was_left_q <= left;
  end

  always_comb begin
    assume (power_q || symbol_i == symbol_q);
    assume (symbol_i == 8'd192 || (symbol_i[7:6] == 2'b10 && 32'(symbol_i[5:0]) < Structures));
    // Assumptions about the port, which its own proof shows: one request is open, and only a cancel
    // follows a wait, once.
    assume (!(opens && open_q));
    assume (!(request_i.valid && request_i.op == OpCancel)
        || (open_q && open_wait_q && !cancelled_q));
    assume (!request_i.valid || request_i.op != OpNone);
    // Assumptions about the units: an answer to each request, and to the arrival that is on its way.
    assume (!unit_reply_i.valid || (open_q && !open_ours_q));
    assume (!arrive_done_i || (sending && !sent_q));
  end

  always_comb begin
    if (!init_q) begin
      a_departs_once: assert (!departs_here || (in_q && (done_q || complete_here)));
      a_arrives: assert (!(arrives_here && !is_mask)
          || (arrive_valid && arrive_barrier == symbol_i[5:0]));
      a_arrives_once: assert (!(arrive_valid && arrive_barrier == symbol_i[5:0] && !is_mask
          && !sending) || arrives_here);
      a_sends: assert (!(sending && open_here_q && open_wait_q) || (in_q && !is_mask));
      a_sends_until_taken: assert (!pending_q
          || (arrive_valid && arrive_barrier == symbol_i[5:0]));
      a_state_pending: assert (pending_q == (sending && open_here_q && open_wait_q));
      a_limit: assert (u_agent.timeout_q[place[$clog2(Structures+1)-1:0]] == limit_q);
      a_time_begins: assert (!begins_q || left == limit_q);
      a_pin: assert (!is_mask || pin.valid == arrives_here);
      a_parity: assert (!pin.valid || pin.parity == parity);
      a_departs_at_the_end: assert (!(open_q && open_wait_q && open_here_q && waiting && in_q
          && (done_q || complete_here) && (!sending || arrive_done_i))
          || (reply.valid && reply.kind == ReplyDone));
      a_users_wait: assert (!(waiting && open_kernel_q));
      a_refused: assert (!(open_q && open_wait_q && open_here_q && !waiting)
          || (reply.valid && reply.kind == ReplyDenied));
      a_denied_waits_not: assert (!(waits_here && !allowed_q) || !(arrive_valid || pin.valid));
      a_cancel_is_answered: assert (!(open_q && open_wait_q && waiting
          && (cancelled_q || request_i.valid) && (!sending || arrive_done_i)) || reply.valid);
      a_cancelled: assert (!(open_ours_q && open_q && reply.valid && reply.kind == ReplyCancelled)
          || (open_wait_q && (cancelled_q || request_i.valid)));
      a_timeout: assert (!(open_ours_q && open_q && reply.valid && reply.kind == ReplyTimeout)
          || (open_wait_q && left == '0));
      a_passes_on: assert (!(opens && !ours) || unit_request == request_i);
      a_keeps: assert (!(request_i.valid && (ours || open_wait_q) && request_i.op != OpCancel && ours)
          || !unit_request.valid);
      a_keeps_cancels: assert (!(request_i.valid && request_i.op == OpCancel && waiting)
          || !unit_request.valid);
      a_answers_of_the_unit: assert (!(open_q && !open_ours_q) || reply == unit_reply_i);
      a_answers_only_what_is_open: assert (!reply.valid || open_q);
      a_kernel_only: assert (!(open_q && open_ours_q && !open_wait_q && reply.valid
          && reply.kind == ReplyDone) || open_kernel_q);
      // The specification's state is the agent's.
      a_state_allowed: assert (installed[place[$clog2(Structures+1)-1:0]] == allowed_q);
      a_state_in: assert ((arrived[place[$clog2(Structures+1)-1:0]]
          || owed[place[$clog2(Structures+1)-1:0]]) == in_q);
      a_state_done: assert (owed[place[$clog2(Structures+1)-1:0]] == done_q);
      a_state_one: assert (!(arrived[place[$clog2(Structures+1)-1:0]]
          && owed[place[$clog2(Structures+1)-1:0]]));
      a_state_waiting: assert (!waiting || (open_q && open_wait_q && open_ours_q && !answer.valid));
      a_state_answer: assert (!(open_q && open_ours_q && !waiting) || answer.valid);
      a_state_answer_open: assert (!answer.valid || (open_q && open_ours_q && !waiting));
      a_state_at: assert (!waiting || (at == place) == open_here_q);
      a_state_in_range: assert (!waiting || at <= 8'(Structures));
      a_state_here: assert (!(waiting && open_here_q) || in_q);
      a_state_sending: assert (!sending || (waiting && at != 8'(Structures)));
      a_state_sent: assert (!sending || !sent_q);
      a_state_cancelled: assert (cancelled == (waiting && cancelled_q));
      a_left: assert (!(waiting && was_waiting_q)
          || left == (was_left_q == '0 ? '0 : was_left_q - 32'd1));
      a_left_is_kept: assert (waiting || was_waiting_q || was_set_q || left == was_left_q);
      a_waits: assert ((waits == symbol_i) == (waiting && open_here_q));
    end
  end

  logic interrupted_q;
  always_ff @(posedge clk_i)
    if (init_q) interrupted_q <= 1'b0;
    else if (open_here_q && reply.valid && reply.kind == ReplyCancelled) interrupted_q <= 1'b1;
  always_comb begin
    if (!init_q) begin
      c_departs: cover (departs_here && !is_mask);
      c_mask: cover (departs_here && is_mask && pin_complete_i);
      c_restarted: cover (departs_here && interrupted_q);
      c_cancelled_departs: cover (departs_here && cancelled_q);
      c_timeout: cover (open_here_q && reply.valid && reply.kind == ReplyTimeout);
      c_passes: cover (open_q && !open_ours_q && reply.valid);
    end
  end
  logic unused;
  assign unused = ^{unit_request, answer};
endmodule
