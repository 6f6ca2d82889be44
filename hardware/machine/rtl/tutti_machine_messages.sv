// SPDX-License-Identifier: Apache-2.0
/// What carries the messages of all mailboxes, and detects their end: a mesh of routers, one for each
/// core, with longer links between sockets, and for each group of threads the detector of
/// hardware/detector with a node in each socket. The detectors' orders and replies have links of their
/// own. The last groups are local: their threads in each socket are a group of their own, which needs no
/// links.
///
/// A thread is in one group at a time. The groups of other sockets' threads are known as late as a
/// message from there could tell them. A thread that has come from group 0 into another is not idle
/// before group 0 may send again: then all have come.
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
    parameter int unsigned DetectorCentre = tutti_machine_config_pkg::DetectorCentre,
    /// Groups of threads, 1 to 8, and how many of them are local; group 0 is not.
    parameter int unsigned Groups = tutti_machine_config_pkg::MessageGroups,
    parameter int unsigned LocalGroups = Groups < 2 ? 0 : tutti_machine_config_pkg::MessageLocalGroups,
    /// Width of the values that threads give: 1 to 32, or 0.
    parameter int unsigned ValueBits = 32
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
    input  member_t              member_i    [Cores*Threads],
    output group_reply_t         group_o     [Cores*Threads],
    /// For the harness: {phase, begins, ends, detected} of the waves of group 0, and the errors of all
    /// detectors: three of each node, and an unexpected reply.
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
  if (Groups < 1 || Groups > 8) $fatal(1, "tutti_machine_messages: Groups must be 1 to 8");
  if (LocalGroups >= Groups)
    $fatal(1, "tutti_machine_messages: LocalGroups must be less than Groups");
  // Otherwise a thread might be told to send before the groups are known to its socket.
  if (Groups > 1 && Sockets > 1 && LinkLatency > DetectorHop)
    $fatal(1, "tutti_machine_messages: LinkLatency must be at most DetectorHop");

  // A refused number of cores makes a small mesh, so that its elaboration ends soon.
  localparam int unsigned Each = Cores * Threads > 64 ? 1 : Cores / Sockets;
  localparam int unsigned Wide = columns_of(Each);
  localparam int unsigned High = (Each + Wide - 1) / Wide;
  localparam int unsigned SocketColumns = Sockets == 4 ? 2 : Sockets;
  localparam int unsigned SocketRows = Sockets == 4 ? 2 : 1;
  localparam int unsigned Columns = SocketColumns * Wide;
  localparam int unsigned Rows = SocketRows * High;
  localparam int unsigned Ports = tutti_detector_pkg::Ports;
  localparam int unsigned North = tutti_detector_pkg::North, East = tutti_detector_pkg::East,
      South = tutti_detector_pkg::South, Local = tutti_detector_pkg::Local;

  // The socket of a core, as programs number them, and its place there.
  typedef struct packed {
    logic [7:0] socket;
    logic [7:0] k;
  } home_t;
  function automatic home_t home_of(logic [7:0] core, logic [7:0] each);
    logic [7:0] socket, k;
    socket = '0;
    k = core;
    for (int unsigned s = 1; s < Sockets; s++)
      if (k >= each) begin
        k = k - each;
        socket = socket + 8'd1;
      end
    return '{socket: socket, k: k};
  endfunction
  function automatic place_t place_of(home_t home);
    return '{
        x: 5'((home.socket % 8'(SocketColumns)) * 8'(Wide) + home.k % 8'(Wide)),
        y: 5'((home.socket / 8'(SocketColumns)) * 8'(High) + home.k / 8'(Wide))
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
                to: place_of(home_of(out_i[C].to >> $clog2(Threads), each_i)),
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

  // Threads in all, and those of a socket.
  localparam int unsigned Harts = Cores * Threads;
  localparam int unsigned SocketHarts = Each * Threads;

  // The groups of all threads, as each socket knows them.
  group_t [Sockets-1:0][Harts-1:0] known;
  for (genvar s = 0; s < Sockets; s++) begin : gen_there
    for (genvar from = 0; from < Sockets; from++) begin : gen_from
      localparam int unsigned Hops = (s % SocketColumns > from % SocketColumns ?
          s % SocketColumns - from % SocketColumns : from % SocketColumns - s % SocketColumns) +
          (s / SocketColumns != from / SocketColumns ? 1 : 0);
      group_t [SocketHarts-1:0] groups;
      for (genvar k = 0; k < SocketHarts; k++) begin : gen_member
        assign groups[k] = member_i[from*SocketHarts+k].group;
      end
      if (Hops == 0) begin : gen_here
        assign known[s][from*SocketHarts+:SocketHarts] = groups;
      end else begin : gen_far
        tutti_machine_delay #(
            .Width  (SocketHarts * $bits(group_t)),
            .Latency(Hops * LinkLatency)
        ) u_delay (
            .clk_i,
            .rst_ni,
            .data_i(groups),
            .data_o(known[s][from*SocketHarts+:SocketHarts])
        );
      end
    end
  end

  // The number of a thread as it was built.
  localparam int unsigned IndexBits = Harts < 2 ? 1 : $clog2(Harts);
  function automatic logic [IndexBits-1:0] index_of(home_t home, logic [7:0] to);
    return IndexBits'((32'(home.socket) * Each + 32'(home.k)) * Threads + 32'(to) % Threads);
  endfunction

  // The detectors: one for each group, with a node for each socket.
  localparam int unsigned CountBits = tutti_detector_pkg::CountBits;
  logic [Groups-1:0][Sockets-1:0] releases, unanimous, enables;
  tutti_detector_pkg::total_t [Groups-1:0][Sockets-1:0] totals;
  logic [Groups-1:0][Sockets-1:0][2:0] errors;
  logic [Groups-1:0] strange;
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    localparam bit IsLocal = g >= Groups - LocalGroups;
    // The threads of other groups do not count while the group has a thread; in group 0 they do.
    logic [Harts-1:0] here, idle, vote, left;
    tutti_detector_pkg::total_t [Harts-1:0] value;
    for (genvar h = 0; h < Harts; h++) begin : gen_thread
      assign here[h] = member_i[h].group == group_t'(g);
      assign value[h] = here[h] ? member_i[h].value : '0;
      if (g == 0) begin : gen_all
        assign idle[h] = (here[h] && idle_i[h]) || !runs_i[h];
      end else begin : gen_some
        localparam int unsigned First = IsLocal ? h / SocketHarts * SocketHarts : 0;
        localparam int unsigned Last = IsLocal ? First + SocketHarts : Harts;
        logic inhabited;
        always_comb begin
          inhabited = 1'b0;
          for (int unsigned n = First; n < Last; n++)
            if (known[h/SocketHarts][n] == group_t'(g)) inhabited = 1'b1;
        end
        assign idle[h] = here[h] ? idle_i[h] && enables[0][h/SocketHarts] : inhabited;
      end
    end
    assign vote = vote_i | ~runs_i | ~here;
    assign left = left_i | ~runs_i | ~here;

    // One detector over all sockets, or one for each.
    localparam int unsigned Detectors = IsLocal ? Sockets : 1;
    localparam int unsigned Nodes = Sockets / Detectors;
    localparam int unsigned Members = Nodes * SocketHarts;
    tutti_detector_pkg::phase_t [Detectors-1:0] phases;
    logic [Detectors-1:0] begin_all, end_all, detected_all, strange_all;
    for (genvar d = 0; d < Detectors; d++) begin : gen_detector
      logic [Nodes-1:0] unused_ready, unused_valid, unused_missing;
      logic [Nodes-1:0][CountBits-1:0] unused_count, unused_data;
      tutti_detector_mesh #(
          .Columns     (IsLocal ? 1 : SocketColumns),
          .Rows        (IsLocal ? 1 : SocketRows),
          .Cores       (SocketHarts),
          .HopLatency  (DetectorHop),
          .MasterCentre(DetectorCentre),
          .ValueBits   (ValueBits)
      ) u_detector (
          .clk_i,
          .rst_ni,
          .run_i       (1'b1),
          .send_i      (send_i[d*Members+:Members] & here[d*Members+:Members]),
          .receive_i   (receive_i[d*Members+:Members] & here[d*Members+:Members]),
          .idle_i      (idle[d*Members+:Members]),
          .vote_i      (vote[d*Members+:Members]),
          .left_i      (left[d*Members+:Members]),
          .total_i     (value[d*Members+:Members]),
          .release_o   (releases[g][d*Nodes+:Nodes]),
          .unanimous_o (unanimous[g][d*Nodes+:Nodes]),
          .total_o     (totals[g][d*Nodes+:Nodes]),
          .enable_o    (enables[g][d*Nodes+:Nodes]),
          .count_o     (unused_count),
          .error_o     (errors[g][d*Nodes+:Nodes]),
          .data_valid_i('0),
          .data_ready_o(unused_ready),
          .data_to_i   ('0),
          .data_i      ('0),
          .data_valid_o(unused_valid),
          .data_ready_i('1),
          .data_o      (unused_data),
          .begin_o     (begin_all[d]),
          .phase_o     (phases[d]),
          .end_o       (end_all[d]),
          .detected_o  (detected_all[d]),
          .missing_o   (unused_missing),
          .strange_o   (strange_all[d])
      );
      logic unused;
      assign unused = ^{unused_count, unused_data, unused_ready, unused_valid, unused_missing};
    end
    assign strange[g] = strange_all != '0;
    if (g == 0) begin : gen_wave
      assign wave_o = {phases, begin_all, end_all, detected_all};
    end else begin : gen_no_wave
      logic unused;
      assign unused = ^{phases, begin_all, end_all, detected_all};
    end
  end

  for (genvar h = 0; h < Harts; h++) begin : gen_answer
    localparam int unsigned S = h / SocketHarts;
    group_t group;
    assign group = member_i[h].group;
    home_t to;
    assign to = home_of(member_i[h].to >> $clog2(Threads), each_i);
    always_comb begin
      release_o[h] = 1'b0;
      unanimous_o[h] = 1'b0;
      enable_o[h] = 1'b0;
      group_o[h] = '0;
      for (int unsigned g = 0; g < Groups; g++)
        if (group == group_t'(g)) begin
          release_o[h] = releases[g][S];
          unanimous_o[h] = unanimous[g][S];
          enable_o[h] = enables[g][S] && enables[0][S];
          group_o[h].total = totals[g][S];
        end
      group_o[h].stranger = known[S][index_of(to, member_i[h].to)] != group ||
          (32'(group) >= Groups - LocalGroups && to.socket != 8'(S));
    end
  end

  logic [Sockets-1:0][2:0] error;
  logic strange_q;
  always_comb begin
    error = '0;
    for (int unsigned g = 0; g < Groups; g++) error = error | errors[g];
  end
  always_ff @(posedge clk_i) strange_q <= rst_ni && (strange_q || strange != '0);
  assign error_o = {strange_q, error};
endmodule
