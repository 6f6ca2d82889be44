// SPDX-License-Identifier: Apache-2.0
// Arithmetic and logic of RV32I.
module tutti_machine_core_alu
  import tutti_machine_core_pkg::*;
(
    input  alu_op_e     op_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [31:0] result_o
);
  always_comb begin
    unique case (op_i)
      AluSub: result_o = a_i - b_i;
      AluSll: result_o = a_i << b_i[4:0];
      AluSlt: result_o = 32'($signed(a_i) < $signed(b_i));
      AluSltu: result_o = 32'(a_i < b_i);
      AluXor: result_o = a_i ^ b_i;
      AluSrl: result_o = a_i >> b_i[4:0];
      AluSra: result_o = 32'($signed(a_i) >>> b_i[4:0]);
      AluOr: result_o = a_i | b_i;
      AluAnd: result_o = a_i & b_i;
      AluSecond: result_o = b_i;
      default: result_o = a_i + b_i;
    endcase
  end
endmodule
