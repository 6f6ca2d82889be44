// SPDX-License-Identifier: Apache-2.0
// What the processor exchanges with its tile: accesses to data, and the trace of what it retires.
package tutti_machine_core_pkg;

  typedef enum logic [3:0] {
    Load             = 4'd0,
    Store            = 4'd1,
    LoadReserved     = 4'd2,
    // Answers 0 if it stored and 1 if the reservation was lost.
    StoreConditional = 4'd3,
    // These answer the word as it was before.
    AmoSwap          = 4'd4,
    AmoAdd           = 4'd5,
    AmoXor           = 4'd6,
    AmoAnd           = 4'd7,
    AmoOr            = 4'd8,
    AmoMin           = 4'd9,
    AmoMax           = 4'd10,
    AmoMinu          = 4'd11,
    AmoMaxu          = 4'd12
  } data_op_e;

  typedef struct packed {
    data_op_e    op;
    // Of the first byte; an access lies within an aligned word.
    logic [31:0] addr;
    // In the lanes of the word to which the bytes belong.
    logic [31:0] wdata;
    // The bytes of the word that are loaded or stored.
    logic [3:0]  strobe;
  } data_request_t;

  // Causes of mcause; interrupts have bit 31 set.
  typedef enum logic [4:0] {
    CauseFetchMisaligned = 5'd0,
    CauseFetchFault      = 5'd1,
    CauseIllegal         = 5'd2,
    CauseBreakpoint      = 5'd3,
    CauseLoadMisaligned  = 5'd4,
    CauseLoadFault       = 5'd5,
    CauseStoreMisaligned = 5'd6,
    CauseStoreFault      = 5'd7,
    CauseUserCall        = 5'd8,
    CauseMachineCall     = 5'd11,
    // An instruction at the extension port was refused or interrupted.
    CauseExtension       = 5'd24
  } cause_e;
  localparam logic [4:0] InterruptSoftware = 5'd3;
  localparam logic [4:0] InterruptTimer = 5'd7;
  localparam logic [4:0] InterruptExternal = 5'd11;

  // One for each instruction that retires, and for each trap.
  typedef struct packed {
    logic        valid;
    // The instruction did not retire, or an interrupt came before it.
    logic        trap;
    logic        interrupt;
    logic [4:0]  cause;
    logic [31:0] tval;
    // The mode in which the instruction ran.
    logic        machine_mode;
    logic [31:0] pc;
    logic [31:0] insn;
    // The register that is written; 0 if none.
    logic [4:0]  rd;
    logic [31:0] result;
  } trace_t;

  // What a core does, for whoever asks why a simulation stands still.
  typedef enum logic [1:0] {
    DoesRun    = 2'd0,
    // Waits for the data port.
    DoesAccess = 2'd1,
    // Waits for the extension port.
    DoesExtend = 2'd2,
    // wfi.
    DoesSleep  = 2'd3
  } activity_e;

endpackage
