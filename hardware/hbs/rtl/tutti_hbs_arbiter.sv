// SPDX-License-Identifier: Apache-2.0
/// Round robin: among those who ask and may be served now, the one after the last served comes first. Who asks whenever
/// somebody is served waits for at most Inputs - 1 others.
module tutti_hbs_arbiter #(
    parameter int unsigned Inputs = 4
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic [Inputs-1:0] request_i,
    /// Whoever is granted is served in this cycle; else the order stays.
    input logic serve_i,
    /// At most one.
    output logic [Inputs-1:0] grant_o
);
  if (Inputs < 1 || Inputs > 16) $fatal(1, "tutti_hbs_arbiter: Inputs must be 1 to 16");

  logic [Inputs-1:0] later_q;  // those after the last served
  logic [Inputs-1:0] preferred, chosen_from;
  assign preferred = request_i & later_q;
  assign chosen_from = preferred != '0 ? preferred : request_i;
  assign grant_o = chosen_from & (~chosen_from + Inputs'(1));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) later_q <= '0;
    else if (serve_i && grant_o != '0) later_q <= ~(grant_o | (grant_o - Inputs'(1)));
  end
endmodule
