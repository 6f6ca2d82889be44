// SPDX-License-Identifier: Apache-2.0
/// The ports of the counting unit. A reset by software may withdraw reads and writes of memory, so
/// only their answers are checked.
module tutti_check_counting
  import tutti_counting_pkg::*;
#(
    parameter int unsigned Threads = 28,
    localparam int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic req_valid_i,
    input logic req_write_i,
    input logic rsp_valid_o,
    input logic rd_valid_o,
    input logic rd_ready_i,
    input logic [ThreadBits-1:0] rd_tag_o,
    input logic mem_valid_i,
    input logic [ThreadBits-1:0] mem_tag_i,
    input logic [DataBits-1:0] rd_addr_o,
    input logic [DataBits-1:0] wr_addr_o,
    input logic wr_valid_o
);
  tutti_check_answers #(
      .Tags(Threads)
  ) i_memory (
      .clk_i,
      .ask_i(rst_ni && rd_valid_o && rd_ready_i),
      .ask_tag_i(rd_tag_o),
      .answer_i(rst_ni && mem_valid_i),
      .answer_tag_i(mem_tag_i)
  );

  // Reads that the port has taken and not answered.
  logic asked_q;
  always_ff @(posedge clk_i) begin
    asked_q <= rst_ni && req_valid_i && !req_write_i && !rsp_valid_o;
    if (rst_ni) begin
      a_answered: assert (!asked_q || rsp_valid_o)
      else $error("%m: a read has no answer in the next cycle");
      a_lines: assert ((!rd_valid_o || rd_addr_o[5:0] == '0) && (!wr_valid_o || wr_addr_o[5:0] == '0))
      else $error("%m: the memory of arrivals or departures does not begin a line of 64 bytes");
    end
  end

  logic unused;
  assign unused = ^{rd_addr_o[DataBits-1:6], wr_addr_o[DataBits-1:6]};
endmodule

bind tutti_counting_unit tutti_check_counting #(
    .Threads(Threads)
) i_check (
    .*
);
