// SPDX-License-Identifier: Apache-2.0
/// The unit under any messages: two cores x and y and a barrier b are chosen freely and held
/// constant, so the proof covers every pair of cores and every barrier, at the real size.
///
/// The specification sees the interface only. `open` says that a thread of the core is inside a
/// barwait at b, waiting or interrupted. `ahead` is the number of barwaits that y has begun minus
/// those that x has finished. A barrier means that x finishes its k-th only after y has begun its
/// k-th, so ahead stays above 0 at each departure.
module tutti_isa_barrier_unit_formal
  import tutti_isa_pkg::*;
#(
    parameter int unsigned Cores    = 4,
    parameter int unsigned Barriers = 2,
    parameter int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1,
    parameter int unsigned IndexBits = Barriers > 1 ? $clog2(Barriers) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input request_t [Cores-1:0] request_i,
    input logic [CoreBits-1:0] x_i,
    input logic [CoreBits-1:0] y_i,
    input logic [IndexBits-1:0] b_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [CoreBits-1:0] x_q, y_q;
  logic [IndexBits-1:0] b_q;
  reply_t [Cores-1:0] reply;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    x_q <= x_i;
    y_q <= y_i;
    b_q <= b_i;
  end

  logic [Barriers-1:0][Cores-1:0] participants, arrived, owed, installed;
  logic [Barriers-1:0] broken;
  logic [Barriers-1:0][31:0] timeouts;
  logic [Barriers-1:0][7:0] owner;
  logic [Cores-1:0][7:0] group;
  logic [Cores-1:0][31:0] left;
  logic [Cores-1:0] waiting;
  logic [Cores-1:0][IndexBits-1:0] at;
  reply_t [Cores-1:0] answer;
  request_t [Cores-1:0] turn;
  logic [CoreBits-1:0] slot;

  tutti_isa_barrier_unit #(
      .Cores   (Cores),
      .Barriers(Barriers)
  ) u_unit (
      .clk_i,
      .rst_ni(!init_q),
      .request_i,
      .reply_o(reply),
      .formal_participants_o(participants),
      .formal_arrived_o(arrived),
      .formal_owed_o(owed),
      .formal_installed_o(installed),
      .formal_broken_o(broken),
      .formal_timeout_o(timeouts),
      .formal_owner_o(owner),
      .formal_group_o(group),
      .formal_left_o(left),
      .formal_waiting_o(waiting),
      .formal_at_o(at),
      .formal_answer_o(answer),
      .formal_turn_o(turn),
      .formal_slot_o(slot)
  );

  always_comb begin
    assume (32'(x_i) < Cores && 32'(y_i) < Cores && 32'(b_i) < Barriers);
    assume (init_q || (x_i == x_q && y_i == y_q && b_i == b_q));
  end

  request_t rx, ry, granted;
  assign rx = request_i[x_i];
  assign ry = request_i[y_i];
  assign granted = turn[slot];

  // The kernel's actions on b in this cycle.
  logic on_b, remakes, breaks, moves;
  logic [4:0] from, to;
  assign on_b = granted.valid && granted.index == 8'(b_i);
  assign remakes = on_b && granted.op == OpSet && granted.field == FieldParticipants
      && (granted.data >> Cores) == '0;
  assign breaks = on_b && granted.op == OpSet && granted.field == FieldBreak;
  assign moves = on_b && granted.op == OpMove;
  assign from = granted.data[4:0];
  assign to = granted.data[12:8];

  // The specification of a core at b, for x and y alike.
  // A barwait at b is at the unit; a thread is inside one.
  logic waits_x_q, waits_y_q, open_x_q, open_y_q;
  // A barwait at another barrier is at the unit.
  logic elsewhere_x_q, elsewhere_y_q;
  logic may_x, may_y, begins_x, begins_y, ends_x, ends_y, inits_x, inits_y;
  logic full;
  assign full = participants[b_i] != '0 && (participants[b_i] & ~arrived[b_i]) == '0;
  assign may_x = participants[b_i][x_i] && installed[b_i][x_i] && owner[b_i] == group[x_i];
  assign may_y = participants[b_i][y_i] && installed[b_i][y_i] && owner[b_i] == group[y_i];
  logic asks_x, asks_y;
  assign asks_x = rx.valid && rx.op == OpWait && !rx.privileged && rx.index == 8'(b_i)
      && !waits_x_q && !elsewhere_x_q;
  assign asks_y = ry.valid && ry.op == OpWait && !ry.privileged && ry.index == 8'(b_i)
      && !waits_y_q && !elsewhere_y_q;
  assign begins_x = asks_x && may_x && !open_x_q;
  assign begins_y = asks_y && may_y && !open_y_q;
  assign ends_x = waits_x_q && reply[x_i].valid && reply[x_i].kind == ReplyDone;
  assign ends_y = waits_y_q && reply[y_i].valid && reply[y_i].kind == ReplyDone;
  assign inits_x = rx.valid && rx.op == OpInit && rx.privileged && rx.index == 8'(b_i)
      && !broken[b_i] && !waits_x_q && !elsewhere_x_q;
  assign inits_y = ry.valid && ry.op == OpInit && ry.privileged && ry.index == 8'(b_i)
      && !broken[b_i] && !waits_y_q && !elsewhere_y_q;

  // The kernel removes the barrier or its open episode.
  logic broken_ok;
  assign broken_ok = breaks && granted.data == '0 && !full && !owed[b_i][slot];

  // For x's barwaits at other barriers, only whether they are open matters.
  logic starts_else_x, starts_else_y, may_else_x, may_else_y;
  logic [IndexBits-1:0] ix, iy;
  assign ix = rx.index[IndexBits-1:0];
  assign iy = ry.index[IndexBits-1:0];
  assign may_else_x = 32'(rx.index) < Barriers && participants[ix][x_i] && installed[ix][x_i]
      && owner[ix] == group[x_i];
  assign may_else_y = 32'(ry.index) < Barriers && participants[iy][y_i] && installed[iy][y_i]
      && owner[iy] == group[y_i];
  assign starts_else_x = rx.valid && rx.op == OpWait && !rx.privileged && rx.index != 8'(b_i)
      && !waits_x_q &&
      !elsewhere_x_q && may_else_x;
  assign starts_else_y = ry.valid && ry.op == OpWait && !ry.privileged && ry.index != 8'(b_i)
      && !waits_y_q &&
      !elsewhere_y_q && may_else_y;

  logic signed [3:0] ahead_q, ahead_d;
  logic withdraws_y, forgoes_x;
  assign withdraws_y = inits_y && participants[b_i][y_i] && arrived[b_i][y_i] && !full;
  assign forgoes_x = inits_x && participants[b_i][x_i] && (owed[b_i][x_i] || full);
  // The barwait that y began in an episode that breaks no longer counts.
  logic breaks_y;
  assign breaks_y = broken_ok && (arrived[b_i][y_i] || begins_y) && !withdraws_y;
  assign ahead_d =
      ahead_q + 4'(begins_y) - 4'(ends_x) - 4'(withdraws_y) - 4'(forgoes_x) - 4'(breaks_y);
  // y took part when the barrier broke.
  logic with_y_q;

  always_ff @(posedge clk_i) begin
    if (init_q) begin
      {waits_x_q, waits_y_q, open_x_q, open_y_q, elsewhere_x_q, elsewhere_y_q} <= '0;
      ahead_q <= '0;
    end else begin
      waits_x_q <= waits_x_q ? !reply[x_i].valid : asks_x && may_x;
      waits_y_q <= waits_y_q ? !reply[y_i].valid : asks_y && may_y;
      elsewhere_x_q <= elsewhere_x_q ? !reply[x_i].valid : starts_else_x;
      elsewhere_y_q <= elsewhere_y_q ? !reply[y_i].valid : starts_else_y;
      open_x_q <= !remakes && !(inits_x && participants[b_i][x_i])
          && (broken_ok ? owed[b_i][x_i] : open_x_q || begins_x)
          && !ends_x;
      open_y_q <= !remakes && !(inits_y && participants[b_i][y_i])
          && (broken_ok ? owed[b_i][y_i] : open_y_q || begins_y)
          && !ends_y;
      ahead_q <= remakes ? '0 : ahead_d;
      if (!broken[b_i]) with_y_q <= participants[b_i][y_i];
    end
  end

  logic [$clog2(Cores+1):0] age_q;
  logic [CoreBits:0] distance;
  assign distance = x_i >= slot ? {1'b0, x_i} - {1'b0, slot}
      : (CoreBits + 1)'(Cores) + {1'b0, x_i} - {1'b0, slot};

  logic [Cores-1:0] turn_ok;
  for (genvar c = 0; c < Cores; ++c) begin : gen_turn
    assign turn_ok[c] = !turn[c].valid || (turn[c].privileged &&
        (turn[c].op == OpSet || turn[c].op == OpGet || turn[c].op == OpMove));
  end

  // Assumptions. About the port of a core: it sends nothing more while the kernel's request waits
  // for its turn. About the kernel: threads that change cores are others than these two
  // (a_move_whole covers those).
  always_comb begin
    assume (init_q || !(turn[x_i].valid && rx.valid));
    assume (init_q || !(turn[y_i].valid && ry.valid));
    assume (!moves || (from != 5'(x_i) && from != 5'(y_i) && to != 5'(x_i) && to != 5'(y_i)));
  end

  always_comb begin
    if (!init_q) begin
      // Safety.
      a_no_early_departure: assert (!(ends_x
          && (broken[b_i] ? with_y_q : participants[b_i][y_i])) || ahead_q > 0);
      a_ahead: assert (!(participants[b_i][x_i]
          && (broken[b_i] ? with_y_q : participants[b_i][y_i])) ||
          ahead_q == 4'(arrived[b_i][y_i]) + 4'(owed[b_i][x_i]));
      a_neither_lost_nor_doubled: assert (open_x_q == (arrived[b_i][x_i] || owed[b_i][x_i]));
      a_same_of_y: assert (open_y_q == (arrived[b_i][y_i] || owed[b_i][y_i]));
      a_departs_inside: assert (!ends_x || (open_x_q && may_x));
      // Progress.
      a_last_arrival_frees: assert (!(full && waits_x_q && may_x) || ends_x);
      a_owed_is_paid: assert (!(owed[b_i][x_i] && waits_x_q && may_x) || ends_x);
      a_cancel_is_answered: assert (!(waits_x_q && rx.valid && rx.op == OpCancel)
          || reply[x_i].valid);
      a_timeout_is_told: assert (!(waits_x_q && left[x_i] == '0 && timeouts[b_i] != '0)
          || reply[x_i].valid);
      a_taken_away_is_told: assert (!(waits_x_q && !may_x)
          || (reply[x_i].valid && reply[x_i].kind == ReplyDenied));
      // Invariants.
      a_arrived_participate: assert ((arrived[b_i] & ~participants[b_i]) == '0);
      a_owed_participate: assert ((owed[b_i] & ~participants[b_i]) == '0);
      a_installed_participate: assert ((installed[b_i] & ~participants[b_i]) == '0);
      a_arrived_installed: assert ((arrived[b_i] & ~installed[b_i]) == '0);
      a_owed_installed: assert ((owed[b_i] & ~installed[b_i]) == '0);
      a_broken: assert (!broken[b_i]
          || (participants[b_i] == owed[b_i] && installed[b_i] == owed[b_i]));
      a_not_both: assert ((arrived[b_i] & owed[b_i]) == '0);
      a_waits_x: assert (waits_x_q == (waiting[x_i] && at[x_i] == b_i));
      a_waits_y: assert (waits_y_q == (waiting[y_i] && at[y_i] == b_i));
      a_one_thing_x: assert (!waiting[x_i] || !(turn[x_i].valid || answer[x_i].valid));
      a_one_thing_y: assert (!waiting[y_i] || !(turn[y_i].valid || answer[y_i].valid));
      a_elsewhere_x: assert (elsewhere_x_q == (waiting[x_i] && at[x_i] != b_i));
      a_elsewhere_y: assert (elsewhere_y_q == (waiting[y_i] && at[y_i] != b_i));
      // The kernel's turn comes within a round of slots.
      a_turn_comes: assert (!turn[x_i].valid || 32'(age_q) + 32'(distance) <= Cores);
      a_turns_are_privileged: assert (&turn_ok);
      a_slot: assert (32'(slot) < Cores);
    end
  end

  // Permitted changes. `was` is the cycle before.
  logic was_q = 1'b0;
  logic was_bit_q, was_owed_q, was_own_arrival_q, was_full_q, was_init_q, was_kernel_q,
      was_refused_q, was_turn_q;
  logic was_moved_q, was_from_left_q, was_to_arrived_q, was_to_owed_q;
  logic [CoreBits-1:0] was_to_q, was_from_q;
  logic [Cores-1:0] was_participants_q;
  logic [7:0] was_owner_q, was_group_q;
  logic [31:0] was_timeout_q;
  logic was_ctx_q, was_ended_q, was_broken_q;
  // What the kernel wrote and read.
  request_t was_granted_q, was_rx_q;
  logic [CoreBits-1:0] was_slot_q;
  logic [31:0] was_shown_q, was_left_q, was_limit_q;
  logic was_waiting_q, was_starts_q;
  logic moved_ok;
  assign moved_ok = moves && granted.data[31:13] == '0 && granted.data[7:5] == '0
      && 32'(from) < Cores && 32'(to) < Cores;
  always_ff @(posedge clk_i) begin
    was_q <= !init_q;
    was_bit_q <= arrived[b_i][x_i];
    was_owed_q <= owed[b_i][x_i];
    was_own_arrival_q <= asks_x && may_x;
    was_full_q <= full;
    was_init_q <= inits_x;
    was_kernel_q <= granted.valid && granted.privileged
        && (granted.op == OpSet || granted.op == OpMove);
    was_refused_q <= asks_x && !may_x;
    was_participants_q <= participants[b_i];
    was_owner_q <= owner[b_i];
    was_timeout_q <= timeouts[b_i];
    was_group_q <= group[x_i];
    was_granted_q <= granted;
    was_slot_q <= slot;
    case (granted.field)
      3'd0: was_shown_q <= 32'(participants[b_i]);
      3'd1: was_shown_q <= timeouts[b_i];
      3'd2: was_shown_q <= 32'(owner[b_i]);
      3'd3: was_shown_q <= 32'(arrived[b_i]);
      3'd4: was_shown_q <= 32'(owed[b_i]);
      3'd5: was_shown_q <= 32'(installed[b_i]);
      default: was_shown_q <= '0;
    endcase
    was_rx_q <= rx;
    was_left_q <= left[x_i];
    was_waiting_q <= waiting[x_i];
    was_limit_q <= timeouts[b_i];
    was_starts_q <= begins_x;
    was_ctx_q <= rx.valid && rx.op == OpCtxSet && rx.privileged;
    was_ended_q <= ends_x;
    was_broken_q <= broken_ok;
    was_moved_q <= moved_ok;
    was_from_left_q <= broken[b_i] && reply[from[CoreBits-1:0]].valid
        && reply[from[CoreBits-1:0]].kind == ReplyDone &&
        waiting[from[CoreBits-1:0]];
    was_to_q <= to[CoreBits-1:0];
    was_from_q <= from[CoreBits-1:0];
    was_to_arrived_q <= arrived[b_i][from[CoreBits-1:0]] && !full;
    was_to_owed_q <= owed[b_i][from[CoreBits-1:0]] || full;
    age_q <= init_q || !turn[x_i].valid || slot == x_i ? '0 : age_q + 1'b1;
  end
  always_comb begin
    if (was_q && !init_q) begin
      a_only_own_arrival: assert (!(arrived[b_i][x_i] && !was_bit_q) || was_own_arrival_q);
      a_arrival_stays: assert (!(!arrived[b_i][x_i] && was_bit_q) || was_full_q || was_init_q
          || was_kernel_q);
      a_owed_by_completion: assert (!(owed[b_i][x_i] && !was_owed_q) || (was_full_q && was_bit_q));
      a_owed_stays: assert (!(!owed[b_i][x_i] && was_owed_q) || was_ended_q || was_init_q
          || was_kernel_q);
      a_participants_by_kernel: assert (participants[b_i] == was_participants_q || was_kernel_q ||
          (broken[b_i] && participants[b_i] == (was_participants_q & owed[b_i])));
      // Breaking keeps every owed departure and ends the episode for all other cores.
      a_break_pays: assert (!(was_broken_q && was_owed_q) || was_ended_q || was_init_q
          || (owed[b_i][x_i] && participants[b_i][x_i]));
      a_break_ends: assert (!was_broken_q
          || (arrived[b_i] == '0 && participants[b_i] == owed[b_i]));
      a_owner_by_kernel: assert (owner[b_i] == was_owner_q || was_kernel_q);
      a_timeout_by_kernel: assert (timeouts[b_i] == was_timeout_q || was_kernel_q);
      // What the kernel sets is kept, a refused value is not, and what it reads is there.
      a_timeout_set: assert (timeouts[b_i] == (was_granted_q.valid && was_granted_q.op == OpSet
          && was_granted_q.field == 3'd1 && was_granted_q.index == 8'(b_i)
          ? was_granted_q.data : was_timeout_q));
      a_owner_set: assert (owner[b_i] == (was_granted_q.valid && was_granted_q.op == OpSet
          && was_granted_q.field == 3'd2 && was_granted_q.index == 8'(b_i)
          && was_granted_q.data < 32'd256 ? was_granted_q.data[7:0] : was_owner_q));
      a_get: assert (!(was_granted_q.valid && was_granted_q.op == OpGet
          && (was_granted_q.index == 8'(b_i) || 32'(was_granted_q.index) >= Barriers))
          || (answer[was_slot_q].valid && answer[was_slot_q].kind == ReplyDone
          && answer[was_slot_q].data == (was_granted_q.index == 8'(b_i) ? was_shown_q : '0)));
      a_set_answer: assert (!(was_granted_q.valid && was_granted_q.op == OpSet
          && (32'(was_granted_q.index) >= Barriers || was_granted_q.field == 3'd1
          || (was_granted_q.field == 3'd2 && was_granted_q.data >= 32'd256)))
          || (answer[was_slot_q].valid && answer[was_slot_q].kind == ReplyDone
          && answer[was_slot_q].data == 32'(32'(was_granted_q.index) >= Barriers
          || was_granted_q.field == 3'd2)));
      a_group_set: assert (group[x_i] == (was_ctx_q && !was_waiting_q && was_rx_q.field == 3'd0
          ? was_rx_q.data[7:0] : was_group_q));
      // The timeout begins with an arrival at b, counts every cycle of waiting and no other, and is
      // kept over an interruption unless the kernel writes it.
      a_left: assert (was_waiting_q ? left[x_i] == (was_left_q == '0 ? '0 : was_left_q - 32'd1)
          : was_starts_q ? left[x_i] == was_limit_q
          : was_ctx_q && was_rx_q.field == 3'd1 ? left[x_i] == was_rx_q.data
          : left[x_i] == was_left_q || (was_rx_q.valid && was_rx_q.op == OpWait
          && was_rx_q.index != 8'(b_i)));
      a_context: assert (!(was_rx_q.valid && was_rx_q.op == OpCtxGet && was_rx_q.privileged
          && !was_waiting_q && !(was_granted_q.valid && was_slot_q == x_i))
          || (answer[x_i].valid && answer[x_i].kind == ReplyDone && answer[x_i].data
          == (was_rx_q.field == 3'd1 ? was_left_q : 32'(was_group_q))));
      a_group_by_kernel: assert (group[x_i] == was_group_q || was_ctx_q);
      a_foreign_is_refused: assert (!was_refused_q
          || (reply[x_i].valid && reply[x_i].kind == ReplyDenied));
      // A move takes the thread's place unchanged: if it moved at all, the state of `from` is now
      // that of `to`.
      a_move_whole: assert (!(was_moved_q && was_participants_q[was_from_q]
          && !participants[b_i][was_from_q] &&
          !was_participants_q[was_to_q] && !was_from_left_q)
              || (participants[b_i][was_to_q] && arrived[b_i][was_to_q] == was_to_arrived_q &&
          owed[b_i][was_to_q] == was_to_owed_q && !arrived[b_i][was_from_q]
              && !owed[b_i][was_from_q]));
    end
  end

  // Reachable: two episodes; an interrupted wait whose episode completes meanwhile; a timeout; a
  // refusal of another group's thread that participates with its core; a broken barrier; a move of
  // an arrived thread.
  logic [1:0] episodes_q;
  logic away_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      episodes_q <= '0;
      away_q <= 1'b0;
    end else begin
      if (remakes || broken_ok) episodes_q <= '0;
      else if (ends_x && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
      away_q <= open_x_q && !waits_x_q && full;
    end
  end
  always_comb begin
    if (was_q && !init_q) begin
      c_second_episode: cover (episodes_q == 2'd2 && x_i != y_i && participants[b_i][y_i]);
      c_departs_after_interrupt: cover (ends_x && was_own_arrival_q && was_owed_q && x_i != y_i
          && open_y_q);
      c_completes_without_it: cover (away_q);
      c_timeout: cover (waits_x_q && reply[x_i].valid && reply[x_i].kind == ReplyTimeout);
      c_other_group: cover (was_refused_q && was_participants_q[x_i] && was_owner_q != was_group_q);
      c_broken: cover (broken_ok && waits_x_q);
      c_paid_after_break: cover (broken[b_i] && ends_x && x_i != y_i && with_y_q
          && participants[b_i] != '0);
      c_moved: cover (was_moved_q && was_to_arrived_q && participants[b_i][was_to_q]
          && arrived[b_i][was_to_q] &&
          !participants[b_i][was_from_q]);
    end
  end

endmodule
