// SPDX-License-Identifier: Apache-2.0
/// AXI4-Lite, 64 bits wide, in front of the request port of a unit. It holds one write and one read.
/// The write goes first; a read then follows while the write's answer is taken. Every answer comes
/// from a register, and so does every ready signal.
///
/// The registers of the units have 64 bits, so a write that does not set all strobes reaches no
/// register and is answered with SLVERR. The low three bits of an address are ignored.
module tutti_bus_axi_lite #(
    /// Bits of an address: 16 for the counting, mask and tree units, 23 for the structure, 14 for
    /// the in-network engine.
    parameter int unsigned AddressBits = 16
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic awvalid_i,
    output logic awready_o,
    input logic [AddressBits-1:0] awaddr_i,
    input logic wvalid_i,
    output logic wready_o,
    input logic [63:0] wdata_i,
    input logic [7:0] wstrb_i,
    output logic bvalid_o,
    input logic bready_i,
    output logic [1:0] bresp_o,
    input logic arvalid_i,
    output logic arready_o,
    input logic [AddressBits-1:0] araddr_i,
    output logic rvalid_o,
    input logic rready_i,
    output logic [63:0] rdata_o,
    output logic [1:0] rresp_o,
    /// The unit's request port. A request stays until the unit takes it.
    output logic req_valid_o,
    input logic req_ready_i,
    output logic req_write_o,
    output logic [AddressBits-1:0] req_addr_o,
    output logic [63:0] req_data_o,
    /// The answer to a read, in the cycle in which the unit takes it or later.
    input logic rsp_valid_i,
    input logic [63:0] rsp_data_i
);
  if (AddressBits < 4 || AddressBits > 32)
    $fatal(1, "tutti_bus_axi_lite: AddressBits must be 4 to 32");

  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlaveError = 2'b10;

  logic aw_q, w_q, ar_q;
  logic [AddressBits-1:3] aw_addr_q, ar_addr_q;
  logic [63:0] data_q;
  logic whole_q;
  // The unit has taken a read that it has not answered.
  logic asked_q;
  // A request that waits keeps its kind.
  logic offered_q, offered_write_q;

  logic may_write, may_read, is_write, refused, taken, writes;
  assign may_write = aw_q && w_q && !bvalid_o;
  assign may_read = ar_q && !asked_q && !rvalid_o;
  assign refused = may_write && !whole_q;
  assign is_write = offered_q ? offered_write_q : may_write && whole_q;
  assign req_valid_o = is_write ? may_write && whole_q : may_read;
  assign req_write_o = is_write;
  assign req_addr_o = {is_write ? aw_addr_q : ar_addr_q, 3'b000};
  assign req_data_o = data_q;
  assign taken = req_valid_o && req_ready_i;
  assign writes = taken && is_write;

  assign awready_o = !aw_q;
  assign wready_o = !w_q;
  assign arready_o = !ar_q;
  assign rresp_o = Okay;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_q <= 1'b0;
      w_q <= 1'b0;
      ar_q <= 1'b0;
      asked_q <= 1'b0;
      offered_q <= 1'b0;
      offered_write_q <= 1'b0;
      bvalid_o <= 1'b0;
      bresp_o <= Okay;
      rvalid_o <= 1'b0;
    end else begin
      aw_q <= aw_q ? !(writes || refused) : awvalid_i;
      w_q <= w_q ? !(writes || refused) : wvalid_i;
      ar_q <= ar_q ? !(taken && !is_write) : arvalid_i;
      asked_q <= (asked_q || (taken && !is_write)) && !rsp_valid_i;
      offered_q <= req_valid_o && !req_ready_i;
      offered_write_q <= is_write;
      bvalid_o <= bvalid_o ? !bready_i : writes || refused;
      if (writes || refused) bresp_o <= refused ? SlaveError : Okay;
      rvalid_o <= rvalid_o ? !rready_i : rsp_valid_i;
    end
    if (!aw_q) aw_addr_q <= awaddr_i[AddressBits-1:3];
    if (!w_q) {whole_q, data_q} <= {&wstrb_i, wdata_i};
    if (!ar_q) ar_addr_q <= araddr_i[AddressBits-1:3];
    if (rsp_valid_i) rdata_o <= rsp_data_i;
  end

  logic unused;
  assign unused = ^{awaddr_i[2:0], araddr_i[2:0]};
endmodule
