// SPDX-License-Identifier: Apache-2.0
/// The mask unit on AXI: its registers on an AXI4-Lite port of 64 bits, its pins as they are. The
/// ports of the bus have the bus's names, so that tools find the interface.
module tutti_bus_mask_axi
  import tutti_counting_pkg::*;
#(
    /// Number of participants, 1 to 64.
    parameter int unsigned Threads = 28,
    /// Registers between the pins and the core, 0 or 1 in each direction.
    parameter int unsigned PinRegisters = 1
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
    /// See tutti_mask_unit.
    input logic [Threads-1:0] pin_arrive_i,
    input logic [Threads-1:0] pin_parity_i,
    output logic [Threads-1:0] pin_sense_o
);
  logic req_valid, req_write, rsp_valid;
  address_t req_addr;
  logic [DataBits-1:0] req_data, rsp_data;

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

  logic unused_clear;
  tutti_mask_unit #(
      .Threads(Threads),
      .PinRegisters(PinRegisters)
  ) i_unit (
      .clk_i,
      .rst_ni,
      .req_valid_i(req_valid),
      .req_write_i(req_write),
      .req_addr_i(req_addr),
      .req_data_i(req_data),
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .pin_arrive_i,
      .pin_parity_i,
      .pin_sense_o,
      .clear_o(unused_clear)
  );

  logic unused;
  assign unused = ^{s_axi_awprot, s_axi_arprot};
endmodule
