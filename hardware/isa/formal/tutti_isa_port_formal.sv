// SPDX-License-Identifier: Apache-2.0
/// The port under any program, any interrupts and any answers that fit a request: only a departure
/// completes a barwait, privileged instructions complete only in privileged mode, and the unit has
/// one open request.
module tutti_isa_port_formal
  import tutti_isa_pkg::*;
(
    input logic        clk_i,
    // Free: a reset.
    input logic        reset_i,
    // Free inputs.
    input logic        valid_i,
    input logic [31:0] insn_i,
    input logic [31:0] rs1_i,
    input logic [31:0] rs2_i,
    input logic        cancel_i,
    input logic        privileged_i,
    input logic        drained_i,
    input reply_t      reply_i
);
  // The port is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic known, ready, refused, user;
  logic [31:0] rd;
  request_t request;
  // 0 idle, 1 asked, 2 waiting, 3 cancelling.
  logic [1:0] state, cause;
  tutti_isa_port u_port (
      .clk_i,
      .rst_ni(!init_q),
      .valid_i,
      .insn_i,
      .rs1_i,
      .rs2_i,
      .privileged_i,
      .drained_i,
      .cancel_i,
      .known_o(known),
      .ready_o(ready),
      .refused_o(refused),
      .rd_o(rd),
      .user_o(user),
      .request_o(request),
      .reply_i,
      .formal_state_o(state),
      .formal_cause_o(cause)
  );

  logic mine, waits, opens;
  assign mine = valid_i && known;
  assign waits = insn_i[14:12] == 3'd0;
  assign opens = request.valid && request.op != OpCancel;

  // The request that is open at the unit, and what the last refusal was for: 1 interrupt, 2
  // timeout, 3 denied.
  logic open_q, open_wait_q, cancelled_q, was_open_q, was_privileged_q;
  logic [31:0] was_insn_q, was_rs1_q;
  logic [1:0] reason_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    if (init_q) begin
      {open_q, open_wait_q, cancelled_q, was_open_q} <= '0;
      reason_q <= '0;
    end else begin
      open_q <= (open_q || opens) && !reply_i.valid;
      open_wait_q <= opens ? request.op == OpWait : open_wait_q;
      cancelled_q <= opens ? 1'b0 : cancelled_q || (request.valid && request.op == OpCancel);
      was_open_q <= mine && !ready && !refused;
      if (refused) reason_q <= !open_q || reply_i.kind == ReplyDenied ? 2'd3 :
          reply_i.kind == ReplyTimeout ? 2'd2 : 2'd1;
    end
    was_insn_q <= insn_i;
    was_rs1_q <= rs1_i;
    was_privileged_q <= privileged_i;
  end

  always_comb begin
    // Assumptions about the processor: it holds the instruction until it is answered, which its own
    // proof shows, and the mode does not change meanwhile.
    assume (!was_open_q || (valid_i && insn_i == was_insn_q && rs1_i == was_rs1_q
        && privileged_i == was_privileged_q));
    // Assumptions about the unit: one answer for each request, in the next cycle at the earliest.
    assume (!reply_i.valid || open_q);
    assume (!(reply_i.valid && reply_i.kind == ReplyCancelled) || cancelled_q);
  end

  always_comb begin
    if (!init_q) begin
      a_only_a_departure_passes: assert (!(mine && waits && ready)
          || (open_q && open_wait_q && reply_i.valid && reply_i.kind == ReplyDone));
      a_privileged_only: assert (!(mine && ready && insn_i[14:12] >= 3'd2) || privileged_i);
      a_user_waits: assert (!(opens && request.op == OpWait) || !privileged_i);
      a_says_the_truth: assert (!opens || request.privileged == privileged_i);
      a_publishes_first: assert (!(opens && request.op == OpWait) || drained_i);
      // Bits of funct7 without a meaning are 0; barctx write 3 does not exist without HasUser.
      a_known: assert (!known || (insn_i[6:0] == 7'h2b && insn_i[31:28] == '0
          && (insn_i[14:12] == 3'd3 || insn_i[14:12] == 3'd4 || insn_i[14:12] >= 3'd6
              || insn_i[27:25] == 3'd0)));
      a_all_known: assert (known || insn_i[6:0] != 7'h2b || insn_i[31:25] != '0);
      a_no_user: assert (!user && !(known && insn_i[14:12] == 3'd7 && insn_i[27:25] == CtxUser));
      a_one_open: assert (!(opens && open_q));
      a_one_answer: assert (!(ready && refused));
      a_answers_only_what_is_there: assert (!(ready || refused) || mine);
      a_every_reply_answers: assert (!reply_i.valid || ready || refused);
      a_cancel_an_open_wait: assert (!(request.valid && request.op == OpCancel)
          || (open_q && open_wait_q && !cancelled_q));
      a_interrupt_is_passed_on: assert (!(open_q && open_wait_q && cancel_i && !cancelled_q)
          || (request.valid && request.op == OpCancel));
      a_reads_the_reason: assert (!(mine && ready && insn_i[14:12] == 3'd6
          && insn_i[27:25] == CtxCause) || rd == 32'(reason_q));
      a_wide_index_is_none: assert (!(opens && rs1_i[31:8] != '0) || request.index == 8'hff);
      a_index: assert (!(opens && rs1_i[31:8] == '0) || request.index == rs1_i[7:0]);
      a_data: assert (!opens || request.data == (request.op == OpCtxSet ? rs1_i : rs2_i));
      a_result: assert (!(ready && open_q) || rd == reply_i.data);
      a_state: assert (open_q == (state != 2'd0));
      a_state_waits: assert (!open_q || open_wait_q == (state != 2'd1));
      a_state_cancelled: assert (!open_q || cancelled_q == (state == 2'd3));
      a_open_is_held: assert (!open_q || mine);
      a_asked: assert (state != 2'd1
          || (insn_i[14:12] != 3'd0 && (insn_i[14:12] == 3'd1 || privileged_i)));
      a_waiting: assert (state < 2'd2 || insn_i[14:12] == 3'd0);
      a_state_reason: assert (cause == reason_q);
      a_was_open: assert (!open_q || was_open_q);
      a_not_the_cause: assert (!(open_q && insn_i[14:12] == 3'd6) || insn_i[27:25] != CtxCause);
    end
  end

  always_comb begin
    if (!init_q) begin
      c_departs: cover (mine && waits && ready);
      c_departs_though_cancelled: cover (mine && waits && ready && cancelled_q);
      c_interrupted: cover (mine && refused && cancelled_q && reply_i.kind == ReplyCancelled);
      c_timeout: cover (mine && refused && open_q && reply_i.kind == ReplyTimeout);
      c_set: cover (mine && ready && insn_i[14:12] == 3'd3);
      c_reason: cover (mine && ready && insn_i[14:12] == 3'd6 && rd == 32'd2);
    end
  end
endmodule
