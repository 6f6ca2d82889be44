// SPDX-License-Identifier: Apache-2.0
/// One barrier of the structure, chosen by a symbol: for any messages to all barriers, it behaves
/// as its specification, which sees only the messages to it.
///
/// Cores arrive again only after their complete message, but foreign and repeated arrivals may come
/// at any time. A peer may be one episode ahead: it announces an episode after its own previous one
/// is complete, for which it needed this socket's announcement.
module tutti_hbs_core_formal
  import tutti_hbs_pkg::*;
#(
    parameter int unsigned Barriers = 3,
    parameter int unsigned Local = 3,
    parameter int unsigned Peers = 2,
    parameter int unsigned Bits = Local + Peers,
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1,
    parameter int unsigned SourceBits = $clog2(Bits)
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic valid_i,
    input kind_e kind_i,
    input logic [BarrierBits-1:0] barrier_i,
    input logic [SourceBits-1:0] source_i,
    input logic [Bits-1:0] mask_i,
    input logic complete_ready_i,
    input logic [Peers-1:0] peer_ready_i,
    // Held constant.
    input logic [BarrierBits-1:0] symbol_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [BarrierBits-1:0] symbol_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
  end

  logic ready, complete_valid;
  logic [BarrierBits-1:0] complete_barrier, peer_barrier;
  logic [Local-1:0] complete_mask;
  logic [Peers-1:0] peer_valid;
  error_t error;
  logic [Bits-1:0] shown_arrived, shown_members;

  tutti_hbs_core #(
      .Barriers(Barriers),
      .Local(Local),
      .Peers(Peers)
  ) i_core (
      .clk_i,
      .rst_ni(!init_q),
      .msg_valid_i(valid_i && !init_q),
      .msg_ready_o(ready),
      .msg_kind_i(kind_i),
      .msg_barrier_i(barrier_i),
      .msg_source_i(source_i),
      .msg_mask_i(mask_i),
      .complete_valid_o(complete_valid),
      .complete_ready_i,
      .complete_barrier_o(complete_barrier),
      .complete_mask_o(complete_mask),
      .peer_valid_o(peer_valid),
      .peer_ready_i,
      .peer_barrier_o(peer_barrier),
      .error_o(error),
      .read_barrier_i(symbol_i),
      .read_arrived_o(shown_arrived),
      .read_members_o(shown_members)
  );

  // The specification of barrier `symbol_i`.
  logic [Bits-1:0] members_q, sender;
  logic [Local-1:0] arrived_q, arrived_now, waiting_q;
  // A peer's announcements: of this episode and of the next.
  logic [Peers-1:0] first_q, second_q, first_now, second_now;
  // This socket has announced the open episode.
  logic announced_q;
  // The complete message is on its way.
  logic owed_q;
  // Announcements on their way.
  logic [Peers-1:0] due_q;

  logic hit, creates, inits, core, socket, announces, completes, delivered;
  assign hit = !init_q && valid_i && ready && barrier_i == symbol_i && 32'(source_i) < Bits;
  assign sender = Bits'(1) << source_i;
  assign creates = hit && kind_i == Create && mask_i[Local-1:0] != '0;
  // After the episode is announced, an Init is an error and changes nothing.
  assign inits = hit && kind_i == Init && (sender[Local-1:0] & members_q[Local-1:0]) != '0
      && !announced_q;
  assign core = hit && kind_i == CoreArrive && (sender[Local-1:0] & members_q[Local-1:0]) != '0;
  assign socket = hit && kind_i == SocketArrive
      && (sender[Bits-1:Local] & members_q[Bits-1:Local]) != '0;
  assign arrived_now = core ? arrived_q | sender[Local-1:0] : arrived_q;
  assign first_now = socket ? first_q | sender[Bits-1:Local] : first_q;
  assign second_now = socket ? second_q | (first_q & sender[Bits-1:Local]) : second_q;
  assign announces = core && arrived_now == members_q[Local-1:0] && !announced_q;
  assign completes = (core || socket) && arrived_now == members_q[Local-1:0]
      && first_now == members_q[Bits-1:Local];
  assign delivered = !init_q && complete_valid && complete_ready_i && complete_barrier == symbol_i;

  always_ff @(posedge clk_i) begin
    if (init_q) begin
      members_q <= '0;
      arrived_q <= '0;
      waiting_q <= '0;
      first_q <= '0;
      second_q <= '0;
      announced_q <= 1'b0;
      owed_q <= 1'b0;
      due_q <= '0;
    end else begin
      if (creates) members_q <= mask_i;
      if (creates || completes) arrived_q <= '0;
      else if (inits) arrived_q <= arrived_q & ~sender[Local-1:0];
      else arrived_q <= arrived_now;
      first_q <= creates ? '0 : completes ? second_now : first_now;
      second_q <= creates || completes ? '0 : second_now;
      announced_q <= creates || completes ? 1'b0 : announced_q || announces;
      owed_q <= completes || (owed_q && !delivered);
      due_q <= announces ? members_q[Bits-1:Local]
                         : due_q & ~(peer_barrier == symbol_i ? peer_valid & peer_ready_i : '0);
      waiting_q <= creates ? '0
          : (waiting_q | (core ? sender[Local-1:0] : '0))
          & (delivered ? core ? sender[Local-1:0] : '0 : '1)
          & ~(inits ? sender[Local-1:0] : '0);
    end
  end

  always_comb begin
    assume (init_q || symbol_i == symbol_q);
    assume (32'(symbol_i) < Barriers);
    // The kernel creates a barrier only while no message is on its way.
    assume (!(hit && kind_i == Create)
        || (!owed_q && due_q == '0 && !(complete_valid && complete_barrier == symbol_i)));
    // A core does not arrive again before it receives the complete message.
    assume (!(core && owed_q) || (sender[Local-1:0] & waiting_q) == '0);
    // A peer announces the next episode only after it has this socket's announcement of this one.
    assume (!socket || (first_q & sender[Bits-1:Local]) == '0 || announced_q);
  end

  always_comb begin
    if (!init_q) begin
      // Safety: a complete message is sent exactly for what the specification completes, to exactly
      // its local participants.
      a_owed: assert (owed_q == (complete_valid && complete_barrier == symbol_i));
      a_told: assert (!owed_q || complete_mask == members_q[Local-1:0]);
      // Announcements go to exactly the participating peers, once an episode.
      a_due: assert (due_q == (peer_barrier == symbol_i ? peer_valid : '0));
      // Liveness: messages that must be sent are offered, and only busy outputs delay messages.
      a_ready: assert (ready || complete_valid || peer_valid != '0);
      a_socket_ready: assert (ready || kind_i != SocketArrive
          || (complete_valid && !complete_ready_i));
      // The state that a driver reads.
      a_members: assert (shown_members == members_q);
      a_arrived: assert (shown_arrived == {first_q, arrived_q});
      // Invariants.
      a_subset: assert ((arrived_q & ~members_q[Local-1:0]) == '0
          && (first_q & ~members_q[Bits-1:Local]) == '0);
      a_second: assert ((second_q & ~first_q) == '0);
      a_announced: assert (announced_q == (arrived_q == members_q[Local-1:0] && members_q != '0));
      a_second_announced: assert (second_q == '0 || announced_q);
      a_open: assert (members_q == '0
          || !(arrived_q == members_q[Local-1:0] && first_q == members_q[Bits-1:Local]));
      a_local: assert (members_q == '0 || members_q[Local-1:0] != '0);
      a_ahead: assert (i_core.ahead_q[symbol_i] == second_q);
      a_others: assert ((i_core.s_q[symbol_i] | shown_members) == '1);
      // Misuse is detected.
      a_foreign: assert (!(hit && kind_i == CoreArrive && !core) || error.foreign);
      // Each error is reported for its reason and for nothing else.
      a_foreign_only: assert (!hit || error.foreign == (kind_i == SocketArrive ? !socket
          : kind_i == CoreArrive ? !core
          : kind_i == Init && (sender[Local-1:0] & members_q[Local-1:0]) == '0));
      a_bad_create: assert (!hit || error.bad_create == (kind_i == Create && !creates));
      a_late_only: assert (!hit || error.late_init == (kind_i == Init && announced_q
          && (sender[Local-1:0] & members_q[Local-1:0]) != '0));
      a_again_only: assert (!hit || error.arrived_again
          == ((core && (arrived_q & sender[Local-1:0]) != '0)
          || (socket && (second_q & sender[Bits-1:Local]) != '0)));
      a_range: assert (error.out_of_range == (valid_i && ready && (32'(barrier_i) >= Barriers
          || 32'(source_i) >= Bits)));
      a_no_error: assert ((valid_i && ready) || error == '0);
      a_late: assert (!(hit && kind_i == Init && (sender[Local-1:0] & members_q[Local-1:0]) != '0
          && announced_q) || error.late_init);
      a_again: assert (!(core && (arrived_q & sender[Local-1:0]) != '0) || error.arrived_again);
    end
  end

  logic [1:0] episodes_q;
  always_ff @(posedge clk_i) begin
    if (init_q || creates) episodes_q <= '0;
    else if (completes && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
  end
  always_comb begin
    c_two_episodes: cover (!init_q && episodes_q == 2'd2 && members_q == '1);
    c_ahead: cover (!init_q && second_q != '0);
    c_alone: cover (!init_q && completes && members_q[Bits-1:Local] == '0);
    c_blocked: cover (!init_q && valid_i && !ready && owed_q);
    c_other: cover (!init_q && complete_valid && complete_barrier != symbol_i && arrived_q != '0);
  end
endmodule
