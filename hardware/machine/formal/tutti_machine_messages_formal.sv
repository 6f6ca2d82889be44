// SPDX-License-Identifier: Apache-2.0
/// The mesh and the detectors with any threads at their ports and resets at any time: a message
/// enters the mesh with the place of its receiver and leaves it at the core that is built there,
/// routers are joined with their neighbours, and each group has a detector that knows its threads and
/// that they hear. What routers, queues and detectors do is proved of tutti_machine_message_router,
/// tutti_machine_queue and of hardware/detector.
module tutti_machine_messages_formal
  import tutti_machine_message_pkg::*;
#(
    /// 1 or 2 sockets, which are side by side.
    parameter int unsigned Cores = 4,
    parameter int unsigned Sockets = 1,
    parameter int unsigned Threads = 1,
    parameter int unsigned Groups = 3,
    parameter int unsigned LocalGroups = 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [7:0] each_i,
    input logic [Cores*Threads-1:0] runs_i,
    input logic [Cores-1:0] out_valid_i,
    input message_t [Cores-1:0] out_i,
    input logic [Cores-1:0] in_ready_i,
    input logic [Cores*Threads-1:0] send_i,
    input logic [Cores*Threads-1:0] receive_i,
    input logic [Cores*Threads-1:0] idle_i,
    input logic [Cores*Threads-1:0] vote_i,
    input logic [Cores*Threads-1:0] left_i,
    input member_t [Cores*Threads-1:0] member_i
);
  localparam int unsigned Harts = Cores * Threads;
  localparam int unsigned Each = Cores / Sockets;
  localparam int unsigned SocketHarts = Harts / Sockets;
  // A socket is a rectangle.
  localparam int unsigned Wide = Each == 1 ? 1 : Each <= 4 ? 2 : 4;
  localparam int unsigned High = (Each + Wide - 1) / Wide;
  localparam int unsigned Columns = Sockets * Wide;

  // Everything is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic [Cores-1:0] out_ready, in_valid;
  message_t out[Cores], in[Cores];
  logic [Harts-1:0] releases, unanimous, enable;
  member_t member[Harts];
  group_reply_t group_reply[Harts];
  logic [4:0] wave;
  logic [Sockets*3:0] error;
  tutti_machine_messages #(
      .Cores      (Cores),
      .Sockets    (Sockets),
      .Threads    (Threads),
      .HopLatency (1),
      .Depth      (1),
      .LinkLatency(1),
      .LinkDepth  (1),
      .DetectorHop(2),
      .Groups     (Groups),
      .LocalGroups(LocalGroups),
      .ValueBits  (2)
  ) u_messages (
      .clk_i,
      .rst_ni     (!init_q),
      .each_i,
      .runs_i,
      .out_valid_i,
      .out_ready_o(out_ready),
      .out_i      (out),
      .in_valid_o (in_valid),
      .in_ready_i,
      .in_o       (in),
      .send_i,
      .receive_i,
      .idle_i,
      .vote_i,
      .left_i,
      .release_o  (releases),
      .unanimous_o(unanimous),
      .enable_o   (enable),
      .member_i   (member),
      .group_o    (group_reply),
      .wave_o     (wave),
      .error_o    (error)
  );
  for (genvar c = 0; c < Cores; c++) begin : gen_out
    assign out[c] = out_i[c];
  end

  // Where the core is that programs give this number, and its number as built. Numbers that no core
  // has are behind the last core of the last socket.
  function automatic logic [7:0] socket_of(logic [7:0] number);
    logic [7:0] socket;
    socket = (number / 8'(Threads)) / each_i;
    return 32'(socket) < Sockets ? socket : 8'(Sockets - 1);
  endfunction
  function automatic logic [7:0] in_socket(logic [7:0] number);
    return number / 8'(Threads) - socket_of(number) * each_i;
  endfunction
  function automatic place_t place_of(logic [7:0] number);
    return '{
        x: 5'(socket_of(number) * 8'(Wide) + in_socket(number) % 8'(Wide)),
        y: 5'(in_socket(number) / 8'(Wide))
    };
  endfunction
  function automatic logic exists(logic [7:0] number);
    return 32'(number) < Sockets * 32'(each_i) * Threads;
  endfunction

  // The ports of the routers.
  logic [High-1:0][Columns-1:0] at_core, joined;
  for (genvar y = 0; y < High; y++) begin : gen_row
    for (genvar x = 0; x < Columns; x++) begin : gen_column
      localparam int unsigned C = (x / Wide) * Each + y * Wide + x % Wide;
      place_t here;
      assign here = '{x: 5'(x), y: 5'(y)};
      assign at_core[y][x] =
          u_messages.gen_row[y].gen_column[x].u_router.here_i == here
          && u_messages.gen_row[y].gen_column[x].u_router.valid_i[4] == out_valid_i[C]
          && out_ready[C] == u_messages.gen_row[y].gen_column[x].u_router.ready_o[4]
          && u_messages.gen_row[y].gen_column[x].u_router.flit_i[4].message == out_i[C]
          && u_messages.gen_row[y].gen_column[x].u_router.flit_i[4].to == place_of(out_i[C].to)
          && in_valid[C] == u_messages.gen_row[y].gen_column[x].u_router.valid_o[4]
          && in[C] == u_messages.gen_row[y].gen_column[x].u_router.flit_o[4].message
          && u_messages.gen_row[y].gen_column[x].u_router.ready_i[4] == in_ready_i[C];
      logic east, south, edges;
      if (x < Columns - 1 && x / Wide == (x + 1) / Wide) begin : gen_east
        assign east =
            u_messages.gen_row[y].gen_column[x+1].u_router.valid_i[3]
            == u_messages.gen_row[y].gen_column[x].u_router.valid_o[1]
            && u_messages.gen_row[y].gen_column[x+1].u_router.flit_i[3]
            == u_messages.gen_row[y].gen_column[x].u_router.flit_o[1]
            && u_messages.gen_row[y].gen_column[x].u_router.ready_i[1]
            == u_messages.gen_row[y].gen_column[x+1].u_router.ready_o[3]
            && u_messages.gen_row[y].gen_column[x].u_router.valid_i[1]
            == u_messages.gen_row[y].gen_column[x+1].u_router.valid_o[3]
            && u_messages.gen_row[y].gen_column[x].u_router.flit_i[1]
            == u_messages.gen_row[y].gen_column[x+1].u_router.flit_o[3]
            && u_messages.gen_row[y].gen_column[x+1].u_router.ready_i[3]
            == u_messages.gen_row[y].gen_column[x].u_router.ready_o[1];
      end else if (x < Columns - 1) begin : gen_link
        // Between sockets there is a queue each way.
        assign east =
            u_messages.gen_row[y].gen_column[x].gen_port[1].gen_link.u_link.valid_i
            == u_messages.gen_row[y].gen_column[x].u_router.valid_o[1]
            && u_messages.gen_row[y].gen_column[x].gen_port[1].gen_link.u_link.data_i
            == u_messages.gen_row[y].gen_column[x].u_router.flit_o[1]
            && u_messages.gen_row[y].gen_column[x].u_router.ready_i[1]
            == u_messages.gen_row[y].gen_column[x].gen_port[1].gen_link.u_link.ready_o
            && u_messages.gen_row[y].gen_column[x+1].u_router.valid_i[3]
            == u_messages.gen_row[y].gen_column[x].gen_port[1].gen_link.u_link.valid_o
            && u_messages.gen_row[y].gen_column[x+1].u_router.flit_i[3]
            == u_messages.gen_row[y].gen_column[x].gen_port[1].gen_link.u_link.data_o
            && u_messages.gen_row[y].gen_column[x].gen_port[1].gen_link.u_link.ready_i
            == u_messages.gen_row[y].gen_column[x+1].u_router.ready_o[3]
            && u_messages.gen_row[y].gen_column[x+1].gen_port[3].gen_link.u_link.valid_i
            == u_messages.gen_row[y].gen_column[x+1].u_router.valid_o[3]
            && u_messages.gen_row[y].gen_column[x+1].gen_port[3].gen_link.u_link.data_i
            == u_messages.gen_row[y].gen_column[x+1].u_router.flit_o[3]
            && u_messages.gen_row[y].gen_column[x+1].u_router.ready_i[3]
            == u_messages.gen_row[y].gen_column[x+1].gen_port[3].gen_link.u_link.ready_o
            && u_messages.gen_row[y].gen_column[x].u_router.valid_i[1]
            == u_messages.gen_row[y].gen_column[x+1].gen_port[3].gen_link.u_link.valid_o
            && u_messages.gen_row[y].gen_column[x].u_router.flit_i[1]
            == u_messages.gen_row[y].gen_column[x+1].gen_port[3].gen_link.u_link.data_o
            && u_messages.gen_row[y].gen_column[x+1].gen_port[3].gen_link.u_link.ready_i
            == u_messages.gen_row[y].gen_column[x].u_router.ready_o[1];
      end else begin : gen_no_east
        assign east = !u_messages.gen_row[y].gen_column[x].u_router.valid_i[1]
            && u_messages.gen_row[y].gen_column[x].u_router.ready_i[1];
      end
      if (y < High - 1) begin : gen_south
        assign south =
            u_messages.gen_row[y+1].gen_column[x].u_router.valid_i[0]
            == u_messages.gen_row[y].gen_column[x].u_router.valid_o[2]
            && u_messages.gen_row[y+1].gen_column[x].u_router.flit_i[0]
            == u_messages.gen_row[y].gen_column[x].u_router.flit_o[2]
            && u_messages.gen_row[y].gen_column[x].u_router.ready_i[2]
            == u_messages.gen_row[y+1].gen_column[x].u_router.ready_o[0]
            && u_messages.gen_row[y].gen_column[x].u_router.valid_i[2]
            == u_messages.gen_row[y+1].gen_column[x].u_router.valid_o[0]
            && u_messages.gen_row[y].gen_column[x].u_router.flit_i[2]
            == u_messages.gen_row[y+1].gen_column[x].u_router.flit_o[0]
            && u_messages.gen_row[y+1].gen_column[x].u_router.ready_i[0]
            == u_messages.gen_row[y].gen_column[x].u_router.ready_o[2];
      end else begin : gen_no_south
        assign south = !u_messages.gen_row[y].gen_column[x].u_router.valid_i[2]
            && u_messages.gen_row[y].gen_column[x].u_router.ready_i[2];
      end
      // The other two edges of the mesh.
      assign edges = (y > 0 || (!u_messages.gen_row[y].gen_column[x].u_router.valid_i[0]
          && u_messages.gen_row[y].gen_column[x].u_router.ready_i[0]))
          && (x > 0 || (!u_messages.gen_row[y].gen_column[x].u_router.valid_i[3]
          && u_messages.gen_row[y].gen_column[x].u_router.ready_i[3]));
      assign joined[y][x] = east && south && edges;
    end
  end

  // Groups: those of another socket's threads are known a cycle later.
  group_t [Harts-1:0] group, group_q = '0;
  group_t [Sockets-1:0][Harts-1:0] known;
  for (genvar h = 0; h < Harts; h++) begin : gen_member
    assign member[h] = member_i[h];
    assign group[h] = member_i[h].group;
    for (genvar s = 0; s < Sockets; s++) begin : gen_known
      assign known[s][h] = h / SocketHarts == s ? group[h] : group_q[h];
    end
  end
  always_ff @(posedge clk_i) group_q <= init_q ? '0 : group;

  logic [Groups-1:0][Sockets-1:0] group_releases, group_unanimous, group_enables;
  logic [Groups-1:0][Sockets-1:0][2:0] errors;
  logic [Groups-1:0] strange;
  tutti_detector_pkg::total_t [Groups-1:0][Sockets-1:0] totals;
  logic [Groups-1:0][Harts-1:0] idle, here, same;
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    localparam bit IsLocal = g >= Groups - LocalGroups;
    localparam int unsigned Detectors = IsLocal ? Sockets : 1;
    localparam int unsigned Nodes = Sockets / Detectors;
    localparam int unsigned Members = Harts / Detectors;
    logic [Detectors-1:0] stranges;
    assign strange[g] = stranges != '0;
    always_comb begin
      for (int unsigned h = 0; h < Harts; h++) begin
        logic inhabited;
        inhabited = 1'b0;
        for (int unsigned n = 0; n < Harts; n++)
          if ((!IsLocal || n / SocketHarts == h / SocketHarts)
              && known[h/SocketHarts][n] == group_t'(g))
            inhabited = 1'b1;
        here[g][h] = group[h] == group_t'(g);
        idle[g][h] = here[g][h] ? idle_i[h] && (g == 0 || group_enables[0][h/SocketHarts])
            : g != 0 && inhabited;
        if (g == 0 && !runs_i[h]) idle[g][h] = 1'b1;
      end
    end
    for (genvar d = 0; d < Detectors; d++) begin : gen_detector
      assign group_releases[g][d*Nodes+:Nodes] =
          u_messages.gen_group[g].gen_detector[d].u_detector.release_o;
      assign group_unanimous[g][d*Nodes+:Nodes] =
          u_messages.gen_group[g].gen_detector[d].u_detector.unanimous_o;
      assign group_enables[g][d*Nodes+:Nodes] =
          u_messages.gen_group[g].gen_detector[d].u_detector.enable_o;
      assign errors[g][d*Nodes+:Nodes] =
          u_messages.gen_group[g].gen_detector[d].u_detector.error_o;
      assign totals[g][d*Nodes+:Nodes] =
          u_messages.gen_group[g].gen_detector[d].u_detector.total_o;
      assign stranges[d] = u_messages.gen_group[g].gen_detector[d].u_detector.strange_o;
      for (genvar m = 0; m < Members; m++) begin : gen_thread
        localparam int unsigned H = d * Members + m;
        localparam int unsigned N = m / SocketHarts, T = m % SocketHarts;
        // Threads that do not run or are in another group stop nobody and give nothing.
        logic counts;
        assign counts = here[g][H] && runs_i[H];
        assign same[g][H] =
            u_messages.gen_group[g].gen_detector[d].u_detector.send_i[N][T]
            == (send_i[H] && here[g][H])
            && u_messages.gen_group[g].gen_detector[d].u_detector.receive_i[N][T]
            == (receive_i[H] && here[g][H])
            && u_messages.gen_group[g].gen_detector[d].u_detector.idle_i[N][T] == idle[g][H]
            && u_messages.gen_group[g].gen_detector[d].u_detector.vote_i[N][T]
            == (vote_i[H] || !counts)
            && u_messages.gen_group[g].gen_detector[d].u_detector.left_i[N][T]
            == (left_i[H] || !counts)
            && u_messages.gen_group[g].gen_detector[d].u_detector.total_i[N][T]
            == (here[g][H] ? member_i[H].value : '0)
            && u_messages.gen_group[g].gen_detector[d].u_detector.run_i
            // Nobody sends data over the detector's links.
            && u_messages.gen_group[g].gen_detector[d].u_detector.data_valid_i == '0
            && u_messages.gen_group[g].gen_detector[d].u_detector.data_ready_i == '1;
      end
    end
  end

  // What threads hear is of their group's detector, in their socket.
  logic [Harts-1:0] hears, knows;
  for (genvar h = 0; h < Harts; h++) begin : gen_hears
    localparam int unsigned S = h / SocketHarts;
    logic [7:0] to;
    logic [$clog2(Harts+1)-1:0] index;
    assign to = member_i[h].to;
    assign index = ($clog2(Harts + 1))'((32'(socket_of(to)) * Each + 32'(in_socket(to))) * Threads
        + 32'(to) % Threads);
    assign hears[h] = 32'(group[h]) < Groups
        ? releases[h] == group_releases[group[h]][S]
          && unanimous[h] == group_unanimous[group[h]][S]
          && enable[h] == (group_enables[group[h]][S] && group_enables[0][S])
          && group_reply[h].total == totals[group[h]][S]
        : !releases[h] && !unanimous[h] && !enable[h] && group_reply[h].total == '0;
    assign knows[h] = !exists(to) || group_reply[h].stranger == (known[S][index] != group[h]
        || (32'(group[h]) >= Groups - LocalGroups && socket_of(to) != 8'(S)));
  end

  logic strange_q = 1'b0;
  logic [Sockets-1:0][2:0] any_error;
  always_ff @(posedge clk_i) strange_q <= !init_q && (strange_q || strange != '0);
  always_comb begin
    any_error = '0;
    for (int unsigned g = 0; g < Groups; g++) any_error |= errors[g];
  end

  always_comb begin
    assume (each_i >= 8'd1 && 32'(each_i) <= Each);
  end
  always_comb begin
    if (!init_q) begin
      a_at_core: assert (at_core == '1);
      a_joined: assert (joined == '1);
      a_known: assert (u_messages.known == known);
      a_detectors: assert (same == '1);
      a_hears: assert (hears == '1);
      a_knows: assert (knows == '1);
      a_errors: assert (error == {strange_q, any_error});
      a_strange: assert (u_messages.strange_q == strange_q);
      a_wave: assert (wave == {u_messages.gen_group[0].gen_detector[0].u_detector.phase_o,
          u_messages.gen_group[0].gen_detector[0].u_detector.begin_o,
          u_messages.gen_group[0].gen_detector[0].u_detector.end_o,
          u_messages.gen_group[0].gen_detector[0].u_detector.detected_o});
    end
  end
  always_comb begin
    if (!init_q) begin
      c_arrives: cover (in_valid[Cores-1] && in[Cores-1].words[0] == 32'd5 && in_ready_i == '1);
      c_stranger: cover (exists(member_i[0].to) && group_reply[0].stranger);
      c_enabled: cover (enable == '1 && group[0] == 3'd1);
    end
  end
endmodule
