// SPDX-License-Identifier: Apache-2.0
/// The in-network barrier engine of a node. All packets of all queues come in one after the other
/// on one AXI stream and leave on another, with the queues for which they are. The engine consumes
/// barrier packets of a known communicator. It forwards all other packets unchanged, between a port
/// and the host's queue beside it, as a network card would.
///
/// A barrier packet counts with its last beat, unless that says that the frame is damaged. Other
/// packets leave before their end has come; what their last beat says goes with them.
///
/// A packet that the engine builds goes before forwarded ones, at the end of a packet, so it waits
/// for one packet at most, which has begun to leave before the message was there. Forwarded packets
/// do not starve: a stage can end only when one more packet has come in, behind those that wait.
module tutti_innetwork_engine
  import tutti_innetwork_pkg::*;
#(
    /// Network ports, 1 to 8.
    parameter int unsigned Ports = 4,
    /// Number of communicators, 1 to 16.
    parameter int unsigned Communicators = 4,
    /// Number of rows of a table, 1 to 8. A butterfly needs one row more than it has rounds: with 8
    /// rows, seven ports.
    parameter int unsigned Stages = 5,
    /// Beats that can wait for the output, a power of two, 16 to 4096: a packet's first eight wait
    /// for the verdict on it.
    parameter int unsigned Depth = 16,
    /// The destination UDP port of barrier packets.
    parameter logic [15:0] UdpPort = 16'd29813,
    /// Cycles of the clock in a second, for hosts that read the stamps.
    parameter int unsigned ClockHz = 125_000_000
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Input stream. The source is valid with every beat of a packet. With the last beat, bad says
    /// that the frame is damaged.
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic [7:0] in_keep_i,
    input logic in_last_i,
    input logic in_bad_i,
    input source_t in_source_i,
    /// Output stream. The route is valid with every beat of a packet. With the last beat, bad says
    /// that the frame came in damaged.
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic [7:0] out_keep_o,
    output logic out_last_o,
    output logic out_bad_o,
    output route_t out_route_o,
    /// Registers: one request a cycle; the answer to a read comes in the next cycle.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [63:0] req_data_i,
    output logic rsp_valid_o,
    output logic [63:0] rsp_data_o
);
  if (Ports < 1 || Ports > 8) $fatal(1, "tutti_innetwork_engine: Ports must be 1 to 8");
  if (UdpPort == 0) $fatal(1, "tutti_innetwork_engine: UdpPort must not be 0");
  if (Depth < 16) $fatal(1, "tutti_innetwork_engine: Depth must be at least 16");
  if (ClockHz == 0) $fatal(1, "tutti_innetwork_engine: ClockHz must not be 0");

  localparam int unsigned Bits = 1 + 2 * Ports;
  localparam int unsigned IndexBits = Communicators > 1 ? $clog2(Communicators) : 1;
  localparam int unsigned StageBits = Stages > 1 ? $clog2(Stages) : 1;

  stamp_t time_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) time_q <= '0;
    else time_q <= time_q + 64'd1;
  end

  beat_t in_beat, beat;
  source_t source;
  logic valid, other, barrier, soon_sixth, soon_eighth;
  logic [63:0] soon_word;
  message_e message;
  logic [31:0] episode, episode_before, episode_after;
  header_t header;
  assign in_beat = '{bad: in_bad_i, last: in_last_i, keep: in_keep_i, data: in_data_i};

  tutti_innetwork_parser #(
      .UdpPort(UdpPort)
  ) i_parser (
      .clk_i,
      .rst_ni,
      .time_i(time_q),
      .in_valid_i(in_valid_i && in_ready_o),
      .in_beat_i(in_beat),
      .in_source_i,
      .soon_word_o(soon_word),
      .soon_sixth_o(soon_sixth),
      .soon_eighth_o(soon_eighth),
      .out_valid_o(valid),
      .out_beat_o(beat),
      .out_source_o(source),
      .other_o(other),
      .barrier_o(barrier),
      .message_o(message),
      .episode_o(episode),
      .before_o(episode_before),
      .after_o(episode_after),
      .header_o(header)
  );

  // The communicator of a packet, looked up while the beat is in the parser.
  logic [Communicators-1:0] clear, echo, hit_q, in_role_q, in_run_q;
  logic [Communicators-1:0][15:0] identity;
  logic [Communicators-1:0][7:0] topology, role;
  logic [Communicators-1:0][31:0] incarnation;
  logic [Communicators-1:0][StageBits-1:0] last, stage;
  logic [Communicators-1:0][Stages-1:0][Bits-1:0] need, send;
  logic [Communicators-1:0][Bits-1:0] arrived;
  logic [Communicators-1:0][31:0] episodes;
  logic [Bits-1:0] message_bit;
  for (genvar c = 0; c < Communicators; ++c) begin : gen_match
    always_ff @(posedge clk_i) begin
      // If a communicator is cleared before its packet ends, the match no longer holds; if in the
      // very cycle, the core does not count the packet.
      if (!rst_ni || clear[c]) hit_q[c] <= 1'b0;
      else if (soon_sixth)
        hit_q[c] <= soon_word[31:16] == identity[c] && soon_word[15:8] == topology[c];
      if (soon_sixth) in_role_q[c] <= soon_word[7:0] == role[c];
      if (soon_eighth) in_run_q[c] <= soon_word[63:32] == incarnation[c];
    end
  end
  always_comb begin
    // A host that sends as an engine, or in another role, is not accepted: forwarded, its packet
    // would look like this node's. A neighbour's packet carries the neighbour's role.
    message_bit[0] = header.origin[0] && message == Start && (in_role_q & hit_q) != '0;
    for (int unsigned p = 0; p < Ports; ++p) begin
      message_bit[1+p] = header.origin == queue_t'(2 * p) && message == Arrive;
      message_bit[1+Ports+p] = header.origin == queue_t'(2 * p) && message == Release;
    end
    // A message of another incarnation is a stranger's.
    if ((in_run_q & hit_q) == '0) message_bit = '0;
  end

  // The fate of the packet to which the beat belongs.
  typedef enum logic [1:0] {Open, Forward, Keep} fate_e;
  fate_e fate_q, fate;
  logic ends, arrives, is_bad;
  always_comb begin
    fate = fate_q;
    if (fate_q == Open && other) fate = Forward;
    else if (fate_q == Open && barrier) fate = hit_q != '0 ? Keep : Forward;
  end
  assign ends = valid && beat.last;
  assign arrives = ends && fate == Keep && !beat.bad;
  assign is_bad = ends && fate == Keep && beat.bad;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) fate_q <= Open;
    else if (valid) fate_q <= beat.last ? Open : fate;
  end

  beat_t forward_beat;
  source_t forward_source;
  logic forward_valid, forward_ready, unused;
  // A beat that has come in finds room: two may be on their way when this one is offered.
  tutti_innetwork_fifo #(
      .Depth(Depth),
      .Width($bits(beat_t) + $bits(source_t))
  ) i_fifo (
      .clk_i,
      .rst_ni,
      .in_valid_i(valid),
      .in_ready_o(unused),
      .room_o(in_ready_o),
      .in_data_i({beat, source}),
      .commit_i(fate == Forward),
      .drop_i(fate == Keep),
      .out_valid_o(forward_valid),
      .out_ready_i(forward_ready),
      .out_data_o({forward_beat, forward_source})
  );

  logic counted, repeated, stranger, call, since_call, job_valid, job_ready, job_again;
  logic [IndexBits-1:0] index, job_index;
  logic [Bits-1:0] job_send;
  logic [31:0] job_episode;
  tutti_innetwork_core #(
      .Ports(Ports),
      .Communicators(Communicators),
      .Stages(Stages)
  ) i_core (
      .clk_i,
      .rst_ni,
      .need_i(need),
      .send_i(send),
      .last_i(last),
      .clear_i(clear),
      .echo_i(echo),
      .hold_i(ends),
      .msg_valid_i(arrives),
      .msg_for_i(hit_q),
      .msg_bit_i(message_bit),
      .msg_episode_i(episode),
      .msg_before_i(episode_before),
      .msg_after_i(episode_after),
      .index_o(index),
      .counted_o(counted),
      .repeated_o(repeated),
      .stranger_o(stranger),
      .call_o(call),
      .since_call_o(since_call),
      .job_valid_o(job_valid),
      .job_ready_i(job_ready),
      .job_index_o(job_index),
      .job_send_o(job_send),
      .job_episode_o(job_episode),
      .job_again_o(job_again),
      .arrived_o(arrived),
      .stage_o(stage),
      .episode_o(episodes)
  );

  // The hosts' headers, and when the packet came that counted last in an episode. Only an arrival
  // that counts writes them, so a repetition does not change them.
  header_t headers[Communicators];
  stamp_t came[Communicators];
  always_ff @(posedge clk_i) begin
    if (counted && call) headers[index] <= header;
    if (counted && since_call) came[index] <= header.called;
  end

  beat_t built_beat;
  route_t built_route;
  logic built_valid, built_ready;
  tutti_innetwork_builder #(
      .Ports(Ports)
  ) i_builder (
      .clk_i,
      .rst_ni,
      .time_i(time_q),
      .job_valid_i(job_valid),
      .job_ready_o(job_ready),
      .job_header_i(headers[job_index]),
      .job_came_i(came[job_index]),
      .job_send_i(job_send),
      .job_episode_i(job_episode),
      .job_incarnation_i(incarnation[job_index]),
      .out_valid_o(built_valid),
      .out_ready_i(built_ready),
      .out_beat_o(built_beat),
      .out_route_o(built_route)
  );

  // The output. An offered packet stays until it has left. In the four cycles in which a message may
  // become a packet, no other begins, which could be long.
  logic engaged_q, built_q, built, leaves, waits;
  logic [3:0] becomes_q;
  beat_t out_beat;
  assign built = engaged_q ? built_q : built_valid;
  assign waits = !engaged_q && becomes_q != '0;
  assign out_valid_o = built ? built_valid : forward_valid && !waits;
  assign out_beat = built ? built_beat : forward_beat;
  assign {out_bad_o, out_last_o, out_keep_o, out_data_o} = out_beat;
  assign leaves = out_valid_o && out_ready_i;
  assign built_ready = built && out_ready_i;
  assign forward_ready = !built && !waits && out_ready_i;
  always_comb begin
    out_route_o.bytes = forward_source.bytes;
    out_route_o.origin = forward_source.origin;
    out_route_o.to = 16'd1 << (forward_source.origin ^ 4'd1);
    if (built) out_route_o = built_route;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      engaged_q <= 1'b0;
      built_q <= 1'b0;
      becomes_q <= '0;
    end else begin
      becomes_q <= {becomes_q[2:0], arrives};
      if (out_valid_o) begin
        engaged_q <= !(leaves && out_beat.last);
        built_q <= built;
      end
    end
  end

  tutti_innetwork_registers #(
      .Ports(Ports),
      .Communicators(Communicators),
      .Stages(Stages),
      .UdpPort(UdpPort),
      .ClockHz(ClockHz)
  ) i_registers (
      .clk_i,
      .rst_ni,
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o,
      .rsp_data_o,
      .clear_o(clear),
      .echo_o(echo),
      .identity_o(identity),
      .topology_o(topology),
      .role_o(role),
      .incarnation_o(incarnation),
      .last_o(last),
      .need_o(need),
      .send_o(send),
      .arrived_i(arrived),
      .stage_i(stage),
      .episode_i(episodes),
      .time_i(time_q),
      .counted_i(counted),
      .repeated_i(repeated),
      .stranger_i(stranger),
      .echoed_i(job_valid && job_again && job_ready),
      .forwarded_i(leaves && out_beat.last && !built),
      .bad_i(is_bad)
  );
endmodule
