// SPDX-License-Identifier: Apache-2.0
// A processor: RV32IMA_Zicsr_Zifencei with machine and user mode, in order, one access at a time.
//
// While one instruction executes, the next one is fetched. Most instructions take a cycle; a jump,
// a taken branch, a return and a trap take one more; a product takes two, a division 34, and an
// access takes what its memory takes. An instruction that is complete is complete for all cores
// before the next one begins, so the processor is sequentially consistent if its memory is, and
// fences have nothing to do.
//
// An interrupt is taken before an instruction begins, or in place of one that the extension port
// gives up. So no instruction is executed twice.
//
// A remote call is taken at the same places, if no interrupt is due. It is no trap: the core goes on
// at the handler in the mode in which it is, and keeps one address. The handler has registers of its
// own in place of those that a function may change, so it saves nothing.
module tutti_machine_core
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
#(
    /// Bytes from address 0 on that hold instructions; elsewhere, a fetch is a fault.
    parameter int unsigned ImageBytes = 4 << 20
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic [31:0]   hart_i,
    input  logic          software_irq_i,
    input  logic          timer_irq_i,
    input  logic          external_irq_i,
    /// A remote call is pending, until the core takes it.
    input  logic          call_irq_i,
    output logic          call_taken_o,

    /// The instruction at this address is wanted in the next cycle.
    output logic [31:0]   fetch_addr_o,
    input  logic [31:0]   fetch_data_i,

    /// An access, held until `data_ready_i`.
    output logic          data_valid_o,
    output data_request_t data_request_o,
    output logic          machine_mode_o,
    input  logic          data_ready_i,
    /// The word of a load, or the word that an atomic instruction found.
    input  logic [31:0]   data_rdata_i,
    /// With `data_ready_i`: the access is not permitted.
    input  logic          data_fault_i,

    /// An instruction of custom-0 or custom-1, held until it is ready or refused.
    output logic          ext_valid_o,
    output logic [31:0]   ext_insn_o,
    output logic [31:0]   ext_rs1_o,
    output logic [31:0]   ext_rs2_o,
    /// An enabled interrupt or a remote call is pending: the port shall answer soon.
    output logic          ext_cancel_o,
    /// The port has this instruction; otherwise it is illegal.
    input  logic          ext_known_i,
    input  logic          ext_ready_i,
    input  logic          ext_refused_i,
    input  logic          ext_write_i,
    input  logic [31:0]   ext_rd_i,

    output activity_e     activity_o,
    output logic [31:0]   pc_o,
    output trace_t        trace_o
`ifdef FORMAL
    ,
    output logic [31:0]   formal_mepc_o,
    output logic [31:0]   formal_mcause_o,
    output logic [31:0]   formal_mtval_o,
    output logic [ 2:0]   formal_mstatus_o,
    output logic [63:0]   formal_minstret_o,
    output logic [ 3:0]   formal_call_o,
    output logic          formal_call_due_o,
    output logic [31:0]   formal_call_pc_o,
    output logic [31:0]   formal_call_entry_o,
    output logic [ 5:0]   formal_place_o,
    output logic [31:0]   formal_vector_o,
    output logic          formal_interrupt_o,
    output logic          formal_valid_o,
    output logic          formal_begun_o,
    output decoded_t      formal_decoded_o
`endif
);
  if (ImageBytes < 16 || ImageBytes % 4 != 0)
    $fatal(1, "tutti_machine_core: ImageBytes must be a multiple of 4 and at least 16");

  logic [31:0] pc_q, pc_d;
  // fetch_data_i is the instruction at pc_q.
  logic valid_q, valid_d;
  // The instruction has begun in an earlier cycle.
  logic begun_q, begun_d;
  // The second half is of the handlers of remote calls; only those registers are used that a function
  // may change.
  logic [31:0] registers[64];

  // Where a register is.
  function automatic logic [5:0] place_of(logic in_call, logic [4:0] number);
    unique case (number) inside
      5'd1, [5'd5:5'd7], [5'd10:5'd17], [5'd28:5'd31]: return {in_call, number};
      default: return {1'b0, number};
    endcase
  endfunction

  logic call_busy;
  logic [31:0] insn, rs1, rs2, first, second, sum_or_logic;
  decoded_t decoded;
  assign insn = fetch_data_i;
  tutti_machine_core_decoder u_decoder (
      .insn_i   (insn),
      .decoded_o(decoded)
  );
  assign rs1 = insn[19:15] == '0 ? '0 : registers[place_of(call_busy, insn[19:15])];
  assign rs2 = insn[24:20] == '0 ? '0 : registers[place_of(call_busy, insn[24:20])];
  assign first = decoded.first_pc ? pc_q : rs1;
  assign second = decoded.second_immediate ? decoded.immediate : rs2;
  tutti_machine_core_alu u_alu (
      .op_i    (decoded.alu),
      .a_i     (first),
      .b_i     (second),
      .result_o(sum_or_logic)
  );

  logic fetch_fault;
  assign fetch_fault = pc_q >= ImageBytes;

  // What happens to the instruction in this cycle: nothing yet, it retires, a trap, or a call.
  logic executes, retires, traps, trap_interrupt, calls;
  logic [4:0] trap_cause;
  logic [31:0] trap_value, result;
  logic csr_illegal, interrupt, wake, call, call_returns;
  logic [4:0] interrupt_cause;
  logic [31:0] csr_rdata, vector, return_pc, call_entry, call_pc;
  assign executes = valid_q && (begun_q || !(interrupt || call));
  tutti_machine_core_csr u_csr (
      .clk_i,
      .rst_ni,
      .hart_i,
      .software_irq_i,
      .timer_irq_i,
      .external_irq_i,
      .call_irq_i,
      .insn_i           (insn),
      .rs1_i            (rs1),
      .access_i         (retires && decoded.kind == KindCsr),
      .rdata_o          (csr_rdata),
      .illegal_o        (csr_illegal),
      .retire_i         (retires),
      .return_i         (retires && decoded.kind == KindReturn),
      .trap_i           (traps),
      .trap_interrupt_i (trap_interrupt),
      .trap_cause_i     (trap_cause),
      .trap_pc_i        (pc_q),
      .trap_value_i     (trap_value),
      .call_i           (calls),
      .call_return_i    (retires && decoded.kind == KindCallReturn),
      .machine_mode_o,
      .vector_o         (vector),
      .return_pc_o      (return_pc),
      .interrupt_o      (interrupt),
      .interrupt_cause_o(interrupt_cause),
      .call_o           (call),
      .call_busy_o      (call_busy),
      .call_returns_o   (call_returns),
      .call_entry_o     (call_entry),
      .call_pc_o        (call_pc),
      .wake_o           (wake)
`ifdef FORMAL
      ,
      .formal_mepc_o,
      .formal_mcause_o,
      .formal_mtval_o,
      .formal_mstatus_o,
      .formal_minstret_o,
      .formal_call_o
`endif
  );

  logic muldiv_done;
  logic [31:0] muldiv_result;
  tutti_machine_core_muldiv u_muldiv (
      .clk_i,
      .rst_ni,
      .valid_i (executes && !fetch_fault && decoded.kind == KindMulDiv),
      .funct3_i(insn[14:12]),
      .a_i     (rs1),
      .b_i     (rs2),
      .done_o  (muldiv_done),
      .result_o(muldiv_result)
  );

  // Jumps and branches.
  logic holds, taken, target_misaligned;
  logic [31:0] target, next_pc;
  always_comb begin
    unique case (insn[14:13])
      2'b00: holds = rs1 == rs2;
      2'b10: holds = $signed(rs1) < $signed(rs2);
      default: holds = rs1 < rs2;
    endcase
  end
  assign taken = decoded.kind == KindJump ||
      (decoded.kind == KindBranch && holds != insn[12]);
  assign target = {sum_or_logic[31:1], 1'b0};
  assign target_misaligned = taken && target[1];
  assign next_pc = pc_q + 32'd4;

  // Accesses. funct3 gives the size; bit 2 means that the value is not sign-extended.
  logic misaligned;
  logic [31:0] loaded;
  logic [3:0] strobe;
  always_comb begin
    unique case (insn[13:12])
      2'd0: begin
        misaligned = 1'b0;
        strobe     = 4'b0001 << sum_or_logic[1:0];
      end
      2'd1: begin
        misaligned = sum_or_logic[0];
        strobe     = 4'b0011 << sum_or_logic[1:0];
      end
      default: begin
        misaligned = sum_or_logic[1:0] != 2'd0;
        strobe     = 4'b1111;
      end
    endcase
  end
  assign data_valid_o = executes && !fetch_fault && decoded.kind == KindAccess && !misaligned;
  assign data_request_o = '{
      op: decoded.op,
      addr: sum_or_logic,
      wdata: rs2 << {sum_or_logic[1:0], 3'd0},
      strobe: strobe
  };
  logic [7:0] loaded_byte;
  logic [15:0] loaded_half;
  assign loaded_byte = data_rdata_i[{sum_or_logic[1:0], 3'd0}+:8];
  assign loaded_half = sum_or_logic[1] ? data_rdata_i[31:16] : data_rdata_i[15:0];
  always_comb begin
    unique case (insn[13:12])
      2'd0: loaded = {{24{loaded_byte[7] && !insn[14]}}, loaded_byte};
      2'd1: loaded = {{16{loaded_half[15] && !insn[14]}}, loaded_half};
      default: loaded = data_rdata_i;
    endcase
  end

  assign ext_valid_o = executes && !fetch_fault && decoded.kind == KindExtension;
  assign ext_insn_o = insn;
  assign ext_rs1_o = rs1;
  assign ext_rs2_o = rs2;
  assign ext_cancel_o = ext_valid_o && (interrupt || call);

  always_comb begin
    retires        = 1'b0;
    calls          = 1'b0;
    traps          = 1'b0;
    trap_interrupt = 1'b0;
    trap_cause     = CauseIllegal;
    trap_value     = insn;
    result         = sum_or_logic;
    if (valid_q && !executes && !interrupt) begin
      calls = 1'b1;
    end else if (valid_q && !executes) begin
      traps          = 1'b1;
      trap_interrupt = 1'b1;
      trap_cause     = interrupt_cause;
      trap_value     = '0;
    end else if (executes && fetch_fault) begin
      traps      = 1'b1;
      trap_cause = CauseFetchFault;
      trap_value = pc_q;
    end else if (executes) begin
      unique case (decoded.kind)
        KindAlu, KindFence: retires = 1'b1;
        KindMulDiv: begin
          retires = muldiv_done;
          result  = muldiv_result;
        end
        KindJump, KindBranch: begin
          retires    = !target_misaligned;
          traps      = target_misaligned;
          trap_cause = CauseFetchMisaligned;
          trap_value = target;
          result     = next_pc;
        end
        KindAccess: begin
          result     = loaded;
          trap_value = sum_or_logic;
          if (misaligned) begin
            traps      = 1'b1;
            trap_cause = decoded.op == OpLoad || decoded.op == OpLoadReserved ?
                CauseLoadMisaligned : CauseStoreMisaligned;
          end else begin
            retires    = data_ready_i && !data_fault_i;
            traps      = data_ready_i && data_fault_i;
            trap_cause = decoded.op == OpLoad || decoded.op == OpLoadReserved ?
                CauseLoadFault : CauseStoreFault;
          end
        end
        KindCsr: begin
          retires = !csr_illegal;
          traps   = csr_illegal;
          result  = csr_rdata;
        end
        KindExtension: begin
          result = ext_rd_i;
          if (!ext_known_i) begin
            traps = 1'b1;
          end else if (ext_ready_i) begin
            retires = 1'b1;
          end else if (ext_refused_i && call && !interrupt) begin
            // It starts again after the handler.
            calls = 1'b1;
          end else if (ext_refused_i) begin
            traps          = 1'b1;
            trap_interrupt = interrupt;
            trap_cause     = interrupt ? interrupt_cause : CauseExtension;
            trap_value     = interrupt ? '0 : insn;
          end
        end
        KindCall: begin
          traps      = 1'b1;
          trap_cause = machine_mode_o ? CauseMachineCall : CauseUserCall;
          trap_value = '0;
        end
        KindBreak: begin
          traps      = 1'b1;
          trap_cause = CauseBreakpoint;
          trap_value = pc_q;
        end
        KindReturn: begin
          retires = machine_mode_o;
          traps   = !machine_mode_o;
        end
        KindCallReturn: begin
          retires = call_returns;
          traps   = !call_returns;
        end
        KindSleep: retires = wake;
        default: traps = 1'b1;
      endcase
    end
  end

  // Where the next instruction is, and whether it is being fetched already.
  logic redirects;
  assign redirects = traps || calls ||
      (retires && (taken || decoded.kind == KindReturn || decoded.kind == KindCallReturn));
  always_comb begin
    pc_d    = pc_q;
    valid_d = 1'b1;
    begun_d = executes && !retires && !traps && !calls;
    if (traps) pc_d = vector;
    else if (calls) pc_d = call_entry;
    else if (retires) begin
      if (decoded.kind == KindReturn) pc_d = return_pc;
      else if (decoded.kind == KindCallReturn) pc_d = call_pc;
      else if (taken) pc_d = target;
      else pc_d = next_pc;
    end
    if (redirects) valid_d = 1'b0;
  end
  assign fetch_addr_o = retires ? next_pc : pc_q;

  logic writes;
  assign writes = retires && decoded.writes && insn[11:7] != '0 &&
      (decoded.kind != KindExtension || ext_write_i);

  always_comb begin
    activity_o = DoesRun;
    if (data_valid_o) activity_o = DoesAccess;
    if (ext_valid_o) activity_o = DoesExtend;
    if (executes && !fetch_fault && decoded.kind == KindSleep) activity_o = DoesSleep;
  end
  assign pc_o = pc_q;
  assign call_taken_o = calls;
  assign trace_o = '{
      valid: retires || traps || calls,
      trap: traps || calls,
      is_interrupt: trap_interrupt || calls,
      cause: calls ? InterruptCall : trap_cause,
      tval: calls ? '0 : trap_value,
      machine_mode: machine_mode_o,
      pc: pc_q,
      insn: insn,
      rd: writes ? insn[11:7] : '0,
      result: result
  };

`ifdef FORMAL
  assign formal_vector_o = vector;
  assign formal_interrupt_o = interrupt;
  assign formal_valid_o = valid_q;
  assign formal_begun_o = begun_q;
  assign formal_decoded_o = decoded;
  assign formal_call_due_o = call;
  assign formal_call_pc_o = call_pc;
  assign formal_call_entry_o = call_entry;
  assign formal_place_o = place_of(call_busy, insn[11:7]);
`endif

  always_ff @(posedge clk_i) begin
    if (writes) registers[place_of(call_busy, insn[11:7])] <= result;
    if (!rst_ni) begin
      pc_q    <= '0;
      valid_q <= 1'b0;
      begun_q <= 1'b0;
    end else begin
      pc_q    <= pc_d;
      valid_q <= valid_d;
      begun_q <= begun_d;
    end
  end
endmodule
