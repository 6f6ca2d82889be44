// SPDX-License-Identifier: Apache-2.0
/// A link from one socket to another: three virtual networks share a wire and have a queue each at
/// its end, so that none waits for another's receiver. They take turns; a line needs LineCycles.
module tutti_machine_link #(
    /// Bits of a message without and with a line.
    parameter int unsigned Width = 64,
    parameter int unsigned LongWidth = 576,
    /// Cycles of a message with a line, 1 to 255.
    parameter int unsigned LineCycles = 8,
    /// Cycles of the wire, and entries of each queue together with its part of the wire.
    parameter int unsigned Latency = 48,
    parameter int unsigned Depth = 16
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Requests, forwards, responses.
    input logic [2:0] valid_i,
    output logic [2:0] ready_o,
    input logic [1:0][Width-1:0] short_i,
    input logic [LongWidth-1:0] long_i,
    /// The response has a line.
    input logic has_line_i,
    output logic [2:0] valid_o,
    input logic [2:0] ready_i,
    output logic [1:0][Width-1:0] short_o,
    output logic [LongWidth-1:0] long_o
);
  if (LineCycles < 1 || LineCycles > 255)
    $fatal(1, "tutti_machine_link: LineCycles must be 1 to 255");

  logic [2:0] free, wants, gives;
  logic [1:0] turn_q;
  logic [7:0] occupied_q;
  assign wants = occupied_q == '0 ? valid_i & free : '0;
  always_comb begin
    gives = '0;
    unique case (turn_q)
      2'd0: gives = wants[0] ? 3'b001 : wants[1] ? 3'b010 : wants & 3'b100;
      2'd1: gives = wants[1] ? 3'b010 : wants[2] ? 3'b100 : wants & 3'b001;
      default: gives = wants[2] ? 3'b100 : wants[0] ? 3'b001 : wants & 3'b010;
    endcase
  end
  assign ready_o = gives;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= '0;
      occupied_q <= '0;
    end else if (gives != '0) begin
      turn_q <= gives[0] ? 2'd1 : gives[1] ? 2'd2 : 2'd0;
      occupied_q <= gives[2] && has_line_i ? 8'(LineCycles - 1) : '0;
    end else if (occupied_q != '0) begin
      occupied_q <= occupied_q - 8'd1;
    end
  end

  for (genvar v = 0; v < 2; ++v) begin : gen_short
    tutti_machine_queue #(
        .Width(Width),
        .Depth(Depth),
        .Latency(Latency)
    ) i_queue (
        .clk_i,
        .rst_ni,
        .valid_i(gives[v]),
        .ready_o(free[v]),
        .data_i(short_i[v]),
        .valid_o(valid_o[v]),
        .ready_i(ready_i[v]),
        .data_o(short_o[v])
    );
  end
  tutti_machine_queue #(
      .Width(LongWidth),
      .Depth(Depth),
      .Latency(Latency)
  ) i_long (
      .clk_i,
      .rst_ni,
      .valid_i(gives[2]),
      .ready_o(free[2]),
      .data_i(long_i),
      .valid_o(valid_o[2]),
      .ready_i(ready_i[2]),
      .data_o(long_o)
  );
endmodule
