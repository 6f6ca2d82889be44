// SPDX-License-Identifier: Apache-2.0
/// The whole mask unit against its specification: any pins, requests and resets, in any order and at
/// the same time, of participants and strangers.
///
/// tutti_mask_core_formal shows what the bits mean; this proof shows what reaches the core from pins
/// and triggers, which errors are reported, and that the state is shown as the register map says.
module tutti_mask_unit_formal
  import tutti_counting_pkg::*;
#(
    parameter int unsigned Threads = 3,
    parameter int unsigned GenerationBits = 3,
    parameter int unsigned PinRegisters = 1,
    parameter int unsigned RegisterResponse = 0
) (
    input logic clk_i,
    // Free inputs; the reset may come again at any time.
    input logic rst_ni,
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    input logic [Threads-1:0] pin_arrive_i,
    input logic [Threads-1:0] pin_parity_i
);
  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  logic rsp_valid;
  logic [DataBits-1:0] rsp_data;
  logic [Threads-1:0] pin_sense;
  logic unit_clear;
  tutti_mask_unit #(
      .Threads(Threads),
      .GenerationBits(GenerationBits),
      .PinRegisters(PinRegisters),
      .RegisterResponse(RegisterResponse)
  ) i_unit (
      .clk_i,
      .rst_ni,
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .pin_arrive_i,
      .pin_parity_i,
      .pin_sense_o(pin_sense),
      .clear_o(unit_clear)
  );

  logic enable, clear, trigger, trigger_copy;
  logic [7:0] size;
  logic [1:0] arrival, departure;
  logic [63:0] arrival_base, departure_base;
  logic [6:0] trigger_thread, error;
  logic [31:0] episodes_q;
  logic began_q;
  logic [Threads-1:0] pins, parities, member, comes, late, arrived_q, arrived_now;
  logic [1:0][GenerationBits-1:0] uses;
  logic [1:0][63:0] arrived;
  logic [1:0] departing;
  logic completes, foreign, again;

  tutti_counting_map_checker #(
      .Threads(Threads),
      .Variant(2),
      .GenerationBits(GenerationBits),
      .MemoryPaths(1'b0),
      .RegisterResponse(RegisterResponse)
  ) i_map (
      .clk_i,
      .rst_ni,
      .init_i(init_q),
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_i(rsp_valid),
      .rsp_data_i(rsp_data),
      .departing_i(departing),
      .generation_i(uses),
      .arrived_i(arrived),
      .episodes_i(episodes_q),
      .error_i({2'b00, again, 1'b0, foreign}),
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
  assign arrived[0] = episodes_q[0] ? '0 : 64'(arrived_q);
  assign arrived[1] = episodes_q[0] ? 64'(arrived_q) : '0;

  // Pins take PinRegisters cycles in each direction; a reset empties them.
  if (PinRegisters == 1) begin : gen_registers
    logic [Threads-1:0] sense_q;
    always_ff @(posedge clk_i) begin
      pins <= rst_ni && !clear ? pin_arrive_i : '0;
      parities <= pin_parity_i;
      sense_q <= rst_ni && !clear && episodes_q[0] ? '1 : '0;
    end
    always_comb begin
      if (!init_q) begin
        a_sense: assert (pin_sense == sense_q);
        a_pins: assert (i_unit.pin_arrive == pins && i_unit.pin_parity == parities);
      end
    end
  end else begin : gen_wires
    assign pins = pin_arrive_i;
    assign parities = pin_parity_i;
    always_comb if (!init_q) a_sense: assert (pin_sense == (episodes_q[0] ? '1 : '0));
  end

  // A thread that comes by its pin and its trigger at once has come once, as its trigger says.
  for (genvar t = 0; t < Threads; ++t) begin : gen_thread
    logic by_trigger;
    assign by_trigger = trigger && trigger_thread == 7'(t);
    assign member[t] = enable && size > 8'(t);
    assign comes[t] = pins[t] || by_trigger;
    assign late[t] = (by_trigger ? trigger_copy : parities[t]) != episodes_q[0];
  end
  assign arrived_now = arrived_q | (comes & member & ~late);
  assign completes = !clear && enable && arrived_now == member;
  assign again = (comes & member & (arrived_q | late)) != '0;
  assign foreign = (comes & ~member) != '0 || (trigger && 32'(trigger_thread) >= Threads);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) begin
      arrived_q <= '0;
      episodes_q <= '0;
      began_q <= 1'b0;
    end else begin
      arrived_q <= completes ? '0 : arrived_now;
      if (completes) episodes_q <= episodes_q + 32'd1;
      if (completes) began_q <= 1'b1;
    end
  end

  always_comb begin
    assume (!init_q || !rst_ni);
    if (!init_q) begin
      a_config: assert (i_unit.i_registers.config_q == {enable, size, arrival, departure,
          arrival_base, departure_base});
      a_error: assert (i_unit.i_registers.error_q == error);
      a_clear: assert (i_unit.i_registers.clear_q == clear && unit_clear == clear);
      a_arrived: assert (i_unit.i_core.arrived_q == arrived_q);
      a_episodes: assert (i_unit.i_core.episodes_q == episodes_q && i_unit.any_q == began_q);
    end
  end

  logic again_q;
  always_ff @(posedge clk_i) begin
    if (init_q) again_q <= 1'b0;
    else if (!rst_ni && episodes_q != '0) again_q <= 1'b1;
  end
  always_comb begin
    c_both: cover (!init_q && completes && trigger && pins != '0 && size == 8'(Threads));
    c_late: cover (!init_q && again && (comes & arrived_q) == '0);
    c_stranger: cover (!init_q && foreign && enable && error == '0);
    c_again: cover (!init_q && completes && again_q);
  end
endmodule
