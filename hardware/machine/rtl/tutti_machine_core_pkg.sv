// SPDX-License-Identifier: Apache-2.0
// The processor's own types: decoded instructions, causes of traps, and the trace of what it
// retires.
package tutti_machine_core_pkg;

  // What an instruction needs.
  typedef enum logic [3:0] {
    KindIllegal,
    // The result is the ALU's.
    KindAlu,
    KindMulDiv,
    KindJump,
    KindBranch,
    KindAccess,
    KindCsr,
    KindExtension,
    // fence and fence.i: an access is complete before the next instruction begins.
    KindFence,
    KindCall,
    KindBreak,
    KindReturn,
    // The return from a remote call's handler.
    KindCallReturn,
    KindSleep
  } kind_e;

  typedef enum logic [3:0] {
    AluAdd,
    AluSub,
    AluSll,
    AluSlt,
    AluSltu,
    AluXor,
    AluSrl,
    AluSra,
    AluOr,
    AluAnd,
    // The second operand.
    AluSecond
  } alu_op_e;

  typedef struct packed {
    kind_e       kind;
    alu_op_e     alu;
    // The first operand is the address of the instruction; otherwise it is register rs1.
    logic        first_pc;
    // The second operand is the immediate value; otherwise it is register rs2.
    logic        second_immediate;
    logic [31:0] immediate;
    // The instruction has a result for rd.
    logic        writes;
    // What kind of access.
    tutti_machine_pkg::op_t op;
  } decoded_t;

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
  // A remote call in the trace. It is no trap: mcause never has this value.
  localparam logic [4:0] InterruptCall = 5'd25;

  // One for each instruction that retires, and for each trap.
  typedef struct packed {
    logic        valid;
    // The instruction did not retire, or an interrupt came before it.
    logic        trap;
    logic        is_interrupt;
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
