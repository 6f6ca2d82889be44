// SPDX-License-Identifier: Apache-2.0
/// The in-network barrier engine of a node. All packets of all queues come in one after the other
/// on one AXI stream and leave on another, with the queues for which they are. The engine consumes
/// barrier packets of a known communicator. It forwards all other packets unchanged, between a port
/// and the host's queue beside it, as a network card would.
///
/// A packet that the engine builds goes before forwarded ones, at the end of a packet, so it waits
/// for one packet at most. Forwarded packets do not starve: a stage can end only when one more
/// packet has come in, behind those that wait.
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
    /// Beats that can wait for the output, a power of two, 8 to 4096.
    parameter int unsigned Depth = 16,
    /// The destination UDP port of barrier packets.
    parameter logic [15:0] UdpPort = 16'd29813
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Input stream. The source is valid with every beat of a packet.
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic [7:0] in_keep_i,
    input logic in_last_i,
    input source_t in_source_i,
    /// Output stream. The route is valid with every beat of a packet.
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic [7:0] out_keep_o,
    output logic out_last_o,
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

  localparam int unsigned Bits = 1 + 2 * Ports;
  localparam int unsigned IndexBits = Communicators > 1 ? $clog2(Communicators) : 1;
  localparam int unsigned StageBits = Stages > 1 ? $clog2(Stages) : 1;

  beat_t in_beat, beat;
  source_t source;
  logic valid, ready, other, barrier;
  message_e message;
  logic [7:0] episode;
  header_t header;
  assign in_beat = '{last: in_last_i, keep: in_keep_i, data: in_data_i};

  tutti_innetwork_parser #(
      .UdpPort(UdpPort)
  ) i_parser (
      .clk_i,
      .rst_ni,
      .in_valid_i,
      .in_ready_o,
      .in_beat_i(in_beat),
      .in_source_i,
      .out_valid_o(valid),
      .out_ready_i(ready),
      .out_beat_o(beat),
      .out_source_o(source),
      .other_o(other),
      .barrier_o(barrier),
      .message_o(message),
      .episode_o(episode),
      .header_o(header)
  );

  // The communicator of a packet: looked up while the beat enters the parser's register, valid with
  // the sixth beat.
  logic [Communicators-1:0] clear, echo, hit, hit_q, in_role_q, in_run_q;
  // The end of the beat: communicator, topology, role. Before it stands the incarnation.
  logic [31:0] ending;
  logic [4:0] run;
  logic takes;
  assign ending = 32'(swapped(in_data_i));
  assign run = 5'(swapped(in_data_i) >> 35);
  assign takes = in_valid_i && in_ready_o;
  logic [Communicators-1:0][15:0] identity;
  logic [Communicators-1:0][7:0] topology, role;
  logic [Communicators-1:0][4:0] incarnation;
  logic [Communicators-1:0][StageBits-1:0] last, stage;
  logic [Communicators-1:0][Stages-1:0][Bits-1:0] need, send;
  logic [Communicators-1:0][Bits-1:0] arrived;
  logic [Communicators-1:0][7:0] episodes;
  logic [IndexBits-1:0] index;
  logic [Bits-1:0] message_bit;
  for (genvar c = 0; c < Communicators; ++c) begin : gen_match
    always_ff @(posedge clk_i) begin
      // If a communicator is cleared while the beat waits, the match no longer holds.
      if (clear[c]) hit_q[c] <= 1'b0;
      else if (takes) hit_q[c] <= ending[31:16] == identity[c] && ending[15:8] == topology[c];
      if (takes) in_role_q[c] <= ending[7:0] == role[c];
      if (takes) in_run_q[c] <= run == incarnation[c];
    end
  end
  assign hit = hit_q & ~clear;
  always_comb begin
    index = '0;
    for (int unsigned c = 0; c < Communicators; ++c) if (hit[c]) index |= IndexBits'(c);
    // A host that sends as an engine, or in another role, is not accepted: forwarded, its packet
    // would look like this node's. A neighbour's packet carries the neighbour's role.
    message_bit[0] = header.origin[0] && message == Start && (in_role_q & hit) != '0;
    for (int unsigned p = 0; p < Ports; ++p) begin
      message_bit[1+p] = header.origin == queue_t'(2 * p) && message == Arrive;
      message_bit[1+Ports+p] = header.origin == queue_t'(2 * p) && message == Release;
    end
    // A message of another incarnation is a stranger's.
    if ((in_run_q & hit) == '0) message_bit = '0;
  end

  // The fate of the packet to which the beat belongs.
  typedef enum logic [1:0] {Open, Forward, Keep} fate_e;
  fate_e fate_q, fate;
  logic fifo_ready, moves, arrives;
  always_comb begin
    fate = fate_q;
    if (fate_q == Open && other) fate = Forward;
    else if (fate_q == Open && barrier) fate = hit != '0 ? Keep : Forward;
  end
  assign ready = fifo_ready;
  assign moves = valid && ready;
  assign arrives = moves && fate_q == Open && fate == Keep;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) fate_q <= Open;
    else if (moves) fate_q <= beat.last ? Open : fate;
  end

  beat_t forward_beat;
  source_t forward_source;
  logic forward_valid, forward_ready;
  tutti_innetwork_fifo #(
      .Depth(Depth),
      .Width($bits(beat_t) + $bits(source_t))
  ) i_fifo (
      .clk_i,
      .rst_ni,
      .in_valid_i(valid),
      .in_ready_o(fifo_ready),
      .in_data_i({beat, source}),
      .commit_i(fate == Forward),
      .drop_i(fate == Keep),
      .out_valid_o(forward_valid),
      .out_ready_i(forward_ready),
      .out_data_o({forward_beat, forward_source})
  );

  logic counted, repeated, stranger, job_valid, job_ready, job_again;
  logic [IndexBits-1:0] job_index;
  logic [Bits-1:0] job_send;
  logic [7:0] job_episode;
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
      .msg_valid_i(arrives),
      .msg_index_i(index),
      .msg_bit_i(message_bit),
      .msg_episode_i(episode),
      .counted_o(counted),
      .repeated_o(repeated),
      .stranger_o(stranger),
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

  // The host's headers. Only an arrival that counts writes them, so a repetition does not change
  // them.
  header_t headers[Communicators];
  always_ff @(posedge clk_i) if (counted && message_bit[0]) headers[index] <= header;

  beat_t built_beat;
  route_t built_route;
  logic built_valid, built_ready;
  tutti_innetwork_builder #(
      .Ports(Ports)
  ) i_builder (
      .clk_i,
      .rst_ni,
      .job_valid_i(job_valid),
      .job_ready_o(job_ready),
      .job_header_i(headers[job_index]),
      .job_send_i(job_send),
      .job_episode_i(job_episode),
      .job_incarnation_i(incarnation[job_index]),
      .out_valid_o(built_valid),
      .out_ready_i(built_ready),
      .out_beat_o(built_beat),
      .out_route_o(built_route)
  );

  // The output. An offered packet stays until it has left.
  logic engaged_q, built_q, built, leaves;
  beat_t out_beat;
  assign built = engaged_q ? built_q : built_valid;
  assign out_valid_o = built ? built_valid : forward_valid;
  assign out_beat = built ? built_beat : forward_beat;
  assign {out_last_o, out_keep_o, out_data_o} = out_beat;
  assign leaves = out_valid_o && out_ready_i;
  assign built_ready = built && out_ready_i;
  assign forward_ready = !built && out_ready_i;
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
    end else if (out_valid_o) begin
      engaged_q <= !(leaves && out_beat.last);
      built_q <= built;
    end
  end

  tutti_innetwork_registers #(
      .Ports(Ports),
      .Communicators(Communicators),
      .Stages(Stages),
      .UdpPort(UdpPort)
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
      .counted_i(counted),
      .repeated_i(repeated),
      .stranger_i(stranger),
      .echoed_i(job_again && job_ready),
      .forwarded_i(leaves && out_beat.last && !built)
  );
endmodule
