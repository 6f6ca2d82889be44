// SPDX-License-Identifier: Apache-2.0
/// The registers against a plain copy of them: what is written is kept and read back, a refused
/// write changes nothing but the error bit, a table in use cannot change, no two communicators in
/// use have one identity, and each counter counts its own events.
///
/// The copy follows the map in the README, word by word, for all windows at once.
module tutti_innetwork_registers_formal
  import tutti_innetwork_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Communicators = 2,
    parameter int unsigned Stages = 2,
    parameter int unsigned Bits = 1 + 2 * Ports,
    parameter int unsigned StageBits = Stages > 1 ? $clog2(Stages) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [63:0] req_data_i,
    input logic [Communicators-1:0][Bits-1:0] arrived_i,
    input logic [Communicators-1:0][StageBits-1:0] stage_i,
    input logic [Communicators-1:0][31:0] episode_i,
    input stamp_t time_i,
    // Damaged, counted, repeated, stranger, echoed, forwarded.
    input logic [5:0] events_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic rsp_valid;
  logic [63:0] rsp_data;
  logic [Communicators-1:0] clear, echo;
  logic [Communicators-1:0][15:0] identity;
  logic [Communicators-1:0][7:0] topology, role;
  logic [Communicators-1:0][31:0] incarnation;
  logic [Communicators-1:0][StageBits-1:0] last;
  logic [Communicators-1:0][Stages-1:0][Bits-1:0] need, send;

  tutti_innetwork_registers #(
      .Ports(Ports),
      .Communicators(Communicators),
      .Stages(Stages)
  ) i_registers (
      .clk_i,
      .rst_ni(!init_q),
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .clear_o(clear),
      .echo_o(echo),
      .identity_o(identity),
      .topology_o(topology),
      .role_o(role),
      .incarnation_o(incarnation),
      .last_o(last),
      .need_o(need),
      .send_o(send),
      .arrived_i,
      .stage_i,
      .episode_i,
      .time_i,
      .counted_i(events_i[4]),
      .repeated_i(events_i[3]),
      .stranger_i(events_i[2]),
      .echoed_i(events_i[1]),
      .forwarded_i(events_i[0]),
      .bad_i(events_i[5])
  );

  // The copy.
  logic [Communicators-1:0] enabled_q = '0, begins_q = '0, echo_q = '0;
  logic [Communicators-1:0][63:0] key_q = '0;
  logic [Communicators-1:0][3:0] rows_q = '0;
  logic [Communicators-1:0][7:0][Bits-1:0] need_q = '0, send_q = '0;
  logic [2:0] error_q = '0;
  logic [5:0] late_q = '0;
  logic [5:0][31:0] counted_q = '0;
  logic answers_q = 1'b0;
  logic [63:0] answer_q = '0;

  // The request in parts: the window that it means, and the place in it.
  logic writes, in_windows, in_row;
  logic [4:0] window;
  logic [7:0] place;
  logic [2:0] row;
  assign writes = req_valid_i && req_write_i;
  assign in_windows = req_addr_i[13];
  assign window = req_addr_i[12:8];
  assign place = req_addr_i[7:0];
  assign row = place[5:3];
  assign in_row = place >= WinNeed && 32'(row) < Stages;

  logic [Communicators-1:0] usable;
  always_comb begin
    for (int unsigned c = 0; c < Communicators; ++c) begin
      usable[c] = rows_q[c] >= 4'd1 && 32'(rows_q[c]) <= Stages && need_q[c][0][0];
      for (int unsigned o = 0; o < Communicators; ++o)
        if (o != c && enabled_q[o] && key_q[o][15:0] == key_q[c][15:0]) usable[c] = 1'b0;
    end
  end

  logic refused;
  always_comb begin
    refused = 1'b0;
    if (writes && in_windows) begin
      if (32'(window) >= Communicators) refused = 1'b1;
      else if (place == WinControl) refused = req_data_i[0] && !usable[window];
      else refused = enabled_q[window];
      if (place >= WinNeed && !in_row) refused = 1'b1;
    end
  end

  logic [63:0] answer;
  always_comb begin
    answer = '0;
    if (in_windows) begin
      if (32'(window) < Communicators) begin
        if (place == WinControl) answer = {62'd0, echo_q[window], enabled_q[window]};
        else if (place == WinKey) answer = key_q[window];
        else if (place == WinStages) answer = {60'd0, rows_q[window]};
        else if (place == WinState)
          answer = {episode_i[window], 8'(stage_i[window]), 24'(arrived_i[window])};
        else if (in_row && place[7:6] == 2'd1) answer = 64'(need_q[window][row]);
        else if (in_row && place[7:6] == 2'd2) answer = 64'(send_q[window][row]);
      end
    end else begin
      unique case (req_addr_i)
        RegId: answer = Id;
        RegVersion: answer = {32'd0, Version};
        RegCapability:
        answer = {16'd0, 16'd29813, 8'd0, 8'(Stages), 8'(Communicators), 8'(Ports)};
        RegError: answer = 64'(error_q);
        RegBad: answer = 64'(counted_q[5]);
        RegCounted: answer = 64'(counted_q[4]);
        RegRepeated: answer = 64'(counted_q[3]);
        RegStranger: answer = 64'(counted_q[2]);
        RegEchoed: answer = 64'(counted_q[1]);
        RegForwarded: answer = 64'(counted_q[0]);
        RegTimer: answer = time_i;
        RegClock: answer = 64'd125_000_000;
        default: answer = '0;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    answer_q <= answer;
    if (init_q) begin
      {enabled_q, begins_q, echo_q, key_q, rows_q, need_q, send_q} <= '0;
      {error_q, late_q, counted_q, answers_q} <= '0;
    end else begin
      answers_q <= req_valid_i && !req_write_i;
      begins_q <= '0;
      late_q <= events_i;
      for (int unsigned e = 0; e < 6; ++e) if (late_q[e]) counted_q[e] <= counted_q[e] + 32'd1;
      if (writes && req_addr_i == RegError) error_q <= error_q & ~req_data_i[2:0];
      if (refused) error_q[0] <= 1'b1;
      if (late_q[3]) error_q[1] <= 1'b1;
      if (late_q[2]) error_q[2] <= 1'b1;
      if (writes && in_windows && 32'(window) < Communicators) begin
        if (place == WinControl) begin
          begins_q[window] <= 1'b1;
          enabled_q[window] <= req_data_i[0] && usable[window];
          echo_q[window] <= req_data_i[1];
        end else if (!refused) begin
          if (place == WinKey) key_q[window] <= req_data_i;
          // More rows than can be are kept as a number that is never usable.
          if (place == WinStages) rows_q[window] <= req_data_i > 64'd8 ? 4'd9 : req_data_i[3:0];
          if (place[7:6] == 2'd1) need_q[window][row] <= req_data_i[Bits-1:0];
          if (place[7:6] == 2'd2) send_q[window][row] <= req_data_i[Bits-1:0];
        end
      end
    end
  end

  always_comb begin
    if (!power_q) begin
      a_enabled: assert (clear == (~enabled_q | begins_q) && i_registers.enabled_q == enabled_q
                         && i_registers.begins_q == begins_q);
      a_echo: assert (echo == echo_q);
      for (int unsigned c = 0; c < Communicators; ++c) begin
        assert ({incarnation[c], role[c], topology[c], identity[c]} == key_q[c]);
        assert (i_registers.rows_q[c] == rows_q[c]
                && last[c] == StageBits'(rows_q[c] - 4'd1));
        for (int unsigned s = 0; s < Stages; ++s)
          assert (need[c][s] == need_q[c][s] && send[c][s] == send_q[c][s]);
        // A communicator in use has a table, whose first row needs its host.
        assert (!enabled_q[c] || (rows_q[c] >= 4'd1 && 32'(rows_q[c]) <= Stages
                                  && need_q[c][0][0]));
        for (int unsigned o = 0; o < c; ++o)
          assert (!enabled_q[c] || !enabled_q[o] || identity[c] != identity[o]);
      end
      a_error: assert (i_registers.error_q == error_q);
      a_counters: assert ({i_registers.bad_q, i_registers.counted_q, i_registers.repeated_q,
                           i_registers.stranger_q, i_registers.echoed_q, i_registers.forwarded_q}
                          == counted_q && i_registers.counts_q == late_q);
      a_answers: assert (rsp_valid == answers_q);
      a_answer: assert (!rsp_valid || rsp_data == answer_q);
    end
  end

  always_comb begin
    c_two_in_use: cover (enabled_q[0] && enabled_q[Communicators-1]);
    c_refused_while_in_use: cover (error_q == 3'b001 && enabled_q[0]);
    c_reads_a_row: cover (rsp_valid && enabled_q[0] && rsp_data == 64'd5 && counted_q[4] != '0);
  end
endmodule
