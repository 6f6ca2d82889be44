// SPDX-License-Identifier: Apache-2.0
/// Reads a packet as its beats pass, and reports with the eighth at the latest whether it is a
/// well-formed barrier packet.
///
/// A beat leaves two cycles after it has come in, whatever it is, so there must be room for it. In
/// the first cycle its fields are compared and added to the sums, in the second the sums are looked
/// at: the verdict and the beat leave together. One wrong field makes a packet other traffic. Bytes
/// after byte 60 are padding and are not checked. Whether the frame is damaged is known with its last
/// beat only, and not looked at here.
module tutti_innetwork_parser
  import tutti_innetwork_pkg::*;
#(
    /// The destination UDP port of barrier packets.
    parameter logic [15:0] UdpPort = 16'd29813
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input stamp_t time_i,
    input logic in_valid_i,
    input beat_t in_beat_i,
    input source_t in_source_i,
    /// The beat that leaves in the next cycle, in network order, and whether it is a packet's sixth
    /// or eighth: for comparisons that take a cycle.
    output logic [63:0] soon_word_o,
    output logic soon_sixth_o,
    output logic soon_eighth_o,
    output logic out_valid_o,
    output beat_t out_beat_o,
    output source_t out_source_o,
    /// With every beat to the eighth: the packet is known to be other traffic.
    output logic other_o,
    /// With the eighth beat: it is a barrier packet.
    output logic barrier_o,
    /// The fields, from the eighth beat until the cycle after the last.
    output message_e message_o,
    /// Also the episodes before and after it.
    output logic [31:0] episode_o,
    output logic [31:0] before_o,
    output logic [31:0] after_o,
    output header_t header_o
);
  // Behind the eighth beat of a packet.
  localparam logic [3:0] Behind = 4'd8;

  // The place of the next beat.
  logic [3:0] place_q;
  // The beat that came in last, and the words of it that the two checksums cover.
  logic held_valid_q;
  logic [3:0] held_place_q, held_ip_q, held_udp_q;
  beat_t held_q;
  source_t held_source_q;
  stamp_t stamp_q;
  logic [63:0] word;
  assign word = swapped(held_q.data);
  assign soon_word_o = word;
  assign soon_sixth_o = held_valid_q && held_place_q == 4'd5;
  assign soon_eighth_o = held_valid_q && held_place_q == 4'd7;

  function automatic logic [63:0] only(logic [63:0] words, logic [3:0] which);
    return {
      words[63:48] & {16{which[3]}},
      words[47:32] & {16{which[2]}},
      words[31:16] & {16{which[1]}},
      words[15:0] & {16{which[0]}}
    };
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      place_q <= '0;
      held_valid_q <= 1'b0;
    end else begin
      if (in_valid_i) place_q <= in_beat_i.last ? '0 : place_q == Behind ? Behind : place_q + 4'd1;
      held_valid_q <= in_valid_i;
    end
    if (in_valid_i) begin
      held_q <= in_beat_i;
      held_source_q <= in_source_i;
      held_place_q <= place_q;
      unique case (place_q)
        4'd1: held_ip_q <= 4'b0001;
        4'd2, 4'd3: held_ip_q <= 4'b1111;
        4'd4: held_ip_q <= 4'b1000;
        default: held_ip_q <= 4'b0000;
      endcase
      unique case (place_q)
        // Without the checksum of the IP header.
        4'd3: held_udp_q <= 4'b0111;
        4'd4, 4'd5, 4'd6: held_udp_q <= 4'b1111;
        // Without the padding.
        4'd7: held_udp_q <= 4'b1100;
        default: held_udp_q <= 4'b0000;
      endcase
      if (place_q == '0) stamp_q <= time_i;
    end
  end

  // Sums of the IP header, and of what the UDP checksum covers, checksum included.
  sum_t ip_q, udp_q;
  logic [31:0] episode_q;
  // The low byte of the episode, from the message field.
  logic [7:0] low_q;
  logic no_sum_q, other_q, wrong, short_beat;
  logic [3:0] out_place_q;
  header_t header_q;

  assign short_beat = held_place_q == 4'd7 ? !held_q.keep[3]
      : held_q.keep != 8'hFF || held_q.last;
  always_comb begin
    unique case (held_place_q)
      4'd1: wrong = word[31:16] != TypeIpv4 || word[15:8] != Version4[15:8];
      4'd2: wrong = word[63:48] != IpBytes || (word[31:16] & ~DontFragment) != '0
            || word[7:0] != LiveUdp[7:0];
      4'd4: wrong = word[31:16] != UdpPort || word[15:0] != UdpBytes;
      4'd6: wrong = word[63:32] != Format || word[7:0] != low_q || !sums_up(ip_q);
      default: wrong = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_o <= 1'b0;
      out_place_q <= '0;
      other_q <= 1'b0;
    end else begin
      out_valid_o <= held_valid_q;
      if (held_valid_q) begin
        out_place_q <= held_place_q;
        if (held_place_q != Behind)
          other_q <= (held_place_q != '0 && other_q) || wrong || short_beat;
      end
    end
    if (held_valid_q) begin
      out_beat_o <= held_q;
      out_source_o <= held_source_q;
      ip_q <= held_place_q == '0 ? '0 : ip_q + sum4(only(word, held_ip_q));
      // The pseudo-header's protocol and length come first.
      udp_q <= held_place_q == '0 ? sum_t'(17) + sum_t'(UdpBytes)
          : udp_q + sum4(only(word, held_udp_q));
      if (held_place_q == 4'd5) low_q <= word[47:40];
      if (held_place_q == 4'd5) no_sum_q <= word[63:48] == '0;
      if (held_place_q == 4'd6) episode_q <= word[31:0];
    end
    before_o <= episode_q - 32'd1;
    after_o <= episode_q + 32'd1;
  end

  // The fields of a beat that leaves, so that they stay for a cycle after the packet's last beat.
  logic [63:0] leaving;
  assign leaving = swapped(out_beat_o.data);
  always_ff @(posedge clk_i) begin
    if (out_valid_o) begin
      unique case (out_place_q)
        4'd0: begin
          header_q.destination_mac <= leaving[63:16];
          header_q.source_mac[47:32] <= leaving[15:0];
          header_q.origin <= out_source_o.origin;
          header_q.called <= stamp_q;
        end
        4'd1: header_q.source_mac[31:0] <= leaving[63:32];
        4'd3: begin
          header_q.source_ip <= leaving[47:16];
          header_q.destination_ip[31:16] <= leaving[15:0];
        end
        4'd4: begin
          header_q.destination_ip[15:0] <= leaving[63:48];
          header_q.source_port <= leaving[47:32];
          header_q.destination_port <= leaving[31:16];
        end
        4'd5: begin
          message_o <= message_e'(leaving[39:32]);
          header_q.communicator <= leaving[31:16];
          header_q.topology <= leaving[15:8];
          header_q.role <= leaving[7:0];
        end
        default: ;
      endcase
    end
  end

  logic is_eighth, udp_fine;
  assign is_eighth = out_place_q == 4'd7;
  assign udp_fine = sums_up(udp_q) || no_sum_q;
  assign other_o = other_q || (is_eighth && !udp_fine);
  assign barrier_o = is_eighth && !other_q && udp_fine;
  assign episode_o = episode_q;
  assign header_o = header_q;
endmodule
