// SPDX-License-Identifier: Apache-2.0
// A RAM without caches, distance or contention: every access takes two cycles, as a hit of the
// caches does, however many cores make one. It is a model for simulation, not for synthesis:
// programs are developed on it, and it shows what the memory system of the machine costs. Accesses
// of one cycle take effect in the order of the cores.
module tutti_machine_ideal_memory
  import tutti_machine_pkg::*;
#(
    parameter int unsigned Cores    = 16,
    parameter int unsigned RamBytes = 16 << 20
) (
    input  logic          clk_i,
    input  logic          rst_ni,
    input  logic          valid_i  [Cores],
    input  data_request_t request_i[Cores],
    output logic          ready_o  [Cores],
    output logic [31:0]   rdata_o  [Cores]
);
  if (RamBytes < 4 || (RamBytes & (RamBytes - 1)) != 0)
    $fatal(1, "tutti_machine_ideal_memory: RamBytes must be a power of two and at least 4");

  localparam int unsigned Bits = $clog2(RamBytes);
  // One access sees the one before it in the same cycle, so these change by blocking assignments.
  // verilator lint_off BLKSEQ
  logic [31:0] ram[RamBytes/4];
  logic [Cores-1:0] reserved;
  logic [31:0] reservation[Cores];

  function automatic logic [31:0] atomic(op_t op, logic [31:0] old, logic [31:0] operand);
    unique case (op)
      OpAmoAdd: return old + operand;
      OpAmoXor: return old ^ operand;
      OpAmoAnd: return old & operand;
      OpAmoOr: return old | operand;
      OpAmoMin: return $signed(old) < $signed(operand) ? old : operand;
      OpAmoMax: return $signed(old) > $signed(operand) ? old : operand;
      OpAmoMinu: return old < operand ? old : operand;
      OpAmoMaxu: return old > operand ? old : operand;
      default: return operand;
    endcase
  endfunction

  logic [31:0] old, word;
  logic stores;
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Cores; c++) begin
      ready_o[c] <= 1'b0;
      if (valid_i[c] && !ready_o[c]) begin
        old    = ram[request_i[c].addr[Bits-1:2]];
        word   = atomic(request_i[c].op, old, request_i[c].wdata);
        stores = request_i[c].op != OpLoad && request_i[c].op != OpLoadReserved;
        ready_o[c] <= 1'b1;
        rdata_o[c] <= old;
        if (request_i[c].op == OpLoadReserved) begin
          reserved[c]    = 1'b1;
          reservation[c] = request_i[c].addr;
        end
        if (request_i[c].op == OpStoreConditional) begin
          stores = reserved[c] && reservation[c] == request_i[c].addr;
          reserved[c] = 1'b0;
          rdata_o[c] <= 32'(!stores);
        end
        if (stores) begin
          for (int unsigned i = 0; i < 4; i++)
            if (request_i[c].strobe[i])
              ram[request_i[c].addr[Bits-1:2]][8*i+:8] = word[8*i+:8];
          for (int unsigned other = 0; other < Cores; other++)
            if (other != c && reservation[other][31:2] == request_i[c].addr[31:2])
              reserved[other] = 1'b0;
        end
      end
    end
    if (!rst_ni) begin
      reserved = '0;
      for (int unsigned c = 0; c < Cores; c++) ready_o[c] <= 1'b0;
    end
  end
  // verilator lint_on BLKSEQ
endmodule
