// SPDX-License-Identifier: Apache-2.0
// The A extension's read-modify-write instructions (amoadd.w, amoswap.w, ...) for a core without
// them, at its co-processor interface. The bank of the shared memory executes them, so compiled
// atomic operations run unchanged. lr.w, sc.w and addresses outside the shared memory stay illegal
// instructions.
module tutti_isa_amo_port
  import tutti_isa_pkg::*;
(
    input  logic         pcpi_valid_i,
    input  logic [31:0]  pcpi_insn_i,
    input  logic [31:0]  pcpi_rs1_i,
    input  logic [31:0]  pcpi_rs2_i,
    output logic         pcpi_wait_o,
    output logic         pcpi_ready_o,
    output logic [31:0]  pcpi_rd_o,
    output mem_request_t request_o,
    input  logic         ready_i,
    input  logic [31:0]  rdata_i
);
  localparam logic [6:0] Amo = 7'h2f;

  logic known;
  always_comb begin
    unique case (pcpi_insn_i[31:27])
      5'h00, 5'h01, 5'h04, 5'h08, 5'h0c, 5'h10, 5'h14, 5'h18, 5'h1c: known = 1'b1;
      default: known = 1'b0;
    endcase
  end

  logic mine;
  assign mine = pcpi_valid_i && pcpi_insn_i[6:0] == Amo && pcpi_insn_i[14:12] == 3'd2 && known &&
      in_shared(pcpi_rs1_i) && pcpi_rs1_i[1:0] == 2'd0;

  assign request_o = '{
      valid: mine,
      atomic: 1'b1,
      funct5: pcpi_insn_i[31:27],
      wstrb: 4'hf,
      addr: pcpi_rs1_i,
      wdata: pcpi_rs2_i
  };
  assign pcpi_wait_o = mine;
  assign pcpi_ready_o = mine && ready_i;
  assign pcpi_rd_o = rdata_i;

endmodule
