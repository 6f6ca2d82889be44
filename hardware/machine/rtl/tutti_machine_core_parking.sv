// SPDX-License-Identifier: Apache-2.0
/// The extension port of one of several hardware threads. While the thread has the core, the core's
/// instruction is at the port. When the thread gives the core away, its instruction stays at the
/// port, with its operands, until it is answered; the answer is kept until the thread has the core
/// again.
module tutti_machine_core_parking (
    input  logic        clk_i,
    /// Synchronous reset, active low.
    input  logic        rst_ni,
    /// The thread has the core, which has an extension instruction.
    input  logic        here_i,
    input  logic        valid_i,
    input  logic [31:0] insn_i,
    input  logic [31:0] rs1_i,
    input  logic [31:0] rs2_i,
    /// The thread gives the core away, and the instruction has no answer yet.
    input  logic        parks_i,
    /// The instruction ends in the core.
    input  logic        ends_i,
    /// The port; see tutti_machine_core.
    output logic        valid_o,
    output logic [31:0] insn_o,
    output logic [31:0] rs1_o,
    output logic [31:0] rs2_o,
    input  logic        ready_i,
    input  logic        refused_i,
    input  logic        write_i,
    input  logic [31:0] rd_i,
    /// Without the core: the instruction has no answer yet.
    output logic        waits_o,
    /// With the core: the instruction was answered meanwhile.
    output logic        answered_o,
    output logic        refused_o,
    output logic        write_o,
    output logic [31:0] rd_o
);
  logic waits_q, answered_q, refused_q, write_q, answers;
  logic [31:0] insn_q, rs1_q, rs2_q, rd_q;

  assign valid_o = here_i ? valid_i && !answered_q : waits_q;
  assign insn_o = here_i ? insn_i : insn_q;
  assign rs1_o = here_i ? rs1_i : rs1_q;
  assign rs2_o = here_i ? rs2_i : rs2_q;
  assign answers = waits_q && (ready_i || refused_i);
  assign waits_o = waits_q;
  assign answered_o = answered_q;
  assign refused_o = refused_q;
  assign write_o = write_q;
  assign rd_o = rd_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q    <= 1'b0;
      answered_q <= 1'b0;
    end else begin
      waits_q    <= parks_i || (waits_q && !answers);
      answered_q <= answers || (answered_q && !ends_i);
    end
    if (parks_i) begin
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
endmodule
