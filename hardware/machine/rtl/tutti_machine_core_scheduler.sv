// SPDX-License-Identifier: Apache-2.0
/// Chooses the hardware thread that has the core. Threads take turns, in the order of their numbers,
/// and those that wait are left out.
///
/// A thread gives the core to the next one that is ready where it would lose cycles anyway: when its
/// instruction waits for an event, and when the next instruction has to be fetched anew. As every
/// loop has such a place, a thread that spins keeps no other one from running.
///
/// The cache has one reservation. A thread loses it when it gives the core away, and with each trap
/// and remote call and at the end of their handlers: these may have let another thread of software
/// write the word, and the cache does not end a reservation for its own core's stores. So that a
/// StoreConditional can succeed, a LoadReserved keeps the thread in the core for HoldInstructions
/// instructions, once in a turn.
module tutti_machine_core_scheduler #(
    /// 1, 2, 4 or 8.
    parameter int unsigned Threads = 1,
    /// Instructions after a LoadReserved, 1 to 15; the sequences that must succeed have 16 in all.
    parameter int unsigned HoldInstructions = 15,
    localparam int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input  logic                  clk_i,
    /// Synchronous reset, active low.
    input  logic                  rst_ni,
    /// The thread in the core: its instruction waits for an event.
    input  logic                  waits_i,
    /// It goes on where it has to be fetched anew, or with a trap or a remote call.
    input  logic                  redirects_i,
    input  logic                  traps_i,
    /// A handler of a trap or call ends.
    input  logic                  returns_i,
    /// It retires an instruction: a LoadReserved, a StoreConditional, or another one.
    input  logic                  retires_i,
    input  logic                  reserves_i,
    input  logic                  conditional_i,
    /// The other threads that could go on.
    input  logic [   Threads-1:0] ready_i,
    output logic [ThreadBits-1:0] thread_o,
    /// The thread of the next cycle, and whether it is another one.
    output logic [ThreadBits-1:0] next_o,
    output logic                  switches_o,
    /// The cache's reservation is this thread's.
    output logic                  reserved_o
`ifdef FORMAL
    ,
    output logic [           3:0] formal_hold_o,
    output logic                  formal_held_o
`endif
);
  if (Threads != 1 && Threads != 2 && Threads != 4 && Threads != 8)
    $fatal(1, "tutti_machine_core_scheduler: Threads must be 1, 2, 4 or 8");
  if (HoldInstructions < 1 || HoldInstructions > 15)
    $fatal(1, "tutti_machine_core_scheduler: HoldInstructions must be 1 to 15");

  logic reserved_q;
  assign reserved_o = reserved_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || switches_o || traps_i || returns_i || conditional_i) reserved_q <= 1'b0;
    else if (reserves_i) reserved_q <= 1'b1;
  end

  if (Threads == 1) begin : gen_one
    assign thread_o = '0;
    assign next_o = '0;
    assign switches_o = 1'b0;
    logic unused;
    assign unused = ^{waits_i, redirects_i, retires_i, ready_i};
`ifdef FORMAL
    assign formal_hold_o = '0;
    assign formal_held_o = 1'b0;
`endif
  end else begin : gen_several
    logic [ThreadBits-1:0] thread_q, candidate;
    // Instructions for which a LoadReserved still keeps the thread, and whether one has in this turn.
    logic [3:0] hold_q, hold_d;
    logic held_q, held_d;
    logic leaves;

    assign leaves = waits_i || traps_i || (redirects_i && hold_q == '0);
    // The nearest one that is ready is found last.
    always_comb begin
      next_o     = thread_q;
      switches_o = 1'b0;
      for (int unsigned k = Threads - 1; k > 0; k--) begin
        candidate = thread_q + ThreadBits'(k);
        if (leaves && ready_i[candidate]) begin
          next_o     = candidate;
          switches_o = 1'b1;
        end
      end
    end

    always_comb begin
      hold_d = hold_q;
      held_d = held_q;
      if (retires_i && hold_q != '0) hold_d = hold_q - 4'd1;
      if (reserves_i) begin
        held_d = 1'b1;
        if (!held_q) hold_d = 4'(HoldInstructions);
      end
      if (conditional_i) hold_d = '0;
      if (leaves) begin
        hold_d = '0;
        held_d = 1'b0;
      end
    end

    assign thread_o = thread_q;
`ifdef FORMAL
    assign formal_hold_o = hold_q;
    assign formal_held_o = held_q;
`endif

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        thread_q <= '0;
        hold_q   <= '0;
        held_q   <= 1'b0;
      end else begin
        thread_q <= next_o;
        hold_q   <= hold_d;
        held_q   <= held_d;
      end
    end
  end
endmodule
