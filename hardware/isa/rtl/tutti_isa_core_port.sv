// SPDX-License-Identifier: Apache-2.0
// The barrier instructions of one core, at its co-processor interface.
//
// A refused instruction is never acknowledged: the port stops asking the core to wait, and the core
// raises its illegal-instruction exception 16 cycles later. If that exception is masked, the core
// halts.
module tutti_isa_core_port
  import tutti_isa_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    // PCPI signals.
    input  logic        pcpi_valid_i,
    input  logic [31:0] pcpi_insn_i,
    input  logic [31:0] pcpi_rs1_i,
    input  logic [31:0] pcpi_rs2_i,
    output logic        pcpi_wait_o,
    output logic        pcpi_ready_o,
    output logic        pcpi_wr_o,
    output logic [31:0] pcpi_rd_o,
    /// The core executes its interrupt handler.
    input  logic        handler_i,
    /// An interrupt is pending.
    input  logic        interrupt_i,
    /// No store of this core is on its way: an arrival publishes what was written before it.
    input  logic        drained_i,
    /// The core is in the handler, or still in its reset code.
    output logic        privileged_o,
    output request_t    request_o,
    input  reply_t      reply_i
`ifdef FORMAL
    ,
    output logic        formal_booting_o,
    output logic [2:0]  formal_state_o
`endif
);
  // Until the core gives up, the refused instruction stands at the interface.
  logic refusing_q, refused, known, user, booting_q;
  assign privileged_o = booting_q || handler_i;
  assign pcpi_wait_o = pcpi_valid_i && known && !refusing_q;
  assign pcpi_wr_o = 1'b1;

`ifdef FORMAL
  logic [1:0] state, cause;
  assign formal_booting_o = booting_q;
  assign formal_state_o = {refusing_q, state};
  logic unused;
  assign unused = ^cause;
`endif

  tutti_isa_port #(
      .HasUser(1)
  ) u_port (
      .clk_i,
      .rst_ni,
      .valid_i     (pcpi_valid_i && !refusing_q),
      .insn_i      (pcpi_insn_i),
      .rs1_i       (pcpi_rs1_i),
      .rs2_i       (pcpi_rs2_i),
      .privileged_i(privileged_o),
      .drained_i,
      .cancel_i    (interrupt_i),
      .known_o     (known),
      .ready_o     (pcpi_ready_o),
      .refused_o   (refused),
      .rd_o        (pcpi_rd_o),
      .user_o      (user),
      .request_o,
      .reply_i
`ifdef FORMAL
      ,
      .formal_state_o(state),
      .formal_cause_o(cause)
`endif
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      refusing_q <= 1'b0;
      booting_q  <= 1'b1;
    end else begin
      refusing_q <= refusing_q ? pcpi_valid_i : refused;
      if (user) booting_q <= 1'b0;
    end
  end

endmodule
