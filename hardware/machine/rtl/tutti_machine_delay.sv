// SPDX-License-Identifier: Apache-2.0
/// Shows what was there some cycles ago.
module tutti_machine_delay #(
    parameter int unsigned Width   = 8,
    /// 1 to 1023.
    parameter int unsigned Latency = 1
) (
    input  logic             clk_i,
    /// Synchronous reset, active low: until as many cycles have passed, zeros come out.
    input  logic             rst_ni,
    input  logic [Width-1:0] data_i,
    output logic [Width-1:0] data_o
);
  if (Latency < 1 || Latency > 1023) $fatal(1, "tutti_machine_delay: Latency must be 1 to 1023");

  logic [Latency-1:0][Width-1:0] line_q;
  assign data_o = line_q[Latency-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) line_q <= '0;
    else line_q <= (Latency * Width)'({line_q, data_i});
  end
endmodule
