// SPDX-License-Identifier: Apache-2.0
/// A core of several hardware threads under any programs, any memory, any interrupts and any answers
/// of the extension ports. A thread that waits does not issue, and the core goes to another one that
/// is ready; an instruction stays at its thread's port until it is answered, and retires with that
/// answer; a thread's registers, address and CSRs change by its own instructions only.
/// tutti_machine_core_formal says what a thread does while it has the core.
module tutti_machine_threads_formal
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
#(
    parameter int unsigned Threads = 2,
    localparam int unsigned ThreadBits = $clog2(Threads)
) (
    input logic clk_i,
    // Free inputs.
    input logic reset_i,
    input logic [Threads-1:0] software_irq_i,
    input logic [Threads-1:0] timer_irq_i,
    input logic [Threads-1:0] external_irq_i,
    input logic [Threads-1:0] call_irq_i,
    input logic [31:0] fetch_data_i,
    input logic data_ready_i,
    input logic [31:0] data_rdata_i,
    input logic data_fault_i,
    input logic [Threads-1:0] ext_known_i,
    input logic [Threads-1:0] ext_ready_i,
    input logic [Threads-1:0] ext_refused_i,
    input logic [Threads-1:0] ext_write_i,
    input logic [Threads-1:0][31:0] ext_rd_i,
    // Held constant: a thread, and a register of it.
    input logic [ThreadBits-1:0] watched_i,
    input logic [4:0] number_i
);
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;

  logic [ThreadBits-1:0] thread;
  logic [Threads-1:0] call_taken, machine_mode, ext_valid, ext_cancel;
  logic [Threads-1:0][31:0] ext_insn, ext_rs1, ext_rs2, pc;
  logic [Threads-1:0][1:0] activity;
  logic [31:0] fetch_addr;
  logic data_valid, valid, begun, due, call_due;
  data_request_t request;
  trace_t t;
  decoded_t decoded;
  logic [5:0] place;
  // verilator lint_off PINCONNECTEMPTY
  tutti_machine_core #(
      .Threads(Threads)
  ) u_core (
      .clk_i,
      .rst_ni(!init_q),
      .hart_i(32'd4),
      .software_irq_i,
      .timer_irq_i,
      .external_irq_i,
      .call_irq_i,
      .call_taken_o(call_taken),
      .thread_o(thread),
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
      .formal_mepc_o(),
      .formal_mcause_o(),
      .formal_mtval_o(),
      .formal_mstatus_o(),
      .formal_minstret_o(),
      .formal_call_o(),
      .formal_call_due_o(call_due),
      .formal_call_pc_o(),
      .formal_call_entry_o(),
      .formal_place_o(place),
      .formal_vector_o(),
      .formal_interrupt_o(due),
      .formal_valid_o(valid),
      .formal_begun_o(begun),
      .formal_decoded_o(decoded)
  );
  // verilator lint_on PINCONNECTEMPTY

  // The watched register: one of the thread's own, not one of the handlers of remote calls.
  logic [ThreadBits-1:0] watched_q;
  logic [4:0] number_q;
  logic [5+ThreadBits:0] where;
  assign where = {watched_i, 1'b0, number_i};
  logic known_q = 1'b0;
  logic [31:0] value_q;
  logic writes;
  assign writes = t.valid && !t.trap && thread == watched_i && t.rd == number_i && t.rd != '0
      && place == {1'b0, number_i};

  // The previous cycle.
  logic past_q = 1'b0, same_q = 1'b0, waits_q = 1'b0, ready_q = 1'b0;
  logic [ThreadBits-1:0] thread_q;
  logic [31:0] addr_q, data_q;
  logic [Threads-1:0] open_q = '0, mode_q;
  logic [Threads-1:0][31:0] insn_q, rs1_q, rs2_q, pc_q, mepc_q, mtval_q;
  logic [Threads-1:0][63:0] minstret_q;
  logic ended_q, data_open_q = 1'b0;
  data_request_t request_q;
  // The answer that came to the watched thread while it did not have the core.
  logic answered_q = 1'b0, was_ready_q;
  logic [31:0] answer_q;

  logic [Threads-1:0] is_here, open, is_ready;
  assign is_here = Threads'(1) << thread;
  assign open = ext_valid & ext_known_i & ~ext_ready_i & ~ext_refused_i;
  // The threads without the core that could go on.
  assign is_ready = ~u_core.waiting & (~u_core.sleeping_q | u_core.wakes) & ~is_here;
  // The thread in the core waits for an event.
  logic waits;
  assign waits = !t.valid && valid && (open[thread] || (begun || !(due || call_due))
      && decoded.kind == KindSleep && pc[thread] < 4 << 20);

  always_ff @(posedge clk_i) begin
    power_q   <= 1'b0;
    watched_q <= watched_i;
    number_q  <= number_i;
    past_q    <= !init_q;
    addr_q    <= fetch_addr;
    same_q    <= !init_q && fetch_addr == addr_q;
    data_q    <= fetch_data_i;
    thread_q  <= thread;
    waits_q   <= waits;
    ready_q   <= is_ready != '0;
    open_q    <= init_q ? '0 : open;
    insn_q    <= ext_insn;
    rs1_q     <= ext_rs1;
    rs2_q     <= ext_rs2;
    pc_q      <= pc;
    mode_q    <= machine_mode;
    mepc_q    <= u_core.formal_mepc;
    mtval_q   <= u_core.formal_mtval;
    minstret_q <= u_core.formal_minstret;
    ended_q   <= t.valid;
    data_open_q <= !init_q && data_valid && !data_ready_i;
    request_q <= request;
    if (init_q) known_q <= 1'b0;
    else if (writes) known_q <= 1'b1;
    if (writes) value_q <= t.result;
    if (init_q || (thread == watched_i && t.valid)) begin
      answered_q <= 1'b0;
    end else if (ext_valid[watched_i] && !is_here[watched_i]
        && (ext_ready_i[watched_i] || ext_refused_i[watched_i])) begin
      answered_q  <= 1'b1;
      was_ready_q <= !ext_refused_i[watched_i];
      answer_q    <= ext_rd_i[watched_i];
    end
  end

  always_comb begin
    assume (power_q || (watched_i == watched_q && number_i == number_q));
    // The image does not change, and whether a port knows an instruction does not.
    assume (!same_q || fetch_data_i == data_q);
    assume ((open_q & ~ext_known_i) == '0);
    // A port gives one answer.
    assume ((ext_ready_i & ext_refused_i) == '0);
  end

  always_comb begin
    if (!init_q) begin
      // The threads that issue.
      a_waiting_never_issues: assert (!u_core.waiting[thread] && !u_core.sleeping_q[thread]);
      a_leaves_where_a_cycle_is_lost: assert (!u_core.switches || u_core.waits || u_core.redirects);
      a_gives_way: assert (!(past_q && waits_q && ready_q) || thread != thread_q);
      a_keeps_an_access: assert (!(past_q && data_open_q)
          || (thread == thread_q && data_valid && request == request_q));
      a_loses_no_cycle: assert (!(past_q && thread != thread_q) || valid);
      a_fetched: assert (!valid || addr_q == pc[thread]);
      a_begun_is_valid: assert (!begun || valid);

      // The answer of the watched thread's port.
      a_answered: assert (answered_q == u_core.answered[watched_i]);
      a_answer: assert (!answered_q || (was_ready_q == !u_core.was_refused[watched_i]
          && answer_q == u_core.was_rd[watched_i]));
      a_retires_with_it: assert (!(t.valid && !t.trap && decoded.kind == KindExtension
          && thread == watched_i) || (answered_q ? was_ready_q && (t.rd == '0 || t.result == answer_q)
          : ext_ready_i[watched_i] && (t.rd == '0 || t.result == ext_rd_i[watched_i])));
      a_once: assert (!(answered_q && ext_valid[watched_i]));

      // What belongs to a thread.
      a_registers: assert (!known_q || u_core.registers[where] == value_q);
      a_reads_its_own: assert (!(known_q && thread == watched_i && valid && number_i != '0
          && !u_core.call_busy && t.insn[19:15] == number_i) || u_core.rs1 == value_q);
      a_reads_its_own_too: assert (!(known_q && thread == watched_i && valid && number_i != '0
          && !u_core.call_busy && t.insn[24:20] == number_i) || u_core.rs2 == value_q);

      // A StoreConditional succeeds only by the memory, with a reservation of this thread's turn.
      a_conditional: assert (!(t.valid && !t.trap && decoded.kind == KindAccess
          && decoded.op == OpStoreConditional && t.rd != '0) || t.result == 32'd1
          || (data_valid && u_core.reserved));
    end
  end

  for (genvar i = 0; i < Threads; i++) begin : gen_thread
    always_comb begin
      if (!init_q) begin
        // The port.
        a_is_held: assert (!open_q[i] || (ext_valid[i] && ext_insn[i] == insn_q[i]
            && ext_rs1[i] == rs1_q[i] && ext_rs2[i] == rs2_q[i]));
        a_waits_with_an_instruction: assert (!u_core.waiting[i] || (open_q[i] && u_core.begun_q[i]
            && !u_core.answered[i]));
        a_answer_waits: assert (!u_core.answered[i] || u_core.begun_q[i]);
        a_cancels: assert (ext_cancel[i] == (ext_valid[i]
            && (u_core.interrupts[i] || u_core.csr_calls[i])));
        // What belongs to the thread.
        a_address_is_kept: assert (!past_q || (32'(thread_q) == 32'(i) && ended_q) || pc[i] == pc_q[i]);
        a_csrs_are_kept: assert (!past_q || (32'(thread_q) == 32'(i) && ended_q)
            || (machine_mode[i] == mode_q[i] && u_core.formal_mepc[i] == mepc_q[i]
            && u_core.formal_mtval[i] == mtval_q[i]
            && u_core.formal_minstret[i] == minstret_q[i]));
        a_call_is_taken_here: assert (!call_taken[i] || 32'(thread) == 32'(i));
        a_activity: assert (is_here[i] || (activity[i] == DoesExtend) == u_core.waiting[i]
            || u_core.sleeping_q[i]);
      end
    end
  end

  always_comb begin
    if (!init_q) begin
      c_answered_in_the_background: cover (t.valid && !t.trap && answered_q && thread == watched_i
          && t.rd != '0);
      c_refused_in_the_background: cover (t.valid && t.trap && answered_q && thread == watched_i
          && t.is_interrupt);
      c_sleeps_in_the_background: cover (u_core.sleeping_q != '0 && t.valid && !t.trap);
      c_wakes: cover (past_q && thread != thread_q && u_core.begun && decoded.kind == KindSleep
          && t.valid);
      c_branch_gives_way: cover (past_q && thread != thread_q && ended_q && pc_q[thread_q] != '0
          && !u_core.waiting[thread_q]);
      c_reservation_is_lost: cover (t.valid && !t.trap && decoded.kind == KindAccess
          && decoded.op == OpStoreConditional && !data_valid);
      c_both_modes: cover (machine_mode[0] != machine_mode[1] && t.valid && !t.trap);
      c_all_wait: cover ((u_core.waiting | is_here) == '1 && open[thread]);
    end
  end
endmodule
