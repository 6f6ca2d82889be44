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
//
// With several hardware threads the core executes one of them at a time, and another one when that
// waits (tutti_machine_core_scheduler). A thread has registers, an address, CSRs and an extension
// port of its own; its instruction waits at the port without the core. Accesses keep the core: the
// cache has one miss at a time.
module tutti_machine_core
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
#(
    /// Bytes from address 0 on that hold instructions; elsewhere, a fetch is a fault.
    parameter int unsigned ImageBytes = 4 << 20,
    /// Hardware threads: 1, 2, 4 or 8.
    parameter int unsigned Threads = 1,
    localparam int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    /// The number of the first thread. Ports of Threads bits or words have one for each thread.
    input  logic [31:0]   hart_i,
    input  logic [Threads-1:0] software_irq_i,
    input  logic [Threads-1:0] timer_irq_i,
    input  logic [Threads-1:0] external_irq_i,
    /// A remote call is pending, until the core takes it.
    input  logic [Threads-1:0] call_irq_i,
    output logic [Threads-1:0] call_taken_o,
    /// The thread that has the core.
    output logic [ThreadBits-1:0] thread_o,

    /// The instruction at this address is wanted in the next cycle.
    output logic [31:0]   fetch_addr_o,
    input  logic [31:0]   fetch_data_i,

    /// An access, held until `data_ready_i`.
    output logic          data_valid_o,
    output data_request_t data_request_o,
    output logic [Threads-1:0] machine_mode_o,
    input  logic          data_ready_i,
    /// The word of a load, or the word that an atomic instruction found.
    input  logic [31:0]   data_rdata_i,
    /// With `data_ready_i`: the access is not permitted.
    input  logic          data_fault_i,

    /// An instruction of custom-0 or custom-1, held until it is ready or refused.
    output logic [Threads-1:0]       ext_valid_o,
    output logic [Threads-1:0][31:0] ext_insn_o,
    output logic [Threads-1:0][31:0] ext_rs1_o,
    output logic [Threads-1:0][31:0] ext_rs2_o,
    /// An enabled interrupt or a remote call is pending: the port shall answer soon.
    output logic [Threads-1:0]       ext_cancel_o,
    /// The port has this instruction; otherwise it is illegal.
    input  logic [Threads-1:0]       ext_known_i,
    input  logic [Threads-1:0]       ext_ready_i,
    input  logic [Threads-1:0]       ext_refused_i,
    input  logic [Threads-1:0]       ext_write_i,
    input  logic [Threads-1:0][31:0] ext_rd_i,

    output logic [Threads-1:0][1:0]  activity_o,
    output logic [Threads-1:0][31:0] pc_o,
    /// What the thread that has the core retires.
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

  // The thread in the core.
  typedef logic [ThreadBits-1:0] thread_t;
  thread_t thread, next;
  logic switches, reserved;
  logic [Threads-1:0] is_here;
  assign is_here = Threads'(1) << thread;

  logic [Threads-1:0][31:0] pc_q;
  logic [31:0] pc, pc_d;
  assign pc = pc_q[thread];
  // fetch_data_i is the instruction at pc.
  logic valid_q, valid_d;
  // The instruction has begun in an earlier cycle.
  logic [Threads-1:0] begun_q;
  logic begun, begun_d;
  assign begun = begun_q[thread];
  // For each thread two halves. The second is of the handlers of remote calls; only those registers
  // are used that a function may change.
  logic [31:0] registers[64*Threads];

  // Where a register is in a thread's part, and where that is.
  function automatic logic [5:0] place_of(logic in_call, logic [4:0] number);
    unique case (number) inside
      5'd1, [5'd5:5'd7], [5'd10:5'd17], [5'd28:5'd31]: return {in_call, number};
      default: return {1'b0, number};
    endcase
  endfunction
  localparam int unsigned PlaceBits = $clog2(64 * Threads);
  function automatic logic [PlaceBits-1:0] register_of(thread_t of, logic [5:0] place);
    return PlaceBits'({of, place});
  endfunction

  logic call_busy;
  logic [31:0] insn, rs1, rs2, first, second, sum_or_logic;
  decoded_t decoded;
  assign insn = fetch_data_i;
  tutti_machine_core_decoder u_decoder (
      .insn_i   (insn),
      .decoded_o(decoded)
  );
  assign rs1 = insn[19:15] == '0 ? '0 : registers[register_of(thread, place_of(call_busy, insn[19:15]))];
  assign rs2 = insn[24:20] == '0 ? '0 : registers[register_of(thread, place_of(call_busy, insn[24:20]))];
  assign first = decoded.first_pc ? pc : rs1;
  assign second = decoded.second_immediate ? decoded.immediate : rs2;
  tutti_machine_core_alu u_alu (
      .op_i    (decoded.alu),
      .a_i     (first),
      .b_i     (second),
      .result_o(sum_or_logic)
  );

  logic fetch_fault;
  assign fetch_fault = pc >= ImageBytes;

  // What happens to the instruction in this cycle: nothing yet, it retires, a trap, or a call.
  logic executes, retires, traps, trap_interrupt, calls, ends;
  assign ends = retires || traps || calls;
  logic [4:0] trap_cause;
  logic [31:0] trap_value, result;
  logic csr_illegal, machine_mode, interrupt, wake, call, call_returns;
  logic [4:0] interrupt_cause;
  logic [31:0] csr_rdata, vector, return_pc, call_entry, call_pc;
  assign executes = valid_q && (begun || !(interrupt || call));
  // What each thread's CSRs say; those of the thread in the core decide.
  logic [Threads-1:0] csr_illegals, interrupts, csr_calls, calls_busy, calls_return, wakes;
  logic [Threads-1:0][4:0] interrupt_causes;
  logic [Threads-1:0][31:0] csr_rdatas, vectors, return_pcs, call_entries, call_pcs;
`ifdef FORMAL
  logic [Threads-1:0][31:0] formal_mepc, formal_mcause, formal_mtval;
  logic [Threads-1:0][ 2:0] formal_mstatus;
  logic [Threads-1:0][63:0] formal_minstret;
  logic [Threads-1:0][ 3:0] formal_call;
`endif
  for (genvar t = 0; t < Threads; t++) begin : gen_csr
    tutti_machine_core_csr u_csr (
        .clk_i,
        .rst_ni,
        .hart_i           (hart_i + t),
        .software_irq_i   (software_irq_i[t]),
        .timer_irq_i      (timer_irq_i[t]),
        .external_irq_i   (external_irq_i[t]),
        .call_irq_i       (call_irq_i[t]),
        .insn_i           (insn),
        .rs1_i            (rs1),
        .access_i         (is_here[t] && retires && decoded.kind == KindCsr),
        .rdata_o          (csr_rdatas[t]),
        .illegal_o        (csr_illegals[t]),
        .retire_i         (is_here[t] && retires),
        .return_i         (is_here[t] && retires && decoded.kind == KindReturn),
        .trap_i           (is_here[t] && traps),
        .trap_interrupt_i (trap_interrupt),
        .trap_cause_i     (trap_cause),
        .trap_pc_i        (pc),
        .trap_value_i     (trap_value),
        .call_i           (is_here[t] && calls),
        .call_return_i    (is_here[t] && retires && decoded.kind == KindCallReturn),
        .machine_mode_o   (machine_mode_o[t]),
        .vector_o         (vectors[t]),
        .return_pc_o      (return_pcs[t]),
        .interrupt_o      (interrupts[t]),
        .interrupt_cause_o(interrupt_causes[t]),
        .call_o           (csr_calls[t]),
        .call_busy_o      (calls_busy[t]),
        .call_returns_o   (calls_return[t]),
        .call_entry_o     (call_entries[t]),
        .call_pc_o        (call_pcs[t]),
        .wake_o           (wakes[t])
`ifdef FORMAL
        ,
        .formal_mepc_o    (formal_mepc[t]),
        .formal_mcause_o  (formal_mcause[t]),
        .formal_mtval_o   (formal_mtval[t]),
        .formal_mstatus_o (formal_mstatus[t]),
        .formal_minstret_o(formal_minstret[t]),
        .formal_call_o    (formal_call[t])
`endif
    );
  end
  assign csr_rdata = csr_rdatas[thread];
  assign csr_illegal = csr_illegals[thread];
  assign machine_mode = machine_mode_o[thread];
  assign vector = vectors[thread];
  assign return_pc = return_pcs[thread];
  assign interrupt = interrupts[thread];
  assign interrupt_cause = interrupt_causes[thread];
  assign call = csr_calls[thread];
  assign call_busy = calls_busy[thread];
  assign call_returns = calls_return[thread];
  assign call_entry = call_entries[thread];
  assign call_pc = call_pcs[thread];
  assign wake = wakes[thread];

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
  assign next_pc = pc + 32'd4;

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
  // A StoreConditional without a reservation of its thread fails without an access.
  logic fails;
  assign fails = decoded.op == OpStoreConditional && !reserved;
  assign data_valid_o =
      executes && !fetch_fault && decoded.kind == KindAccess && !misaligned && !fails;
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

  // Extension instructions. The answer is that of the port, or the one that came while the thread
  // did not have the core.
  logic is_extension, ext_known, ext_ready, ext_refused, ext_write;
  logic [31:0] ext_rd;
  logic [Threads-1:0] waiting, answered, was_refused, was_write;
  logic [Threads-1:0][31:0] was_rd;
  assign is_extension = executes && !fetch_fault && decoded.kind == KindExtension;
  for (genvar t = 0; t < Threads; t++) begin : gen_port
    if (Threads == 1) begin : gen_direct
      assign ext_valid_o[t] = is_extension;
      assign ext_insn_o[t] = insn;
      assign ext_rs1_o[t] = rs1;
      assign ext_rs2_o[t] = rs2;
      assign {waiting[t], answered[t], was_refused[t], was_write[t]} = '0;
      assign was_rd[t] = '0;
    end else begin : gen_parking
      tutti_machine_core_parking u_parking (
          .clk_i,
          .rst_ni,
          .here_i    (is_here[t]),
          .valid_i   (is_extension),
          .insn_i    (insn),
          .rs1_i     (rs1),
          .rs2_i     (rs2),
          .parks_i   (is_here[t] && switches && is_extension && !ends),
          .ends_i    (is_here[t] && ends),
          .valid_o   (ext_valid_o[t]),
          .insn_o    (ext_insn_o[t]),
          .rs1_o     (ext_rs1_o[t]),
          .rs2_o     (ext_rs2_o[t]),
          .ready_i   (ext_ready_i[t]),
          .refused_i (ext_refused_i[t]),
          .write_i   (ext_write_i[t]),
          .rd_i      (ext_rd_i[t]),
          .waits_o   (waiting[t]),
          .answered_o(answered[t]),
          .refused_o (was_refused[t]),
          .write_o   (was_write[t]),
          .rd_o      (was_rd[t])
      );
    end
    assign ext_cancel_o[t] = ext_valid_o[t] && (interrupts[t] || csr_calls[t]);
  end
  assign ext_known = answered[thread] || ext_known_i[thread];
  assign ext_ready = answered[thread] ? !was_refused[thread] : ext_ready_i[thread];
  assign ext_refused = answered[thread] ? was_refused[thread] : ext_refused_i[thread];
  assign ext_write = answered[thread] ? was_write[thread] : ext_write_i[thread];
  assign ext_rd = answered[thread] ? was_rd[thread] : ext_rd_i[thread];

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
      trap_value = pc;
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
          end else if (fails) begin
            retires = 1'b1;
            result  = 32'd1;
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
          result = ext_rd;
          if (!ext_known) begin
            traps = 1'b1;
          end else if (ext_ready) begin
            retires = 1'b1;
          end else if (ext_refused && call && !interrupt) begin
            // It starts again after the handler.
            calls = 1'b1;
          end else if (ext_refused) begin
            traps          = 1'b1;
            trap_interrupt = interrupt;
            trap_cause     = interrupt ? interrupt_cause : CauseExtension;
            trap_value     = interrupt ? '0 : insn;
          end
        end
        KindCall: begin
          traps      = 1'b1;
          trap_cause = machine_mode ? CauseMachineCall : CauseUserCall;
          trap_value = '0;
        end
        KindBreak: begin
          traps      = 1'b1;
          trap_cause = CauseBreakpoint;
          trap_value = pc;
        end
        KindReturn: begin
          retires = machine_mode;
          traps   = !machine_mode;
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
    pc_d    = pc;
    valid_d = 1'b1;
    begun_d = executes && !ends;
    if (traps) pc_d = vector;
    else if (calls) pc_d = call_entry;
    else if (retires) begin
      if (decoded.kind == KindReturn) pc_d = return_pc;
      else if (decoded.kind == KindCallReturn) pc_d = call_pc;
      else if (taken) pc_d = target;
      else pc_d = next_pc;
    end
    if (redirects && !switches) valid_d = 1'b0;
  end
  assign fetch_addr_o = switches ? pc_q[next] : retires ? next_pc : pc;

  // The turns of the threads. A thread in wfi is ready when it would wake.
  logic waits;
  logic [Threads-1:0] sleeping_q;
  assign waits = executes && !ends && !fetch_fault &&
      (decoded.kind == KindExtension || decoded.kind == KindSleep);
  tutti_machine_core_scheduler #(
      .Threads(Threads)
  ) u_scheduler (
      .clk_i,
      .rst_ni,
      .waits_i      (waits),
      .redirects_i  (redirects),
      .traps_i      (traps || calls),
      .returns_i    (retires && (decoded.kind == KindReturn || decoded.kind == KindCallReturn)),
      .retires_i    (retires),
      .reserves_i   (retires && decoded.kind == KindAccess && decoded.op == OpLoadReserved),
      .conditional_i(retires && decoded.kind == KindAccess && decoded.op == OpStoreConditional),
      .ready_i      (~waiting & (~sleeping_q | wakes)),
      .thread_o     (thread),
      .next_o       (next),
      .switches_o   (switches),
      .reserved_o   (reserved)
`ifdef FORMAL
      ,
      .formal_hold_o(),
      .formal_held_o()
`endif
  );

  logic writes;
  assign writes = retires && decoded.writes && insn[11:7] != '0 &&
      (decoded.kind != KindExtension || ext_write);

  // A thread that waits without the core does what it did when it gave it away.
  always_comb begin
    for (int unsigned t = 0; t < Threads; t++) begin
      activity_o[t] = DoesRun;
      if (is_here[t]) begin
        if (data_valid_o) activity_o[t] = DoesAccess;
        if (is_extension) activity_o[t] = DoesExtend;
        if (executes && !fetch_fault && decoded.kind == KindSleep) activity_o[t] = DoesSleep;
      end else begin
        if (waiting[t]) activity_o[t] = DoesExtend;
        if (sleeping_q[t]) activity_o[t] = DoesSleep;
      end
    end
  end
  assign pc_o = pc_q;
  assign thread_o = thread;
  assign call_taken_o = calls ? is_here : '0;
  assign trace_o = '{
      valid: retires || traps || calls,
      trap: traps || calls,
      is_interrupt: trap_interrupt || calls,
      cause: calls ? InterruptCall : trap_cause,
      tval: calls ? '0 : trap_value,
      machine_mode: machine_mode,
      pc: pc,
      insn: insn,
      rd: writes ? insn[11:7] : '0,
      result: result
  };

`ifdef FORMAL
  // These are of the thread in the core.
  assign formal_mepc_o = formal_mepc[thread];
  assign formal_mcause_o = formal_mcause[thread];
  assign formal_mtval_o = formal_mtval[thread];
  assign formal_mstatus_o = formal_mstatus[thread];
  assign formal_minstret_o = formal_minstret[thread];
  assign formal_call_o = formal_call[thread];
  assign formal_vector_o = vector;
  assign formal_interrupt_o = interrupt;
  assign formal_valid_o = valid_q;
  assign formal_begun_o = begun;
  assign formal_decoded_o = decoded;
  assign formal_call_due_o = call;
  assign formal_call_pc_o = call_pc;
  assign formal_call_entry_o = call_entry;
  assign formal_place_o = place_of(call_busy, insn[11:7]);
`endif

  always_ff @(posedge clk_i) begin
    if (writes) registers[register_of(thread, place_of(call_busy, insn[11:7]))] <= result;
    if (!rst_ni) begin
      pc_q       <= '0;
      valid_q    <= 1'b0;
      begun_q    <= '0;
      sleeping_q <= '0;
    end else begin
      pc_q[thread]    <= pc_d;
      valid_q         <= valid_d;
      begun_q[thread] <= begun_d;
      // Its wfi, if it is one, decides again when the thread has the core.
      sleeping_q[next] <= 1'b0;
      if (switches && waits && decoded.kind == KindSleep) sleeping_q[thread] <= 1'b1;
    end
  end
endmodule
