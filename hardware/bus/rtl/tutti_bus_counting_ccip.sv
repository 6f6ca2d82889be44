// SPDX-License-Identifier: Apache-2.0
/// The counting unit as an accelerator behind CCI-P, the interface of HARP: a device feature header
/// with an identity, the unit's registers, UMsg as messages, and its accesses to memory by lines.
///
/// The port takes one request a cycle and never delays one, as the platform demands. Every output
/// comes from a register. A channel that is almost full gets one request more at most.
module tutti_bus_counting_ccip
  import tutti_bus_ccip_pkg::*;
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// Width of the number of completed episodes of a copy.
    parameter int unsigned GenerationBits = 8
) (
    input logic clk_i,
    /// Synchronous reset, active high, as the platform gives it.
    input logic rst_i,
    input rx_t rx_i,
    output tx_t tx_o
);
  localparam int unsigned TagBits = Threads > 1 ? $clog2(Threads) : 1;

  // Requests for registers.
  mmio_request_t request;
  // In bytes, without the low bits, which say which half of a register.
  logic [17:3] address;
  logic reads, writes, whole_write, in_unit;
  assign request = mmio_request_t'(rx_i.c0.hdr);
  assign address = request.address[15:1];
  assign reads = rx_i.c0.mmio_rd_valid;
  assign writes = rx_i.c0.mmio_wr_valid;
  assign whole_write = writes && request.length == LengthEight && !request.address[0];
  assign in_unit = address[17:16] == UnitBase[17:16];

  // Messages and lines.
  logic is_line, is_message, is_hint;
  assign is_line = rx_i.c0.rsp_valid && rx_i.c0.hdr.resp_type == ResponseReadLine;
  assign is_message = rx_i.c0.rsp_valid && rx_i.c0.hdr.resp_type == ResponseMessage
      && !rx_i.c0.hdr.mdata[15];
  assign is_hint = rx_i.c0.rsp_valid && rx_i.c0.hdr.resp_type == ResponseMessage
      && rx_i.c0.hdr.mdata[15];

  logic rsp_valid, rd_valid, rd_ready, wr_valid, wr_ready;
  logic [DataBits-1:0] rsp_data, rd_addr, wr_addr, wr_data;
  logic [TagBits-1:0] rd_tag;
  tutti_counting_unit #(
      .Threads(Threads),
      .GenerationBits(GenerationBits)
  ) i_unit (
      .clk_i,
      .rst_ni(!rst_i),
      .req_valid_i(in_unit && (reads || whole_write)),
      .req_write_i(writes),
      .req_addr_i({address[15:3], 3'b000}),
      .req_data_i(rx_i.c0.data[63:0]),
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .msg_valid_i(is_message),
      .msg_addr_i(rx_i.c0.hdr.mdata[2:0]),
      .rd_valid_o(rd_valid),
      .rd_ready_i(rd_ready),
      .rd_addr_o(rd_addr),
      .rd_tag_o(rd_tag),
      .mem_valid_i(is_line),
      .mem_tag_i(rx_i.c0.hdr.mdata[TagBits-1:0]),
      .mem_data_i(rx_i.c0.data[63:0]),
      // Answers of CCI-P report no errors.
      .mem_error_i(1'b0),
      .wr_valid_o(wr_valid),
      .wr_ready_i(wr_ready),
      .wr_addr_o(wr_addr),
      .wr_data_o(wr_data)
  );

  logic [31:0] refused_q;
  logic [63:0] shown;
  always_comb begin
    shown = '0;
    if (rsp_valid) shown = rsp_data;
    else begin
      unique case ({address[17:3], 3'b000})
        RegHeader: shown = FeatureHeader;
        RegIdLow: shown = AfuId[63:0];
        RegIdHigh: shown = AfuId[127:64];
        RegNext: shown = '0;
        RegRefused: shown = 64'(refused_q);
        default: shown = '0;
      endcase
    end
  end

  assign rd_ready = !rx_i.c0_almost_full;
  assign wr_ready = !rx_i.c1_almost_full;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      refused_q <= '0;
      tx_o.c0.valid <= 1'b0;
      tx_o.c1.valid <= 1'b0;
      tx_o.c2.mmio_rd_valid <= 1'b0;
    end else begin
      if ((writes && !whole_write) || is_hint) refused_q <= refused_q + 32'd1;
      tx_o.c0.valid <= rd_valid && rd_ready;
      tx_o.c1.valid <= wr_valid && wr_ready;
      tx_o.c2.mmio_rd_valid <= reads;
    end
    tx_o.c0.hdr <= '{
        vc_sel: ChannelCoherent,
        req_type: RequestReadShared,
        address: rd_addr[47:6],
        mdata: 16'(rd_tag),
        default: '0
    };
    tx_o.c1.hdr <= '{
        vc_sel: ChannelCoherent,
        sop: 1'b1,
        req_type: RequestWriteInvalid,
        address: wr_addr[47:6],
        default: '0
    };
    tx_o.c1.data <= 512'(wr_data);
    tx_o.c2.tid <= request.tid;
    // A read of four bytes gets its half in the low bits.
    tx_o.c2.data <= request.length == LengthFour && request.address[0] ? 64'(shown[63:32]) : shown;
  end

  logic unused;
  assign unused = ^{rx_i.c0.hdr.vc_used, rx_i.c0.hdr.reserved1, rx_i.c0.hdr.hit_miss,
                    rx_i.c0.hdr.reserved0, rx_i.c0.hdr.cl_num, rx_i.c0.hdr.mdata, request.reserved,
                    rx_i.c0.data[511:64], rx_i.c1, rd_addr[63:48], rd_addr[5:0], wr_addr[63:48],
                    wr_addr[5:0], rsp_valid};
endmodule
