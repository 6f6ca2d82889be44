// SPDX-License-Identifier: Apache-2.0
/// The bridge under any master that keeps AXI's rule (what is valid stays until it is taken), any
/// unit that answers only reads, and resets at any time. The specification has one place for each
/// channel: what was taken from it and not yet answered.
///
/// Only the bounds of the waits need prompt sides: a master that takes an answer by its third cycle,
/// and a unit that takes a request by its third and answers a read within four.
module tutti_bus_axi_lite_formal #(
    parameter int unsigned AddressBits = 6
) (
    input logic clk_i,
    // Free inputs.
    input logic rst_ni,
    input logic awvalid_i,
    input logic [AddressBits-1:0] awaddr_i,
    input logic wvalid_i,
    input logic [63:0] wdata_i,
    input logic [7:0] wstrb_i,
    input logic bready_i,
    input logic arvalid_i,
    input logic [AddressBits-1:0] araddr_i,
    input logic rready_i,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input logic [63:0] rsp_data_i
);
  logic init_q = 1'b1;
  logic rst_n;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  assign rst_n = rst_ni && !init_q;

  logic awready, wready, bvalid, arready, rvalid, req_valid, req_write;
  logic [1:0] bresp, rresp;
  logic [63:0] rdata, req_data;
  logic [AddressBits-1:0] req_addr;

  tutti_bus_axi_lite #(
      .AddressBits(AddressBits)
  ) i_bridge (
      .clk_i,
      .rst_ni(rst_n),
      .awvalid_i,
      .awready_o(awready),
      .awaddr_i,
      .wvalid_i,
      .wready_o(wready),
      .wdata_i,
      .wstrb_i,
      .bvalid_o(bvalid),
      .bready_i,
      .bresp_o(bresp),
      .arvalid_i,
      .arready_o(arready),
      .araddr_i,
      .rvalid_o(rvalid),
      .rready_i,
      .rdata_o(rdata),
      .rresp_o(rresp),
      .req_valid_o(req_valid),
      .req_ready_i,
      .req_write_o(req_write),
      .req_addr_o(req_addr),
      .req_data_o(req_data),
      .rsp_valid_i,
      .rsp_data_i
  );

  // What the master has handed over and the unit has not taken.
  logic address_q, data_q, read_q, whole_q;
  logic [AddressBits-4:0] write_address_q, read_address_q;
  logic [63:0] write_data_q, answer_q;
  // Answers that are owed: a write is answered with an error or not; a read is asked, then answered.
  logic owed_b_q, error_q, asked_q, owed_r_q;
  logic taken, refuses;
  assign taken = req_valid && req_ready_i;
  assign refuses = address_q && data_q && !whole_q && !owed_b_q;

  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      address_q <= 1'b0;
      data_q <= 1'b0;
      read_q <= 1'b0;
      owed_b_q <= 1'b0;
      asked_q <= 1'b0;
      owed_r_q <= 1'b0;
    end else begin
      if (awvalid_i && awready) {address_q, write_address_q} <= {1'b1, awaddr_i[AddressBits-1:3]};
      if (wvalid_i && wready) {data_q, whole_q, write_data_q} <= {1'b1, &wstrb_i, wdata_i};
      if (arvalid_i && arready) {read_q, read_address_q} <= {1'b1, araddr_i[AddressBits-1:3]};
      if ((taken && req_write) || refuses) begin
        address_q <= 1'b0;
        data_q <= 1'b0;
        owed_b_q <= 1'b1;
        error_q <= refuses;
      end
      if (taken && !req_write) read_q <= 1'b0;
      if (taken && !req_write) asked_q <= 1'b1;
      if (rsp_valid_i) begin
        asked_q <= 1'b0;
        owed_r_q <= 1'b1;
        answer_q <= rsp_data_i;
      end
      if (bvalid && bready_i) owed_b_q <= 1'b0;
      if (rvalid && rready_i) owed_r_q <= 1'b0;
    end
  end

  // Bounded waiting: of the unit before it takes a request and before it answers, and of the master
  // before it takes an answer. After one that took longer no bounds are promised until a reset.
  logic slow_q;
  logic [2:0] request_wait_q, answer_wait_q, b_wait_q, r_wait_q;
  logic [4:0] write_age_q, read_age_q;
  always_ff @(posedge clk_i) begin
    // They stop at 7.
    request_wait_q <= !rst_n || !req_valid || req_ready_i ? '0
        : request_wait_q + 3'(request_wait_q != '1);
    answer_wait_q <= !rst_n || !asked_q || rsp_valid_i ? '0
        : answer_wait_q + 3'(answer_wait_q != '1);
    b_wait_q <= !rst_n || !bvalid || bready_i ? '0 : b_wait_q + 3'(b_wait_q != '1);
    r_wait_q <= !rst_n || !rvalid || rready_i ? '0 : r_wait_q + 3'(r_wait_q != '1);
    slow_q <= rst_n && (slow_q || (answer_wait_q >= 3'd4 && !rsp_valid_i)
        || (request_wait_q >= 3'd2 && !req_ready_i) || (b_wait_q >= 3'd2 && !bready_i)
        || (r_wait_q >= 3'd2 && !rready_i));
    write_age_q <= !rst_n || !(address_q && data_q) || refuses || (taken && req_write) ? '0
        : write_age_q + 5'd1;
    read_age_q <= !rst_n || !read_q || (taken && !req_write) ? '0 : read_age_q + 5'd1;
  end

  // The master's rule.
  logic aw_stays_q, w_stays_q, ar_stays_q;
  logic [AddressBits-1:0] aw_was_q, ar_was_q;
  logic [63:0] w_was_q;
  logic [7:0] strobes_were_q;
  // The bridge's rule.
  logic b_stays_q, r_stays_q, req_stays_q, req_wrote_q;
  logic [1:0] b_was_q;
  logic [63:0] r_was_q, req_was_q;
  logic [AddressBits-1:0] req_at_q;
  always_ff @(posedge clk_i) begin
    aw_stays_q <= rst_n && awvalid_i && !awready;
    w_stays_q <= rst_n && wvalid_i && !wready;
    ar_stays_q <= rst_n && arvalid_i && !arready;
    b_stays_q <= rst_n && bvalid && !bready_i;
    r_stays_q <= rst_n && rvalid && !rready_i;
    req_stays_q <= rst_n && req_valid && !req_ready_i;
    {aw_was_q, ar_was_q, w_was_q, strobes_were_q} <= {awaddr_i, araddr_i, wdata_i, wstrb_i};
    {b_was_q, r_was_q, req_wrote_q, req_was_q, req_at_q} <= {bresp, rdata, req_write, req_data,
                                                             req_addr};
  end

  always_comb begin
    assume (!init_q || !rst_ni);
    if (rst_n) begin
      assume (!aw_stays_q || (awvalid_i && awaddr_i == aw_was_q));
      assume (!w_stays_q || (wvalid_i && wdata_i == w_was_q && wstrb_i == strobes_were_q));
      assume (!ar_stays_q || (arvalid_i && araddr_i == ar_was_q));
      // A unit answers reads only, one after the other.
      assume (!rsp_valid_i || asked_q || (taken && !req_write));
    end else assume (!rsp_valid_i);
  end

  always_comb begin
    if (rst_n) begin
      // A request is what the master handed over, and only that.
      a_request: assert (!req_valid || (req_write
          ? address_q && data_q && whole_q && req_addr == {write_address_q, 3'b000}
            && req_data == write_data_q
          : read_q && req_addr == {read_address_q, 3'b000}));
      // Answers are those that are owed, with the right contents.
      a_write_answer: assert (bvalid == owed_b_q && (!bvalid || bresp == (error_q ? 2'b10 : 2'b00)));
      a_read_answer: assert (rvalid == owed_r_q && (!rvalid || (rdata == answer_q && rresp == 2'b00)));
      // What is valid stays, unchanged, until it is taken.
      a_b_stays: assert (!b_stays_q || (bvalid && bresp == b_was_q));
      a_r_stays: assert (!r_stays_q || (rvalid && rdata == r_was_q));
      a_req_stays: assert (!req_stays_q || (req_valid && req_write == req_wrote_q
          && req_addr == req_at_q && (!req_write || req_data == req_was_q)));
      // Nothing is taken on top of what is there, and a free place takes.
      a_places: assert (awready == !address_q && wready == !data_q && arready == !read_q);
      a_one_read: assert (!(asked_q && owed_r_q) && !(req_valid && !req_write
          && (asked_q || owed_r_q)));
      // Both directions get their turn.
      a_write_bound: assert (slow_q || write_age_q <= 5'd8);
      a_read_bound: assert (slow_q || read_age_q <= 5'd13);
      // Invariants.
      a_asked: assert (i_bridge.asked_q == asked_q);
      a_held: assert (i_bridge.aw_q == address_q && i_bridge.w_q == data_q
          && i_bridge.ar_q == read_q);
      a_held_data: assert ((!address_q || i_bridge.aw_addr_q == write_address_q)
          && (!read_q || i_bridge.ar_addr_q == read_address_q)
          && (!data_q || (i_bridge.data_q == write_data_q && i_bridge.whole_q == whole_q)));
      a_offered: assert (i_bridge.offered_q == req_stays_q
          && (!req_stays_q || i_bridge.offered_write_q == req_wrote_q));
      a_waits: assert (slow_q || (request_wait_q <= 3'd2 && answer_wait_q <= 3'd4
          && b_wait_q <= 3'd2 && r_wait_q <= 3'd2));
      a_wait_means: assert ((request_wait_q != '0) == req_stays_q
          && (answer_wait_q == '0 || asked_q) && (b_wait_q != '0) == b_stays_q
          && (r_wait_q != '0) == r_stays_q);
      // The age of a write: the wait for its answer's place, then for a read, then for the unit.
      a_write_age: assert (slow_q || !(address_q && data_q)
          || write_age_q <= (owed_b_q ? 5'd0 + 5'(b_wait_q)
          : req_valid && !req_write ? 5'd3 + 5'(request_wait_q) : 5'd6 + 5'(request_wait_q)));
      a_read_age: assert (slow_q || !read_q || read_age_q <= (asked_q ? 5'd0 + 5'(answer_wait_q)
          : owed_r_q ? 5'd5 + 5'(r_wait_q) : req_valid && req_write
            ? 5'd8 + 5'(request_wait_q) : 5'd11 + 5'(request_wait_q)));
    end
  end

  logic [1:0] wrote_q, did_read_q;
  logic refused_q;
  always_ff @(posedge clk_i) begin
    if (!rst_n) {wrote_q, did_read_q, refused_q} <= '0;
    else begin
      if (bvalid && bready_i && wrote_q != 2'd3) wrote_q <= wrote_q + 2'd1;
      if (rvalid && rready_i && did_read_q != 2'd3) did_read_q <= did_read_q + 2'd1;
      refused_q <= refused_q || (bvalid && bresp == 2'b10);
    end
  end
  always_comb begin
    c_both: cover (rst_n && wrote_q == 2'd2 && did_read_q == 2'd2);
    c_refused: cover (rst_n && refused_q && wrote_q == 2'd2);
    c_data_first: cover (rst_n && data_q && !address_q && wvalid_i);
    c_waits: cover (rst_n && write_age_q == 5'd5);
    c_slow: cover (rst_n && b_wait_q == 3'd4 && read_q && data_q);
    c_late_answer: cover (rst_n && rsp_valid_i && asked_q);
  end
endmodule
