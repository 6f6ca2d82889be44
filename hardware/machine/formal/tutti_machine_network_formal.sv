// SPDX-License-Identifier: Apache-2.0
/// The whole network, two sockets, with any messages at all inputs: whatever comes out is for whom it
/// comes out. A message that a symbol chooses comes out as often as it went in, never before, and all
/// are out a bounded time after the last went in, if what comes out is taken. Bounded; crossbars,
/// links and queues have inductive proofs of their own.
module tutti_machine_network_formal
  import tutti_machine_pkg::*;
#(
    parameter int unsigned Cores = 4,
    parameter int unsigned Sockets = 2,
    parameter int unsigned Banks = 2,
    // After so many quiet cycles nothing is on its way.
    parameter int unsigned Quiet = 8
) (
    input logic clk_i,
    // Free inputs.
    input logic [Cores-1:0] request_valid_i,
    input message_t [Cores-1:0] request_i,
    input logic [Cores-1:0] forward_ready_i,
    input logic [Cores-1:0] response_valid_i,
    input message_t [Cores-1:0] response_i,
    input logic [Cores-1:0][31:0] response_line_i,
    input logic [Cores-1:0] response_ready_i,
    input logic [Banks-1:0] home_request_ready_i,
    input logic [Banks-1:0] home_forward_valid_i,
    input message_t [Banks-1:0] home_forward_i,
    input logic [Banks-1:0] home_response_valid_i,
    input message_t [Banks-1:0] home_response_i,
    input logic [Banks-1:0][31:0] home_response_line_i,
    input logic [Banks-1:0] home_response_ready_i,
    // Held constant.
    input message_t symbol_i,
    input logic [31:0] symbol_line_i
);
  logic power_q = 1'b1;
  logic rst_n;
  message_t symbol_q;
  logic [31:0] symbol_line_q;
  assign rst_n = !power_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
    symbol_line_q <= symbol_line_i;
  end
  logic [Cores-1:0] request_ready, forward_valid, response_ready, response_valid;
  message_t [Cores-1:0] forward, response;
  logic [Cores-1:0][31:0] response_line;
  logic [Banks-1:0] home_request_valid, home_forward_ready, home_response_ready;
  logic [Banks-1:0] home_response_valid;
  message_t [Banks-1:0] home_request, home_response;
  logic [Banks-1:0][31:0] home_response_line;
  tutti_machine_network #(
      .Cores(Cores),
      .Sockets(Sockets),
      .Banks(Banks),
      .LineBytes(4),
      .HopLatency(1),
      .LineCycles(1),
      .LinkLatency(1),
      .LinkLineCycles(1),
      .LinkDepth(2)
  ) i_network (
      .clk_i,
      .rst_ni(rst_n),
      .request_valid_i,
      .request_ready_o(request_ready),
      .request_i,
      .forward_valid_o(forward_valid),
      .forward_ready_i,
      .forward_o(forward),
      .response_valid_i,
      .response_ready_o(response_ready),
      .response_i,
      .response_line_i,
      .response_valid_o(response_valid),
      .response_ready_i,
      .response_o(response),
      .response_line_o(response_line),
      .home_request_valid_o(home_request_valid),
      .home_request_ready_i,
      .home_request_o(home_request),
      .home_forward_valid_i,
      .home_forward_ready_o(home_forward_ready),
      .home_forward_i,
      .home_response_valid_i,
      .home_response_ready_o(home_response_ready),
      .home_response_i,
      .home_response_line_i,
      .home_response_valid_o(home_response_valid),
      .home_response_ready_i,
      .home_response_o(home_response),
      .home_response_line_o(home_response_line)
  );

  // The home of a line, written another way than in the network: the parity of four bits.
  function automatic logic home_bit(line_t line);
    return ^line[3:0];
  endfunction
  logic [Cores-1:0] lost_core;
  logic [Banks-1:0] lost_home;
  // Requests, forwards, responses that equal the symbol.
  logic [2:0][4:0] entered, left;
  logic [2:0][7:0] within_q;
  always_comb begin
    entered = '0;
    left = '0;
    for (int unsigned c = 0; c < Cores; ++c) begin
      lost_core[c] = (forward_valid[c] && forward[c].core != core_t'(c))
          || (response_valid[c] && (response[c].core != core_t'(c) || response[c].kind == Done));
      entered[0] += 5'(request_valid_i[c] && request_ready[c] && request_i[c] == symbol_i);
      left[1] += 5'(forward_valid[c] && forward_ready_i[c] && forward[c] == symbol_i);
      entered[2] += 5'(response_valid_i[c] && response_ready[c] && response_i[c] == symbol_i
          && response_line_i[c] == symbol_line_i);
      left[2] += 5'(response_valid[c] && response_ready_i[c] && response[c] == symbol_i
          && response_line[c] == symbol_line_i);
    end
    for (int unsigned b = 0; b < Banks; ++b) begin
      lost_home[b] = (home_request_valid[b] && home_bit(home_request[b].line) != 1'(b))
          || (home_response_valid[b] && (home_bit(home_response[b].line) != 1'(b)
            || home_response[b].kind != Done));
      left[0] += 5'(home_request_valid[b] && home_request_ready_i[b]
          && home_request[b] == symbol_i);
      entered[1] += 5'(home_forward_valid_i[b] && home_forward_ready[b]
          && home_forward_i[b] == symbol_i);
      entered[2] += 5'(home_response_valid_i[b] && home_response_ready[b]
          && home_response_i[b] == symbol_i && home_response_line_i[b] == symbol_line_i);
      left[2] += 5'(home_response_valid[b] && home_response_ready_i[b]
          && home_response[b] == symbol_i && home_response_line[b] == symbol_line_i);
    end
  end
  logic [4:0] quiet_q;
  logic any;
  assign any = {request_valid_i, response_valid_i, home_forward_valid_i, home_response_valid_i} != '0
      || {forward_ready_i, response_ready_i, home_request_ready_i, home_response_ready_i} != '1;
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      within_q <= '0;
      quiet_q <= '0;
    end else begin
      for (int unsigned v = 0; v < 3; ++v)
        within_q[v] <= within_q[v] + 8'(entered[v]) - 8'(left[v]);
      quiet_q <= any ? '0 : quiet_q == 5'd31 ? quiet_q : quiet_q + 5'd1;
    end
  end
  always_comb begin
    assume (power_q || (symbol_i == symbol_q && symbol_line_i == symbol_line_q));
    for (int unsigned c = 0; c < Cores; ++c) assume (32'(response_i[c].core) < Cores);
    for (int unsigned b = 0; b < Banks; ++b)
      assume (32'(home_forward_i[b].core) < Cores && 32'(home_response_i[b].core) < Cores);
    if (rst_n) begin
      a_caches: assert (lost_core == '0);
      a_homes: assert (lost_home == '0);
      a_before: assert (8'(left[0]) <= within_q[0] && 8'(left[1]) <= within_q[1]
          && 8'(left[2]) <= within_q[2]);
      a_out: assert (quiet_q < 5'(Quiet) || within_q == '0);
    end
    c_request: cover (rst_n && left[0] == 5'd2);
    c_response: cover (rst_n && quiet_q == 5'(Quiet - 3) && within_q[2] != '0);
    c_forward: cover (rst_n && within_q[1] >= 8'd4);
  end
endmodule
