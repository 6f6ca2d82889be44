// SPDX-License-Identifier: Apache-2.0
/// PicoRV32's parameters and ports as tutti_isa_tile uses them, for checks of the tile alone. The
/// models and tests have the core itself.
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNDRIVEN */
(* blackbox *)
module picorv32 #(
    parameter bit ENABLE_COUNTERS64 = 1'b1,
    parameter bit BARREL_SHIFTER = 1'b0,
    parameter bit ENABLE_PCPI = 1'b0,
    parameter bit ENABLE_FAST_MUL = 1'b0,
    parameter bit ENABLE_DIV = 1'b0,
    parameter bit ENABLE_IRQ = 1'b0,
    parameter bit ENABLE_IRQ_TIMER = 1'b1,
    parameter bit REGS_INIT_ZERO = 1'b0,
    parameter logic [31:0] PROGADDR_RESET = 32'h0000_0000,
    parameter logic [31:0] PROGADDR_IRQ = 32'h0000_0010
) (
    input logic clk,
    input logic resetn,
    output logic trap,
    output logic mem_valid,
    output logic mem_instr,
    input logic mem_ready,
    output logic [31:0] mem_addr,
    output logic [31:0] mem_wdata,
    output logic [3:0] mem_wstrb,
    input logic [31:0] mem_rdata,
    output logic mem_la_read,
    output logic mem_la_write,
    output logic [31:0] mem_la_addr,
    output logic [31:0] mem_la_wdata,
    output logic [3:0] mem_la_wstrb,
    output logic pcpi_valid,
    output logic [31:0] pcpi_insn,
    output logic [31:0] pcpi_rs1,
    output logic [31:0] pcpi_rs2,
    input logic pcpi_wr,
    input logic [31:0] pcpi_rd,
    input logic pcpi_wait,
    input logic pcpi_ready,
    input logic [31:0] irq,
    output logic [31:0] eoi,
    output logic trace_valid,
    output logic [35:0] trace_data
);
endmodule
