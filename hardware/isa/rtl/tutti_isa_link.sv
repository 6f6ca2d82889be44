// SPDX-License-Identifier: Apache-2.0
// A section of interconnect: its input comes out `delay_i` cycles later, in order. It models
// distance in simulation, so that one build measures many distances; a chip has just the registers
// that it needs.
module tutti_isa_link #(
    parameter int unsigned Width    = 32,
    parameter int unsigned MaxDelay = 63
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [      7:0] delay_i,
    input  logic [Width-1:0] data_i,
    output logic [Width-1:0] data_o
);
  if (((MaxDelay + 1) & MaxDelay) != 0 || MaxDelay < 1)
    $fatal(1, "tutti_isa_link: MaxDelay must be a power of two less one");

  localparam int unsigned Bits = $clog2(MaxDelay + 1);
  logic [Width-1:0] line[MaxDelay+1];
  logic [Bits-1:0] at_q, from;
  assign from = at_q - delay_i[Bits-1:0];
  assign data_o = delay_i == '0 ? data_i : line[from];
  always_ff @(posedge clk_i) begin
    line[at_q] <= data_i;
    at_q       <= at_q + 1'b1;
    if (!rst_ni) begin
      at_q <= '0;
      for (int unsigned i = 0; i <= MaxDelay; i++) line[i] <= '0;
    end
  end
endmodule
