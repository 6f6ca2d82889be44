// SPDX-License-Identifier: Apache-2.0
/// The extension port of one of several threads, with any core and any port: an instruction is at
/// the port until it is answered, unchanged and once, wherever its thread is meanwhile; and the
/// answer is there when the thread has the core again.
module tutti_machine_core_parking_formal (
    input logic clk_i,
    // Free inputs.
    input logic reset_i,
    input logic here_i,
    input logic valid_i,
    input logic [31:0] insn_i,
    input logic [31:0] rs1_i,
    input logic [31:0] rs2_i,
    input logic parks_i,
    input logic ready_i,
    input logic refused_i,
    input logic write_i,
    input logic [31:0] rd_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  logic valid, waits, answered, was_refused, was_write, ends;
  logic [31:0] insn, rs1, rs2, was_rd;
  // In the core an instruction ends with its answer, which is here, or came before.
  assign ends = here_i && valid_i && (answered || ready_i || refused_i);
  tutti_machine_core_parking u_parking (
      .clk_i,
      .rst_ni(rst_n),
      .here_i,
      .valid_i,
      .insn_i,
      .rs1_i,
      .rs2_i,
      .parks_i,
      .ends_i(ends),
      .valid_o(valid),
      .insn_o(insn),
      .rs1_o(rs1),
      .rs2_o(rs2),
      .ready_i,
      .refused_i,
      .write_i,
      .rd_i,
      .waits_o(waits),
      .answered_o(answered),
      .refused_o(was_refused),
      .write_o(was_write),
      .rd_o(was_rd)
  );

  // The instruction of the thread, from its beginning to its end in the core; whether it has been
  // answered, and how.
  logic open_q = 1'b0, answered_q = 1'b0, past_q = 1'b0, at_port_q = 1'b0;
  logic refused_q, write_q;
  logic [31:0] insn_q, rs1_q, rs2_q, rd_q;
  logic answers;
  assign answers = valid && (ready_i || refused_i);
  always_ff @(posedge clk_i) begin
    power_q   <= 1'b0;
    past_q    <= rst_n;
    at_port_q <= rst_n && valid && !answers;
    if (!rst_n || ends) begin
      open_q     <= 1'b0;
      answered_q <= 1'b0;
    end else begin
      open_q     <= open_q || (here_i && valid_i);
      answered_q <= answered_q || answers;
    end
    if (!open_q) begin
      insn_q <= insn_i;
      rs1_q  <= rs1_i;
      rs2_q  <= rs2_i;
    end
    if (answers) begin
      refused_q <= refused_i;
      write_q   <= write_i;
      rd_q      <= rd_i;
    end
  end
  always_comb begin
    // The core: it holds an instruction that it has begun, gives the thread away with it or between
    // two instructions, and takes it back when it has an answer.
    assume (!parks_i || (here_i && valid_i && !ends));
    assume (!(here_i && waits));
    assume (!(here_i && open_q) || (valid_i && insn_i == insn_q && rs1_i == rs1_q && rs2_i == rs2_q));
    assume (!(past_q && at_port_q && !waits) || here_i);
    // The port.
    assume (!(ready_i && refused_i));
  end
  always_comb begin
    if (rst_n) begin
      a_is_held: assert (!at_port_q || (valid && insn == insn_q && rs1 == rs1_q && rs2 == rs2_q));
      a_once: assert (!(valid && answered_q));
      a_nothing_else: assert (!valid || open_q || (here_i && valid_i));
      a_answer_is_kept: assert (!answered || (answered_q && was_refused == refused_q
          && was_write == write_q && was_rd == rd_q));
      a_answer_is_there: assert (!answered_q || answered);
      a_waits: assert (!waits || (open_q && !answered_q && u_parking.insn_q == insn_q
          && u_parking.rs1_q == rs1_q && u_parking.rs2_q == rs2_q));
      a_at_port: assert (!at_port_q || (open_q && !answered_q));
    end
  end
  always_comb begin
    if (rst_n) begin
      c_answered_without_the_core: cover (ends && answered && !was_refused);
      c_refused_without_the_core: cover (ends && answered && was_refused);
      c_answered_in_the_core: cover (ends && !answered && open_q);
      c_the_next_one: cover (past_q && valid && !open_q && was_rd != '0);
    end
  end
endmodule
