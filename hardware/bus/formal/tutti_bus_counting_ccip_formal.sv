// SPDX-License-Identifier: Apache-2.0
/// The counting unit's CCI-P port under any traffic and resets at any time: every read is answered
/// once, in the next cycle, with its number; the device feature header and the identity are what the
/// driver looks for; the unit gets exactly the requests, messages and lines that are for it; its
/// accesses to memory reach the channels once each, and none does when a channel was almost full.
/// The unit itself has its own proof.
module tutti_bus_counting_ccip_formal
  import tutti_bus_ccip_pkg::*;
#(
    parameter int unsigned Threads = 3,
    parameter int unsigned TagBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    // Free inputs.
    input logic rst_i,
    input rx_t rx_i
);
  logic init_q = 1'b1;
  logic rst;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  assign rst = rst_i || init_q;

  tx_t tx;
  tutti_bus_counting_ccip #(
      .Threads(Threads)
  ) i_port (
      .clk_i,
      .rst_i(rst),
      .rx_i,
      .tx_o(tx)
  );

  // The cycle before, in the terms of the reference manual: bits of the header.
  logic live_q, read_q, write_q, length_four_q, length_eight_q, odd_q, c0_full_q, c1_full_q;
  logic [17:0] byte_q;
  logic [8:0] tid_q;
  logic wants_read_q, wants_write_q;
  logic [TagBits-1:0] read_tag_q;
  logic [63:0] read_at_q, write_at_q, written_q, unit_answer_q;
  logic [31:0] refused_q, refused_before_q;
  logic unit_answers_q;
  logic [27:0] hdr;
  logic hint;
  assign hdr = rx_i.c0.hdr;
  assign hint = rx_i.c0.rsp_valid && hdr[19:16] == 4'h4 && hdr[15];
  always_ff @(posedge clk_i) begin
    live_q <= !rst;
    read_q <= rx_i.c0.mmio_rd_valid;
    write_q <= rx_i.c0.mmio_wr_valid;
    length_four_q <= hdr[11:10] == 2'd0;
    length_eight_q <= hdr[11:10] == 2'd1;
    byte_q <= {hdr[27:12], 2'b00};
    odd_q <= hdr[12];
    tid_q <= hdr[8:0];
    c0_full_q <= rx_i.c0_almost_full;
    c1_full_q <= rx_i.c1_almost_full;
    wants_read_q <= i_port.rd_valid;
    wants_write_q <= i_port.wr_valid;
    read_tag_q <= i_port.rd_tag;
    read_at_q <= i_port.rd_addr;
    write_at_q <= i_port.wr_addr;
    written_q <= i_port.wr_data;
    unit_answers_q <= i_port.rsp_valid;
    unit_answer_q <= i_port.rsp_data;
    refused_before_q <= refused_q;
    if (rst) refused_q <= '0;
    else if (hint || (rx_i.c0.mmio_wr_valid && (hdr[11:10] != 2'd1 || hdr[12])))
      refused_q <= refused_q + 32'd1;
  end

  logic [63:0] expected;
  always_comb begin
    expected = '0;
    if (byte_q[17:16] == 2'd1) expected = unit_answer_q;
    else begin
      case ({byte_q[17:3], 3'b000})
        // Type 1, the list's end.
        18'h00000: expected = 64'h1000_0100_0000_0000;
        18'h00008: expected = 64'h93ff_c255_400a_a53c;
        18'h00010: expected = 64'haa60_c3ce_770e_577e;
        18'h00028: expected = 64'(refused_before_q);
        default: expected = '0;
      endcase
    end
  end

  always_comb begin
    assume (!(rx_i.c0.mmio_rd_valid && rx_i.c0.mmio_wr_valid));
    // The lines of c0 are shared: at most one of the three.
    assume (!(rx_i.c0.rsp_valid && (rx_i.c0.mmio_rd_valid || rx_i.c0.mmio_wr_valid)));
  end

  always_comb begin
    if (live_q && !init_q) begin
      a_answers: assert (tx.c2.mmio_rd_valid == read_q && (!read_q || tx.c2.tid == tid_q));
      a_data: assert (!read_q || tx.c2.data == (length_four_q && odd_q ? 64'(expected[63:32])
          : expected));
      // The unit answers what is in its window, so that `expected` is its answer.
      a_unit_answers: assert (unit_answers_q == (read_q && byte_q[17:16] == 2'd1));
      a_reads: assert (tx.c0.valid == (wants_read_q && !c0_full_q));
      a_read_line: assert (!tx.c0.valid || (tx.c0.hdr.address == read_at_q[47:6]
          && tx.c0.hdr.req_type == 4'h1 && tx.c0.hdr.cl_len == 2'd0 && tx.c0.hdr.vc_sel == 2'd1
          && tx.c0.hdr.mdata == 16'(read_tag_q) && 32'(tx.c0.hdr.mdata) < Threads));
      a_writes: assert (tx.c1.valid == (wants_write_q && !c1_full_q));
      a_write_line: assert (!tx.c1.valid || (tx.c1.hdr.address == write_at_q[47:6]
          && tx.c1.hdr.req_type == 4'h0 && tx.c1.hdr.sop && tx.c1.hdr.cl_len == 2'd0
          && tx.c1.hdr.vc_sel == 2'd1 && tx.c1.data == 512'(written_q)));
    end
    if (!rst) begin
      // What the unit gets.
      a_requests: assert (i_port.i_unit.req_valid_i == (hdr[27:26] == 2'd1
          && (rx_i.c0.mmio_rd_valid || (rx_i.c0.mmio_wr_valid && hdr[11:10] == 2'd1
            && !hdr[12]))));
      a_request_is: assert (!i_port.i_unit.req_valid_i
          || (i_port.i_unit.req_addr_i == {hdr[25:13], 3'b000}
            && i_port.i_unit.req_write_i == rx_i.c0.mmio_wr_valid
            && i_port.i_unit.req_data_i == rx_i.c0.data[63:0]));
      a_messages: assert (i_port.i_unit.msg_valid_i == (rx_i.c0.rsp_valid && hdr[19:16] == 4'h4
          && !hdr[15]) && i_port.i_unit.msg_addr_i == hdr[2:0]);
      a_lines: assert (i_port.i_unit.mem_valid_i == (rx_i.c0.rsp_valid && hdr[19:16] == 4'h0)
          && i_port.i_unit.mem_tag_i == hdr[TagBits-1:0]
          && i_port.i_unit.mem_data_i == rx_i.c0.data[63:0]);
      // A channel that is almost full leaves the access with the unit.
      a_ready: assert (i_port.i_unit.rd_ready_i == !rx_i.c0_almost_full
          && i_port.i_unit.wr_ready_i == !rx_i.c1_almost_full);
      a_refused: assert (init_q || i_port.refused_q == refused_q);
      a_tag: assert (init_q || 32'(i_port.rd_tag) < Threads);
      a_size: assert (init_q || (i_port.i_unit.config_now.size >= 8'd1
          && 32'(i_port.i_unit.config_now.size) <= Threads));
    end
  end

  always_comb begin
    c_header: cover (live_q && !init_q && tx.c2.mmio_rd_valid && tx.c2.data == FeatureHeader);
    c_refused: cover (live_q && !init_q && tx.c2.mmio_rd_valid && tx.c2.data == 64'd2
        && byte_q == 18'h28);
    c_line: cover (live_q && !init_q && tx.c0.valid && tx.c0.hdr.mdata == 16'd1);
    c_departure: cover (live_q && !init_q && tx.c1.valid && written_q == 64'd1);
  end
endmodule
