// SPDX-License-Identifier: Apache-2.0
// The barrier instructions of one core: decodes them, sends what they ask to the unit, and says
// whether they complete.
//
// An instruction that must not complete (an interrupted, timed-out or forbidden barwait, or a
// privileged instruction in user mode) is refused. So a thread cannot pass a barwait without a
// departure. The handler reads the cause, and restarts the instruction by returning to it.
module tutti_isa_port
  import tutti_isa_pkg::*;
#(
    /// 1: `barctx` write of field 3 exists, which ends the privilege of reset.
    parameter int unsigned HasUser = 0
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    /// An instruction, held until it is ready or refused.
    input  logic        valid_i,
    input  logic [31:0] insn_i,
    input  logic [31:0] rs1_i,
    input  logic [31:0] rs2_i,
    input  logic        privileged_i,
    /// No store of this core is on its way: an arrival publishes what was written before it.
    input  logic        drained_i,
    /// An interrupt is pending: a wait must end.
    input  logic        cancel_i,
    /// The instruction is a barrier instruction.
    output logic        known_o,
    output logic        ready_o,
    output logic        refused_o,
    output logic [31:0] rd_o,
    /// The instruction that is ready ends the privilege of reset.
    output logic        user_o,
    /// The barrier unit.
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

  logic mine, has_field;
  logic [2:0] funct3, field;
  assign funct3 = insn_i[14:12];
  assign field = insn_i[27:25];

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

  // The bits of funct7 that have no meaning are 0, so that a later instruction can use them.
  assign has_field = op == OpSet || op == OpGet || op == OpCtxGet || op == OpCtxSet;
  assign known_o = insn_i[6:0] == Custom1 && insn_i[31:28] == '0 && (has_field || field == '0) &&
      (HasUser != 0 || !(op == OpCtxSet && field == CtxUser));
  assign mine = valid_i && known_o;

  // A request that only the kernel may make, or a wait in the kernel, which no thread's interrupt
  // would end.
  logic denied;
  assign denied = op == OpWait ? privileged_i : op != OpCap && !privileged_i;
  // These are kept here or in the core, not in the unit.
  logic reads_cause, ends_privilege;
  assign reads_cause = op == OpCtxGet && field == CtxCause;
  assign ends_privilege = op == OpCtxSet && field == CtxUser;
  assign user_o = ready_o && state_q == Idle && ends_privilege;

  always_comb begin
    state_d   = state_q;
    cause_d   = cause_q;
    request_o = '0;
    ready_o   = 1'b0;
    refused_o = 1'b0;
    rd_o      = reply_i.data;
    unique case (state_q)
      Idle:
      if (mine) begin
        if (denied) begin
          cause_d   = CauseDenied;
          refused_o = 1'b1;
        end else if (reads_cause || ends_privilege) begin
          ready_o = 1'b1;
          rd_o    = 32'(cause_q);
        end else if (op != OpWait || drained_i) begin
          request_o = '{
              valid: 1'b1,
              op: op,
              privileged: privileged_i,
              field: field,
              // An index that does not fit the field is out of every unit's range.
              index: |rs1_i[31:8] ? 8'hff : rs1_i[7:0],
              data: op == OpCtxSet ? rs1_i : rs2_i
          };
          state_d = op == OpWait ? Waiting : Asked;
        end
      end
      default: begin
        // Sent whatever the unit answers in this cycle: if that is the departure, the unit ignores
        // the cancel.
        if (state_q == Waiting && cancel_i) begin
          request_o.valid = 1'b1;
          request_o.op    = OpCancel;
          state_d         = Cancelling;
        end
        if (reply_i.valid) begin
          state_d   = Idle;
          ready_o   = reply_i.kind == ReplyDone;
          refused_o = reply_i.kind != ReplyDone;
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
  assign unused = ^{insn_i[24:15], insn_i[11:7]};

endmodule
