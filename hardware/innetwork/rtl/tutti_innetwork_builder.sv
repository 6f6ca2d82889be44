// SPDX-License-Identifier: Apache-2.0
/// Builds the packets of a stage: arrivals for neighbours, releases for neighbours, and the release
/// for the host, in this order. One packet goes to several ports. A packet to neighbours has the
/// headers of the host's own packet and another message; a packet to the host has those of an
/// answer from the host's destination. The checksums come from sums that the parser stored.
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
    input logic job_valid_i,
    /// Ready again with the last beat of the previous job.
    output logic job_ready_o,
    input header_t job_header_i,
    input logic [Bits-1:0] job_send_i,
    input logic [7:0] job_episode_i,
    input logic [4:0] job_incarnation_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output beat_t out_beat_o,
    output route_t out_route_o
);
  if (Ports < 1 || Ports > 8) $fatal(1, "tutti_innetwork_builder: Ports must be 1 to 8");

  header_t header_q;
  // Arrivals, releases to neighbours, release to the host.
  logic [2:0] todo_q, doing, left;
  logic [Ports-1:0] arrive_to_q, release_to_q, to;
  logic [7:0] episode_q;
  logic [4:0] incarnation_q;
  logic [2:0] place_q;
  logic [15:0] ip_check_q, udp_check_q, message;
  localparam sum_t Constants =
      sum_t'(Version4) + sum_t'(IpBytes) + sum_t'(DontFragment) + sum_t'(LiveUdp);
  sum_t ip_sum_q, udp_sum_q;
  logic [16:0] ip_once_q, udp_once_q;
  logic last, leaves;

  assign doing = todo_q & (~todo_q + 3'd1);
  assign left = todo_q & ~doing;
  assign out_valid_o = todo_q != '0;
  assign last = place_q == 3'd7;
  assign leaves = out_valid_o && out_ready_i;
  assign job_ready_o = todo_q == '0 || (leaves && last && left == '0);
  assign message = {episode_q, incarnation_q, doing[0] ? Arrive : Release};
  assign to = doing[0] ? arrive_to_q : release_to_q;

  logic to_host;
  logic [47:0] destination_mac, source_mac;
  logic [31:0] destination_ip, source_ip;
  logic [15:0] destination_port, source_port;
  logic [63:0] word;
  assign to_host = doing[2];
  assign destination_mac = to_host ? header_q.source_mac : header_q.destination_mac;
  assign source_mac = to_host ? header_q.destination_mac : header_q.source_mac;
  assign destination_ip = to_host ? header_q.source_ip : header_q.destination_ip;
  assign source_ip = to_host ? header_q.destination_ip : header_q.source_ip;
  assign destination_port = to_host ? header_q.source_port : header_q.destination_port;
  assign source_port = to_host ? header_q.destination_port : header_q.source_port;

  always_comb begin
    unique case (place_q)
      3'd0: word = {destination_mac, source_mac[47:32]};
      3'd1: word = {source_mac[31:0], TypeIpv4, Version4};
      3'd2: word = {IpBytes, 16'd0, DontFragment, LiveUdp};
      3'd3: word = {ip_check_q, source_ip, destination_ip[31:16]};
      3'd4: word = {destination_ip[15:0], source_port, destination_port, UdpBytes};
      3'd5: word = {udp_check_q, message, header_q.communicator, header_q.topology, header_q.role};
      default: word = '0;
    endcase
  end
  assign out_beat_o.last = last;
  assign out_beat_o.keep = last ? 8'h0F : 8'hFF;
  assign out_beat_o.data = swapped(word);

  always_comb begin
    out_route_o.bytes = FrameBytes;
    out_route_o.origin = header_q.origin;
    out_route_o.to = to_host ? 16'd1 << header_q.origin : '0;
    for (int unsigned p = 0; p < Ports; ++p) out_route_o.to[2*p] |= !to_host && to[p];
  end

  logic [15:0] udp_folded;
  assign udp_folded = brought_round_again(udp_once_q);

  always_ff @(posedge clk_i) begin
    // The sums have at least three cycles until they are sent.
    ip_sum_q <= sum_t'(header_q.ip_sum) + Constants;
    ip_once_q <= brought_round(ip_sum_q);
    ip_check_q <= ~brought_round_again(ip_once_q);
    udp_sum_q <= header_q.udp_sum + sum_t'(message);
    udp_once_q <= brought_round(udp_sum_q);
    // 0 would mean that there is no checksum.
    udp_check_q <= udp_folded == 16'hFFFF ? 16'hFFFF : ~udp_folded;
    if (!rst_ni) begin
      todo_q <= '0;
      place_q <= '0;
    end else begin
      if (leaves) begin
        place_q <= place_q + 3'd1;
        if (last) todo_q <= left;
      end
      if (job_valid_i && job_ready_o)
        todo_q <= {job_send_i[0], job_send_i[Bits-1:Ports+1] != '0, job_send_i[Ports:1] != '0};
    end
    if (job_valid_i && job_ready_o) begin
      header_q <= job_header_i;
      arrive_to_q <= job_send_i[Ports:1];
      release_to_q <= job_send_i[Bits-1:Ports+1];
      episode_q <= job_episode_i;
      incarnation_q <= job_incarnation_i;
    end
  end
endmodule
