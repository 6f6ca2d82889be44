// SPDX-License-Identifier: Apache-2.0
/// The ports of the in-network engine: beats and what comes with them stay until they are taken; a
/// packet's source and route are the same with all its beats; only the last beat may be short.
module tutti_check_innetwork
  import tutti_innetwork_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic in_valid_i,
    input logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic [7:0] in_keep_i,
    input logic in_last_i,
    input logic in_bad_i,
    input source_t in_source_i,
    input logic out_valid_o,
    input logic out_ready_i,
    input logic [63:0] out_data_o,
    input logic [7:0] out_keep_o,
    input logic out_last_o,
    input logic out_bad_o,
    input route_t out_route_o
);
  // Bytes that are not kept may have any value.
  logic [63:0] in_kept, out_kept;
  always_comb begin
    for (int unsigned b = 0; b < 8; ++b) begin
      in_kept[8*b+:8] = in_keep_i[b] ? in_data_i[8*b+:8] : '0;
      out_kept[8*b+:8] = out_keep_o[b] ? out_data_o[8*b+:8] : '0;
    end
  end

  tutti_check_handshake #(
      .Width(74 + $bits(source_t))
  ) i_in (
      .clk_i,
      .rst_ni,
      .valid_i(in_valid_i),
      .ready_i(in_ready_o),
      .data_i({in_bad_i, in_last_i, in_keep_i, in_kept, in_source_i})
  );
  tutti_check_handshake #(
      .Width(74 + $bits(route_t))
  ) i_out (
      .clk_i,
      .rst_ni,
      .valid_i(out_valid_o),
      .ready_i(out_ready_i),
      .data_i({out_bad_o, out_last_o, out_keep_o, out_kept, out_route_o})
  );

  logic in_packet_q, out_packet_q;
  source_t source_q;
  route_t route_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {in_packet_q, out_packet_q} <= '0;
    else begin
      if (in_valid_i && in_ready_o) in_packet_q <= !in_last_i;
      if (out_valid_o && out_ready_i) out_packet_q <= !out_last_o;
      a_keep: assert (!in_valid_i || (in_keep_i != '0 && (in_keep_i & (in_keep_i + 8'd1)) == '0
          && (in_last_i || in_keep_i == '1)))
      else $error("%m: only the last beat may be short, and has its bytes at the bottom");
      a_source: assert (!in_valid_i || !in_packet_q || in_source_i == source_q)
      else $error("%m: a packet's source changes");
      a_route: assert (!out_valid_o || !out_packet_q || out_route_o == route_q)
      else $error("%m: a packet's route changes");
    end
    if (in_valid_i && !in_packet_q) source_q <= in_source_i;
    if (out_valid_o) route_q <= out_route_o;
  end
endmodule

bind tutti_innetwork_engine tutti_check_innetwork i_check (
    .*
);
