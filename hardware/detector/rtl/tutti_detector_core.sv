// SPDX-License-Identifier: Apache-2.0
/// A node's part in the detection. It counts messages and carries out the master's orders: Detect is
/// answered when all threads of the node are idle, with the count, the colour and the vote of one
/// instant; Release lets the threads return, disables sending, and is answered when all have left;
/// Enable lets them send again, and is answered at once.
module tutti_detector_core
  import tutti_detector_pkg::*;
#(
    /// Width of the sum that arrives every cycle.
    parameter int unsigned SumBits = 8,
    /// Cycles from the cores' wires to this module's inputs.
    parameter int unsigned Levels = 3,
    /// Width of the message count.
    parameter int unsigned Bits = CountBits,
    /// Width of the values that threads give, at most 32; 0: there are none.
    parameter int unsigned ValueBits = 0
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Outputs of the tree, all for the same cycle.
    input logic [SumBits-1:0] sum_i,
    input logic idle_i,
    input logic vote_i,
    input logic left_i,
    input total_t total_i,
    /// An order of the master. The next one comes only after the reply to this one.
    input logic order_valid_i,
    input phase_t order_phase_i,
    /// For a release: all threads voted true.
    input logic order_vote_i,
    /// The same: the total of the values of all threads.
    input total_t order_total_i,
    output logic reply_valid_o,
    input logic reply_ready_i,
    output phase_t reply_phase_o,
    output logic reply_black_o,
    output logic reply_vote_o,
    output logic [Bits-1:0] reply_count_o,
    output total_t reply_total_o,
    /// All threads return in this cycle, with the result of the vote and the total.
    output logic release_o,
    output logic unanimous_o,
    output total_t total_o,
    /// Threads may send in this cycle.
    output logic enable_o,
    /// Messages sent minus messages received, Levels + 1 cycles ago.
    output logic [Bits-1:0] count_o,
    /// An order arrived before the reply to the last one was taken.
    output logic overrun_o
);
  if (SumBits < 2 || SumBits > Bits) $fatal(1, "tutti_detector_core: SumBits must be 2 to Bits");
  if (Bits > CountBits)
    $fatal(1, "tutti_detector_core: Bits must be at most that of a message's count");
  if (ValueBits > 32) $fatal(1, "tutti_detector_core: ValueBits must be at most 32");

  // Cycles from release_o until left_i tells who stayed: 2 for the cores, Levels for the tree, and 1
  // for the register.
  localparam int unsigned Settle = Levels + 3;
  localparam int unsigned SettleBits = $clog2(Settle + 1);

  logic [Bits-1:0] count_q;
  logic idle_q, vote_q, left_q;
  logic black_q, enable_q, release_q, unanimous_q, held_q, reply_q;
  phase_t phase_q;
  logic [SettleBits-1:0] settle_q;
  report_t report_q;
  total_t total_q, result_q;
  logic answers;

  always_comb begin
    unique case (phase_q)
      Detect: answers = idle_q;
      Release: answers = settle_q == '0 && left_q;
      default: answers = 1'b1;
    endcase
    if (!held_q || reply_q) answers = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      idle_q <= 1'b0;
      vote_q <= 1'b0;
      left_q <= 1'b0;
      black_q <= 1'b0;
      enable_q <= 1'b1;
      release_q <= 1'b0;
      unanimous_q <= 1'b0;
      held_q <= 1'b0;
      reply_q <= 1'b0;
      phase_q <= Detect;
      settle_q <= '0;
      report_q <= '0;
      total_q <= '0;
      result_q <= '0;
    end else begin
      count_q <= count_q + Bits'($signed(sum_i));
      idle_q <= idle_i;
      vote_q <= vote_i;
      left_q <= left_i;
      total_q <= ValueBits == 0 ? '0 : total_i;
      release_q <= 1'b0;
      if (settle_q != '0) settle_q <= settle_q - 1'b1;
      if (!idle_q) black_q <= 1'b1;
      if (reply_ready_i) reply_q <= 1'b0;
      if (answers) begin
        held_q <= 1'b0;
        reply_q <= 1'b1;
        report_q <= '{phase: phase_q, black: black_q, vote: vote_q, count: CountBits'(count_q),
            total: total_q};
        if (phase_q == Detect) black_q <= 1'b0;
      end
      if (order_valid_i && !overrun_o) begin
        held_q <= 1'b1;
        phase_q <= order_phase_i;
        if (order_phase_i == Release) begin
          enable_q <= 1'b0;
          release_q <= 1'b1;
          unanimous_q <= order_vote_i;
          result_q <= ValueBits == 0 ? '0 : order_total_i;
          settle_q <= SettleBits'(Settle);
        end
        if (order_phase_i == Enable) enable_q <= 1'b1;
      end
    end
  end

  assign overrun_o = order_valid_i && (held_q || reply_q);
  assign reply_valid_o = reply_q;
  assign reply_phase_o = report_q.phase;
  assign reply_black_o = report_q.black;
  assign reply_vote_o = report_q.vote;
  assign reply_count_o = report_q.count[Bits-1:0];
  assign reply_total_o = report_q.total;
  assign release_o = release_q;
  assign unanimous_o = unanimous_q;
  assign total_o = result_q;
  assign enable_o = enable_q;
  assign count_o = count_q;

  if (Bits < CountBits) begin : gen_narrow
    logic unused;
    assign unused = ^report_q.count[CountBits-1:Bits];
  end
endmodule
