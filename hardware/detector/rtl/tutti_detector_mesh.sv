// SPDX-License-Identifier: Apache-2.0
/// A mesh of nodes with the master, which is at the origin, one link away from node (0, 0) like the
/// machine's bridge, or within the node in the centre.
module tutti_detector_mesh
  import tutti_detector_pkg::*;
#(
    /// Size of the mesh, 1 to 16 in each direction.
    parameter int unsigned Columns = 2,
    parameter int unsigned Rows = 2,
    /// Cores of a node.
    parameter int unsigned Cores = 4,
    /// Cycles from router to router, 2 to 1024.
    parameter int unsigned HopLatency = 150,
    /// 0 puts the master at the origin, 1 in the centre.
    parameter int unsigned MasterCentre = 0,
    /// Width of the values that threads give, at most 32; 0: there are none.
    parameter int unsigned ValueBits = 0,
    localparam int unsigned Nodes = Columns * Rows
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// The master starts waves while this is set.
    input logic run_i,
    /// Wires of the cores; node (x, y) is number y * Columns + x. See tutti_detector_tree.
    input logic [Nodes-1:0][Cores-1:0] send_i,
    input logic [Nodes-1:0][Cores-1:0] receive_i,
    input logic [Nodes-1:0][Cores-1:0] idle_i,
    input logic [Nodes-1:0][Cores-1:0] vote_i,
    input logic [Nodes-1:0][Cores-1:0] left_i,
    input total_t [Nodes-1:0][Cores-1:0] total_i,
    output logic [Nodes-1:0] release_o,
    output logic [Nodes-1:0] unanimous_o,
    output total_t [Nodes-1:0] total_o,
    output logic [Nodes-1:0] enable_o,
    output logic [Nodes-1:0][CountBits-1:0] count_o,
    output logic [Nodes-1:0][2:0] error_o,
    /// Messages between the nodes' threads. A place is {y, x}.
    input logic [Nodes-1:0] data_valid_i,
    output logic [Nodes-1:0] data_ready_o,
    input place_t [Nodes-1:0] data_to_i,
    input logic [Nodes-1:0][CountBits-1:0] data_i,
    output logic [Nodes-1:0] data_valid_o,
    input logic [Nodes-1:0] data_ready_i,
    output logic [Nodes-1:0][CountBits-1:0] data_o,
    /// See tutti_detector_master.
    output logic begin_o,
    output phase_t phase_o,
    output logic end_o,
    output logic detected_o,
    output logic [Nodes-1:0] missing_o,
    output logic strange_o
);
  if (Columns < 1 || Columns > 16) $fatal(1, "tutti_detector_mesh: Columns must be 1 to 16");
  if (Rows < 1 || Rows > 16) $fatal(1, "tutti_detector_mesh: Rows must be 1 to 16");
  if (HopLatency < 2 || HopLatency > 1024)
    $fatal(1, "tutti_detector_mesh: HopLatency must be 2 to 1024");
  if (MasterCentre > 1) $fatal(1, "tutti_detector_mesh: MasterCentre must be 0 or 1");

  localparam int unsigned HomeColumn = MasterCentre == 1 ? Columns / 2 : 0;
  localparam int unsigned HomeRow = MasterCentre == 1 ? Rows / 2 : 0;
  localparam int unsigned Home = HomeRow * Columns + HomeColumn;
  localparam place_t HomePlace = '{x: PlaceBits'(HomeColumn), y: PlaceBits'(HomeRow)};
  // The router's queue takes one cycle.
  localparam int unsigned LinkLatency = HopLatency - 1;

  // Signals into and out of every node, by port; those of the master's port, by node.
  logic [Nodes-1:0][3:0] in_valid, in_ready, out_valid, out_ready;
  message_t [Nodes-1:0][3:0] in, out;
  logic [Nodes-1:0] to_master_valid, from_master_valid, from_master_ready;
  message_t [Nodes-1:0] to_master, from_master;

  message_t order, reply;
  logic order_valid, order_ready, reply_valid;

  assign order.kind = Order;
  assign order.to_master = 1'b0;
  assign order.from = HomePlace;
  assign order.report.black = 1'b0;
  assign order.report.count = '0;

  tutti_detector_master #(
      .Columns(Columns),
      .Rows(Rows),
      .ValueBits(ValueBits)
  ) i_master (
      .clk_i,
      .rst_ni,
      .run_i,
      .order_valid_o(order_valid),
      .order_ready_i(order_ready),
      .order_to_o(order.to),
      .order_phase_o(order.report.phase),
      .order_vote_o(order.report.vote),
      .order_total_o(order.report.total),
      .reply_valid_i(reply_valid),
      .reply_from_i(reply.from),
      .reply_phase_i(reply.report.phase),
      .reply_black_i(reply.report.black),
      .reply_vote_i(reply.report.vote),
      .reply_count_i(reply.report.count),
      .reply_total_i(reply.report.total),
      .begin_o,
      .phase_o,
      .end_o,
      .detected_o,
      .missing_o,
      .strange_o
  );

  if (MasterCentre == 1) begin : gen_centre
    assign order_ready = from_master_ready[Home];
    assign reply_valid = to_master_valid[Home];
    assign reply = to_master[Home];
  end

  logic unused;
  assign unused = ^{reply, to_master, to_master_valid, from_master_ready};

  for (genvar y = 0; y < Rows; ++y) begin : gen_row
    for (genvar x = 0; x < Columns; ++x) begin : gen_column
      localparam int unsigned N = y * Columns + x;
      assign from_master_valid[N] = MasterCentre == 1 && N == Home && order_valid;
      assign from_master[N] = order;

      tutti_detector_tile #(
          .Cores(Cores),
          .ValueBits(ValueBits),
          .MasterWest(1 - MasterCentre)
      ) i_tile (
          .clk_i,
          .rst_ni,
          .here_i('{x: PlaceBits'(x), y: PlaceBits'(y)}),
          .master_i(HomePlace),
          .send_i(send_i[N]),
          .receive_i(receive_i[N]),
          .idle_i(idle_i[N]),
          .vote_i(vote_i[N]),
          .left_i(left_i[N]),
          .total_i(total_i[N]),
          .release_o(release_o[N]),
          .unanimous_o(unanimous_o[N]),
          .total_o(total_o[N]),
          .enable_o(enable_o[N]),
          .count_o(count_o[N]),
          .error_o(error_o[N]),
          .data_valid_i(data_valid_i[N]),
          .data_ready_o(data_ready_o[N]),
          .data_to_i(data_to_i[N]),
          .data_i(data_i[N]),
          .data_valid_o(data_valid_o[N]),
          .data_ready_i(data_ready_i[N]),
          .data_o(data_o[N]),
          .master_valid_i(from_master_valid[N]),
          .master_ready_o(from_master_ready[N]),
          .master_message_i(from_master[N]),
          .master_valid_o(to_master_valid[N]),
          .master_message_o(to_master[N]),
          .valid_i(in_valid[N]),
          .ready_o(in_ready[N]),
          .message_i(in[N]),
          .valid_o(out_valid[N]),
          .ready_i(out_ready[N]),
          .message_o(out[N])
      );

      // Each node's outgoing links. A port without a neighbour accepts every message and delivers
      // none.
      for (genvar p = 0; p < 4; ++p) begin : gen_port
        localparam bit Inside = p == North ? y > 0 : p == East ? x < Columns - 1
            : p == South ? y < Rows - 1 : x > 0;
        localparam int unsigned Other = !Inside ? N : p == North ? N - Columns : p == East ? N + 1
            : p == South ? N + Columns : N - 1;
        localparam int unsigned Back = (p + 2) % 4;
        if (Inside) begin : gen_link
          tutti_detector_link #(
              .Latency(LinkLatency)
          ) i_link (
              .clk_i,
              .rst_ni,
              .valid_i(out_valid[N][p]),
              .ready_o(out_ready[N][p]),
              .message_i(out[N][p]),
              .valid_o(in_valid[Other][Back]),
              .ready_i(in_ready[Other][Back]),
              .message_o(in[Other][Back])
          );
        end else if (MasterCentre == 0 && N == Home && p == West) begin : gen_bridge
          tutti_detector_link #(
              .Latency(LinkLatency)
          ) i_orders (
              .clk_i,
              .rst_ni,
              .valid_i(order_valid),
              .ready_o(order_ready),
              .message_i(order),
              .valid_o(in_valid[N][p]),
              .ready_i(in_ready[N][p]),
              .message_o(in[N][p])
          );
          tutti_detector_link #(
              .Latency(LinkLatency)
          ) i_replies (
              .clk_i,
              .rst_ni,
              .valid_i(out_valid[N][p]),
              .ready_o(out_ready[N][p]),
              .message_i(out[N][p]),
              .valid_o(reply_valid),
              .ready_i(1'b1),
              .message_o(reply)
          );
        end else begin : gen_edge
          assign out_ready[N][p] = 1'b1;
          assign in_valid[N][p] = 1'b0;
          assign in[N][p] = '0;
        end
      end
    end
  end

`ifdef VERILATOR
  for (genvar n = 0; n < Nodes; ++n) begin : gen_check
    for (genvar p = 0; p < 4; ++p) begin : gen_side
      localparam bit Wall = p == North ? n < Columns : p == East ? n % Columns == Columns - 1
          : p == South ? n >= Nodes - Columns
          : n % Columns == 0 && !(MasterCentre == 0 && n == Home);
      if (Wall) begin : gen_wall
        always_ff @(posedge clk_i) if (rst_ni) a_nothing_leaves_the_mesh: assert (!out_valid[n][p]);
      end
    end
  end
`endif
endmodule
