// SPDX-License-Identifier: Apache-2.0
// Control and status registers, the mode, and which interrupt is due: machine and user mode of the
// RISC-V privileged architecture 1.11, and the remote calls of this machine.
//
//   0x7c0 mrcall    0 enabled, 1 the mode that takes calls (1: machine), 2 a handler runs
//   0x7c1 mrcentry  where the handler begins
//   0x800 rcall     0 masked; read-only: 1 a handler runs, 2 a call is pending
//   0x801 rcpc      where uret goes on
//
// rcall and rcpc are the machine mode's own while that mode takes the calls; otherwise a program in
// user mode could keep them from it.
module tutti_machine_core_csr
  import tutti_machine_core_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [31:0] hart_i,
    input  logic        software_irq_i,
    input  logic        timer_irq_i,
    input  logic        external_irq_i,
    /// A remote call is pending.
    input  logic        call_irq_i,

    /// The CSR instruction in the core; `access_i` executes it, in the cycle in which it retires.
    input  logic [31:0] insn_i,
    input  logic [31:0] rs1_i,
    input  logic        access_i,
    output logic [31:0] rdata_o,
    /// The register does not exist, is read-only, or is not for this mode.
    output logic        illegal_o,

    input  logic        retire_i,
    input  logic        return_i,
    input  logic        trap_i,
    input  logic        trap_interrupt_i,
    input  logic [ 4:0] trap_cause_i,
    input  logic [31:0] trap_pc_i,
    input  logic [31:0] trap_value_i,

    /// The core takes the remote call, or returns from its handler.
    input  logic        call_i,
    input  logic        call_return_i,

    output logic        machine_mode_o,
    output logic [31:0] vector_o,
    output logic [31:0] return_pc_o,
    /// An enabled interrupt is pending.
    output logic        interrupt_o,
    output logic [ 4:0] interrupt_cause_o,
    /// A remote call may be taken now; an interrupt comes before it.
    output logic        call_o,
    /// A handler of a call runs, with registers of its own; in this mode uret ends it.
    output logic        call_busy_o,
    output logic        call_returns_o,
    output logic [31:0] call_entry_o,
    output logic [31:0] call_pc_o,
    /// An interrupt is pending that mie enables, whatever mstatus says, or a call that this mode
    /// takes, whether it is masked or not: the end of wfi.
    output logic        wake_o
`ifdef FORMAL
    ,
    output logic [31:0] formal_mepc_o,
    output logic [31:0] formal_mcause_o,
    output logic [31:0] formal_mtval_o,
    /// MIE, MPIE and whether MPP is machine mode.
    output logic [ 2:0] formal_mstatus_o,
    output logic [63:0] formal_minstret_o,
    /// Masked, busy, mode, enabled.
    output logic [ 3:0] formal_call_o
`endif
);
  localparam logic [31:0] Misa = 32'h4010_1101;

  logic machine_q, machine_d;
  logic mie_q, mie_d, mpie_q, mpie_d, mpp_q, mpp_d;
  // External, timer, software.
  logic [2:0] enabled_q, enabled_d, pending;
  logic [29:0] mtvec_q, mtvec_d, mepc_q, mepc_d;
  logic [31:0] mscratch_q, mscratch_d, mtval_q, mtval_d;
  logic [5:0] mcause_q, mcause_d;
  logic [63:0] mcycle_q, mcycle_d, minstret_q, minstret_d;
  // Remote calls: one mode takes them, and never two at a time.
  logic enabled_call_q, enabled_call_d, machine_call_q, machine_call_d;
  logic busy_q, busy_d, masked_q, masked_d, mine;
  logic [29:0] entry_q, entry_d, call_pc_q, call_pc_d;

  assign pending = {external_irq_i, timer_irq_i, software_irq_i};
  assign machine_mode_o = machine_q;
  assign vector_o = {mtvec_q, 2'd0};
  assign return_pc_o = {mepc_q, 2'd0};
  assign interrupt_o = (pending & enabled_q) != '0 && (mie_q || !machine_q);
  assign mine = call_irq_i && enabled_call_q && machine_call_q == machine_q;
  assign wake_o = (pending & enabled_q) != '0 || mine;
  assign call_o = mine && !masked_q && !busy_q && (mie_q || !machine_q);
  assign call_busy_o = busy_q;
  assign call_returns_o = busy_q && machine_call_q == machine_q;
  assign call_entry_o = {entry_q, 2'd0};
  assign call_pc_o = {call_pc_q, 2'd0};
  // External before software before timer.
  always_comb begin
    interrupt_cause_o = InterruptTimer;
    if (pending[0] && enabled_q[0]) interrupt_cause_o = InterruptSoftware;
    if (pending[2] && enabled_q[2]) interrupt_cause_o = InterruptExternal;
  end

  logic [11:0] addr;
  logic [2:0] funct3;
  logic [31:0] operand, wdata;
  logic known, writes;
  assign addr = insn_i[31:20];
  assign funct3 = insn_i[14:12];
  assign operand = funct3[2] ? 32'(insn_i[19:15]) : rs1_i;
  // csrrs and csrrc with x0 or 0 only read.
  assign writes = funct3[1:0] == 2'd1 || insn_i[19:15] != '0;

  always_comb begin
    known   = 1'b1;
    rdata_o = '0;
    unique case (addr)
      12'h300: rdata_o = {19'd0, {2{mpp_q}}, 3'd0, mpie_q, 3'd0, mie_q, 3'd0};
      12'h301: rdata_o = Misa;
      12'h304: rdata_o = {20'd0, enabled_q[2], 3'd0, enabled_q[1], 3'd0, enabled_q[0], 3'd0};
      12'h305: rdata_o = {mtvec_q, 2'd0};
      // mcounteren: cycle and instret are for user mode, too.
      12'h306: rdata_o = 32'd5;
      12'h340: rdata_o = mscratch_q;
      12'h341: rdata_o = {mepc_q, 2'd0};
      12'h342: rdata_o = {mcause_q[5], 26'd0, mcause_q[4:0]};
      12'h343: rdata_o = mtval_q;
      12'h344: rdata_o = {20'd0, pending[2], 3'd0, pending[1], 3'd0, pending[0], 3'd0};
      12'h7c0: rdata_o = {29'd0, busy_q, machine_call_q, enabled_call_q};
      12'h7c1: rdata_o = {entry_q, 2'd0};
      12'h800: rdata_o = {29'd0, call_irq_i, busy_q, masked_q};
      12'h801: rdata_o = {call_pc_q, 2'd0};
      12'hb00, 12'hc00: rdata_o = mcycle_q[31:0];
      12'hb80, 12'hc80: rdata_o = mcycle_q[63:32];
      12'hb02, 12'hc02: rdata_o = minstret_q[31:0];
      12'hb82, 12'hc82: rdata_o = minstret_q[63:32];
      12'hf14: rdata_o = hart_i;
      // mcountinhibit, mvendorid, marchid, mimpid.
      12'h320, 12'hf11, 12'hf12, 12'hf13: ;
      // mhpmcounter, mhpmcounterh and mhpmevent 3 to 31 count nothing.
      default:
      known = addr[4:0] >= 5'd3 && (addr[11:5] == 7'h58 || addr[11:5] == 7'h5c ||
          addr[11:5] == 7'h19);
    endcase
  end
  assign illegal_o = !known || (!machine_q && addr[9:8] != 2'd0) ||
      (!machine_q && machine_call_q && addr[11:1] == 11'h400) ||
      (writes && addr[11:10] == 2'b11);
  always_comb begin
    unique case (funct3[1:0])
      2'd2: wdata = rdata_o | operand;
      2'd3: wdata = rdata_o & ~operand;
      default: wdata = operand;
    endcase
  end

  always_comb begin
    machine_d  = machine_q;
    mie_d      = mie_q;
    mpie_d     = mpie_q;
    mpp_d      = mpp_q;
    enabled_d  = enabled_q;
    mtvec_d    = mtvec_q;
    mepc_d     = mepc_q;
    mscratch_d = mscratch_q;
    mtval_d    = mtval_q;
    mcause_d   = mcause_q;
    mcycle_d   = mcycle_q + 64'd1;
    minstret_d = retire_i ? minstret_q + 64'd1 : minstret_q;
    enabled_call_d = enabled_call_q;
    machine_call_d = machine_call_q;
    busy_d         = busy_q;
    masked_d       = masked_q;
    entry_d        = entry_q;
    call_pc_d      = call_pc_q;

    if (trap_i) begin
      machine_d = 1'b1;
      mpp_d     = machine_q;
      mpie_d    = mie_q;
      mie_d     = 1'b0;
      mepc_d    = trap_pc_i[31:2];
      mcause_d  = {trap_interrupt_i, trap_cause_i};
      mtval_d   = trap_value_i;
    end else if (call_i) begin
      // The mode stays. In machine mode the handler runs with interrupts off, as after a trap.
      busy_d    = 1'b1;
      call_pc_d = trap_pc_i[31:2];
      if (machine_q) mie_d = 1'b0;
    end else if (call_return_i) begin
      busy_d = 1'b0;
      if (machine_q) mie_d = 1'b1;
    end else if (return_i) begin
      machine_d = mpp_q;
      mpp_d     = 1'b0;
      mie_d     = mpie_q;
      mpie_d    = 1'b1;
    end else if (access_i && writes) begin
      unique case (addr)
        12'h300: begin
          mie_d  = wdata[3];
          mpie_d = wdata[7];
          mpp_d  = wdata[12:11] == 2'b11;
        end
        12'h304: enabled_d = {wdata[11], wdata[7], wdata[3]};
        12'h305: mtvec_d = wdata[31:2];
        12'h340: mscratch_d = wdata;
        12'h341: mepc_d = wdata[31:2];
        12'h342: mcause_d = {wdata[31], wdata[4:0]};
        12'h343: mtval_d = wdata;
        12'h7c0: {busy_d, machine_call_d, enabled_call_d} = wdata[2:0];
        12'h7c1: entry_d = wdata[31:2];
        12'h800: masked_d = wdata[0];
        12'h801: call_pc_d = wdata[31:2];
        12'hb00: mcycle_d = {mcycle_q[63:32], wdata};
        12'hb80: mcycle_d = {wdata, mcycle_q[31:0]};
        12'hb02: minstret_d = {minstret_q[63:32], wdata};
        12'hb82: minstret_d = {wdata, minstret_q[31:0]};
        default: ;
      endcase
    end
  end

`ifdef FORMAL
  assign formal_mepc_o = {mepc_q, 2'd0};
  assign formal_mcause_o = {mcause_q[5], 26'd0, mcause_q[4:0]};
  assign formal_mtval_o = mtval_q;
  assign formal_mstatus_o = {mie_q, mpie_q, mpp_q};
  assign formal_minstret_o = minstret_q;
  assign formal_call_o = {masked_q, busy_q, machine_call_q, enabled_call_q};
`endif

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      machine_q  <= 1'b1;
      mie_q      <= 1'b0;
      mpie_q     <= 1'b0;
      mpp_q      <= 1'b0;
      enabled_q  <= '0;
      mtvec_q    <= '0;
      mepc_q     <= '0;
      mscratch_q <= '0;
      mtval_q    <= '0;
      mcause_q   <= '0;
      mcycle_q   <= '0;
      minstret_q <= '0;
      enabled_call_q <= 1'b0;
      machine_call_q <= 1'b0;
      busy_q         <= 1'b0;
      masked_q       <= 1'b0;
      entry_q        <= '0;
      call_pc_q      <= '0;
    end else begin
      machine_q  <= machine_d;
      mie_q      <= mie_d;
      mpie_q     <= mpie_d;
      mpp_q      <= mpp_d;
      enabled_q  <= enabled_d;
      mtvec_q    <= mtvec_d;
      mepc_q     <= mepc_d;
      mscratch_q <= mscratch_d;
      mtval_q    <= mtval_d;
      mcause_q   <= mcause_d;
      mcycle_q   <= mcycle_d;
      minstret_q <= minstret_d;
      enabled_call_q <= enabled_call_d;
      machine_call_q <= machine_call_d;
      busy_q         <= busy_d;
      masked_q       <= masked_d;
      entry_q        <= entry_d;
      call_pc_q      <= call_pc_d;
    end
  end

  logic unused;
  assign unused = ^{insn_i[11:0], trap_pc_i[1:0]};
endmodule
