// SPDX-License-Identifier: Apache-2.0
/// The tree barrier unit: as many request ports as the interconnect can serve at once; port 0 also
/// has the registers.
///
/// The trigger and the sense of a thread are accessed through the port of that thread; the register
/// map is that of the counting unit.
module tutti_tree_unit
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants, 1 to 128.
    parameter int unsigned Threads = 28,
    /// Number of request ports.
    parameter int unsigned Ports = 7,
    /// Width of the number of completed episodes that a departure sense shows.
    parameter int unsigned GenerationBits = 8
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// One request a cycle at every port, answered in the same cycle.
    input logic [Ports-1:0] req_valid_i,
    input logic [Ports-1:0] req_write_i,
    input address_t [Ports-1:0] req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    output logic [Ports-1:0] rsp_valid_o,
    output logic [Ports-1:0][DataBits-1:0] rsp_data_o
);
  // The generation of a copy is half of a 32-bit count.
  if (GenerationBits < 2 || GenerationBits > 31)
    $fatal(1, "tutti_tree_unit: GenerationBits must be 2 to 31");
  if (Ports < 1 || Ports > Threads) $fatal(1, "tutti_tree_unit: Ports must be 1 to Threads");
  if (Threads < 1 || Threads > MaxThreads) $fatal(1, "tutti_tree_unit: Threads must be 1 to 128");

  localparam int unsigned Group = (Threads + Ports - 1) / (Ports > 0 ? Ports : 1);
  localparam int unsigned CountBits = $clog2(Group + 1);

  config_t config_now;
  logic clear, complete;
  arrival_t trigger;
  error_t error;
  logic [Ports-1:0] arrive, foreign, wrong_parity, over;
  logic [Ports-1:0][CountBits-1:0] count;
  logic [31:0] episodes;
  logic [1:0] departing;
  logic [1:0][GenerationBits-1:0] generation;
  logic [1:0][DataBits-1:0] shown;
  logic [DataBits-1:0] register_data;
  logic register_valid;

  for (genvar p = 0; p < Ports; ++p) begin : gen_port
    logic triggered, mine, counts, line_start;
    logic [6:0] thread;
    assign thread = req_addr_i[p][12:6];
    assign triggered = req_valid_i[p] && req_write_i[p]
        && req_addr_i[p][15:14] == TriggerBase[15:14] && line_start;
    assign line_start = req_addr_i[p][5:0] == '0;
    assign mine = 32'(thread) / Group == p && 8'(thread) < config_now.size && config_now.enable;
    // An arrival whose trigger's copy is not the parity of the open episode is a repetition.
    assign counts = req_addr_i[p][13] == episodes[0];
    assign arrive[p] = triggered && mine && counts && !clear;
    assign foreign[p] = triggered && !mine;
    assign wrong_parity[p] = triggered && mine && !counts;
    if (p == 0) begin : gen_first
      assign rsp_valid_o[p] = register_valid;
      assign rsp_data_o[p] = register_data;
    end else begin : gen_next
      assign rsp_valid_o[p] = req_valid_i[p] && !req_write_i[p];
      assign rsp_data_o[p] = req_addr_i[p][15:14] == SenseBase[15:14] && line_start ?
          {32'(generation[req_addr_i[p][13]]), 31'b0, departing[req_addr_i[p][13]]} : '0;
    end
  end

  tutti_tree_barrier #(
      .Threads(Threads),
      .Ports(Ports)
  ) i_barrier (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .size_i(config_now.size),
      .arrive_i(arrive),
      .count_o(count),
      .over_o(over),
      .complete_o(complete),
      .episodes_o(episodes)
  );

  logic any_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) any_q <= 1'b0;
    else if (complete) any_q <= 1'b1;
  end
  assign departing = episodes[0] ? 2'b01 : {any_q, 1'b0};
  assign generation[0] = GenerationBits'((episodes + 32'd1) >> 1);
  assign generation[1] = GenerationBits'(episodes >> 1);

  logic [DataBits-1:0] total;
  always_comb begin
    total = '0;
    for (int unsigned p = 0; p < Ports; ++p) total += DataBits'(count[p]);
    shown[0] = episodes[0] ? '0 : total;
    shown[1] = episodes[0] ? total : '0;
    error = '0;
    error.foreign_arrival = foreign != '0;
    error.arrived_again = (wrong_parity | over) != '0;
  end

  tutti_counting_registers #(
      .Threads(Threads),
      .Variant(VariantTree),
      .GenerationBits(GenerationBits),
      .HasMemoryPaths(1'b0)
  ) i_registers (
      .clk_i,
      .rst_ni,
      .req_valid_i(req_valid_i[0]),
      .req_write_i(req_write_i[0]),
      .req_addr_i(req_addr_i[0]),
      .req_data_i,
      .rsp_valid_o(register_valid),
      .rsp_data_o(register_data),
      .config_o(config_now),
      .clear_o(clear),
      .trigger_o(trigger),
      .departing_i(departing),
      .generation_i(generation),
      .arrived_i(shown),
      .episodes_i(episodes),
      .error_i(error)
  );

  logic unused;
  assign unused = ^{trigger, config_now.arrival, config_now.departure, config_now.arrival_base,
                    config_now.departure_base};
endmodule
