// SPDX-License-Identifier: Apache-2.0
/// The processor under any program, any memory, any interrupts and any answers of its extension
/// port: what it asks for it asks for until it is answered, a trap keeps what its handler needs,
/// privilege rises only by a trap, and an interrupt that is due is taken before the next
/// instruction. A remote call changes no mode, comes only where it may, and returns to where it came.
module tutti_machine_core_formal
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
(
    input logic        clk_i,
    // Free: a reset.
    input logic        reset_i,
    // Free inputs.
    input logic        software_irq_i,
    input logic        timer_irq_i,
    input logic        external_irq_i,
    input logic        call_irq_i,
    input logic [31:0] fetch_data_i,
    input logic        data_ready_i,
    input logic [31:0] data_rdata_i,
    input logic        data_fault_i,
    input logic        ext_known_i,
    input logic        ext_ready_i,
    input logic        ext_refused_i,
    input logic        ext_write_i,
    input logic [31:0] ext_rd_i
);
  // The core is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;

  logic [31:0] call_pc, call_entry;
  logic [3:0] call_state;
  logic [5:0] place;
  logic call_taken, call_due;
  logic [31:0] fetch_addr, ext_insn, ext_rs1, ext_rs2, pc, mepc, mcause, mtval, vector;
  logic data_valid, machine_mode, ext_valid, ext_cancel, due, valid, begun;
  logic [2:0] mstatus;
  logic [63:0] minstret;
  data_request_t request;
  logic [1:0] activity;
  logic unused_thread;
  trace_t t;
  decoded_t decoded;
  tutti_machine_core u_core (
      .clk_i,
      .rst_ni(!init_q),
      .hart_i(32'd5),
      .software_irq_i,
      .timer_irq_i,
      .external_irq_i,
      .call_irq_i,
      .call_taken_o(call_taken),
      .thread_o(unused_thread),
      .fetch_addr_o(fetch_addr),
      .fetch_data_i,
      .data_valid_o(data_valid),
      .data_request_o(request),
      .machine_mode_o(machine_mode),
      .data_ready_i,
      .data_rdata_i,
      .data_fault_i,
      .ext_valid_o(ext_valid),
      .ext_insn_o(ext_insn),
      .ext_rs1_o(ext_rs1),
      .ext_rs2_o(ext_rs2),
      .ext_cancel_o(ext_cancel),
      .ext_known_i,
      .ext_ready_i,
      .ext_refused_i,
      .ext_write_i,
      .ext_rd_i,
      .activity_o(activity),
      .pc_o(pc),
      .trace_o(t),
      .formal_mepc_o(mepc),
      .formal_mcause_o(mcause),
      .formal_mtval_o(mtval),
      .formal_mstatus_o(mstatus),
      .formal_minstret_o(minstret),
      .formal_call_o(call_state),
      .formal_call_due_o(call_due),
      .formal_call_pc_o(call_pc),
      .formal_call_entry_o(call_entry),
      .formal_place_o(place),
      .formal_vector_o(vector),
      .formal_interrupt_o(due),
      .formal_valid_o(valid),
      .formal_begun_o(begun),
      .formal_decoded_o(decoded)
  );

  // The previous cycle.
  logic past_q = 1'b0, after_reset_q = 1'b0;
  logic data_open_q, ext_open_q, machine_q, same_q;
  logic [31:0] call_pc_q, call_entry_q;
  logic [3:0] call_state_q;
  logic [31:0] addr_q, data_q, ext_insn_q, ext_rs1_q, ext_rs2_q, mepc_q, vector_q;
  logic [2:0] mstatus_q;
  logic [63:0] minstret_q;
  data_request_t request_q;
  trace_t t_q;
  kind_e kind_q;
  logic ends_q;
  always_ff @(posedge clk_i) begin
    power_q     <= 1'b0;
    past_q      <= !init_q;
    after_reset_q <= init_q;
    addr_q      <= fetch_addr;
    same_q      <= !init_q && fetch_addr == addr_q;
    data_q      <= fetch_data_i;
    data_open_q <= !init_q && data_valid && !data_ready_i;
    request_q   <= request;
    ext_open_q  <= !init_q && ext_valid && ext_known_i && !ext_ready_i && !ext_refused_i;
    ext_insn_q  <= ext_insn;
    ext_rs1_q   <= ext_rs1;
    ext_rs2_q   <= ext_rs2;
    machine_q   <= machine_mode;
    mepc_q      <= mepc;
    vector_q    <= vector;
    mstatus_q   <= mstatus;
    minstret_q  <= minstret;
    call_pc_q   <= call_pc;
    call_entry_q <= call_entry;
    call_state_q <= call_state;
    t_q         <= t;
    kind_q      <= decoded.kind;
    ends_q      <= t.valid;
  end

  logic retires, traps, calls, retired_q, trapped_q, called_q;
  assign retires = t.valid && !t.trap;
  assign calls = t.valid && t.trap && t.is_interrupt && t.cause == InterruptCall;
  assign traps = t.valid && t.trap && !calls;
  assign retired_q = past_q && t_q.valid && !t_q.trap;
  assign called_q = past_q && t_q.valid && t_q.trap && t_q.is_interrupt
      && t_q.cause == InterruptCall;
  assign trapped_q = past_q && t_q.valid && t_q.trap && !called_q;
  logic masked, busy, of_machine, enabled;
  assign {masked, busy, of_machine, enabled} = call_state;
  // The registers of which a handler has its own: ra, t0 to t6, a0 to a7.
  logic own;
  assign own = 32'hf003_fce2 >> t.rd & 1'b1;
  // The CSR that the previous instruction wrote, perhaps.
  logic wrote_csr_q;
  assign wrote_csr_q = retired_q && kind_q == KindCsr;

  always_comb begin
    // Assumptions: the image does not change, and whether the port knows an instruction does not.
    assume (!same_q || fetch_data_i == data_q);
    assume (!ext_open_q || ext_known_i);
  end

  always_comb begin
    if (!init_q) begin
      // The ports.
      a_access_is_held: assert (!(past_q && data_open_q) || (data_valid && request == request_q));
      a_access_is_aligned: assert (!data_valid || (request.strobe != 4'd0 &&
          (request.strobe != 4'hf || request.addr[1:0] == 2'd0)));
      a_atomics_are_words: assert (!data_valid || request.op == OpLoad || request.op == OpStore
          || request.strobe == 4'hf);
      a_extension_is_held: assert (!(past_q && ext_open_q) || (ext_valid
          && ext_insn == ext_insn_q && ext_rs1 == ext_rs1_q && ext_rs2 == ext_rs2_q));
      a_extension_has_both_registers: assert (!ext_valid
          || (ext_rs1 == u_core.rs1 && ext_rs2 == u_core.rs2));
      a_one_port: assert (!(data_valid && ext_valid));
      a_open_has_begun: assert (!(past_q && (data_open_q || ext_open_q)) || (valid && begun));
      a_begun_is_valid: assert (!begun || valid);
      a_only_ready_passes: assert (!(retires && decoded.kind == KindExtension)
          || (ext_known_i && ext_ready_i));
      a_only_answered_passes: assert (!(retires && decoded.kind == KindAccess)
          || (data_ready_i && !data_fault_i)
          || (decoded.op == OpStoreConditional && !u_core.reserved));
      a_interrupt_is_passed_on: assert (!(ext_valid && (due || call_due)) || ext_cancel);

      // Traps.
      a_mepc: assert (!trapped_q || mepc == {t_q.pc[31:2], 2'd0});
      a_mcause: assert (!trapped_q || mcause == {t_q.is_interrupt, 26'd0, t_q.cause});
      a_mtval: assert (!trapped_q || mtval == t_q.tval);
      a_trap_enters: assert (!trapped_q || (machine_mode && pc == vector_q
          && mstatus == {1'b0, mstatus_q[2], machine_q}));
      a_mepc_is_kept: assert (!past_q || trapped_q || wrote_csr_q || mepc == mepc_q);
      a_handler_is_not_interrupted: assert (!(machine_mode && !mstatus[2]) || !traps
          || !t.is_interrupt);
      a_interrupt_is_due: assert (!(traps && t.is_interrupt) || due);
      a_due_is_taken: assert (!(due && valid && !begun) || (traps && t.is_interrupt));
      a_trap_writes_nothing: assert (!traps || t.rd == 5'd0);

      // Remote calls.
      a_call_is_wanted: assert (!calls || (call_irq_i && enabled && !masked && !busy
          && of_machine == machine_mode && (!machine_mode || mstatus[2])));
      a_interrupts_come_first: assert (!(calls && due));
      a_call_is_taken: assert (!(call_due && !due && valid && !begun) || calls);
      a_call_is_told: assert (call_taken == calls);
      a_call_enters: assert (!called_q || (machine_mode == machine_q && pc == call_entry_q
          && call_pc == {t_q.pc[31:2], 2'd0} && busy
          && mstatus == {mstatus_q[2] && !machine_q, mstatus_q[1:0]}));
      a_call_writes_nothing: assert (!calls || t.rd == 5'd0);
      a_call_pc_is_kept: assert (!past_q || called_q || wrote_csr_q || call_pc == call_pc_q);
      a_handler_lasts: assert (!past_q || called_q || wrote_csr_q
          || (retired_q && kind_q == KindCallReturn) || busy == call_state_q[2]);
      a_return_from_a_call: assert (!(retired_q && kind_q == KindCallReturn) || (pc == call_pc_q
          && call_state_q[2] && !busy && machine_mode == machine_q
          && call_state_q[1] == machine_q && mstatus == {mstatus_q[2] || machine_q,
          mstatus_q[1:0]}));
      a_handler_has_registers: assert (t.rd == 5'd0 || place == {busy && own, t.rd});

      // A reset leaves nothing of before.
      a_reset: assert (!after_reset_q || (machine_mode && pc == '0 && !begun && !due && !call_due
          && {mepc, mcause, mtval, vector, call_pc, call_entry} == '0 && mstatus == '0
          && minstret == '0 && call_state == '0));

      // Privilege.
      a_rises_by_a_trap: assert (!(past_q && !machine_q && machine_mode) || trapped_q);
      a_falls_by_mret: assert (!(past_q && machine_q && !machine_mode)
          || (retired_q && kind_q == KindReturn && !mstatus_q[0]));
      a_user_never_returns: assert (!(retires && decoded.kind == KindReturn) || machine_mode);
      a_user_csr: assert (!(retires && decoded.kind == KindCsr) || machine_mode
          || (t.insn[29:28] == 2'd0 && !(of_machine && t.insn[31:21] == 11'h400)));
      a_mret: assert (!(retired_q && kind_q == KindReturn) || (pc == mepc_q
          && machine_mode == mstatus_q[0] && mstatus == {mstatus_q[1], 1'b1, 1'b0}));

      // Counting.
      a_minstret: assert (!past_q || wrote_csr_q
          || minstret == minstret_q + 64'(retired_q));
      a_pc_moves_only_at_an_end: assert (!(past_q && !ends_q && valid && begun) || pc == t_q.pc);
      a_next: assert (!(retired_q && kind_q != KindJump && kind_q != KindBranch
          && kind_q != KindReturn && kind_q != KindCallReturn) || (pc == t_q.pc + 32'd4 && valid));
      a_pc_is_aligned: assert (pc[1:0] == 2'd0);
      // What is being executed was fetched from where it is.
      a_fetched: assert (!valid || addr_q == pc);
      a_same: assert (!(past_q && begun) || same_q || !past_q || addr_q == pc);
    end
  end

  always_comb begin
    if (!init_q) begin
      c_access_waits: cover (past_q && data_open_q && retires);
      c_extension_interrupted: cover (ext_valid && begun && due && traps && t.is_interrupt);
      c_extension_ready_though_due: cover (ext_valid && begun && due && retires);
      c_user: cover (!machine_mode && retires && t.rd != 5'd0);
      c_user_traps: cover (trapped_q && !machine_q && t_q.cause == 5'd2);
      c_returns_to_user: cover (retired_q && kind_q == KindReturn && !machine_mode);
      c_user_called: cover (called_q && !machine_mode);
      c_machine_called: cover (called_q && machine_mode);
      c_call_in_an_extension: cover (ext_valid && begun && calls);
      c_call_ends_a_sleep: cover (past_q && retired_q && kind_q == KindSleep && calls);
      c_call_returns: cover (retired_q && kind_q == KindCallReturn);
      c_sleep: cover (retired_q && kind_q == KindSleep && traps && t.is_interrupt);
    end
  end
endmodule
