// SPDX-License-Identifier: Apache-2.0
/// The mask barrier unit: an input pin and an output pin for every participant, and the registers
/// of the counting unit, so that the same driver works. The copy of a trigger is the parity of the
/// episode.
module tutti_mask_unit
  import tutti_counting_pkg::*;
#(
    /// Number of participants, 1 to 64.
    parameter int unsigned Threads = 28,
    /// Width of the number of completed episodes that a departure sense shows.
    parameter int unsigned GenerationBits = 8,
    /// Registers between the pins and the core, 0 or 1 in each direction, for wires across a chip.
    parameter int unsigned PinRegisters = 1,
    /// 1 registers the answers to reads, which adds one cycle.
    parameter int unsigned RegisterResponse = 0
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Register port: one request a cycle.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    output logic rsp_valid_o,
    output logic [DataBits-1:0] rsp_data_o,
    /// A participant arrives, for one cycle, with the parity of its episode.
    input logic [Threads-1:0] pin_arrive_i,
    input logic [Threads-1:0] pin_parity_i,
    /// Parity of the open episode; a participant departs when it differs from its own.
    output logic [Threads-1:0] pin_sense_o,
    /// A hard reset by software: the senses are 0 from the next cycle on, and no episode ends.
    output logic clear_o
);
  if (Threads < 1 || Threads > 64) $fatal(1, "tutti_mask_unit: Threads must be 1 to 64");
  // The generation of a copy is half of a 32-bit count.
  if (GenerationBits < 2 || GenerationBits > 31)
    $fatal(1, "tutti_mask_unit: GenerationBits must be 2 to 31");
  if (PinRegisters > 1) $fatal(1, "tutti_mask_unit: PinRegisters must be 0 or 1");

  config_t config_now;
  logic clear, complete, again, foreign;
  arrival_t trigger;
  error_t error;
  logic [Threads-1:0] members, arrive, parity, pin_arrive, pin_parity, arrived, trigger_bit;
  logic [31:0] episodes;
  logic [1:0] departing;
  logic [1:0][GenerationBits-1:0] generation;
  logic [1:0][DataBits-1:0] shown;

  if (PinRegisters == 1) begin : gen_registers
    always_ff @(posedge clk_i) begin
      pin_arrive <= rst_ni && !clear ? pin_arrive_i : '0;
      pin_parity <= pin_parity_i;
      pin_sense_o <= rst_ni && !clear ? {Threads{episodes[0]}} : '0;
    end
  end else begin : gen_wires
    assign pin_arrive = pin_arrive_i;
    assign pin_parity = pin_parity_i;
    assign pin_sense_o = {Threads{episodes[0]}};
  end

  for (genvar t = 0; t < Threads; ++t) begin : gen_thread
    assign members[t] = config_now.enable && 8'(t) < config_now.size;
    assign trigger_bit[t] = trigger.valid && trigger.thread == 7'(t);
    assign parity[t] = trigger_bit[t] ? trigger.copy : pin_parity[t];
  end
  assign arrive = pin_arrive | trigger_bit;

  tutti_mask_core #(
      .Threads(Threads)
  ) i_core (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .members_i(members),
      .arrive_i(arrive),
      .parity_i(parity),
      .arrived_o(arrived),
      .episodes_o(episodes),
      .complete_o(complete),
      .again_o(again),
      .foreign_o(foreign)
  );

  // The state that the two copies of the counting unit would show.
  logic any_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) any_q <= 1'b0;
    else if (complete) any_q <= 1'b1;
  end
  assign clear_o = clear;
  assign departing = episodes[0] ? 2'b01 : {any_q, 1'b0};
  assign generation[0] = GenerationBits'((episodes + 32'd1) >> 1);
  assign generation[1] = GenerationBits'(episodes >> 1);
  assign shown[0] = episodes[0] ? '0 : DataBits'(arrived);
  assign shown[1] = episodes[0] ? DataBits'(arrived) : '0;

  always_comb begin
    error = '0;
    error.arrived_again = again;
    error.foreign_arrival = foreign || (trigger.valid && 32'(trigger.thread) >= Threads);
  end

  tutti_counting_registers #(
      .Threads(Threads),
      .Variant(VariantMask),
      .GenerationBits(GenerationBits),
      .HasMemoryPaths(1'b0),
      .RegisterResponse(RegisterResponse)
  ) i_registers (
      .clk_i,
      .rst_ni,
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o,
      .rsp_data_o,
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
  assign unused = ^{config_now.arrival, config_now.departure, config_now.arrival_base,
                    config_now.departure_base};
endmodule
