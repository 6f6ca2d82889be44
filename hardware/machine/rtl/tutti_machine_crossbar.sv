// SPDX-License-Identifier: Apache-2.0
/// One virtual network of a socket: every input reaches every output. The inputs of an output take
/// turns; a message with a line occupies the output longer. A message is in its output's queue
/// `Latency` cycles after its turn.
module tutti_machine_crossbar #(
    parameter int unsigned Inputs = 4,
    parameter int unsigned Outputs = 4,
    parameter int unsigned Width = 64,
    /// Cycles of a message with a line, 1 to 255.
    parameter int unsigned LineCycles = 2,
    /// Cycles of the way, and entries of an output's queue.
    parameter int unsigned Latency = 6,
    parameter int unsigned Depth = 8,
    localparam int unsigned OutputBits = Outputs > 1 ? $clog2(Outputs) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic [Inputs-1:0] valid_i,
    output logic [Inputs-1:0] ready_o,
    /// The output to which the message goes, and whether it has a line.
    input logic [Inputs-1:0][OutputBits-1:0] to_i,
    input logic [Inputs-1:0] long_i,
    input logic [Inputs-1:0][Width-1:0] data_i,
    output logic [Outputs-1:0] valid_o,
    input logic [Outputs-1:0] ready_i,
    output logic [Outputs-1:0][Width-1:0] data_o
);
  localparam int unsigned InputBits = Inputs > 1 ? $clog2(Inputs) : 1;
  if (Inputs < 1 || Outputs < 1)
    $fatal(1, "tutti_machine_crossbar: Inputs and Outputs must be at least 1");
  if (LineCycles < 1 || LineCycles > 255)
    $fatal(1, "tutti_machine_crossbar: LineCycles must be 1 to 255");

  typedef logic [InputBits-1:0] input_t;
  logic [Outputs-1:0][Inputs-1:0] wants;
  logic [Outputs-1:0] free, gives;
  input_t [Outputs-1:0] chosen;
  input_t [Outputs-1:0] turn_q;
  logic [Outputs-1:0][7:0] occupied_q;

  always_comb begin
    wants = '0;
    chosen = '0;
    gives = '0;
    ready_o = '0;
    if (valid_i != '0) begin
      for (int unsigned i = 0; i < Inputs; ++i) if (valid_i[i]) wants[to_i[i]][i] = 1'b1;
      for (int unsigned o = 0; o < Outputs; ++o) begin
        if (wants[o] != '0 && free[o] && occupied_q[o] == '0) begin
          gives[o] = 1'b1;
          for (int unsigned i = Inputs; i > 0; --i) if (wants[o][i-1]) chosen[o] = input_t'(i - 1);
          for (int unsigned i = Inputs; i > 0; --i)
            if (wants[o][i-1] && input_t'(i - 1) >= turn_q[o]) chosen[o] = input_t'(i - 1);
          ready_o[chosen[o]] = 1'b1;
        end
      end
    end
  end

  for (genvar o = 0; o < Outputs; ++o) begin : gen_output
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        turn_q[o] <= '0;
        occupied_q[o] <= '0;
      end else if (gives[o]) begin
        turn_q[o] <= chosen[o] == input_t'(Inputs - 1) ? '0 : chosen[o] + input_t'(1);
        occupied_q[o] <= long_i[chosen[o]] ? 8'(LineCycles - 1) : '0;
      end else if (occupied_q[o] != '0) begin
        occupied_q[o] <= occupied_q[o] - 8'd1;
      end
    end
    tutti_machine_queue #(
        .Width(Width),
        .Depth(Depth),
        .Latency(Latency)
    ) i_queue (
        .clk_i,
        .rst_ni,
        .valid_i(gives[o]),
        .ready_o(free[o]),
        .data_i(data_i[chosen[o]]),
        .valid_o(valid_o[o]),
        .ready_i(ready_i[o]),
        .data_o(data_o[o])
    );
  end
endmodule
