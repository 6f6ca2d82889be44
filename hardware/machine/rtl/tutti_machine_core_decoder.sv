// SPDX-License-Identifier: Apache-2.0
// Decodes RV32IMA_Zicsr_Zifencei, mret, uret, wfi, and custom-0 and custom-1, which go to the extension
// port. Everything else is illegal. What depends on the mode or on a CSR is decided by the core.
module tutti_machine_core_decoder
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
(
    input  logic [31:0] insn_i,
    output decoded_t    decoded_o
);
  logic [2:0] funct3;
  logic [6:0] funct7;
  assign funct3 = insn_i[14:12];
  assign funct7 = insn_i[31:25];

  logic [31:0] imm_i, imm_s, imm_b, imm_u, imm_j;
  assign imm_i = {{20{insn_i[31]}}, insn_i[31:20]};
  assign imm_s = {{20{insn_i[31]}}, insn_i[31:25], insn_i[11:7]};
  assign imm_b = {{20{insn_i[31]}}, insn_i[7], insn_i[30:25], insn_i[11:8], 1'b0};
  assign imm_u = {insn_i[31:12], 12'd0};
  assign imm_j = {{12{insn_i[31]}}, insn_i[19:12], insn_i[20], insn_i[30:21], 1'b0};

  // `other` is the second operation of a funct3: sub, sra.
  function automatic alu_op_e alu_of(logic [2:0] f, logic other);
    unique case (f)
      3'd0: return other ? AluSub : AluAdd;
      3'd1: return AluSll;
      3'd2: return AluSlt;
      3'd3: return AluSltu;
      3'd4: return AluXor;
      3'd5: return other ? AluSra : AluSrl;
      3'd6: return AluOr;
      default: return AluAnd;
    endcase
  endfunction

  logic atomic_known;
  op_t atomic;
  always_comb begin
    atomic_known = funct3 == 3'd2;
    atomic       = OpLoadReserved;
    unique case (insn_i[31:27])
      5'h02: if (insn_i[24:20] != 5'd0) atomic_known = 1'b0;
      5'h03: atomic = OpStoreConditional;
      5'h01: atomic = OpAmoSwap;
      5'h00: atomic = OpAmoAdd;
      5'h04: atomic = OpAmoXor;
      5'h0c: atomic = OpAmoAnd;
      5'h08: atomic = OpAmoOr;
      5'h10: atomic = OpAmoMin;
      5'h14: atomic = OpAmoMax;
      5'h18: atomic = OpAmoMinu;
      5'h1c: atomic = OpAmoMaxu;
      default: atomic_known = 1'b0;
    endcase
  end

  always_comb begin
    decoded_o = '{
        kind: KindIllegal,
        alu: AluAdd,
        first_pc: 1'b0,
        second_immediate: 1'b1,
        immediate: imm_i,
        writes: 1'b1,
        op: OpLoad
    };
    unique case (insn_i[6:0])
      7'h37: begin  // lui
        decoded_o.kind      = KindAlu;
        decoded_o.alu       = AluSecond;
        decoded_o.immediate = imm_u;
      end
      7'h17: begin  // auipc
        decoded_o.kind      = KindAlu;
        decoded_o.first_pc  = 1'b1;
        decoded_o.immediate = imm_u;
      end
      7'h6f: begin  // jal
        decoded_o.kind      = KindJump;
        decoded_o.first_pc  = 1'b1;
        decoded_o.immediate = imm_j;
      end
      7'h67: if (funct3 == 3'd0) decoded_o.kind = KindJump;  // jalr
      7'h63: begin  // beq, bne, blt, bge, bltu, bgeu
        // The ALU makes the target.
        decoded_o.first_pc  = 1'b1;
        decoded_o.immediate = imm_b;
        decoded_o.writes    = 1'b0;
        if (funct3[2:1] != 2'b01) decoded_o.kind = KindBranch;
      end
      7'h03: if (funct3 != 3'd3 && funct3 < 3'd6) decoded_o.kind = KindAccess;
      7'h23: begin
        decoded_o.immediate = imm_s;
        decoded_o.writes    = 1'b0;
        decoded_o.op        = OpStore;
        if (funct3 < 3'd3) decoded_o.kind = KindAccess;
      end
      7'h2f: begin
        decoded_o.immediate = '0;
        decoded_o.op        = atomic;
        if (atomic_known) decoded_o.kind = KindAccess;
      end
      7'h13: begin
        decoded_o.alu = alu_of(funct3, funct3 == 3'd5 && insn_i[30]);
        if (funct3 == 3'd1 ? funct7 == 7'h00 :
            funct3 != 3'd5 || funct7 == 7'h00 || funct7 == 7'h20)
          decoded_o.kind = KindAlu;
      end
      7'h33: begin
        decoded_o.second_immediate = 1'b0;
        decoded_o.alu              = alu_of(funct3, insn_i[30]);
        if (funct7 == 7'h01) decoded_o.kind = KindMulDiv;
        else if (funct7 == 7'h00 || (funct7 == 7'h20 && (funct3 == 3'd0 || funct3 == 3'd5)))
          decoded_o.kind = KindAlu;
      end
      7'h0f: begin
        decoded_o.writes = 1'b0;
        if (funct3 < 3'd2) decoded_o.kind = KindFence;
      end
      7'h73: begin
        if (funct3 != 3'd0) begin
          if (funct3 != 3'd4) decoded_o.kind = KindCsr;
        end else begin
          decoded_o.writes = 1'b0;
          unique case (insn_i)
            32'h0000_0073: decoded_o.kind = KindCall;
            32'h0010_0073: decoded_o.kind = KindBreak;
            32'h3020_0073: decoded_o.kind = KindReturn;
            32'h0020_0073: decoded_o.kind = KindCallReturn;
            32'h1050_0073: decoded_o.kind = KindSleep;
            default: ;
          endcase
        end
      end
      7'h0b, 7'h2b: decoded_o.kind = KindExtension;
      default: ;
    endcase
  end

endmodule
