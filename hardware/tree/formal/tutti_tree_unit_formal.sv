// SPDX-License-Identifier: Apache-2.0
/// The whole tree unit against its specification: any requests at all ports and any resets, of any
/// threads, participants or not, at their ports or others, once or twice.
///
/// tutti_tree_barrier_formal shows what the counts mean for participants that keep the rules. This
/// proof shows that whatever else arrives is reported and has no effect, except that a second arrival
/// in an episode may stand for one that is still missing: then the missing one is reported.
module tutti_tree_unit_formal
  import tutti_counting_pkg::*;
#(
    parameter int unsigned Threads = 3,
    parameter int unsigned Ports = 2,
    parameter int unsigned GenerationBits = 3,
    parameter int unsigned Group = (Threads + Ports - 1) / Ports
) (
    input logic clk_i,
    // Free inputs; the reset may come again at any time.
    input logic rst_ni,
    input logic [Ports-1:0] req_valid_i,
    input logic [Ports-1:0] req_write_i,
    input address_t [Ports-1:0] req_addr_i,
    input logic [DataBits-1:0] req_data_i
);
  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  logic [Ports-1:0] rsp_valid;
  logic [Ports-1:0][DataBits-1:0] rsp_data;
  tutti_tree_unit #(
      .Threads(Threads),
      .Ports(Ports),
      .GenerationBits(GenerationBits)
  ) i_unit (
      .clk_i,
      .rst_ni,
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data)
  );

  logic enable, clear, trigger, trigger_copy;
  logic [7:0] size;
  logic [1:0] arrival, departure;
  logic [63:0] arrival_base, departure_base;
  logic [6:0] trigger_thread, error;
  logic [31:0] episodes_q;
  logic began_q;
  logic [Ports-1:0][7:0] count_q, members;
  logic [Ports-1:0] full, comes, member, timely, again;
  logic [1:0][GenerationBits-1:0] uses;
  logic [1:0][63:0] arrived;
  logic [1:0] departing;
  logic [63:0] sum;
  logic completes;

  tutti_counting_map_checker #(
      .Threads(Threads),
      .Variant(3),
      .GenerationBits(GenerationBits),
      .MemoryPaths(1'b0)
  ) i_map (
      .clk_i,
      .rst_ni,
      .init_i(init_q),
      .req_valid_i(req_valid_i[0]),
      .req_write_i(req_write_i[0]),
      .req_addr_i(req_addr_i[0]),
      .req_data_i,
      .rsp_valid_i(rsp_valid[0]),
      .rsp_data_i(rsp_data[0]),
      .departing_i(departing),
      .generation_i(uses),
      .arrived_i(arrived),
      .episodes_i(episodes_q),
      .error_i({2'b00, again != '0, 1'b0, (comes & ~member) != '0}),
      .enable_o(enable),
      .size_o(size),
      .arrival_o(arrival),
      .departure_o(departure),
      .arrival_base_o(arrival_base),
      .departure_base_o(departure_base),
      .error_o(error),
      .clear_o(clear),
      .trigger_o(trigger),
      .copy_o(trigger_copy),
      .thread_o(trigger_thread)
  );

  // Episode e uses copy e % 2, so copy 0 has been used (e + 1) / 2 times before episode e.
  assign uses[0] = GenerationBits'((episodes_q + 32'd1) >> 1);
  assign uses[1] = GenerationBits'(episodes_q >> 1);
  assign departing[0] = episodes_q[0];
  assign departing[1] = began_q && !episodes_q[0];
  assign arrived[0] = episodes_q[0] ? '0 : sum;
  assign arrived[1] = episodes_q[0] ? sum : '0;
  assign completes = full == '1;

  for (genvar p = 0; p < Ports; ++p) begin : gen_port
    logic [6:0] thread;
    assign thread = req_addr_i[p][12:6];
    always_comb begin
      members[p] = '0;
      for (int unsigned g = 0; g < Group; ++g)
        if (p * Group + g < 32'(size)) members[p] += 8'd1;
    end
    assign full[p] = count_q[p] == members[p];
    assign comes[p] = req_valid_i[p] && req_write_i[p] && req_addr_i[p] >= 16'h4000
        && req_addr_i[p] < 16'h8000 && req_addr_i[p] % 16'd64 == '0;
    assign member[p] = enable && 8'(thread) < size && 32'(thread) >= p * Group
        && 32'(thread) < (p + 1) * Group;
    assign timely[p] = req_addr_i[p][13] == episodes_q[0];
    assign again[p] = comes[p] && member[p] && (!timely[p] || (full[p] && !clear));
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear || completes) count_q[p] <= '0;
      else if (comes[p] && member[p] && timely[p] && !full[p]) count_q[p] <= count_q[p] + 8'd1;
    end
    logic looks;
    assign looks = req_valid_i[p] && !req_write_i[p];
    always_comb begin
      if (!init_q) begin
        a_answers: assert (rsp_valid[p] == looks);
        // Port 0 has the whole map.
        a_sense: assert (p == 0 || !looks || rsp_data[p] == (req_addr_i[p] >= 16'h8000
            && req_addr_i[p] < 16'hC000 && req_addr_i[p] % 16'd64 == '0
            ? {32'(uses[req_addr_i[p][13]]), 31'd0, departing[req_addr_i[p][13]]} : 64'd0));
        a_count: assert (8'(i_unit.i_barrier.gen_leaf[p].i_leaf.count_q) == count_q[p]);
        a_bound: assert (clear || count_q[p] <= members[p]);
      end
    end
  end
  always_comb begin
    sum = '0;
    for (int unsigned p = 0; p < Ports; ++p) sum += 64'(count_q[p]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) begin
      episodes_q <= '0;
      began_q <= 1'b0;
    end else if (completes) begin
      episodes_q <= episodes_q + 32'd1;
      began_q <= 1'b1;
    end
  end

  always_comb begin
    assume (!init_q || !rst_ni);
    if (!init_q) begin
      a_config: assert (i_unit.i_registers.config_q == {enable, size, arrival, departure,
          arrival_base, departure_base});
      a_error: assert (i_unit.i_registers.error_q == error);
      a_clear: assert (i_unit.i_registers.clear_q == clear);
      a_episodes: assert (i_unit.i_barrier.episodes_q == episodes_q && i_unit.any_q == began_q);
    end
  end

  logic again_q;
  always_ff @(posedge clk_i) begin
    if (init_q) again_q <= 1'b0;
    else if (!rst_ni && episodes_q != '0) again_q <= 1'b1;
  end
  always_comb begin
    c_full: cover (!init_q && completes && size == 8'(Threads) && episodes_q == 32'd1);
    c_twice: cover (!init_q && again != '0 && !completes && error == '0);
    c_stranger: cover (!init_q && (comes & ~member) != '0 && enable && episodes_q != '0);
    c_again: cover (!init_q && completes && again_q);
  end
endmodule
