// SPDX-License-Identifier: Apache-2.0
// A bank of the shared memory: one access a cycle, chosen round-robin, including read-modify-write.
module tutti_isa_memory_bank
  import tutti_isa_pkg::*;
#(
    parameter int unsigned Cores = 16,
    /// Number of 32-bit words.
    parameter int unsigned Words = 4096
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  mem_request_t [Cores-1:0]       request_i,
    /// Address of each request within the bank.
    input  logic         [Cores-1:0][31:0] word_i,
    output logic         [Cores-1:0]       grant_o,
    /// Data of the granted request.
    output logic         [31:0]            rdata_o
);
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1;
  localparam int unsigned WordBits = $clog2(Words);

  logic [31:0] mem[Words];
  logic [CoreBits-1:0] last_q, chosen;
  logic any;

  always_comb begin
    any    = 1'b0;
    chosen = '0;
    // Find the nearest requester after the last one served.
    for (int unsigned k = Cores; k > 0; k--) begin
      automatic int unsigned c = (32'(last_q) + k) % Cores;
      if (request_i[c].valid) begin
        any    = 1'b1;
        chosen = CoreBits'(c);
      end
    end
    grant_o         = '0;
    grant_o[chosen] = any;
  end

  mem_request_t r;
  logic [WordBits-1:0] where;
  logic [31:0] old, result;
  assign r = request_i[chosen];
  assign where = word_i[chosen][WordBits-1:0];
  assign old = mem[where];
  assign rdata_o = old;

  always_comb begin
    unique case (r.funct5)
      5'h00: result = old + r.wdata;
      5'h01: result = r.wdata;
      5'h04: result = old ^ r.wdata;
      5'h08: result = old | r.wdata;
      5'h0c: result = old & r.wdata;
      5'h10: result = $signed(old) < $signed(r.wdata) ? old : r.wdata;
      5'h14: result = $signed(old) > $signed(r.wdata) ? old : r.wdata;
      5'h18: result = old < r.wdata ? old : r.wdata;
      default: result = old > r.wdata ? old : r.wdata;
    endcase
    if (!r.atomic) result = r.wdata;
  end

  always_ff @(posedge clk_i) begin
    if (any)
      for (int unsigned i = 0; i < 4; i++)
        if (r.wstrb[i]) mem[where][8*i+:8] <= result[8*i+:8];
    if (!rst_ni) last_q <= '0;
    else if (any) last_q <= chosen;
  end

endmodule
