// SPDX-License-Identifier: Apache-2.0
// What a core keeps of the barriers of its socket's structure and of the mask unit, so that a
// barwait at one of them can be interrupted, restarted and timed. The requests are those of
// tutti_isa_pkg; all that do not name such a barrier go on to the socket's tutti_isa_barrier_unit.
//
// For each barrier there is a bit for *installed* (the kernel's permission), *arrived* (S) and
// *owed* (D: the episode is complete, and the thread has not departed yet). barwait means "depart
// if D; otherwise arrive unless S, then wait", as in tutti_isa_barrier_unit.
module tutti_machine_agent
  import tutti_isa_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    /// Barriers of a structure, 1 to 64.
    parameter int unsigned Structures = 8
) (
    input  logic       clk_i,
    input  logic       rst_ni,
    /// The core's port.
    input  request_t   request_i,
    output reply_t     reply_o,
    /// The socket's barrier unit.
    output request_t   unit_request_o,
    input  reply_t     unit_reply_i,
    /// An arrival at the structure, held until the structure has taken it.
    output logic       arrive_valid_o,
    output logic [5:0] arrive_barrier_o,
    input  logic       arrive_done_i,
    input  complete_t  complete_i,
    /// An arrival at the mask unit, and the end of its episode.
    output pin_t       pin_o,
    input  logic       pin_complete_i,
    /// For a report of who waits for what: the barrier's number, or 0.
    output logic [7:0] waits_o
`ifdef FORMAL
    ,
    output logic [Structures:0] formal_installed_o,
    output logic [Structures:0] formal_arrived_o,
    output logic [Structures:0] formal_owed_o,
    output logic                formal_waiting_o,
    output logic                formal_sending_o,
    output logic                formal_cancelled_o,
    output logic [7:0]          formal_at_o,
    output logic                formal_parity_o,
    output reply_t              formal_answer_o,
    output logic [31:0]         formal_left_o
`endif
);
  if (Structures < 1 || Structures > 64)
    $fatal(1, "tutti_machine_agent: Structures must be 1 to 64");

  // The barriers that barwait knows: 0 to 127 are those of the socket's tutti_isa_barrier_unit,
  // 128 to 191 those of the structures, and 192 is the mask unit.
  localparam logic [1:0] IndexStructure = 2'b10;
  localparam logic [7:0] IndexMask = 8'd192;

  // The mask unit is the last place.
  localparam int unsigned Places = Structures + 1;
  localparam int unsigned PlaceBits = $clog2(Places);
  typedef logic [PlaceBits-1:0] place_t;
  localparam place_t MaskPlace = place_t'(Structures);

  logic [Places-1:0] installed_q, installed_d, arrived_q, arrived_d, owed_q, owed_d;
  logic [Places-1:0][31:0] timeout_q, timeout_d;
  logic [31:0] left_q, left_d;
  // The barrier at which the core waits; its arrival has not been taken yet; an interrupt came.
  logic waiting_q, waiting_d, sending_q, sending_d, cancelled_q, cancelled_d;
  place_t at_q, at_d;
  // Parity of the core's open episode at the mask unit.
  logic parity_q, parity_d;
  // Answers to requests that need no waiting.
  reply_t answer_q, answer_d;

  function automatic reply_t answer(reply_e kind, logic [31:0] data);
    return '{valid: 1'b1, kind: kind, data: data};
  endfunction

  // Whether the request names a barrier of this module, and which.
  logic mine, exists, is_mask;
  place_t named, place;
  assign is_mask = request_i.index == IndexMask;
  assign mine = request_i.valid && request_i.index[7] && (request_i.op == OpWait ||
      request_i.op == OpInit || request_i.op == OpSet || request_i.op == OpGet);
  assign exists = is_mask ||
      (request_i.index[7:6] == IndexStructure && 32'(request_i.index[5:0]) < Structures);
  assign named = is_mask ? MaskPlace : place_t'(request_i.index[5:0]);
  assign place = waiting_q ? at_q : named;

  // A cancel belongs to the wait that is open.
  assign unit_request_o = mine || (waiting_q && request_i.op == OpCancel) ? '0 : request_i;

  // Which episodes end in this cycle.
  logic [Places-1:0] ends;
  for (genvar p = 0; p < Structures; p++) begin : gen_ends
    assign ends[p] = complete_i.valid && 32'(complete_i.barrier) == p && arrived_q[p];
  end
  assign ends[Structures] = pin_complete_i && arrived_q[Structures];

  assign waits_o = !waiting_q ? '0 :
      at_q == MaskPlace ? IndexMask : {IndexStructure, 6'(at_q)};

  logic starts, arrives, sent, departs, cancels, late;
  assign starts = mine && request_i.op == OpWait && !request_i.privileged && exists &&
      installed_q[named];
  assign arrives = starts && !arrived_q[named] && !owed_q[named];
  assign arrive_valid_o = sending_q || (arrives && !is_mask);
  assign arrive_barrier_o = 6'(place);
  assign pin_o = '{valid: arrives && is_mask, parity: parity_q};

  assign sent = !sending_q || arrive_done_i;
  assign departs = waiting_q && sent && (owed_q[at_q] || ends[at_q]);
  assign cancels = waiting_q &&
      (cancelled_q || (request_i.valid && request_i.op == OpCancel));
  assign late = left_q == '0 && timeout_q[at_q] != '0;

  reply_t own;
  always_comb begin
    own = answer_q;
    if (departs) own = answer(ReplyDone, '0);
    else if (cancels && sent) own = answer(ReplyCancelled, '0);
    else if (waiting_q && late && sent) own = answer(ReplyTimeout, '0);
  end
  assign reply_o = own.valid ? own : unit_reply_i;

  always_comb begin
    installed_d = installed_q;
    arrived_d   = arrived_q & ~ends;
    owed_d      = owed_q | ends;
    timeout_d   = timeout_q;
    left_d      = left_q;
    waiting_d   = waiting_q;
    sending_d   = sending_q && !arrive_done_i;
    cancelled_d = cancels;
    at_d        = at_q;
    parity_d    = parity_q ^ ends[Structures];
    answer_d    = '0;
    if (waiting_q) begin
      if (left_q != '0) left_d = left_q - 1'b1;
      if (departs) owed_d[at_q] = 1'b0;
      if (own.valid) begin
        waiting_d   = 1'b0;
        cancelled_d = 1'b0;
      end
    end else if (mine) begin
      unique case (request_i.op)
        OpWait: begin
          if (starts) begin
            waiting_d = 1'b1;
            at_d      = named;
          end else begin
            answer_d = answer(ReplyDenied, '0);
          end
          if (arrives) begin
            arrived_d[named] = 1'b1;
            sending_d        = !is_mask;
            left_d           = timeout_q[named];
          end
        end
        OpInit: begin
          answer_d = answer(request_i.privileged ? ReplyDone : ReplyDenied, 32'(!exists));
          if (request_i.privileged && exists) begin
            installed_d[named] = 1'b1;
            arrived_d[named]   = 1'b0;
            owed_d[named]      = 1'b0;
            if (is_mask) parity_d = 1'b0;
          end
        end
        OpSet: begin
          answer_d = answer(request_i.privileged ? ReplyDone : ReplyDenied, 32'd1);
          if (request_i.privileged && exists) begin
            unique case (field_e'(request_i.field))
              // Takes the permission away.
              FieldParticipants:
              if (request_i.data == '0) begin
                installed_d[named] = 1'b0;
                answer_d.data      = '0;
              end
              // A wait that was interrupted there gets the time anew.
              FieldTimeout: begin
                timeout_d[named] = request_i.data;
                if (arrived_q[named]) left_d = request_i.data;
                answer_d.data = '0;
              end
              default: ;
            endcase
          end
        end
        default: begin
          answer_d = answer(request_i.privileged ? ReplyDone : ReplyDenied, '0);
          if (request_i.privileged && exists) begin
            unique case (field_e'(request_i.field))
              FieldTimeout: answer_d.data = timeout_q[named];
              FieldArrived: answer_d.data = 32'(arrived_q[named]);
              FieldOwed: answer_d.data = 32'(owed_q[named]);
              FieldInstalled: answer_d.data = 32'(installed_q[named]);
              default: ;
            endcase
          end
        end
      endcase
    end
  end

`ifdef FORMAL
  assign formal_installed_o = installed_q;
  assign formal_arrived_o = arrived_q;
  assign formal_owed_o = owed_q;
  assign formal_waiting_o = waiting_q;
  assign formal_sending_o = sending_q;
  assign formal_cancelled_o = cancelled_q;
  assign formal_at_o = 8'(at_q);
  assign formal_parity_o = parity_q;
  assign formal_answer_o = answer_q;
  assign formal_left_o = left_q;
`endif

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      installed_q <= '0;
      arrived_q   <= '0;
      owed_q      <= '0;
      timeout_q   <= '0;
      left_q      <= '0;
      waiting_q   <= 1'b0;
      sending_q   <= 1'b0;
      cancelled_q <= 1'b0;
      parity_q    <= 1'b0;
      answer_q    <= '0;
    end else begin
      installed_q <= installed_d;
      arrived_q   <= arrived_d;
      owed_q      <= owed_d;
      timeout_q   <= timeout_d;
      left_q      <= left_d;
      waiting_q   <= waiting_d;
      sending_q   <= sending_d;
      cancelled_q <= cancelled_d;
      parity_q    <= parity_d;
      answer_q    <= answer_d;
    end
    // Only a wait reads it.
    at_q <= at_d;
  end

endmodule
