// SPDX-License-Identifier: Apache-2.0
/// The ports of a socket's structure: answers, and announcements in both directions. A request may be
/// withdrawn before it is taken.
module tutti_check_hbs
#(
    parameter int unsigned Barriers = 8,
    parameter int unsigned Peers = 3,
    localparam int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1,
    localparam int unsigned PeerPorts = Peers > 0 ? Peers : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic req_valid_i,
    input logic req_ready_o,
    input logic req_write_i,
    input logic rsp_valid_o,
    input logic [PeerPorts-1:0] in_valid_i,
    input logic [PeerPorts-1:0] in_ready_o,
    input logic [PeerPorts-1:0][BarrierBits-1:0] in_barrier_i,
    input logic [PeerPorts-1:0] out_valid_o,
    input logic [PeerPorts-1:0] out_ready_i,
    input logic [BarrierBits-1:0] out_barrier_o
);
  for (genvar k = 0; k < Peers; ++k) begin : gen_peer
    tutti_check_handshake #(
        .Width(BarrierBits)
    ) i_in (
        .clk_i,
        .rst_ni,
        .valid_i(in_valid_i[k]),
        .ready_i(in_ready_o[k]),
        .data_i(in_barrier_i[k])
    );
    tutti_check_handshake #(
        .Width(BarrierBits)
    ) i_out (
        .clk_i,
        .rst_ni,
        .valid_i(out_valid_o[k]),
        .ready_i(out_ready_i[k]),
        .data_i(out_barrier_o)
    );
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_answered: assert (rsp_valid_o == (req_valid_i && req_ready_o && !req_write_i))
      else $error("%m: a read is not answered when it is taken");
    end
  end
endmodule

bind tutti_hbs_unit tutti_check_hbs #(
    .Barriers(Barriers),
    .Peers(Peers)
) i_check (
    .*
);
