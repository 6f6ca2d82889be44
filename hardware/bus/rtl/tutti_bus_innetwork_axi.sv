// SPDX-License-Identifier: Apache-2.0
/// The in-network engine on AXI: frames on AXI4-Stream ports of 64 bits, the registers on an
/// AXI4-Lite port of 64 bits. The ports of the buses have the buses' names, so that tools find the
/// interfaces.
///
/// tuser has the fields of a NetFPGA SUME: bytes [15:0], the source's queue [23:16] and the
/// destination's queues [31:24], one bit each; queue 2 p is port p, and queue 2 p + 1 the host's
/// beside it. The bytes of an incoming frame are counted, not read. Bit 32 of an incoming frame's
/// last beat says that the frame is bad, as a MAC that passes frames on before their end reports a
/// wrong check sequence. Frames wait until their end, so a bad one reaches neither the engine nor
/// the output.
module tutti_bus_innetwork_axi
  import tutti_innetwork_pkg::*;
#(
    /// Network ports, 1 to 4.
    parameter int unsigned Ports = 4,
    /// Number of communicators, 1 to 16.
    parameter int unsigned Communicators = 4,
    /// Number of rows of a table, 1 to 8.
    parameter int unsigned Stages = 5,
    /// Beats that wait for the end of their frame, a power of two, 8 to 4096. A frame must be
    /// shorter.
    parameter int unsigned StoreDepth = 256,
    /// The destination UDP port of barrier packets.
    parameter logic [15:0] UdpPort = 16'd29813,
    /// Cycles of the clock in a second.
    parameter int unsigned ClockHz = 125_000_000
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
    input logic s_axis_tvalid,
    output logic s_axis_tready,
    input logic [63:0] s_axis_tdata,
    input logic [7:0] s_axis_tkeep,
    input logic s_axis_tlast,
    input logic [32:0] s_axis_tuser,
    output logic m_axis_tvalid,
    input logic m_axis_tready,
    output logic [63:0] m_axis_tdata,
    output logic [7:0] m_axis_tkeep,
    output logic m_axis_tlast,
    output logic [31:0] m_axis_tuser,
    /// A frame was dropped: bad, too long, or without exactly one source among the queues.
    output logic dropped_o
);
  if (Ports < 1 || Ports > 4) $fatal(1, "tutti_bus_innetwork_axi: Ports must be 1 to 4");

  logic req_valid, req_write, rsp_valid;
  address_t req_addr;
  logic [63:0] req_data, rsp_data;

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
      .req_ready_i(1'b1),
      .req_write_o(req_write),
      .req_addr_o(req_addr),
      .req_data_o(req_data),
      .rsp_valid_i(rsp_valid),
      .rsp_data_i(rsp_data)
  );

  logic valid, ready, last;
  logic [63:0] data;
  logic [7:0] keep;
  source_t source;
  route_t route;
  logic bad;

  tutti_bus_frame_store #(
      .Queues(2 * Ports),
      .Depth(StoreDepth)
  ) i_store (
      .clk_i,
      .rst_ni,
      .in_valid_i(s_axis_tvalid),
      .in_ready_o(s_axis_tready),
      .in_data_i(s_axis_tdata),
      .in_keep_i(s_axis_tkeep),
      .in_last_i(s_axis_tlast),
      .in_bad_i(s_axis_tuser[32]),
      .in_source_i(s_axis_tuser[23:16]),
      .out_valid_o(valid),
      .out_ready_i(ready),
      .out_data_o(data),
      .out_keep_o(keep),
      .out_last_o(last),
      .out_source_o(source),
      .dropped_o
  );

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
      .in_data_i(data),
      .in_keep_i(keep),
      .in_last_i(last),
      // The store has dropped bad frames.
      .in_bad_i(1'b0),
      .in_source_i(source),
      .out_valid_o(m_axis_tvalid),
      .out_ready_i(m_axis_tready),
      .out_data_o(m_axis_tdata),
      .out_keep_o(m_axis_tkeep),
      .out_last_o(m_axis_tlast),
      .out_bad_o(bad),
      .out_route_o(route),
      .req_valid_i(req_valid),
      .req_write_i(req_write),
      .req_addr_i(req_addr),
      .req_data_i(req_data),
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data)
  );
  // A frame that the engine built has queue 0 as its source, or the host's for which it speaks.
  assign m_axis_tuser = {route.to[7:0], 8'(8'd1 << route.origin), route.bytes};

  logic unused;
  assign unused = ^{s_axi_awprot, s_axi_arprot, s_axis_tuser[31:24], s_axis_tuser[15:0],
                    route.to[15:8], bad};
endmodule
