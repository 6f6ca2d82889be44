// SPDX-License-Identifier: Apache-2.0
/// Several sockets, each linked with every other; simulations and the co-simulation drive this
/// module.
module tutti_hbs_system
  import tutti_hbs_pkg::*;
#(
    /// Number of sockets, 1 to 4.
    parameter int unsigned Sockets = 2,
    parameter int unsigned Barriers = 8,
    /// Hardware threads of each socket.
    parameter int unsigned Local = 16,
    /// Cycles of a link.
    parameter int unsigned LinkLatency = 8,
    /// Additional cycles of each link from socket 0, to make links differ.
    parameter int unsigned Skew = 0,
    /// Derived; do not set.
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// A request at each socket.
    input logic [Sockets-1:0] req_valid_i,
    output logic [Sockets-1:0] req_ready_o,
    input logic [Sockets-1:0] req_write_i,
    input logic [Sockets-1:0][31:0] req_addr_i,
    input logic [Sockets-1:0][DataBits-1:0] req_data_i,
    output logic [Sockets-1:0][DataBits-1:0] rsp_data_o,
    output logic [Sockets-1:0] complete_valid_o,
    output logic [Sockets-1:0][7:0] complete_barrier_o
);
  if (Sockets < 1 || Sockets > 4) $fatal(1, "tutti_hbs_system: Sockets must be 1 to 4");

  localparam int unsigned Peers = Sockets - 1;
  localparam int unsigned PeerPorts = Peers > 0 ? Peers : 1;

  // Peer k of socket s is socket k, or k + 1 if k is s or above.
  logic [Sockets-1:0][PeerPorts-1:0] out_valid, out_ready, in_valid, in_ready;
  logic [Sockets-1:0][BarrierBits-1:0] out_barrier;
  logic [Sockets-1:0][PeerPorts-1:0][BarrierBits-1:0] in_barrier;

  for (genvar s = 0; s < Sockets; ++s) begin : gen_socket
    logic [BarrierBits-1:0] complete_barrier;
    logic [Local-1:0] complete_mask;
    logic rsp_valid;
    tutti_hbs_unit #(
        .Barriers(Barriers),
        .Local(Local),
        .Peers(Peers)
    ) i_unit (
        .clk_i,
        .rst_ni,
        .req_valid_i(req_valid_i[s]),
        .req_ready_o(req_ready_o[s]),
        .req_write_i(req_write_i[s]),
        .req_addr_i(req_addr_i[s][AddressBits-1:0]),
        .req_data_i(req_data_i[s]),
        .rsp_valid_o(rsp_valid),
        .rsp_data_o(rsp_data_o[s]),
        .complete_valid_o(complete_valid_o[s]),
        .complete_barrier_o(complete_barrier),
        .complete_mask_o(complete_mask),
        .in_valid_i(in_valid[s]),
        .in_ready_o(in_ready[s]),
        .in_barrier_i(in_barrier[s]),
        .out_valid_o(out_valid[s]),
        .out_ready_i(out_ready[s]),
        .out_barrier_o(out_barrier[s])
    );
    assign complete_barrier_o[s] = 8'(complete_barrier);
    for (genvar k = 0; k < Peers; ++k) begin : gen_link
      localparam int unsigned To = k < s ? k : k + 1;
      // This socket's number as seen from the other one.
      localparam int unsigned Back = s < To ? s : s - 1;
      tutti_hbs_link #(
          .Latency(LinkLatency + (s == 0 ? Skew * (k + 1) : 0)),
          .BarrierBits(BarrierBits)
      ) i_link (
          .clk_i,
          .rst_ni,
          .valid_i(out_valid[s][k]),
          .ready_o(out_ready[s][k]),
          .barrier_i(out_barrier[s]),
          .valid_o(in_valid[To][Back]),
          .ready_i(in_ready[To][Back]),
          .barrier_o(in_barrier[To][Back])
      );
    end
    if (Peers == 0) begin : gen_alone
      assign out_ready[s] = '1;
      assign in_valid[s] = '0;
      assign in_barrier[s] = '0;
      logic unused_alone;
      assign unused_alone = ^{out_valid[s], in_ready[s], out_barrier[s]};
    end
    logic unused;
    assign unused = ^{complete_mask, rsp_valid, req_addr_i[s][31:AddressBits]};
  end
endmodule
