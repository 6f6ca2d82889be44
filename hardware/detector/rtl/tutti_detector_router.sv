// SPDX-License-Identifier: Apache-2.0
/// A router with five ports: messages go first along the row, then along the column; the senders of
/// an output take turns. Routers cannot wait for each other in a cycle, and no message is lost:
/// each port's ready signal comes from a register, and a message stays until it is taken.
module tutti_detector_router
  import tutti_detector_pkg::*;
#(
    /// The master's port at its node: 1 for the western port, 0 for the local port.
    parameter int unsigned MasterWest = 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Position of this router.
    input place_t here_i,
    input logic [Ports-1:0] valid_i,
    output logic [Ports-1:0] ready_o,
    input message_t [Ports-1:0] message_i,
    output logic [Ports-1:0] valid_o,
    input logic [Ports-1:0] ready_i,
    output message_t [Ports-1:0] message_o
);
  /*verilator no_inline_module*/
  if (MasterWest > 1) $fatal(1, "tutti_detector_router: MasterWest must be 0 or 1");

  logic [Ports-1:0] head_valid, head_ready;
  message_t [Ports-1:0] head;
  // Indexed by [output][input].
  logic [Ports-1:0][Ports-1:0] wants, grant;
  // Inputs behind the one that last had the output.
  logic [Ports-1:0][Ports-1:0] after_q;

  for (genvar i = 0; i < Ports; ++i) begin : gen_port
    tutti_detector_fifo i_fifo (
        .clk_i,
        .rst_ni,
        .valid_i(valid_i[i]),
        .ready_o(ready_o[i]),
        .message_i(message_i[i]),
        .valid_o(head_valid[i]),
        .ready_i(head_ready[i]),
        .message_o(head[i])
    );
  end

  always_comb begin
    wants = '0;
    for (int unsigned i = 0; i < Ports; ++i) begin
      if (head[i].to.x > here_i.x) wants[East][i] = head_valid[i];
      else if (head[i].to.x < here_i.x) wants[West][i] = head_valid[i];
      else if (head[i].to.y > here_i.y) wants[South][i] = head_valid[i];
      else if (head[i].to.y < here_i.y) wants[North][i] = head_valid[i];
      else if (MasterWest == 1 && head[i].to_master) wants[West][i] = head_valid[i];
      else wants[Local][i] = head_valid[i];
    end
  end

  always_comb begin
    logic [Ports-1:0] open;
    for (int unsigned o = 0; o < Ports; ++o) begin
      open = (wants[o] & after_q[o]) != '0 ? wants[o] & after_q[o] : wants[o];
      grant[o] = open & (~open + Ports'(1));
      valid_o[o] = wants[o] != '0;
      message_o[o] = '0;
      for (int unsigned i = 0; i < Ports; ++i) if (grant[o][i]) message_o[o] = head[i];
    end
  end

  always_comb begin
    head_ready = '0;
    for (int unsigned o = 0; o < Ports; ++o) if (ready_i[o]) head_ready = head_ready | grant[o];
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned o = 0; o < Ports; ++o) begin
      if (!rst_ni) after_q[o] <= '0;
      // A waiting message keeps its turn.
      else if (valid_o[o])
        after_q[o] <= ready_i[o] ? ~(grant[o] | (grant[o] - Ports'(1))) : ~(grant[o] - Ports'(1));
    end
  end

`ifdef VERILATOR
  message_t [Ports-1:0] held_q;
  logic [Ports-1:0] stalled_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= rst_ni ? valid_o & ~ready_i : '0;
    held_q <= message_o;
    for (int unsigned o = 0; o < Ports; ++o) begin
      if (rst_ni && stalled_q[o]) a_message_stays: assert (valid_o[o] && message_o[o] == held_q[o]);
    end
  end
`endif
endmodule
