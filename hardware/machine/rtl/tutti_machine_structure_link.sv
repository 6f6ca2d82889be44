// SPDX-License-Identifier: Apache-2.0
// A link from one socket's structure to another's: what goes in comes out `latency_i` cycles later,
// in order, if it is taken. The latency is an input, so that one build measures many.
module tutti_machine_structure_link #(
    parameter int unsigned Width = 6,
    /// Messages on their way, a power of two, 2 to 256. A barrier has two at most.
    parameter int unsigned Depth = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    /// 1 to 1023; it stays the same while messages are on their way.
    input  logic [      9:0] latency_i,
    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);
  if (Depth < 2 || Depth > 256 || (Depth & (Depth - 1)) != 0)
    $fatal(1, "tutti_machine_structure_link: Depth must be a power of two from 2 to 256");

  localparam int unsigned PlaceBits = $clog2(Depth);
  logic [Width-1:0] data_q[Depth];
  // When a message is at the end. A message is taken within 1024 cycles from then.
  logic [10:0] due_q[Depth];
  logic [10:0] time_q, over;
  logic [PlaceBits:0] write_q, read_q;
  assign ready_o = write_q - read_q != (PlaceBits + 1)'(Depth);
  assign over = time_q - due_q[read_q[PlaceBits-1:0]];
  assign valid_o = write_q != read_q && !over[10];
  assign data_o = data_q[read_q[PlaceBits-1:0]];
  logic unused;
  assign unused = ^over[9:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      time_q  <= '0;
      write_q <= '0;
      read_q  <= '0;
    end else begin
      time_q <= time_q + 1'b1;
      if (valid_i && ready_o) begin
        data_q[write_q[PlaceBits-1:0]] <= data_i;
        due_q[write_q[PlaceBits-1:0]]  <= time_q + 11'(latency_i);
        write_q                        <= write_q + 1'b1;
      end
      if (valid_o && ready_i) read_q <= read_q + 1'b1;
    end
  end
endmodule
