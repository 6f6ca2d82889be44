// SPDX-License-Identifier: Apache-2.0
/// Builds the packets of a stage: arrivals for neighbours, releases for neighbours, and the release
/// for the host, in this order. One packet goes to several ports. A packet to neighbours has the
/// headers of the host's own packet and another message; a packet to the host has those of an
/// answer from the host's destination, and three stamps behind the message.
///
/// The checksums follow the packet by a few cycles: that of the IP header is ready for the fourth
/// beat, that of UDP for the sixth, which is why the stamp of the first beat can be in it.
module tutti_innetwork_builder
  import tutti_innetwork_pkg::*;
#(
    /// Network ports, 1 to 8.
    parameter int unsigned Ports = 4,
    /// Derived; do not set.
    parameter int unsigned Bits = 1 + 2 * Ports
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input stamp_t time_i,
    input logic job_valid_i,
    /// Ready again with the last beat of the previous job.
    output logic job_ready_o,
    input header_t job_header_i,
    /// When the packet came that completed the stage.
    input stamp_t job_came_i,
    input logic [Bits-1:0] job_send_i,
    input logic [31:0] job_episode_i,
    input logic [31:0] job_incarnation_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output beat_t out_beat_o,
    output route_t out_route_o
);
  if (Ports < 1 || Ports > 8) $fatal(1, "tutti_innetwork_builder: Ports must be 1 to 8");

  header_t header_q;
  // When the packet came that completed the stage, and when the first beat of the release left.
  stamp_t came_q, left_q;
  // Arrivals, releases to neighbours, release to the host.
  logic [2:0] todo_q, doing, left;
  logic [Ports-1:0] arrive_to_q, release_to_q, to;
  logic [31:0] episode_q, incarnation_q;
  logic [3:0] place_q;
  logic [15:0] message, ip_bytes, udp_bytes;
  logic last, leaves, to_host;

  assign doing = todo_q & (~todo_q + 3'd1);
  assign left = todo_q & ~doing;
  assign to_host = doing[2];
  assign out_valid_o = todo_q != '0;
  assign last = place_q == (to_host ? 4'd10 : 4'd7);
  assign leaves = out_valid_o && out_ready_i;
  assign job_ready_o = todo_q == '0 || (leaves && last && left == '0);
  assign message = {episode_q[7:0], doing[0] ? Arrive : Release};
  assign to = doing[0] ? arrive_to_q : release_to_q;
  assign ip_bytes = to_host ? IpBytes + StampBytes : IpBytes;
  assign udp_bytes = to_host ? UdpBytes + StampBytes : UdpBytes;

  logic [47:0] destination_mac, source_mac;
  logic [31:0] destination_ip, source_ip;
  logic [15:0] destination_port, source_port, ip_check_q, udp_check_q;
  logic [63:0] word;
  assign destination_mac = to_host ? header_q.source_mac : header_q.destination_mac;
  assign source_mac = to_host ? header_q.destination_mac : header_q.source_mac;
  assign destination_ip = to_host ? header_q.source_ip : header_q.destination_ip;
  assign source_ip = to_host ? header_q.destination_ip : header_q.source_ip;
  assign destination_port = to_host ? header_q.source_port : header_q.destination_port;
  assign source_port = to_host ? header_q.destination_port : header_q.source_port;

  always_comb begin
    unique case (place_q)
      4'd0: word = {destination_mac, source_mac[47:32]};
      4'd1: word = {source_mac[31:0], TypeIpv4, Version4};
      4'd2: word = {ip_bytes, 16'd0, DontFragment, LiveUdp};
      4'd3: word = {ip_check_q, source_ip, destination_ip[31:16]};
      4'd4: word = {destination_ip[15:0], source_port, destination_port, udp_bytes};
      4'd5: word = {udp_check_q, message, header_q.communicator, header_q.topology, header_q.role};
      4'd6: word = {Format, episode_q};
      4'd7: word = {incarnation_q, to_host ? header_q.called[63:32] : 32'd0};
      4'd8: word = {header_q.called[31:0], came_q[63:32]};
      4'd9: word = {came_q[31:0], left_q[63:32]};
      default: word = {left_q[31:0], 32'd0};
    endcase
  end
  assign out_beat_o.bad = 1'b0;
  assign out_beat_o.last = last;
  assign out_beat_o.keep = last ? 8'h0F : 8'hFF;
  assign out_beat_o.data = swapped(word);

  always_comb begin
    out_route_o.bytes = to_host ? FrameBytes + StampBytes : FrameBytes;
    out_route_o.origin = header_q.origin;
    out_route_o.to = to_host ? 16'd1 << header_q.origin : '0;
    for (int unsigned p = 0; p < Ports; ++p) out_route_o.to[2*p] |= !to_host && to[p];
  end

  // The parts of the sums, then the sums, then their carries, a cycle each. Addresses and ports are
  // in a sum whichever way round they are.
  localparam sum_t IpConstants = sum_t'(Version4) + sum_t'(DontFragment) + sum_t'(LiveUdp);
  localparam sum_t UdpConstants = sum_t'(17) + sum_t'(Format[31:16]) + sum_t'(Format[15:0]);
  sum_t addresses, ip_sum_q, addresses_q, ports_q, numbers_q, lengths_q, called_q, came_sum_q;
  sum_t left_sum_q, first_q, second_q, udp_sum_q;
  logic [16:0] ip_once_q, udp_once_q;
  logic [15:0] udp_folded;
  assign addresses = sum4({header_q.source_ip, header_q.destination_ip});
  assign udp_folded = brought_round_again(udp_once_q);
  always_ff @(posedge clk_i) begin
    ip_sum_q <= addresses + sum_t'(ip_bytes) + IpConstants;
    ip_once_q <= brought_round(ip_sum_q);
    ip_check_q <= ~brought_round_again(ip_once_q);
    addresses_q <= addresses;
    ports_q <= sum4({
      header_q.source_port, header_q.destination_port, header_q.communicator, header_q.topology,
      header_q.role
    });
    numbers_q <= sum4({episode_q, incarnation_q});
    lengths_q <= sum_t'(message) + (sum_t'(udp_bytes) << 1) + UdpConstants;
    called_q <= to_host ? sum4(header_q.called) : '0;
    came_sum_q <= to_host ? sum4(came_q) : '0;
    left_sum_q <= to_host ? sum4(left_q) : '0;
    first_q <= addresses_q + ports_q + numbers_q;
    second_q <= lengths_q + called_q + came_sum_q;
    udp_sum_q <= first_q + second_q + left_sum_q;
    udp_once_q <= brought_round(udp_sum_q);
    // 0 would mean that there is no checksum.
    udp_check_q <= udp_folded == 16'hFFFF ? 16'hFFFF : ~udp_folded;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      todo_q <= '0;
      place_q <= '0;
    end else begin
      if (leaves) begin
        place_q <= last ? '0 : place_q + 4'd1;
        if (last) todo_q <= left;
      end
      if (job_valid_i && job_ready_o)
        todo_q <= {job_send_i[0], job_send_i[Bits-1:Ports+1] != '0, job_send_i[Ports:1] != '0};
    end
    if (leaves && place_q == '0) left_q <= time_i;
    if (job_valid_i && job_ready_o) begin
      header_q <= job_header_i;
      came_q <= job_came_i;
      arrive_to_q <= job_send_i[Ports:1];
      release_to_q <= job_send_i[Bits-1:Ports+1];
      episode_q <= job_episode_i;
      incarnation_q <= job_incarnation_i;
    end
  end
endmodule
