// SPDX-License-Identifier: Apache-2.0
// The barrier instructions of one core, at its co-processor interface.
//
// An instruction that must not complete (an interrupted, timed-out or forbidden barwait, or a
// privileged instruction in user mode) is never acknowledged: the port stops asking the core to
// wait, and the core raises its illegal-instruction exception 16 cycles later. If that exception is
// masked, the core halts. So a thread cannot pass a barwait without a departure. The handler reads
// the cause, and restarts the instruction by returning to it.
module tutti_isa_core_port
  import tutti_isa_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    // PCPI signals.
    input  logic        pcpi_valid_i,
    input  logic [31:0] pcpi_insn_i,
    input  logic [31:0] pcpi_rs1_i,
    input  logic [31:0] pcpi_rs2_i,
    output logic        pcpi_wait_o,
    output logic        pcpi_ready_o,
    output logic        pcpi_wr_o,
    output logic [31:0] pcpi_rd_o,
    /// The core executes its interrupt handler.
    input  logic        handler_i,
    /// An interrupt is pending.
    input  logic        interrupt_i,
    /// No store of this core is on its way: an arrival publishes what was written before it.
    input  logic        drained_i,
    /// The core is in the handler, or still in its reset code.
    output logic        privileged_o,
    output request_t    request_o,
    input  reply_t      reply_i
`ifdef FORMAL
    ,
    output logic        formal_booting_o,
    output logic [2:0]  formal_state_o
`endif
);
  localparam logic [6:0] Custom1 = 7'h2b;

  typedef enum logic [2:0] {
    Idle,
    // Waits for an answer that comes without other cores.
    Asked,
    // Waits at a barrier.
    Waiting,
    // Has told the unit that an interrupt came.
    Cancelling,
    // Waits until the core gives up.
    Refusing
  } state_e;
  typedef enum logic [1:0] {
    CauseNone,
    CauseInterrupt,
    CauseTimeout,
    CauseDenied
  } cause_e;

  state_e state_q, state_d;
  cause_e cause_q, cause_d;
  logic booting_q, booting_d;

  logic mine;
  logic [2:0] funct3;
  logic [2:0] field;
  logic local_ctx;
  assign mine = pcpi_valid_i && pcpi_insn_i[6:0] == Custom1;
  assign funct3 = pcpi_insn_i[14:12];
  assign field = pcpi_insn_i[27:25];
  assign privileged_o = booting_q || handler_i;
  // These are kept here, not in the unit.
  assign local_ctx = (funct3 == 3'd6 && field == CtxCause) || (funct3 == 3'd7 && field == CtxUser);

  op_e op;
  always_comb begin
    unique case (funct3)
      3'd0: op = OpWait;
      3'd1: op = OpCap;
      3'd2: op = OpInit;
      3'd3: op = OpSet;
      3'd4: op = OpGet;
      3'd5: op = OpMove;
      3'd6: op = OpCtxGet;
      default: op = OpCtxSet;
    endcase
  end

  // A request that only the kernel may make, or a wait in the handler, which nothing could
  // interrupt.
  logic refused;
  assign refused = op == OpWait ? privileged_o : op != OpCap && !privileged_o;

  assign pcpi_wait_o = mine && state_q != Refusing;
  assign pcpi_wr_o = 1'b1;

  always_comb begin
    state_d      = state_q;
    cause_d      = cause_q;
    booting_d    = booting_q;
    request_o    = '0;
    pcpi_ready_o = 1'b0;
    pcpi_rd_o    = reply_i.data;
    unique case (state_q)
      Idle:
      if (mine) begin
        if (refused) begin
          cause_d = CauseDenied;
          state_d = Refusing;
        end else if (local_ctx) begin
          pcpi_ready_o = 1'b1;
          pcpi_rd_o    = 32'(cause_q);
          if (op == OpCtxSet) booting_d = 1'b0;
        end else if (op != OpWait || drained_i) begin
          request_o = '{
              valid: 1'b1,
              op: op,
              privileged: privileged_o,
              field: field,
              // An index that does not fit the field is out of every unit's range.
              index: |pcpi_rs1_i[31:8] ? 8'hff : pcpi_rs1_i[7:0],
              data: op == OpCtxSet ? pcpi_rs1_i : pcpi_rs2_i
          };
          state_d = op == OpWait ? Waiting : Asked;
        end
      end
      Asked, Waiting, Cancelling: begin
        // Sent whatever the unit answers in this cycle: if that is the departure, the unit ignores
        // the cancel.
        if (state_q == Waiting && interrupt_i) begin
          request_o.valid = 1'b1;
          request_o.op    = OpCancel;
          state_d         = Cancelling;
        end
        if (reply_i.valid) begin
          unique case (reply_i.kind)
            ReplyDone: begin
              pcpi_ready_o = 1'b1;
              state_d      = Idle;
            end
            ReplyCancelled: cause_d = CauseInterrupt;
            ReplyTimeout: cause_d = CauseTimeout;
            default: cause_d = CauseDenied;
          endcase
          if (reply_i.kind != ReplyDone) state_d = Refusing;
        end
      end
      default: if (!pcpi_valid_i) state_d = Idle;
    endcase
  end

`ifdef FORMAL
  assign formal_booting_o = booting_q;
  assign formal_state_o = state_q;
`endif

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      cause_q   <= CauseNone;
      booting_q <= 1'b1;
    end else begin
      state_q   <= state_d;
      cause_q   <= cause_d;
      booting_q <= booting_d;
    end
  end

endmodule
