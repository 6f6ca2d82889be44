// SPDX-License-Identifier: Apache-2.0
/// The registers: a window with key and table for each communicator, errors, and counters. Settings
/// that could break a barrier are refused and set a bit in the error register: a change to a table
/// in use, a table without its host in the first row or without rows, and the identity of another
/// communicator in use.
module tutti_innetwork_registers
  import tutti_innetwork_pkg::*;
#(
    parameter int unsigned Ports = 4,
    parameter int unsigned Communicators = 4,
    parameter int unsigned Stages = 5,
    parameter logic [15:0] UdpPort = 16'd29813,
    /// Cycles of the clock in a second.
    parameter int unsigned ClockHz = 125_000_000,
    /// Derived; do not set.
    parameter int unsigned Bits = 1 + 2 * Ports,
    /// Derived; do not set.
    parameter int unsigned StageBits = Stages > 1 ? $clog2(Stages) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// One request a cycle; the answer to a read comes in the next cycle.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [63:0] req_data_i,
    output logic rsp_valid_o,
    output logic [63:0] rsp_data_o,
    /// Settings for the core and for the search for a packet's communicator.
    output logic [Communicators-1:0] clear_o,
    output logic [Communicators-1:0] echo_o,
    output logic [Communicators-1:0][15:0] identity_o,
    output logic [Communicators-1:0][7:0] topology_o,
    output logic [Communicators-1:0][7:0] role_o,
    output logic [Communicators-1:0][31:0] incarnation_o,
    output logic [Communicators-1:0][StageBits-1:0] last_o,
    output logic [Communicators-1:0][Stages-1:0][Bits-1:0] need_o,
    output logic [Communicators-1:0][Stages-1:0][Bits-1:0] send_o,
    /// State of the core, for reading.
    input logic [Communicators-1:0][Bits-1:0] arrived_i,
    input logic [Communicators-1:0][StageBits-1:0] stage_i,
    input logic [Communicators-1:0][31:0] episode_i,
    input stamp_t time_i,
    /// Events to count: a message, a repeated message, a message from a stranger, an echo, a
    /// forwarded packet, a barrier packet that was damaged.
    input logic counted_i,
    input logic repeated_i,
    input logic stranger_i,
    input logic echoed_i,
    input logic forwarded_i,
    input logic bad_i
);
  if (Ports < 1 || Ports > 8) $fatal(1, "tutti_innetwork_registers: Ports must be 1 to 8");
  if (Communicators < 1 || Communicators > 16)
    $fatal(1, "tutti_innetwork_registers: Communicators must be 1 to 16");
  if (Stages < 1 || Stages > 8) $fatal(1, "tutti_innetwork_registers: Stages must be 1 to 8");

  logic [Communicators-1:0] enabled_q, begins_q, mine, usable;
  logic [Communicators-1:0][3:0] rows_q;
  logic [2:0] error_q;
  logic refused, write;
  // Delayed by a cycle, so that no logic waits for the counters.
  logic [5:0] counts_q;
  logic [31:0] counted_q, repeated_q, stranger_q, echoed_q, forwarded_q, bad_q;
  logic [2:0] row;
  logic in_row;
  assign write = req_valid_i && req_write_i;
  assign row = req_addr_i[5:3];
  assign in_row = 32'(row) < Stages;
  assign clear_o = ~enabled_q | begins_q;

  for (genvar c = 0; c < Communicators; ++c) begin : gen_window
    logic [Communicators-1:0] same;
    for (genvar o = 0; o < Communicators; ++o) begin : gen_other
      assign same[o] = o != c && enabled_q[o] && identity_o[o] == identity_o[c];
    end
    assign mine[c] = write && req_addr_i >= Windows && req_addr_i[12] == 1'b0
        && req_addr_i[11:8] == 4'(c);
    assign usable[c] = rows_q[c] != '0 && 32'(rows_q[c]) <= Stages && need_o[c][0][0] && same == '0;
    assign last_o[c] = StageBits'(rows_q[c] - 4'd1);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        enabled_q[c] <= 1'b0;
        begins_q[c] <= 1'b0;
        rows_q[c] <= '0;
        identity_o[c] <= '0;
        topology_o[c] <= '0;
        role_o[c] <= '0;
        incarnation_o[c] <= '0;
        echo_o[c] <= 1'b0;
        need_o[c] <= '0;
        send_o[c] <= '0;
      end else begin
        begins_q[c] <= mine[c] && req_addr_i[7:0] == WinControl;
        if (mine[c] && req_addr_i[7:0] == WinControl) begin
          enabled_q[c] <= req_data_i[0] && usable[c];
          echo_o[c] <= req_data_i[1];
        end
        if (mine[c] && !enabled_q[c]) begin
          if (req_addr_i[7:0] == WinKey)
            {incarnation_o[c], role_o[c], topology_o[c], identity_o[c]} <= req_data_i;
          if (req_addr_i[7:0] == WinStages)
            rows_q[c] <= req_data_i[63:4] != '0 || req_data_i[3:0] > 4'd8 ? 4'd9
                : 4'(req_data_i[3:0]);
          for (int unsigned s = 0; s < Stages; ++s) begin
            if (req_addr_i[7:6] == WinNeed[7:6] && row == 3'(s))
              need_o[c][s] <= req_data_i[Bits-1:0];
            if (req_addr_i[7:6] == WinSend[7:6] && row == 3'(s))
              send_o[c][s] <= req_data_i[Bits-1:0];
          end
        end
      end
    end
  end

  logic [Communicators-1:0] refusing;
  for (genvar c = 0; c < Communicators; ++c) begin : gen_refusing
    assign refusing[c] = mine[c]
        && (req_addr_i[7:0] == WinControl ? req_data_i[0] && !usable[c] : enabled_q[c]);
  end
  assign refused = refusing != '0
      || (write && req_addr_i >= Windows && req_addr_i[7:6] != '0 && !in_row)
      || (write && req_addr_i >= Windows && mine == '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      error_q <= '0;
      counts_q <= '0;
      counted_q <= '0;
      repeated_q <= '0;
      stranger_q <= '0;
      echoed_q <= '0;
      forwarded_q <= '0;
      bad_q <= '0;
      rsp_valid_o <= 1'b0;
    end else begin
      error_q <= (error_q & ~(write && req_addr_i == RegError ? req_data_i[2:0] : '0))
          | {counts_q[2], counts_q[3], refused};
      counts_q <= {bad_i, counted_i, repeated_i, stranger_i, echoed_i, forwarded_i};
      counted_q <= counted_q + 32'(counts_q[4]);
      repeated_q <= repeated_q + 32'(counts_q[3]);
      stranger_q <= stranger_q + 32'(counts_q[2]);
      echoed_q <= echoed_q + 32'(counts_q[1]);
      forwarded_q <= forwarded_q + 32'(counts_q[0]);
      bad_q <= bad_q + 32'(counts_q[5]);
      rsp_valid_o <= req_valid_i && !req_write_i;
    end
  end

  logic [3:0] shown;
  assign shown = req_addr_i[11:8];
  logic [63:0] window;
  always_comb begin
    window = '0;
    for (int unsigned c = 0; c < Communicators; ++c)
      if (32'(shown) == c)
        unique case (req_addr_i[7:0])
          WinControl: window = 64'({echo_o[c], enabled_q[c]});
          WinKey: window = {incarnation_o[c], role_o[c], topology_o[c], identity_o[c]};
          WinStages: window = 64'(rows_q[c]);
          WinState: window = {episode_i[c], 8'(stage_i[c]), 24'(arrived_i[c])};
          default:
          for (int unsigned s = 0; s < Stages; ++s)
            if (row == 3'(s)) begin
              if (req_addr_i[7:6] == WinNeed[7:6]) window = 64'(need_o[c][s]);
              if (req_addr_i[7:6] == WinSend[7:6]) window = 64'(send_o[c][s]);
            end
        endcase
  end

  always_ff @(posedge clk_i) begin
    unique case (req_addr_i)
      RegId: rsp_data_o <= Id;
      RegVersion: rsp_data_o <= 64'(Version);
      RegCapability: rsp_data_o <= {16'd0, UdpPort, 8'd0, 8'(Stages), 8'(Communicators), 8'(Ports)};
      RegError: rsp_data_o <= 64'(error_q);
      RegCounted: rsp_data_o <= 64'(counted_q);
      RegRepeated: rsp_data_o <= 64'(repeated_q);
      RegStranger: rsp_data_o <= 64'(stranger_q);
      RegEchoed: rsp_data_o <= 64'(echoed_q);
      RegForwarded: rsp_data_o <= 64'(forwarded_q);
      RegBad: rsp_data_o <= 64'(bad_q);
      RegTimer: rsp_data_o <= time_i;
      RegClock: rsp_data_o <= 64'(ClockHz);
      default: rsp_data_o <= req_addr_i >= Windows && !req_addr_i[12] ? window : '0;
    endcase
  end
endmodule
