// SPDX-License-Identifier: Apache-2.0
/// A wire of some length with a queue at its end: what goes in comes out `Latency` cycles later, in
/// order, if it is taken. At most `Depth` entries are on the wire and in the queue together.
module tutti_machine_queue #(
    parameter int unsigned Width = 64,
    /// Entries, 1 to 256.
    parameter int unsigned Depth = 4,
    /// Cycles, 1 to 1023.
    parameter int unsigned Latency = 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input logic [Width-1:0] data_i,
    output logic valid_o,
    input logic ready_i,
    output logic [Width-1:0] data_o
);
  localparam int unsigned PlaceBits = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned TimeBits = $clog2(Latency + 1);
  if (Width < 1) $fatal(1, "tutti_machine_queue: Width must be at least 1");
  if (Depth < 1 || Depth > 256) $fatal(1, "tutti_machine_queue: Depth must be 1 to 256");
  if (Latency < 1 || Latency > 1023) $fatal(1, "tutti_machine_queue: Latency must be 1 to 1023");

  typedef logic [PlaceBits-1:0] place_t;
  typedef logic [TimeBits-1:0] ticks_t;
  function automatic place_t next(place_t place);
    return place == place_t'(Depth - 1) ? '0 : place + place_t'(1);
  endfunction

  logic [Width-1:0] data_q[Depth];
  // When an entry is at the end of the wire. At most one goes in a cycle, so that no two arrive
  // together, and each arrives before the time has gone round.
  ticks_t arrival_q[Depth];
  ticks_t time_q;
  place_t write_q, arrive_q, read_q;
  logic [PlaceBits:0] travelling_q, waiting_q;
  logic pushes, pops, arrives;
  assign ready_o = travelling_q + waiting_q != (PlaceBits + 1)'(Depth);
  assign pushes = valid_i && ready_o;
  assign pops = valid_o && ready_i;
  assign arrives = Latency == 1 ? pushes : travelling_q != '0 && arrival_q[arrive_q] == time_q;
  assign valid_o = waiting_q != '0;
  assign data_o = data_q[read_q];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      time_q <= '0;
      write_q <= '0;
      arrive_q <= '0;
      read_q <= '0;
      travelling_q <= '0;
      waiting_q <= '0;
    end else begin
      time_q <= time_q + ticks_t'(1);
      if (pushes) write_q <= next(write_q);
      if (arrives) arrive_q <= next(arrive_q);
      if (pops) read_q <= next(read_q);
      if (pushes != arrives)
        travelling_q <= pushes ? travelling_q + (PlaceBits + 1)'(1)
            : travelling_q - (PlaceBits + 1)'(1);
      if (arrives != pops)
        waiting_q <= arrives ? waiting_q + (PlaceBits + 1)'(1) : waiting_q - (PlaceBits + 1)'(1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (pushes) begin
      data_q[write_q] <= data_i;
      arrival_q[write_q] <= time_q + ticks_t'(Latency - 1);
    end
  end
endmodule
