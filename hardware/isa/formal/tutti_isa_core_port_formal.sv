// SPDX-License-Identifier: Apache-2.0
/// The port under any program, any interrupts and any answers that fit a request: only a departure
/// completes a barwait, privileged instructions complete only in privileged mode, and only the
/// handler raises privilege.
module tutti_isa_core_port_formal
  import tutti_isa_pkg::*;
(
    input logic        clk_i,
    // Free: a reset.
    input logic        reset_i,
    // Free inputs.
    input logic        pcpi_valid_i,
    input logic [31:0] insn_i,
    input logic [31:0] rs1_i,
    input logic [31:0] rs2_i,
    input logic        handler_i,
    input logic        interrupt_i,
    input logic        drained_i,
    input reply_t      reply_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic pcpi_wait, pcpi_ready, pcpi_wr, privileged, booting;
  logic [31:0] pcpi_rd;
  request_t request;
  // 0 idle, 1 asked, 2 waiting, 3 cancelling, 4 refusing.
  logic [2:0] state;

  tutti_isa_core_port u_port (
      .clk_i,
      .rst_ni      (!init_q),
      .pcpi_valid_i,
      .pcpi_insn_i (insn_i),
      .pcpi_rs1_i  (rs1_i),
      .pcpi_rs2_i  (rs2_i),
      .pcpi_wait_o (pcpi_wait),
      .pcpi_ready_o(pcpi_ready),
      .pcpi_wr_o   (pcpi_wr),
      .pcpi_rd_o   (pcpi_rd),
      .handler_i,
      .interrupt_i,
      .drained_i,
      .privileged_o(privileged),
      .request_o   (request),
      .reply_i,
      .formal_booting_o(booting),
      .formal_state_o(state)
  );

  logic mine, waits;
  assign mine = pcpi_valid_i && insn_i[6:0] == 7'h2b;
  assign waits = insn_i[14:12] == 3'd0;

  // The requests that are open at the unit, and for how long the port has not asked the core to
  // wait.
  logic open_q, open_wait_q, cancelled_q, was_privileged_q, was_valid_q, was_ready_q, was_handler_q,
      gave_up_q, dropped_q;
  logic [31:0] was_insn_q;
  logic [4:0] impatient_q;
  logic opens;
  assign opens = request.valid && request.op != OpCancel;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    if (init_q) begin
      {open_q, open_wait_q, cancelled_q, was_valid_q, was_ready_q, gave_up_q, dropped_q} <= '0;
      was_privileged_q <= 1'b1;
      was_handler_q <= 1'b0;
      impatient_q <= '0;
    end else begin
      open_q <= (open_q || opens) && !reply_i.valid;
      open_wait_q <= opens ? request.op == OpWait : open_wait_q;
      cancelled_q <= opens ? 1'b0 : cancelled_q || (request.valid && request.op == OpCancel);
      was_privileged_q <= privileged;
      was_handler_q <= handler_i;
      was_valid_q <= pcpi_valid_i;
      was_ready_q <= pcpi_ready;
      impatient_q <= pcpi_valid_i && !pcpi_wait
          && !pcpi_ready ? (impatient_q == 5'd31 ? impatient_q : impatient_q + 5'd1) : '0;
      gave_up_q <= pcpi_valid_i && !pcpi_wait && impatient_q >= 5'd14;
      dropped_q <= dropped_q || !privileged;
    end
    was_insn_q <= insn_i;
  end

  always_comb begin
    // Assumptions about PicoRV32: it holds the instruction until it is acknowledged or given up,
    // and leaves a gap after each; the handler begins and ends between instructions.
    assume (!was_valid_q || was_ready_q || gave_up_q || (pcpi_valid_i && insn_i == was_insn_q));
    assume (!(was_ready_q || gave_up_q) || !pcpi_valid_i);
    assume (init_q || !was_valid_q || !pcpi_valid_i || handler_i == was_handler_q);
    // Assumptions about the unit: one answer for each request, in the next cycle at the earliest.
    assume (!reply_i.valid || open_q);
    assume (!(reply_i.valid && reply_i.kind == ReplyCancelled) || cancelled_q);
  end

  always_comb begin
    if (!init_q) begin
      a_only_a_departure_passes: assert (!(mine && waits && pcpi_ready)
          || (open_q && open_wait_q && reply_i.valid && reply_i.kind == ReplyDone));
      a_others_do_not_wait_there: assert (!(mine && !waits && open_q) || !open_wait_q);
      a_privileged_only: assert (!(mine && pcpi_ready && insn_i[14:12] >= 3'd2) || privileged);
      a_says_the_truth: assert (!opens || request.privileged == privileged);
      a_user_waits: assert (!(opens && request.op == OpWait) || !privileged);
      a_publishes_first: assert (!(opens && request.op == OpWait) || drained_i);
      a_one_open: assert (!(opens && open_q));
      a_cancel_an_open_wait: assert (!(request.valid && request.op == OpCancel)
          || (open_q && open_wait_q && !cancelled_q));
      a_interrupt_is_passed_on: assert (!(open_q && open_wait_q && interrupt_i && !cancelled_q)
          || request.valid);
      a_privilege_never_grows: assert (!(dropped_q && privileged) || handler_i);
      a_state: assert (state <= 3'd4
          && open_q == (state == 3'd1 || state == 3'd2 || state == 3'd3));
      a_state_waits: assert (!open_q || open_wait_q == (state != 3'd1));
      a_state_cancelled: assert (!open_q || cancelled_q == (state == 3'd3));
      a_asked: assert (state != 3'd1
          || (insn_i[14:12] != 3'd0 && (insn_i[14:12] == 3'd1 || privileged)));
      a_waiting: assert (!(state == 3'd2 || state == 3'd3) || insn_i[14:12] == 3'd0);
      a_dropped: assert (!(dropped_q && booting));
      a_patience_while_open: assert (!(mine && open_q) || pcpi_wait);
      a_open_is_held: assert (!open_q || mine);
      a_open_known: assert (!open_q || insn_i[31:28] == '0);
      a_unknown: assert (!(pcpi_valid_i && insn_i[31:28] != '0) || (!pcpi_wait && !pcpi_ready));
    end
  end

  logic trapped_q;
  always_ff @(posedge clk_i) trapped_q <= !init_q && mine && waits && reply_i.valid
      && reply_i.kind == ReplyTimeout;
  always_comb begin
    if (!init_q) begin
      c_departs: cover (mine && waits && pcpi_ready);
      c_departs_though_cancelled: cover (mine && waits && pcpi_ready && cancelled_q);
      c_gives_up_after_cancel: cover (gave_up_q && cancelled_q);
      c_timeout: cover (trapped_q && !pcpi_wait);
      c_handler: cover (dropped_q && handler_i && mine && pcpi_ready && insn_i[14:12] == 3'd3);
    end
  end

endmodule
