// SPDX-License-Identifier: Apache-2.0
/// The counting unit on AXI: its registers on an AXI4-Lite port of 64 bits, its accesses to memory
/// on an AXI4 port, each a single beat of 64 bits. The ports have the names of the bus, so that
/// tools find the interfaces.
///
/// Reads carry the participant's number as their ID and may be answered in any order. A read that
/// fails is no arrival: the unit reports it as an error of the poll and reads again. Writes have one
/// ID, so memory sees them in order. A departure whose write fails leaves its thread waiting.
///
/// A read of STATUS is answered only when memory has answered all writes that the bus has got, and
/// holds further ones back. So software that has reset the unit knows by this answer that no old
/// departure comes behind it.
module tutti_bus_counting_axi
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// Width of the number of completed episodes of a copy.
    parameter int unsigned GenerationBits = 8,
    /// Derived; do not set.
    parameter int unsigned IdBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic s_axi_awvalid,
    output logic s_axi_awready,
    input logic [AddressBits-1:0] s_axi_awaddr,
    input logic [2:0] s_axi_awprot,
    input logic s_axi_wvalid,
    output logic s_axi_wready,
    input logic [63:0] s_axi_wdata,
    input logic [7:0] s_axi_wstrb,
    output logic s_axi_bvalid,
    input logic s_axi_bready,
    output logic [1:0] s_axi_bresp,
    input logic s_axi_arvalid,
    output logic s_axi_arready,
    input logic [AddressBits-1:0] s_axi_araddr,
    input logic [2:0] s_axi_arprot,
    output logic s_axi_rvalid,
    input logic s_axi_rready,
    output logic [63:0] s_axi_rdata,
    output logic [1:0] s_axi_rresp,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    output logic [IdBits-1:0] m_axi_arid,
    output logic [63:0] m_axi_araddr,
    output logic [7:0] m_axi_arlen,
    output logic [2:0] m_axi_arsize,
    output logic [1:0] m_axi_arburst,
    input logic m_axi_rvalid,
    output logic m_axi_rready,
    input logic [IdBits-1:0] m_axi_rid,
    input logic [63:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [IdBits-1:0] m_axi_awid,
    output logic [63:0] m_axi_awaddr,
    output logic [7:0] m_axi_awlen,
    output logic [2:0] m_axi_awsize,
    output logic [1:0] m_axi_awburst,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    output logic [63:0] m_axi_wdata,
    output logic [7:0] m_axi_wstrb,
    output logic m_axi_wlast,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    input logic [IdBits-1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp
);
  localparam logic [2:0] EightBytes = 3'd3;
  localparam logic [1:0] Incrementing = 2'b01;
  // Writes that memory may owe an answer.
  localparam int unsigned OwedBits = 8;

  logic req_valid, req_write, rsp_valid;
  address_t req_addr;
  logic [DataBits-1:0] req_data, rsp_data;
  logic rd_valid, rd_ready, wr_valid, wr_ready;
  logic [DataBits-1:0] rd_addr, wr_addr, wr_data;
  logic [IdBits-1:0] rd_tag;
  logic asks_status, status_waits, takes_write;
  logic [OwedBits-1:0] owed_q;
  assign asks_status = req_valid && !req_write && req_addr == RegStatus;
  assign status_waits = asks_status && owed_q != '0;

  tutti_bus_axi_lite #(
      .AddressBits(AddressBits)
  ) i_bridge (
      .clk_i,
      .rst_ni,
      .awvalid_i(s_axi_awvalid),
      .awready_o(s_axi_awready),
      .awaddr_i(s_axi_awaddr),
      .wvalid_i(s_axi_wvalid),
      .wready_o(s_axi_wready),
      .wdata_i(s_axi_wdata),
      .wstrb_i(s_axi_wstrb),
      .bvalid_o(s_axi_bvalid),
      .bready_i(s_axi_bready),
      .bresp_o(s_axi_bresp),
      .arvalid_i(s_axi_arvalid),
      .arready_o(s_axi_arready),
      .araddr_i(s_axi_araddr),
      .rvalid_o(s_axi_rvalid),
      .rready_i(s_axi_rready),
      .rdata_o(s_axi_rdata),
      .rresp_o(s_axi_rresp),
      .req_valid_o(req_valid),
      .req_ready_i(!status_waits),
      .req_write_o(req_write),
      .req_addr_o(req_addr),
      .req_data_o(req_data),
      .rsp_valid_i(rsp_valid),
      .rsp_data_i(rsp_data)
  );

  tutti_counting_unit #(
      .Threads(Threads),
      .GenerationBits(GenerationBits),
      .HasMessages(1'b0)
  ) i_unit (
      .clk_i,
      .rst_ni,
      .req_valid_i(req_valid && !status_waits),
      .req_write_i(req_write),
      .req_addr_i(req_addr),
      .req_data_i(req_data),
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .msg_valid_i(1'b0),
      .msg_addr_i('0),
      .rd_valid_o(rd_valid),
      .rd_ready_i(rd_ready),
      .rd_addr_o(rd_addr),
      .rd_tag_o(rd_tag),
      .mem_valid_i(m_axi_rvalid),
      .mem_tag_i(m_axi_rid),
      .mem_data_i(m_axi_rdata),
      // SLVERR and DECERR.
      .mem_error_i(m_axi_rresp[1]),
      .wr_valid_o(wr_valid),
      .wr_ready_i(wr_ready),
      .wr_addr_o(wr_addr),
      .wr_data_o(wr_data)
  );

  // The unit withdraws a read or a write when it is reset; the bus must not see that. A request
  // therefore goes through a register.
  assign rd_ready = !m_axi_arvalid;
  assign wr_ready = !m_axi_awvalid && !m_axi_wvalid && !asks_status && owed_q != '1;
  assign takes_write = wr_valid && wr_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_axi_arvalid <= 1'b0;
      m_axi_awvalid <= 1'b0;
      m_axi_wvalid <= 1'b0;
      owed_q <= '0;
    end else begin
      m_axi_arvalid <= m_axi_arvalid ? !m_axi_arready : rd_valid;
      m_axi_awvalid <= m_axi_awvalid ? !m_axi_awready : takes_write;
      m_axi_wvalid <= m_axi_wvalid ? !m_axi_wready : takes_write;
      // An answer to a write from before a reset of this unit alone is not owed.
      owed_q <= owed_q + OwedBits'(takes_write) - OwedBits'(m_axi_bvalid && owed_q != '0);
    end
    if (rd_ready) {m_axi_arid, m_axi_araddr} <= {rd_tag, rd_addr};
    if (wr_ready) {m_axi_awaddr, m_axi_wdata} <= {wr_addr, wr_data};
  end
  assign m_axi_arlen = '0;
  assign m_axi_arsize = EightBytes;
  assign m_axi_arburst = Incrementing;
  assign m_axi_rready = 1'b1;
  assign m_axi_awid = '0;
  assign m_axi_awlen = '0;
  assign m_axi_awsize = EightBytes;
  assign m_axi_awburst = Incrementing;
  assign m_axi_wstrb = '1;
  assign m_axi_wlast = 1'b1;
  assign m_axi_bready = 1'b1;

  logic unused;
  assign unused = ^{s_axi_awprot, s_axi_arprot, m_axi_rresp[0], m_axi_rlast, m_axi_bid,
                    m_axi_bresp};
endmodule
