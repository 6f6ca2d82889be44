// SPDX-License-Identifier: Apache-2.0
// The barrier unit behind barwait, barinit and the kernel's instructions: m subset barriers over n
// cores.
//
// A barrier keeps three bits for each core: it participates (P), has arrived in this episode (S),
// and is owed a departure (D) because its episode is complete but its barwait was interrupted
// before it could depart. barwait means "depart if D; otherwise arrive unless S, then wait". It can
// therefore be restarted at any time, on this core or, after a move, on another one.
//
// A broken barrier has no episode. Its participants are the cores that are still owed a departure
// from the previous one; each leaves the barrier with it, and the last one frees the barrier.
//
// Arrivals of any number of cores count in one cycle, and are answered in the next if they complete
// the episode. Kernel instructions that access a barrier take turns: each cycle is the slot of one
// core.
module tutti_isa_barrier_unit
  import tutti_isa_pkg::*;
#(
    /// Number of participants, 1 to 32.
    parameter int unsigned Cores    = 16,
    /// Number of barriers, 1 to 128.
    parameter int unsigned Barriers = 8
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    /// One message for each core and cycle; the unit always takes it.
    input  request_t [Cores-1:0] request_i,
    output reply_t   [Cores-1:0] reply_o
`ifdef FORMAL
    ,
    output logic [Barriers-1:0][Cores-1:0] formal_participants_o,
    output logic [Barriers-1:0][Cores-1:0] formal_arrived_o,
    output logic [Barriers-1:0][Cores-1:0] formal_owed_o,
    output logic [Barriers-1:0][Cores-1:0] formal_installed_o,
    output logic [Barriers-1:0] formal_broken_o,
    output logic [Barriers-1:0][31:0] formal_timeout_o,
    output logic [Barriers-1:0][7:0] formal_owner_o,
    output logic [Cores-1:0][7:0] formal_group_o,
    output logic [Cores-1:0][31:0] formal_left_o,
    output logic [Cores-1:0] formal_waiting_o,
    output logic [Cores-1:0][(Barriers > 1 ? $clog2(Barriers) : 1)-1:0] formal_at_o,
    output reply_t [Cores-1:0] formal_answer_o,
    output request_t [Cores-1:0] formal_turn_o,
    output logic [(Cores > 1 ? $clog2(Cores) : 1)-1:0] formal_slot_o
`endif
);
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1;
  localparam int unsigned IndexBits = Barriers > 1 ? $clog2(Barriers) : 1;

  if (Cores < 1 || Cores > 32) $fatal(1, "tutti_isa_barrier_unit: Cores must be 1 to 32");
  if (Barriers < 1 || Barriers > 128)
    $fatal(1, "tutti_isa_barrier_unit: Barriers must be 1 to 128");

  logic [Barriers-1:0][Cores-1:0] participants_q, participants_d;
  logic [Barriers-1:0][Cores-1:0] arrived_q, arrived_d;
  logic [Barriers-1:0][Cores-1:0] owed_q, owed_d;
  logic [Barriers-1:0][Cores-1:0] installed_q, installed_d;
  logic [Barriers-1:0] broken_q, broken_d;
  logic [Barriers-1:0][31:0] timeout_q, timeout_d;
  logic [Barriers-1:0][7:0] owner_q, owner_d;

  logic [Cores-1:0][7:0] group_q, group_d;
  logic [Cores-1:0][31:0] left_q, left_d;
  logic [Cores-1:0] waiting_q, waiting_d;
  // The barrier at which a waiting core waits.
  logic [Cores-1:0][IndexBits-1:0] at_q, at_d;
  // Answers to requests that need no waiting.
  reply_t [Cores-1:0] answer_q, answer_d;
  // Kernel requests that wait for their slot.
  request_t [Cores-1:0] turn_q, turn_d;
  logic [CoreBits-1:0] slot_q, slot_d;

  logic [Barriers-1:0] complete;
  for (genvar b = 0; b < Barriers; b++) begin : gen_complete
    assign complete[b] = |participants_q[b] && arrived_q[b] == participants_q[b];
  end

  function automatic logic in_range(logic [7:0] index);
    return 32'(index) < Barriers;
  endfunction

  function automatic reply_t answer(reply_e kind, logic [31:0] data);
    return '{valid: 1'b1, kind: kind, data: data};
  endfunction

  // The requests of each core in this cycle, and the answers to waiting cores.
  logic [Cores-1:0] allowed, here, starts, arrives, departs, inits;
  logic [Cores-1:0][IndexBits-1:0] wanted;
  reply_t [Cores-1:0] waited;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    // A waiting core is checked again in every cycle, since the kernel may remove the barrier
    // meanwhile.
    assign wanted[c] = waiting_q[c] ? at_q[c] : request_i[c].index[IndexBits-1:0];
    assign allowed[c] = participants_q[wanted[c]][c] && installed_q[wanted[c]][c] &&
        owner_q[wanted[c]] == group_q[c] && (waiting_q[c] || in_range(request_i[c].index));
    assign here[c] = arrived_q[wanted[c]][c] || owed_q[wanted[c]][c];
    assign starts[c] = !waiting_q[c] && request_i[c].valid && request_i[c].op == OpWait &&
        !request_i[c].privileged && allowed[c];
    assign arrives[c] = starts[c] && !here[c];
    assign departs[c] = waiting_q[c] && allowed[c] && here[c] &&
        (owed_q[wanted[c]][c] || complete[wanted[c]]);
    assign inits[c] = !waiting_q[c] && request_i[c].valid && request_i[c].op == OpInit &&
        request_i[c].privileged && in_range(request_i[c].index) && participants_q[wanted[c]][c] &&
        !broken_q[wanted[c]];

    always_comb begin
      waited[c] = '0;
      if (waiting_q[c]) begin
        if (!allowed[c] || !here[c]) waited[c] = answer(ReplyDenied, '0);
        else if (departs[c]) waited[c] = answer(ReplyDone, '0);
        else if (request_i[c].valid && request_i[c].op == OpCancel)
          waited[c] = answer(ReplyCancelled, '0);
        else if (left_q[c] == '0 && timeout_q[wanted[c]] != '0)
          waited[c] = answer(ReplyTimeout, '0);
      end
    end
    assign reply_o[c] = waited[c].valid ? waited[c] : answer_q[c];
  end

  // The kernel request whose slot this is.
  request_t granted;
  logic [IndexBits-1:0] target;
  logic [4:0] from, to;
  logic move_ok, set_ok;
  assign granted = turn_q[slot_q];
  assign target = granted.index[IndexBits-1:0];
  assign from = granted.data[4:0];
  assign to = granted.data[12:8];
  // Refuse the move while the thread is at the unit: it must be in the kernel or not running.
  assign move_ok = in_range(granted.index) && granted.data[31:13] == '0 &&
      granted.data[7:5] == '0 && 32'(from) < Cores && 32'(to) < Cores &&
      participants_q[target][from[CoreBits-1:0]] && !participants_q[target][to[CoreBits-1:0]] &&
      !waiting_q[from[CoreBits-1:0]] && !request_i[from[CoreBits-1:0]].valid &&
      !waiting_q[to[CoreBits-1:0]];
  logic [31:0] beyond;
  assign beyond = Cores < 32 ? granted.data >> Cores : '0;
  always_comb begin
    set_ok = in_range(granted.index);
    unique case (field_e'(granted.field))
      FieldParticipants: set_ok &= beyond == '0;
      FieldTimeout: ;
      FieldOwner: set_ok &= granted.data[31:8] == '0;
      FieldBreak: set_ok &= granted.data == '0 && !complete[target] && !owed_q[target][slot_q];
      default: set_ok = 1'b0;
    endcase
  end

  always_comb begin
    participants_d = participants_q;
    arrived_d      = arrived_q;
    owed_d         = owed_q;
    installed_d    = installed_q;
    broken_d       = broken_q;
    timeout_d      = timeout_q;
    owner_d        = owner_q;
    group_d        = group_q;
    left_d         = left_q;
    waiting_d      = waiting_q;
    at_d           = at_q;
    answer_d       = '0;
    turn_d         = turn_q;
    slot_d         = 32'(slot_q) == Cores - 1 ? '0 : slot_q + 1'b1;

    for (int unsigned b = 0; b < Barriers; b++) begin
      if (complete[b]) begin
        arrived_d[b] = '0;
        owed_d[b]    = owed_q[b] | participants_q[b];
      end
    end

    for (int unsigned c = 0; c < Cores; c++) begin
      if (waiting_q[c]) begin
        if (left_q[c] != '0) left_d[c] = left_q[c] - 1'b1;
        if (departs[c]) owed_d[wanted[c]][c] = 1'b0;
        if (departs[c] && broken_q[wanted[c]]) begin
          participants_d[wanted[c]][c] = 1'b0;
          installed_d[wanted[c]][c]    = 1'b0;
        end
        if (waited[c].valid) waiting_d[c] = 1'b0;
      end else if (request_i[c].valid) begin
        unique case (request_i[c].op)
          OpWait: begin
            if (starts[c]) begin
              waiting_d[c] = 1'b1;
              at_d[c]      = wanted[c];
            end else begin
              answer_d[c] = answer(ReplyDenied, '0);
            end
            if (arrives[c]) begin
              arrived_d[wanted[c]][c] = 1'b1;
              left_d[c]               = timeout_q[wanted[c]];
            end
          end
          OpCap: answer_d[c] = answer(ReplyDone, {16'(Barriers), 16'(Cores)});
          OpInit: begin
            if (inits[c]) begin
              installed_d[wanted[c]][c] = 1'b1;
              arrived_d[wanted[c]][c]   = 1'b0;
              owed_d[wanted[c]][c]      = 1'b0;
            end
            answer_d[c] = answer(request_i[c].privileged ? ReplyDone : ReplyDenied, 32'(!inits[c]));
          end
          OpCtxGet:
          answer_d[c] = !request_i[c].privileged ? answer(ReplyDenied, '0) :
              answer(ReplyDone, request_i[c].field == CtxLeft ? left_q[c] : 32'(group_q[c]));
          OpCtxSet: begin
            answer_d[c] = answer(request_i[c].privileged ? ReplyDone : ReplyDenied, '0);
            if (request_i[c].privileged) begin
              if (request_i[c].field == CtxGroup) group_d[c] = request_i[c].data[7:0];
              if (request_i[c].field == CtxLeft) left_d[c] = request_i[c].data;
            end
          end
          OpSet, OpGet, OpMove:
          if (request_i[c].privileged) turn_d[c] = request_i[c];
          else answer_d[c] = answer(ReplyDenied, '0);
          // A cancel that crossed the departure.
          default: ;
        endcase
      end
    end

    if (granted.valid) begin
      turn_d[slot_q]   = '0;
      answer_d[slot_q] = answer(ReplyDone, 32'd1);
      unique case (granted.op)
        OpSet:
        if (set_ok) begin
          answer_d[slot_q].data = '0;
          unique case (field_e'(granted.field))
            FieldTimeout: timeout_d[target] = granted.data;
            FieldOwner: owner_d[target] = granted.data[7:0];
            FieldBreak: begin
              broken_d[target]       = 1'b1;
              arrived_d[target]      = '0;
              // The cores that depart in this cycle are no longer in owed_d.
              participants_d[target] = owed_d[target];
              installed_d[target]    = owed_d[target];
            end
            default: begin
              broken_d[target]       = 1'b0;
              participants_d[target] = granted.data[Cores-1:0];
              arrived_d[target]      = '0;
              owed_d[target]         = '0;
              installed_d[target]    = '0;
            end
          endcase
        end
        OpGet: begin
          answer_d[slot_q].data = '0;
          if (in_range(granted.index)) begin
            unique case (field_e'(granted.field))
              FieldParticipants: answer_d[slot_q].data = 32'(participants_q[target]);
              FieldTimeout: answer_d[slot_q].data = timeout_q[target];
              FieldOwner: answer_d[slot_q].data = 32'(owner_q[target]);
              FieldArrived: answer_d[slot_q].data = 32'(arrived_q[target]);
              FieldOwed: answer_d[slot_q].data = 32'(owed_q[target]);
              FieldInstalled: answer_d[slot_q].data = 32'(installed_q[target]);
              default: ;
            endcase
          end
        end
        default:
        if (move_ok) begin
          answer_d[slot_q].data = '0;
          participants_d[target][to[CoreBits-1:0]]   = 1'b1;
          participants_d[target][from[CoreBits-1:0]] = 1'b0;
          arrived_d[target][to[CoreBits-1:0]]        = arrived_d[target][from[CoreBits-1:0]];
          arrived_d[target][from[CoreBits-1:0]]      = 1'b0;
          owed_d[target][to[CoreBits-1:0]]           = owed_d[target][from[CoreBits-1:0]];
          owed_d[target][from[CoreBits-1:0]]         = 1'b0;
          installed_d[target][to[CoreBits-1:0]]      = installed_d[target][from[CoreBits-1:0]];
          installed_d[target][from[CoreBits-1:0]]    = 1'b0;
        end
      endcase
    end
  end

`ifdef FORMAL
  assign formal_participants_o = participants_q;
  assign formal_arrived_o = arrived_q;
  assign formal_owed_o = owed_q;
  assign formal_installed_o = installed_q;
  assign formal_broken_o = broken_q;
  assign formal_timeout_o = timeout_q;
  assign formal_owner_o = owner_q;
  assign formal_group_o = group_q;
  assign formal_left_o = left_q;
  assign formal_waiting_o = waiting_q;
  assign formal_at_o = at_q;
  assign formal_answer_o = answer_q;
  assign formal_turn_o = turn_q;
  assign formal_slot_o = slot_q;
`endif

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      participants_q <= '0;
      arrived_q      <= '0;
      owed_q         <= '0;
      installed_q    <= '0;
      broken_q       <= '0;
      timeout_q      <= '0;
      owner_q        <= '0;
      group_q        <= '0;
      left_q         <= '0;
      waiting_q      <= '0;
      at_q           <= '0;
      answer_q       <= '0;
      turn_q         <= '0;
      slot_q         <= '0;
    end else begin
      participants_q <= participants_d;
      arrived_q      <= arrived_d;
      owed_q         <= owed_d;
      installed_q    <= installed_d;
      broken_q       <= broken_d;
      timeout_q      <= timeout_d;
      owner_q        <= owner_d;
      group_q        <= group_d;
      left_q         <= left_d;
      waiting_q      <= waiting_d;
      at_q           <= at_d;
      answer_q       <= answer_d;
      turn_q         <= turn_d;
      slot_q         <= slot_d;
    end
  end

endmodule
