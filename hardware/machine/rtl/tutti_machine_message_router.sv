// SPDX-License-Identifier: Apache-2.0
/// A router of the mesh in which messages travel: along the row first, then along the column, so that
/// routers cannot wait for each other in a cycle. The inputs of an output take turns. A message that
/// is not taken waits in the queue of its output, and a full queue stops the inputs.
module tutti_machine_message_router
  import tutti_machine_message_pkg::*;
#(
    /// Cycles to the next router, and entries of an output's queue.
    parameter int unsigned Latency = 2,
    parameter int unsigned Depth = 4,
    localparam int unsigned Ports = tutti_detector_pkg::Ports
) (
    input  logic               clk_i,
    /// Synchronous reset, active low.
    input  logic               rst_ni,
    /// Position of this router.
    input  place_t             here_i,
    /// The ports as tutti_detector_pkg numbers them: north, east, south, west, local.
    input  logic   [Ports-1:0] valid_i,
    output logic   [Ports-1:0] ready_o,
    input  flit_t  [Ports-1:0] flit_i,
    output logic   [Ports-1:0] valid_o,
    input  logic   [Ports-1:0] ready_i,
    output flit_t  [Ports-1:0] flit_o
);
  logic [Ports-1:0][2:0] way;
  always_comb begin
    for (int unsigned i = 0; i < Ports; ++i) begin
      if (flit_i[i].to.x > here_i.x) way[i] = 3'(tutti_detector_pkg::East);
      else if (flit_i[i].to.x < here_i.x) way[i] = 3'(tutti_detector_pkg::West);
      else if (flit_i[i].to.y > here_i.y) way[i] = 3'(tutti_detector_pkg::South);
      else if (flit_i[i].to.y < here_i.y) way[i] = 3'(tutti_detector_pkg::North);
      else way[i] = 3'(tutti_detector_pkg::Local);
    end
  end

  tutti_machine_crossbar #(
      .Inputs(Ports),
      .Outputs(Ports),
      .Width($bits(flit_t)),
      .LineCycles(1),
      .Latency(Latency),
      .Depth(Depth)
  ) u_crossbar (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .to_i(way),
      .long_i('0),
      .data_i(flit_i),
      .valid_o,
      .ready_i,
      .data_o(flit_o)
  );
endmodule
