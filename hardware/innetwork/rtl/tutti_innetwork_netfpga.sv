// SPDX-License-Identifier: Apache-2.0
/// The engine in the user data path of a NetFPGA, in place of the lookup of the output port: 64-bit
/// data with byte 0 at the top, 8-bit control, write and ready.
///
/// A packet begins with a header word (control FF: destination queues, words, source queue, bytes).
/// Data follow with control 0; the last word's control has one bit set, at the word's last byte. A
/// sender may write once more in the cycle after ready falls. Header words of other modules are
/// dropped.
module tutti_innetwork_netfpga
  import tutti_innetwork_pkg::*;
#(
    /// Number of communicators, 1 to 16.
    parameter int unsigned Communicators = 4,
    /// Number of rows of a table, 1 to 8.
    parameter int unsigned Stages = 5,
    /// The destination UDP port of barrier packets.
    parameter logic [15:0] UdpPort = 16'd29813,
    /// Cycles of the clock in a second.
    parameter int unsigned ClockHz = 125_000_000
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic [63:0] in_data_i,
    input logic [7:0] in_ctrl_i,
    input logic in_wr_i,
    output logic in_rdy_o,
    output logic [63:0] out_data_o,
    output logic [7:0] out_ctrl_o,
    output logic out_wr_o,
    input logic out_rdy_i,
    /// Registers: one request a cycle; the answer to a read comes in the next cycle.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [63:0] req_data_i,
    output logic rsp_valid_o,
    output logic [63:0] rsp_data_o
);
  localparam int unsigned Ports = 4;
  localparam logic [7:0] HeaderCtrl = 8'hFF;

  // Input: four words, the last of them for the write after ready falls.
  logic [3:0][71:0] words_q;
  logic [2:0] count_q;
  logic pop, in_packet_q, is_header, valid, ready;
  logic [71:0] word;
  logic [7:0] ctrl;
  logic [3:0] bytes;
  source_t source_q;
  assign in_rdy_o = count_q < 3'd3;
  assign word = words_q[0];
  assign ctrl = word[71:64];
  assign is_header = !in_packet_q && ctrl != '0;
  assign valid = count_q != '0 && !is_header;
  assign pop = count_q != '0 && (is_header || ready);
  always_comb begin
    bytes = 4'd8;
    for (int unsigned b = 0; b < 8; ++b) if (ctrl[b]) bytes = 4'(8 - b);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      in_packet_q <= 1'b0;
    end else begin
      count_q <= count_q + 3'(in_wr_i) - 3'(pop);
      if (pop && !is_header) in_packet_q <= ctrl == '0;
    end
    if (pop) words_q <= words_q >> 72;
    if (in_wr_i) words_q[2'(count_q-3'(pop))] <= {in_ctrl_i, in_data_i};
    if (pop && is_header && ctrl == HeaderCtrl)
      source_q <= '{bytes: word[15:0], origin: word[19:16]};
  end

  logic out_valid, out_ready, out_last, unused;
  logic [63:0] out_data;
  logic [7:0] out_keep;
  route_t route;
  tutti_innetwork_engine #(
      .Ports(Ports),
      .Communicators(Communicators),
      .Stages(Stages),
      .UdpPort(UdpPort),
      .ClockHz(ClockHz)
  ) i_engine (
      .clk_i,
      .rst_ni,
      .in_valid_i(valid),
      .in_ready_o(ready),
      .in_data_i(swapped(word[63:0])),
      .in_keep_i(keep_of(bytes)),
      .in_last_i(ctrl != '0),
      // The queues before it keep a frame until its end, and drop damaged ones.
      .in_bad_i(1'b0),
      .in_source_i(source_q),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .out_bad_o(unused),
      .out_route_o(route),
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o,
      .rsp_data_o
  );

  // Output: the header word, then the packet.
  logic headed_q;
  logic [15:0] out_words;
  assign out_words = (route.bytes + 16'd7) >> 3;
  assign out_wr_o = out_valid && out_rdy_i;
  assign out_ready = out_rdy_i && headed_q;
  assign out_data_o = headed_q ? swapped(out_data)
      : {route.to, out_words, 12'd0, route.origin, route.bytes};
  // The highest byte kept is the lowest in network order.
  always_comb begin
    out_ctrl_o = '0;
    for (int unsigned b = 0; b < 8; ++b)
      out_ctrl_o[7-b] = out_last && out_keep[b] && (b == 7 || !out_keep[(b+1)%8]);
    if (!headed_q) out_ctrl_o = HeaderCtrl;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) headed_q <= 1'b0;
    else if (out_wr_o) headed_q <= !(headed_q && out_last);
  end
endmodule
