// SPDX-License-Identifier: Apache-2.0
/// The arbiter serves one input at a time, serves only inputs that ask, and serves none twice while
/// a symbolic input waits.
///
/// The input waits if it asks whenever an input is served. It may withdraw its request in other
/// cycles.
module tutti_hbs_arbiter_formal #(
    parameter int unsigned Inputs = 4,
    parameter int unsigned IndexBits = Inputs > 1 ? $clog2(Inputs) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    input logic [Inputs-1:0] request_i,
    input logic serve_i,
    input logic [IndexBits-1:0] symbol_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [IndexBits-1:0] symbol_q;
  logic [Inputs-1:0] grant, serves;
  // Inputs served since the symbolic input began to wait.
  logic [Inputs-1:0] served_q;
  logic asks;
  // The symbolic input has withdrawn its request since an input was served.
  logic paused_q;

  tutti_hbs_arbiter #(
      .Inputs(Inputs)
  ) i_arbiter (
      .clk_i,
      .rst_ni(!init_q),
      .request_i,
      .serve_i,
      .grant_o(grant)
  );
  assign asks = request_i[symbol_i];
  assign serves = grant & {Inputs{serve_i}};

  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
    // A cycle in which no input is served changes nothing, whichever inputs ask.
    if (init_q || serves[symbol_i] || (!asks && serves != '0)) begin
      served_q <= '0;
      paused_q <= 1'b0;
    end else begin
      served_q <= served_q | serves;
      paused_q <= paused_q || (!asks && served_q != '0);
    end
  end

  always_comb begin
    assume (init_q || symbol_i == symbol_q);
    assume (32'(symbol_i) < Inputs);
    if (!init_q) begin
      a_one: assert ((grant & (grant - Inputs'(1))) == '0);
      a_asked: assert ((grant & ~request_i) == '0);
      a_busy: assert (request_i == '0 || grant != '0);
      // No input is served twice while the symbolic input waits, so at most Inputs - 1 others are
      // served first.
      a_fair: assert (!asks || (serves & served_q) == '0);
      a_not_itself: assert (!served_q[symbol_i]);
    end
  end
  // The order of preference begins after the last served input and is cyclic. Inputs served since
  // the symbolic input began to wait come after it in that order. later_q is a run of ones up to
  // the top.
  for (genvar i = 0; i < Inputs; ++i) begin : gen_order
    logic behind;
    assign behind = i_arbiter.later_q[symbol_i] ? !i_arbiter.later_q[i] || i > 32'(symbol_i)
                                                : !i_arbiter.later_q[i] && i > 32'(symbol_i);
    always_comb begin
      if (!init_q) a_behind: assert (!served_q[i] || behind);
    end
  end
  for (genvar i = 1; i < Inputs; ++i) begin : gen_run
    always_comb begin
      if (!init_q) a_run: assert (!i_arbiter.later_q[i-1] || i_arbiter.later_q[i]);
    end
  end
  always_comb begin
    c_last: cover (!init_q && asks && serves[symbol_i] && $countones(served_q) == 32'(Inputs) - 1);
    c_paused: cover (!init_q && paused_q && asks && serves[symbol_i]
        && $countones(served_q) == 32'(Inputs) - 1);
  end
endmodule
