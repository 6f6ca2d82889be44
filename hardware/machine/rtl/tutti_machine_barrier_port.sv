// SPDX-License-Identifier: Apache-2.0
// The barrier instructions of hardware/isa at the processor's extension port.
//
// An instruction that must not complete (an interrupted, timed-out or forbidden barwait, or a
// privileged instruction in user mode) is refused, and the processor traps. So a thread cannot pass
// a barwait without a departure. The handler reads the cause, and restarts the instruction by
// returning to it. The processor's accesses are complete when the next instruction begins, so an
// arrival publishes what was written before it.
module tutti_machine_barrier_port
  import tutti_isa_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    // The extension port.
    input  logic        ext_valid_i,
    input  logic [31:0] ext_insn_i,
    input  logic [31:0] ext_rs1_i,
    input  logic [31:0] ext_rs2_i,
    input  logic        ext_cancel_i,
    input  logic        machine_mode_i,
    output logic        ext_known_o,
    output logic        ext_ready_o,
    output logic        ext_refused_o,
    output logic        ext_write_o,
    output logic [31:0] ext_rd_o,
    // The barrier unit.
    output request_t    request_o,
    input  reply_t      reply_i
`ifdef FORMAL
    ,
    output logic [1:0]  formal_state_o,
    output logic [1:0]  formal_cause_o
`endif
);
  localparam logic [6:0] Custom1 = 7'h2b;

  typedef enum logic [1:0] {
    Idle,
    // Waits for an answer that comes without other cores.
    Asked,
    // Waits at a barrier.
    Waiting,
    // Has told the unit that an interrupt came.
    Cancelling
  } state_e;
  typedef enum logic [1:0] {
    CauseNone,
    CauseInterrupt,
    CauseTimeout,
    CauseDenied
  } cause_e;

  state_e state_q, state_d;
  cause_e cause_q, cause_d;

  logic mine;
  logic [2:0] funct3, field;
  assign ext_known_o = ext_insn_i[6:0] == Custom1 && !(funct3 == 3'd7 && field == CtxUser);
  assign mine = ext_valid_i && ext_known_o;
  assign funct3 = ext_insn_i[14:12];
  assign field = ext_insn_i[27:25];

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

  // A request that only the kernel may make, or a wait in the kernel, which no thread's interrupt
  // would end.
  logic denied;
  assign denied = op == OpWait ? machine_mode_i : op != OpCap && !machine_mode_i;

  assign ext_write_o = 1'b1;

  always_comb begin
    state_d       = state_q;
    cause_d       = cause_q;
    request_o     = '0;
    ext_ready_o   = 1'b0;
    ext_refused_o = 1'b0;
    ext_rd_o      = reply_i.data;
    unique case (state_q)
      Idle:
      if (mine) begin
        if (denied) begin
          cause_d       = CauseDenied;
          ext_refused_o = 1'b1;
        end else if (op == OpCtxGet && field == CtxCause) begin
          ext_ready_o = 1'b1;
          ext_rd_o    = 32'(cause_q);
        end else begin
          request_o = '{
              valid: 1'b1,
              op: op,
              privileged: machine_mode_i,
              field: field,
              // An index that does not fit the field is out of every unit's range.
              index: |ext_rs1_i[31:8] ? 8'hff : ext_rs1_i[7:0],
              data: op == OpCtxSet ? ext_rs1_i : ext_rs2_i
          };
          state_d = op == OpWait ? Waiting : Asked;
        end
      end
      default: begin
        // Sent whatever the unit answers in this cycle: if that is the departure, the unit ignores
        // the cancel.
        if (state_q == Waiting && ext_cancel_i) begin
          request_o.valid = 1'b1;
          request_o.op    = OpCancel;
          state_d         = Cancelling;
        end
        if (reply_i.valid) begin
          state_d       = Idle;
          ext_ready_o   = reply_i.kind == ReplyDone;
          ext_refused_o = reply_i.kind != ReplyDone;
          unique case (reply_i.kind)
            ReplyDone: ;
            ReplyCancelled: cause_d = CauseInterrupt;
            ReplyTimeout: cause_d = CauseTimeout;
            default: cause_d = CauseDenied;
          endcase
        end
      end
    endcase
  end

`ifdef FORMAL
  assign formal_state_o = state_q;
  assign formal_cause_o = cause_q;
`endif

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      cause_q <= CauseNone;
    end else begin
      state_q <= state_d;
      cause_q <= cause_d;
    end
  end

  logic unused;
  assign unused = ^{ext_insn_i[31:28], ext_insn_i[24:15], ext_insn_i[11:7]};

endmodule
