// SPDX-License-Identifier: Apache-2.0
/// A round-robin arbiter: among the inputs that ask and may be served now, the one after the last
/// served comes first. An input that asks whenever an input is served waits for at most Inputs - 1
/// others.
module tutti_hbs_arbiter #(
    parameter int unsigned Inputs = 4
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic [Inputs-1:0] request_i,
    /// The granted input is served in this cycle; without serve_i the order stays.
    input logic serve_i,
    /// At most one bit is set.
    output logic [Inputs-1:0] grant_o
);
  if (Inputs < 1 || Inputs > 64) $fatal(1, "tutti_hbs_arbiter: Inputs must be 1 to 64");

  // Inputs after the last served one.
  logic [Inputs-1:0] later_q;
  logic [Inputs-1:0] preferred, chosen_from;
  assign preferred = request_i & later_q;
  assign chosen_from = preferred != '0 ? preferred : request_i;
  assign grant_o = chosen_from & (~chosen_from + Inputs'(1));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) later_q <= '0;
    else if (serve_i && grant_o != '0) later_q <= ~(grant_o | (grant_o - Inputs'(1)));
  end
endmodule
