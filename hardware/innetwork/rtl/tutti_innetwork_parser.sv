// SPDX-License-Identifier: Apache-2.0
/// Reads a packet as its beats pass, and reports with the sixth at the latest whether it is a
/// well-formed barrier packet.
///
/// It keeps the beat that it judges in a register, so that its verdict and the beat leave together.
/// One wrong field makes a packet other traffic. Bytes after byte 48 are padding and are not
/// checked; frames with a wrong check sequence do not arrive here.
module tutti_innetwork_parser
  import tutti_innetwork_pkg::*;
#(
    /// The destination UDP port of barrier packets.
    parameter logic [15:0] UdpPort = 16'd29813
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic in_valid_i,
    output logic in_ready_o,
    input beat_t in_beat_i,
    input source_t in_source_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output beat_t out_beat_o,
    output source_t out_source_o,
    /// With every beat: the packet is known to be other traffic.
    output logic other_o,
    /// With the sixth beat: it is a barrier packet, and the fields are valid.
    output logic barrier_o,
    output message_e message_o,
    output logic [7:0] episode_o,
    output header_t header_o
);
  logic take;
  // The place of the next beat; 6 means behind the packet.
  logic [2:0] place_q;
  logic [63:0] word;
  assign in_ready_o = !out_valid_o || out_ready_i;
  assign take = in_valid_i && in_ready_o;
  assign word = swapped(in_beat_i.data);

  logic other_q, other_d, barrier_d, wrong, short_beat;
  // Sum of the IP header.
  sum_t check_q, check_d;
  // Sum that the UDP checksum covers, without message and checksum.
  sum_t covered_q, covered_d;
  logic [17:0] addresses_q, addresses_d;
  sum_t whole;
  header_t header_q, header_d;

  assign short_beat = in_beat_i.keep != 8'hFF;
  assign whole = covered_q + sum4(word);

  always_comb begin
    header_d = header_q;
    check_d = check_q;
    covered_d = covered_q;
    addresses_d = addresses_q;
    wrong = 1'b0;
    unique case (place_q)
      3'd0: begin
        header_d.destination_mac = word[63:16];
        header_d.source_mac[47:32] = word[15:0];
        header_d.origin = in_source_i.origin;
      end
      3'd1: begin
        header_d.source_mac[31:0] = word[63:32];
        check_d = sum_t'(word[15:0]);
        wrong = word[31:16] != TypeIpv4 || word[15:8] != Version4[15:8];
      end
      3'd2: begin
        check_d = check_q + sum4(word);
        wrong = word[63:48] != IpBytes || (word[31:16] & ~DontFragment) != '0
            || word[7:0] != LiveUdp[7:0];
      end
      3'd3: begin
        check_d = check_q + sum4(word);
        header_d.source_ip = word[47:16];
        header_d.destination_ip[31:16] = word[15:0];
        addresses_d = 18'(word[47:32]) + 18'(word[31:16]) + 18'(word[15:0]);
      end
      3'd4: begin
        check_d = check_q + sum_t'(word[63:48]);
        header_d.destination_ip[15:0] = word[63:48];
        header_d.source_port = word[47:32];
        header_d.destination_port = word[31:16];
        addresses_d = addresses_q + 18'(word[63:48]);
        // The sum of the protocol, twice the length, addresses and ports.
        covered_d =
            sum_t'(17) + sum_t'(UdpBytes) + sum_t'(UdpBytes) + sum_t'(addresses_q)
            + sum_t'(word[63:48]) + sum_t'(word[47:32])
            + sum_t'(word[31:16]);
        wrong = word[31:16] != UdpPort || word[15:0] != UdpBytes;
      end
      3'd5: begin
        header_d.communicator = word[31:16];
        header_d.topology = word[15:8];
        header_d.role = word[7:0];
        covered_d = covered_q + sum_t'(word[31:16]) + sum_t'(word[15:0]);
        wrong = !sums_up(check_q) || (!sums_up(whole) && word[63:48] != '0);
      end
      default: ;
    endcase
    header_d.ip_sum = addresses_d;
    header_d.udp_sum = covered_d;
  end

  // A packet that ends before a full sixth beat is not a barrier packet.
  assign other_d = place_q == 3'd6 ? other_q
      : (place_q != 3'd0 && other_q) || wrong || short_beat || (in_beat_i.last && place_q != 3'd5);
  assign barrier_d = place_q == 3'd5 && !other_d;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      place_q <= '0;
      other_q <= 1'b0;
      out_valid_o <= 1'b0;
      barrier_o <= 1'b0;
    end else begin
      if (take) begin
        place_q <= in_beat_i.last ? '0 : place_q == 3'd6 ? 3'd6 : place_q + 3'd1;
        other_q <= other_d;
        barrier_o <= barrier_d;
      end
      if (in_ready_o) out_valid_o <= in_valid_i;
    end
    if (take) begin
      out_beat_o <= in_beat_i;
      out_source_o <= in_source_i;
      message_o <= message_e'(word[34:32]);
      episode_o <= word[47:40];
      header_q <= header_d;
      check_q <= check_d;
      covered_q <= covered_d;
      addresses_q <= addresses_d;
    end
  end

  assign other_o = other_q;
  assign header_o = header_q;
endmodule
