// SPDX-License-Identifier: Apache-2.0
/// The parser under any packets: its verdict on the sixth beat is that of a specification that
/// keeps the first 48 bytes and judges them afterwards, and the fields and beats that it passes on
/// are those that came in. A separate proof shows that adding the words and looking at the sum is a
/// checksum.
module tutti_innetwork_parser_formal
  import tutti_innetwork_pkg::*;
#(
    parameter logic [15:0] UdpPort = 16'd29813
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic valid_i,
    input beat_t beat_i,
    input source_t source_i,
    input logic ready_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic ready, valid, other, barrier;
  beat_t beat;
  source_t source;
  message_e message;
  logic [7:0] episode;
  header_t header;
  tutti_innetwork_parser #(
      .UdpPort(UdpPort)
  ) i_parser (
      .clk_i,
      .rst_ni(!init_q),
      .in_valid_i(valid_i && !init_q),
      .in_ready_o(ready),
      .in_beat_i(beat_i),
      .in_source_i(source_i),
      .out_valid_o(valid),
      .out_ready_i(ready_i && !init_q),
      .out_beat_o(beat),
      .out_source_o(source),
      .other_o(other),
      .barrier_o(barrier),
      .message_o(message),
      .episode_o(episode),
      .header_o(header)
  );

  // The packet so far: its words in network order, whether all its beats were full, and their
  // number (up to 7).
  logic [63:0] w0_q, w1_q, w2_q, w3_q, w4_q, w5_q, word;
  // Beats of the packet whose last beat the parser holds.
  logic [2:0] count_q;
  logic ended_q, short_q, take;
  beat_t held_q;
  source_t held_source_q;
  logic [2:0] earlier;
  assign take = !init_q && valid_i && ready;
  assign word = swapped(beat_i.data);
  assign earlier = ended_q ? 3'd0 : count_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      count_q <= '0;
      ended_q <= 1'b1;
      short_q <= 1'b0;
    end else if (take) begin
      count_q <= earlier == 3'd7 ? 3'd7 : earlier + 3'd1;
      ended_q <= beat_i.last;
      if (earlier < 3'd6) short_q <= (earlier != '0 && short_q) || beat_i.keep != 8'hFF
          || (beat_i.last
          && earlier < 3'd5);
      if (earlier == 3'd0) w0_q <= word;
      if (earlier == 3'd1) w1_q <= word;
      if (earlier == 3'd2) w2_q <= word;
      if (earlier == 3'd3) w3_q <= word;
      if (earlier == 3'd4) w4_q <= word;
      if (earlier == 3'd5) w5_q <= word;
      held_q <= beat_i;
      held_source_q <= source_i;
    end
  end

  // The sums of the stored words; a separate proof covers what sums_up reports of them.
  sum_t ip_1, ip_2, ip_3, ip_4, addresses, covered_4, covered_5;
  logic ip_fine, udp_fine;
  assign ip_1 = sum_t'(w1_q[15:0]);
  assign ip_2 = ip_1 + sum4(w2_q);
  assign ip_3 = ip_2 + sum4(w3_q);
  assign ip_4 = ip_3 + sum_t'(w4_q[63:48]);
  assign addresses = sum_t'(w3_q[47:32]) + sum_t'(w3_q[31:16]) + sum_t'(w3_q[15:0]);
  assign covered_4 =
      sum_t'(45) + addresses + sum_t'(w4_q[63:48]) + sum_t'(w4_q[47:32]) + sum_t'(w4_q[31:16]);
  assign covered_5 = covered_4 + sum_t'(w5_q[31:16]) + sum_t'(w5_q[15:0]);
  assign ip_fine = sums_up(ip_4);
  assign udp_fine = sums_up(covered_4 + sum4(w5_q));
  logic shape_1, shape_2, shape_4;
  assign shape_1 = w1_q[31:8] == 24'h080045;
  assign shape_2 = w2_q[63:48] == 16'd34 && !w2_q[31] && w2_q[29:16] == '0 && w2_q[7:0] == 8'd17;
  assign shape_4 = w4_q[31:16] == UdpPort && w4_q[15:0] == 16'd14;

  // The packet is well formed so far.
  logic fine;
  assign fine = !short_q && (count_q < 3'd2 || shape_1) && (count_q < 3'd3 || shape_2)
      && (count_q < 3'd5 || shape_4)
      && (count_q < 3'd6 || (ip_fine && (udp_fine || w5_q[63:48] == '0)));

  always_comb begin
    if (!init_q) begin
      a_barrier: assert (!valid || barrier == (count_q == 3'd6 && fine));
      a_other: assert (!valid || other == !fine);
      a_beat: assert (!valid || (beat == held_q && source == held_source_q));
      a_macs: assert (!(valid && barrier) || (header.destination_mac == w0_q[63:16]
          && header.source_mac == {w0_q[15:0], w1_q[63:32]}));
      a_addresses: assert (!(valid && barrier) || (header.source_ip == w3_q[47:16]
          && header.destination_ip == {w3_q[15:0], w4_q[63:48]}));
      a_ports: assert (!(valid && barrier) || (header.source_port == w4_q[47:32]
          && header.destination_port == w4_q[31:16]));
      a_what: assert (!(valid && barrier)
          || ({episode, message} == {w5_q[47:40], w5_q[34:32]} && header.communicator == w5_q[31:16]
          && {header.topology, header.role} == w5_q[15:0]));
      a_sums: assert (!(valid && barrier) || (header.udp_sum == covered_5
          && header.ip_sum == 18'(addresses + sum_t'(w4_q[63:48]))));
      // Invariants.
      a_check: assert (count_q < 3'd2 || count_q > 3'd5 || i_parser.check_q
          == (count_q == 3'd2 ? ip_1 : count_q == 3'd3 ? ip_2 : count_q == 3'd4 ? ip_3 : ip_4));
      a_part: assert (count_q != 3'd4 || i_parser.addresses_q == 18'(addresses));
      a_address: assert (count_q < 3'd5 || count_q > 3'd6
          || i_parser.addresses_q == 18'(addresses + sum_t'(w4_q[63:48])));
      a_covered: assert (count_q != 3'd5 || i_parser.covered_q == covered_4);
      a_kept: assert (count_q != 3'd6 || (i_parser.header_q.udp_sum == covered_5
          && i_parser.header_q.ip_sum == 18'(addresses + sum_t'(w4_q[63:48]))));
      a_valid: assert (valid || count_q == '0 || i_parser.place_q == earlier || count_q >= 3'd6);
      a_place: assert (i_parser.place_q == (earlier > 3'd6 ? 3'd6 : earlier));
      a_q_other: assert (count_q == '0 || i_parser.other_q == !fine);
      a_q_barrier: assert (count_q == '0 || i_parser.barrier_o == (count_q == 3'd6 && fine));
      a_w0: assert (count_q < 3'd1 || count_q > 3'd6
          || i_parser.header_q.destination_mac == w0_q[63:16]);
      a_w01: assert (count_q < 3'd2 || count_q > 3'd6
          || i_parser.header_q.source_mac == {w0_q[15:0], w1_q[63:32]});
      a_w0s: assert (count_q != 3'd1 || i_parser.header_q.source_mac[47:32] == w0_q[15:0]);
      a_w3: assert (count_q < 3'd4 || count_q > 3'd6
          || {i_parser.header_q.source_ip, i_parser.header_q.destination_ip[31:16]} == w3_q[47:0]);
      a_w4: assert (count_q < 3'd5 || count_q > 3'd6
          || {i_parser.header_q.destination_ip[15:0], i_parser.header_q.source_port,
          i_parser.header_q.destination_port} == w4_q[63:16]);
      a_w5: assert (count_q != 3'd6
          || {i_parser.episode_o, w5_q[39:35], i_parser.message_o, i_parser.header_q.communicator,
          i_parser.header_q.topology, i_parser.header_q.role} == w5_q[47:0]);
      a_held: assert (count_q == '0
          || (i_parser.out_beat_o == held_q && i_parser.out_source_o == held_source_q));
      a_began: assert (count_q != '0 || (ended_q && !valid));
    end
  end
  always_comb begin
    c_barrier: cover (!init_q && valid && barrier && w5_q[63:48] != '0 && w3_q[47:16] != '0);
    c_without_sum: cover (!init_q && valid && barrier && w5_q[63:48] == '0);
    c_cut: cover (!init_q && valid && other && count_q == 3'd5 && held_q.last && shape_1
        && shape_2 && shape_4);
    c_padded: cover (!init_q && valid && count_q == 3'd7 && !other && ended_q);
  end
endmodule
