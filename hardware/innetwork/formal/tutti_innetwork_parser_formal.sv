// SPDX-License-Identifier: Apache-2.0
/// The parser under any packets: its verdict on the eighth beat is that of a specification that
/// keeps the first 60 bytes and judges them afterwards, and the fields and beats that it passes on
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
    input stamp_t time_i,
    input logic valid_i,
    input beat_t beat_i,
    input source_t source_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic valid, other, barrier, soon_sixth, soon_eighth;
  beat_t beat;
  source_t source;
  message_e message;
  logic [31:0] episode, episode_before, episode_after;
  logic [63:0] soon_word;
  header_t header;
  tutti_innetwork_parser #(
      .UdpPort(UdpPort)
  ) i_parser (
      .clk_i,
      .rst_ni(!init_q),
      .time_i,
      .in_valid_i(valid_i && !init_q),
      .in_beat_i(beat_i),
      .in_source_i(source_i),
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

  // The beat that came in last, whether it is inside the parser's first cycle, whether the next one
  // begins a packet, and the time of the last one that did.
  logic inside_q, begins_q;
  beat_t came_q;
  source_t came_source_q;
  stamp_t began_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      inside_q <= 1'b0;
      begins_q <= 1'b1;
    end else begin
      inside_q <= valid_i;
      if (valid_i) begin
        begins_q <= beat_i.last;
        came_q <= beat_i;
        came_source_q <= source_i;
        if (begins_q) began_q <= time_i;
      end
    end
  end

  // The packet of the beat that leaves, so far: its words in network order, its time, whether its
  // beats were as full as they must be, and their number (up to 9).
  logic [63:0] w0_q, w1_q, w2_q, w3_q, w4_q, w5_q, w6_q, w7_q, word;
  logic [3:0] count_q, earlier, place;
  logic ended_q, short_q;
  beat_t held_q;
  source_t held_source_q;
  stamp_t called_q;
  queue_t origin_q;
  logic [63:0] leaves;
  assign leaves = swapped(held_q.data);
  assign word = swapped(came_q.data);
  assign earlier = ended_q ? 4'd0 : count_q;
  assign place = earlier > 4'd8 ? 4'd8 : earlier;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      count_q <= '0;
      ended_q <= 1'b1;
      short_q <= 1'b0;
    end else if (inside_q) begin
      count_q <= earlier == 4'd9 ? 4'd9 : earlier + 4'd1;
      ended_q <= came_q.last;
      if (earlier < 4'd8) short_q <= (earlier != '0 && short_q)
          || (earlier == 4'd7 ? !came_q.keep[3] : came_q.keep != 8'hFF || came_q.last);
      if (earlier == 4'd0) w0_q <= word;
      if (earlier == 4'd0) called_q <= began_q;
      if (earlier == 4'd0) origin_q <= came_source_q.origin;
      if (earlier == 4'd1) w1_q <= word;
      if (earlier == 4'd2) w2_q <= word;
      if (earlier == 4'd3) w3_q <= word;
      if (earlier == 4'd4) w4_q <= word;
      if (earlier == 4'd5) w5_q <= word;
      if (earlier == 4'd6) w6_q <= word;
      if (earlier == 4'd7) w7_q <= word;
      held_q <= came_q;
      held_source_q <= came_source_q;
    end
  end

  // The sums of the stored words; a separate proof covers what sums_up reports of them.
  sum_t ip_1, ip_2, ip_3, ip_4, udp_3, udp_4, udp_5, udp_6, udp_7;
  logic ip_fine, udp_fine;
  assign ip_1 = sum_t'(w1_q[15:0]);
  assign ip_2 = ip_1 + sum4(w2_q);
  assign ip_3 = ip_2 + sum4(w3_q);
  assign ip_4 = ip_3 + sum_t'(w4_q[63:48]);
  assign udp_3 = sum_t'(17) + sum_t'(26) + sum_t'(w3_q[47:32]) + sum_t'(w3_q[31:16])
      + sum_t'(w3_q[15:0]);
  assign udp_4 = udp_3 + sum4(w4_q);
  assign udp_5 = udp_4 + sum4(w5_q);
  assign udp_6 = udp_5 + sum4(w6_q);
  assign udp_7 = udp_6 + sum_t'(w7_q[63:48]) + sum_t'(w7_q[47:32]);
  assign ip_fine = sums_up(ip_4);
  assign udp_fine = sums_up(udp_7) || w5_q[63:48] == '0;
  logic shape_1, shape_2, shape_4, shape_6;
  assign shape_1 = w1_q[31:8] == 24'h080045;
  assign shape_2 = w2_q[63:48] == 16'd46 && !w2_q[31] && w2_q[29:16] == '0 && w2_q[7:0] == 8'd17;
  assign shape_4 = w4_q[31:16] == UdpPort && w4_q[15:0] == 16'd26;
  // Version 1, no values; the episode's low byte twice.
  assign shape_6 = w6_q[63:32] == 32'h0100_0000 && w6_q[7:0] == w5_q[47:40];

  // The packet is well formed so far, but for the last sum.
  logic formed, fine;
  assign formed = !short_q && (count_q < 4'd2 || shape_1) && (count_q < 4'd3 || shape_2)
      && (count_q < 4'd5 || shape_4) && (count_q < 4'd7 || (shape_6 && ip_fine));
  assign fine = formed && (count_q < 4'd8 || udp_fine);

  // The beat of a place has left, and with it its fields are stored.
  function automatic logic seen(logic [3:0] at);
    return count_q > at + 4'd1 || (count_q == at + 4'd1 && !valid);
  endfunction

  // The last beat of a barrier packet left in the cycle before.
  logic ours_q, after_q;
  header_t header_q;
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      ours_q <= 1'b0;
      after_q <= 1'b0;
    end else begin
      if (valid) ours_q <= !beat.last && (barrier || (ours_q && count_q > 4'd8));
      after_q <= valid && beat.last && (barrier || (ours_q && count_q > 4'd8));
    end
    header_q <= header;
  end

  always_comb begin
    if (!init_q) begin
      a_barrier: assert (!valid || barrier == (count_q == 4'd8 && fine));
      a_other: assert (!valid || count_q > 4'd8 || other == !fine);
      a_beat: assert (!valid || (beat == held_q && source == held_source_q));
      a_macs: assert (!(valid && barrier) || (header.destination_mac == w0_q[63:16]
          && header.source_mac == {w0_q[15:0], w1_q[63:32]} && header.origin == origin_q));
      a_addresses: assert (!(valid && barrier) || (header.source_ip == w3_q[47:16]
          && header.destination_ip == {w3_q[15:0], w4_q[63:48]}));
      a_ports: assert (!(valid && barrier) || (header.source_port == w4_q[47:32]
          && header.destination_port == w4_q[31:16]));
      a_what: assert (!(valid && barrier) || (message == w5_q[39:32]
          && header.communicator == w5_q[31:16] && {header.topology, header.role} == w5_q[15:0]));
      a_when: assert (!(valid && barrier) || (header.called == called_q && episode == w6_q[31:0]
          && episode_before == w6_q[31:0] - 32'd1 && episode_after == w6_q[31:0] + 32'd1));
      // The header stays for one more cycle.
      a_stays: assert (!after_q || header == header_q);
      a_soon: assert (soon_sixth == (inside_q && earlier == 4'd5)
          && soon_eighth == (inside_q && earlier == 4'd7) && (!inside_q || soon_word == word));
      // Invariants.
      a_inside: assert (i_parser.held_valid_q == inside_q
          && (!inside_q || (i_parser.held_q == came_q && i_parser.held_source_q == came_source_q
              && i_parser.held_place_q == place)));
      a_covers_ip: assert (!inside_q || i_parser.held_ip_q
          == (place == 4'd1 ? 4'b0001 : place == 4'd2 || place == 4'd3 ? 4'b1111
          : place == 4'd4 ? 4'b1000 : 4'b0000));
      a_covers_udp: assert (!inside_q || i_parser.held_udp_q
          == (place == 4'd3 ? 4'b0111 : place >= 4'd4 && place <= 4'd6 ? 4'b1111
          : place == 4'd7 ? 4'b1100 : 4'b0000));
      a_next: assert (i_parser.place_q == (!inside_q ? place : came_q.last ? 4'd0
          : place == 4'd8 ? 4'd8 : place + 4'd1));
      a_begins: assert (begins_q == (inside_q ? came_q.last : ended_q));
      a_stamp: assert ((begins_q && !inside_q && count_q == '0) || i_parser.stamp_q == began_q);
      a_stamp_of: assert (count_q != 4'd1 || ended_q || !valid || began_q == called_q);
      a_place: assert (count_q == '0 || i_parser.out_place_q == (count_q > 4'd8 ? 4'd8
          : count_q - 4'd1));
      a_ip: assert (count_q == '0 || i_parser.ip_q == (count_q == 4'd1 ? '0 : count_q == 4'd2 ? ip_1
          : count_q == 4'd3 ? ip_2 : count_q == 4'd4 ? ip_3 : ip_4));
      a_udp: assert (count_q == '0 || i_parser.udp_q == (count_q <= 4'd3 ? sum_t'(43)
          : count_q == 4'd4 ? udp_3 : count_q == 4'd5 ? udp_4 : count_q == 4'd6 ? udp_5
          : count_q == 4'd7 ? udp_6 : udp_7));
      a_low: assert (count_q < 4'd6 || (i_parser.low_q == w5_q[47:40]
          && i_parser.no_sum_q == (w5_q[63:48] == '0)));
      a_episode: assert (count_q < 4'd7 || episode == w6_q[31:0]);
      a_around: assert (!seen(4'd6) || (episode_before == w6_q[31:0] - 32'd1
          && episode_after == w6_q[31:0] + 32'd1));
      a_formed: assert (count_q == '0 || count_q > 4'd8 || i_parser.other_q == !formed);
      a_w0: assert (!seen(4'd0) || (header.destination_mac == w0_q[63:16]
          && header.source_mac[47:32] == w0_q[15:0] && header.origin == origin_q));
      a_called: assert (!seen(4'd0) || (count_q == 4'd1 && ended_q) || header.called == called_q);
      a_w1: assert (!seen(4'd1) || header.source_mac[31:0] == w1_q[63:32]);
      a_w3: assert (!seen(4'd3)
          || {header.source_ip, header.destination_ip[31:16]} == w3_q[47:0]);
      a_w4: assert (!seen(4'd4)
          || {header.destination_ip[15:0], header.source_port, header.destination_port}
              == w4_q[63:16]);
      a_w5: assert (!seen(4'd5) || {message, header.communicator, header.topology, header.role}
          == w5_q[39:0]);
      a_held: assert (count_q == '0 || (beat == held_q && source == held_source_q
          && beat.last == ended_q));
      a_began: assert (count_q <= 4'd9 && (count_q != '0 || (ended_q && !valid)));
      a_ours: assert (!ours_q || (valid ? count_q == 4'd9 : count_q >= 4'd8 && !ended_q));
      a_last_word: assert ((count_q != 4'd1 || (w0_q == leaves && origin_q == held_source_q.origin))
          && (count_q != 4'd2 || w1_q == leaves) && (count_q != 4'd4 || w3_q == leaves)
          && (count_q != 4'd5 || w4_q == leaves) && (count_q != 4'd6 || w5_q == leaves));
    end
  end
  always_comb begin
    c_barrier: cover (!init_q && valid && barrier && w5_q[63:48] != '0 && w3_q[47:16] != '0);
    c_without_sum: cover (!init_q && valid && barrier && w5_q[63:48] == '0);
    c_cut: cover (!init_q && valid && other && count_q == 4'd7 && held_q.last && shape_1
        && shape_2 && shape_4);
    c_padded: cover (!init_q && valid && count_q == 4'd9 && ours_q && ended_q);
    c_after: cover (!init_q && after_q && valid);
  end
endmodule
