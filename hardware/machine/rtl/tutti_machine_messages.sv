// SPDX-License-Identifier: Apache-2.0
/// What carries the messages of all mailboxes, and detects their end: a mesh of routers, one for each
/// core, with longer links between sockets, and the detector of hardware/detector with a node in each
/// socket. The detector's orders and replies have links of their own.
///
/// The cores of a socket form a rectangle that is a power of two wide; four sockets form a square, and
/// fewer stand in a row. Positions without a core have a router.
module tutti_machine_messages
  import tutti_machine_message_pkg::*;
#(
    /// 1 to 64, in all.
    parameter int unsigned Cores = tutti_machine_config_pkg::Cores,
    /// 1 to 4.
    parameter int unsigned Sockets = tutti_machine_config_pkg::Sockets,
    /// Hardware threads of a core, which share its router: thread t of core c is number
    /// c * Threads + t, in messages and at the detector.
    parameter int unsigned Threads = tutti_machine_config_pkg::Threads,
    /// Cycles from router to router, and entries of each queue.
    parameter int unsigned HopLatency = tutti_machine_config_pkg::MessageHop,
    parameter int unsigned Depth = tutti_machine_config_pkg::MessageDepth,
    /// The same of a link between sockets, which comes on top.
    parameter int unsigned LinkLatency = tutti_machine_config_pkg::MessageLink,
    parameter int unsigned LinkDepth = tutti_machine_config_pkg::MessageLinkDepth,
    /// See tutti_detector_mesh.
    parameter int unsigned DetectorHop = tutti_machine_config_pkg::DetectorHop,
    parameter int unsigned DetectorCentre = tutti_machine_config_pkg::DetectorCentre
) (
    input  logic                 clk_i,
    /// Synchronous reset, active low.
    input  logic                 rst_ni,
    /// Cores of each socket that run; the others count as idle.
    input  logic     [      7:0] each_i,
    input  logic     [Cores*Threads-1:0] runs_i,
    /// See tutti_machine_mailbox. Cores are numbered as built.
    input  logic     [Cores-1:0] out_valid_i,
    output logic     [Cores-1:0] out_ready_o,
    input  message_t             out_i       [Cores],
    output logic     [Cores-1:0] in_valid_o,
    input  logic     [Cores-1:0] in_ready_i,
    output message_t             in_o        [Cores],
    input  logic     [Cores*Threads-1:0] send_i,
    input  logic     [Cores*Threads-1:0] receive_i,
    input  logic     [Cores*Threads-1:0] idle_i,
    input  logic     [Cores*Threads-1:0] vote_i,
    input  logic     [Cores*Threads-1:0] left_i,
    output logic     [Cores*Threads-1:0] release_o,
    output logic     [Cores*Threads-1:0] unanimous_o,
    output logic     [Cores*Threads-1:0] enable_o,
    /// For the harness: {phase, begins, ends, detected} of the detector's waves, and its errors: three
    /// of each node, and an unexpected reply.
    output logic     [      4:0] wave_o,
    output logic     [Sockets*3:0] error_o
);
  if (Cores < 1 || Cores > 64) $fatal(1, "tutti_machine_messages: Cores must be 1 to 64");
  if (Sockets < 1 || Sockets > 4 || Cores % (Sockets < 1 ? 1 : Sockets) != 0)
    $fatal(1, "tutti_machine_messages: Sockets must be 1 to 4 and divide Cores");
  if (Threads != 1 && Threads != 2 && Threads != 4 && Threads != 8)
    $fatal(1, "tutti_machine_messages: Threads must be 1, 2, 4 or 8");
  if (Cores * Threads > 64)
    $fatal(1, "tutti_machine_messages: Cores * Threads must be at most 64");

  // A refused number of cores makes a small mesh, so that its elaboration ends soon.
  localparam int unsigned Each = Cores > 64 ? 1 : Cores / Sockets;
  localparam int unsigned Wide = columns_of(Each);
  localparam int unsigned High = (Each + Wide - 1) / Wide;
  localparam int unsigned SocketColumns = Sockets == 4 ? 2 : Sockets;
  localparam int unsigned SocketRows = Sockets == 4 ? 2 : 1;
  localparam int unsigned Columns = SocketColumns * Wide;
  localparam int unsigned Rows = SocketRows * High;
  localparam int unsigned Ports = tutti_detector_pkg::Ports;
  localparam int unsigned North = tutti_detector_pkg::North, East = tutti_detector_pkg::East,
      South = tutti_detector_pkg::South, Local = tutti_detector_pkg::Local;

  // Where a core is, as programs number them.
  function automatic place_t place_of(logic [7:0] core, logic [7:0] each);
    logic [7:0] socket, k;
    socket = '0;
    k = core;
    for (int unsigned s = 1; s < Sockets; s++)
      if (k >= each) begin
        k = k - each;
        socket = socket + 8'd1;
      end
    return '{
        x: 5'((socket % 8'(SocketColumns)) * 8'(Wide) + k % 8'(Wide)),
        y: 5'((socket / 8'(SocketColumns)) * 8'(High) + k / 8'(Wide))
    };
  endfunction

  logic [Ports-1:0] in_valid[Rows][Columns], in_ready[Rows][Columns];
  logic [Ports-1:0] out_valid[Rows][Columns], out_ready[Rows][Columns];
  flit_t [Ports-1:0] in[Rows][Columns], out[Rows][Columns];

  for (genvar y = 0; y < Rows; y++) begin : gen_row
    for (genvar x = 0; x < Columns; x++) begin : gen_column
      localparam int unsigned Socket = (y / High) * SocketColumns + x / Wide;
      localparam int unsigned K = (y % High) * Wide + x % Wide;
      localparam int unsigned C = Socket * Each + K;

      tutti_machine_message_router #(
          .Latency(HopLatency),
          .Depth  (Depth)
      ) u_router (
          .clk_i,
          .rst_ni,
          .here_i ('{x: 5'(x), y: 5'(y)}),
          .valid_i(in_valid[y][x]),
          .ready_o(in_ready[y][x]),
          .flit_i (in[y][x]),
          .valid_o(out_valid[y][x]),
          .ready_i(out_ready[y][x]),
          .flit_o (out[y][x])
      );

      if (K < Each) begin : gen_core
        assign in_valid[y][x][Local] = out_valid_i[C];
        assign in[y][x][Local] = '{
                to: place_of(out_i[C].to >> $clog2(Threads), each_i),
                message: out_i[C]
            };
        assign out_ready_o[C] = in_ready[y][x][Local];
        assign in_valid_o[C] = out_valid[y][x][Local];
        assign in_o[C] = out[y][x][Local].message;
        assign out_ready[y][x][Local] = in_ready_i[C];
      end else begin : gen_nobody
        assign in_valid[y][x][Local] = 1'b0;
        assign in[y][x][Local] = '0;
        assign out_ready[y][x][Local] = 1'b1;
      end

      // Each router's outgoing links. A port without a neighbour takes everything and delivers nothing.
      for (genvar p = 0; p < 4; p++) begin : gen_port
        localparam bit Inside = p == North ? y > 0 : p == East ? x < Columns - 1
            : p == South ? y < Rows - 1 : x > 0;
        localparam int unsigned OtherX = !Inside ? x : p == East ? x + 1 : p == North || p == South ? x : x - 1;
        localparam int unsigned OtherY = !Inside ? y : p == South ? y + 1 : p == North ? y - 1 : y;
        localparam int unsigned Back = (p + 2) % 4;
        localparam bit Crosses = x / Wide != OtherX / Wide || y / High != OtherY / High;
        if (Inside && Crosses) begin : gen_link
          tutti_machine_queue #(
              .Width  ($bits(flit_t)),
              .Depth  (LinkDepth),
              .Latency(LinkLatency)
          ) u_link (
              .clk_i,
              .rst_ni,
              .valid_i(out_valid[y][x][p]),
              .ready_o(out_ready[y][x][p]),
              .data_i (out[y][x][p]),
              .valid_o(in_valid[OtherY][OtherX][Back]),
              .ready_i(in_ready[OtherY][OtherX][Back]),
              .data_o (in[OtherY][OtherX][Back])
          );
        end else if (Inside) begin : gen_wire
          assign in_valid[OtherY][OtherX][Back] = out_valid[y][x][p];
          assign in[OtherY][OtherX][Back] = out[y][x][p];
          assign out_ready[y][x][p] = in_ready[OtherY][OtherX][Back];
        end else begin : gen_edge
          assign out_ready[y][x][p] = 1'b1;
          assign in_valid[y][x][p] = 1'b0;
          assign in[y][x][p] = '0;
        end
      end
    end
  end

  // The detector: a node for each socket.
  localparam int unsigned CountBits = tutti_detector_pkg::CountBits;
  logic [Sockets-1:0] releases, unanimous, enables, unused_ready, unused_valid, unused_missing;
  logic [Sockets-1:0][CountBits-1:0] unused_count, unused_data;
  logic [Sockets-1:0][2:0] errors;
  tutti_detector_pkg::phase_t phase;
  logic begins, ends, detected, strange;
  tutti_detector_mesh #(
      .Columns     (SocketColumns),
      .Rows        (SocketRows),
      .Cores       (Each * Threads),
      .HopLatency  (DetectorHop),
      .MasterCentre(DetectorCentre)
  ) u_detector (
      .clk_i,
      .rst_ni,
      .run_i       (1'b1),
      .send_i      (send_i),
      .receive_i   (receive_i),
      .idle_i      (idle_i | ~runs_i),
      .vote_i      (vote_i | ~runs_i),
      .left_i      (left_i | ~runs_i),
      .release_o   (releases),
      .unanimous_o (unanimous),
      .enable_o    (enables),
      .count_o     (unused_count),
      .error_o     (errors),
      .data_valid_i('0),
      .data_ready_o(unused_ready),
      .data_to_i   ('0),
      .data_i      ('0),
      .data_valid_o(unused_valid),
      .data_ready_i('1),
      .data_o      (unused_data),
      .begin_o     (begins),
      .phase_o     (phase),
      .end_o       (ends),
      .detected_o  (detected),
      .missing_o   (unused_missing),
      .strange_o   (strange)
  );
  for (genvar h = 0; h < Cores * Threads; h++) begin : gen_release
    assign release_o[h] = releases[h/(Each*Threads)];
    assign unanimous_o[h] = unanimous[h/(Each*Threads)];
    assign enable_o[h] = enables[h/(Each*Threads)];
  end

  logic strange_q;
  always_ff @(posedge clk_i) strange_q <= rst_ni && (strange_q || strange);
  assign wave_o = {phase, begins, ends, detected};
  assign error_o = {strange_q, errors};

  logic unused;
  assign unused = ^{unused_count, unused_data, unused_ready, unused_valid, unused_missing};
endmodule
