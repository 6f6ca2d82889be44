// SPDX-License-Identifier: Apache-2.0
/// The counting barrier unit: two copies, between which software alternates, with all paths of
/// arrival and departure.
module tutti_counting_unit
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// Width of the number of completed episodes of a copy.
    parameter int unsigned GenerationBits = 8,
    /// 1 registers the answers to reads, which adds one cycle.
    parameter int unsigned RegisterResponse = 0,
    /// 1 if messages are connected; otherwise software cannot choose them.
    parameter bit HasMessages = 1'b1,
    /// 1 if reads and writes of memory are connected; otherwise software cannot choose them.
    parameter bit HasMemoryPaths = 1'b1,
    /// Derived; do not set.
    parameter int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
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
    /// A message; its address is copy * 4 + thread.
    input logic msg_valid_i,
    input logic [$clog2(MessageAddresses)-1:0] msg_addr_i,
    /// Reads of main memory.
    output logic rd_valid_o,
    input logic rd_ready_i,
    output logic [DataBits-1:0] rd_addr_o,
    output logic [ThreadBits-1:0] rd_tag_o,
    input logic mem_valid_i,
    input logic [ThreadBits-1:0] mem_tag_i,
    input logic [DataBits-1:0] mem_data_i,
    /// The read failed; the data do not count.
    input logic mem_error_i,
    /// Writes to main memory.
    output logic wr_valid_o,
    input logic wr_ready_i,
    output logic [DataBits-1:0] wr_addr_o,
    output logic [DataBits-1:0] wr_data_o
);
  if (Threads < 1 || Threads > MaxThreads)
    $fatal(1, "tutti_counting_unit: Threads must be 1 to 128");

  localparam int unsigned CountBits = $clog2(Threads + 1);

  config_t config_now;
  logic clear;
  arrival_t trigger, message, polled, chosen;
  error_t error;
  logic poll_error, notify_overrun;
  logic [1:0] departing, complete;
  logic [1:0][GenerationBits-1:0] generation;
  logic [1:0][CountBits-1:0] count;
  logic [1:0][DataBits-1:0] arrived;
  logic [31:0] episodes_q, episodes_d;

  assign message = '{
      valid: msg_valid_i, copy: msg_addr_i[2], thread: 7'(msg_addr_i[1:0])
  };

  // Arrivals by another path than the configured one are errors and are not counted.
  always_comb begin
    chosen = '0;
    unique case (config_now.arrival)
      ArriveByRegister: chosen = trigger;
      ArriveByMessage: chosen = message;
      ArriveByMemory: chosen = polled;
      default: chosen = '0;
    endcase
  end
  logic participant, counted;
  assign participant = config_now.enable && 8'(chosen.thread) < config_now.size;
  assign counted = chosen.valid && participant && !clear;

  for (genvar c = 0; c < 2; ++c) begin : gen_copy
    tutti_counting_core #(
        .Threads(Threads),
        .GenerationBits(GenerationBits)
    ) i_core (
        .clk_i,
        .rst_ni,
        .clear_i(clear),
        .size_i(config_now.size[CountBits-1:0]),
        .arrive_i(counted && chosen.copy == 1'(c)),
        .count_o(count[c]),
        .departing_o(departing[c]),
        .generation_o(generation[c]),
        .complete_o(complete[c])
    );
    assign arrived[c] = DataBits'(count[c]);
  end

  assign episodes_d = episodes_q + 32'(|complete);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) episodes_q <= '0;
    else episodes_q <= episodes_d;
  end

  always_comb begin
    error = '0;
    error.foreign_arrival = chosen.valid && !participant;
    error.wrong_path = (trigger.valid && config_now.arrival != ArriveByRegister) ||
        (message.valid && config_now.arrival != ArriveByMessage);
    error.poll_sequence = poll_error;
    error.notify_overrun = notify_overrun;
  end

  tutti_counting_registers #(
      .Threads(Threads),
      .Variant(VariantCounting),
      .GenerationBits(GenerationBits),
      .HasMemoryPaths(HasMemoryPaths),
      .HasMessages(HasMessages),
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
      .arrived_i(arrived),
      .episodes_i(episodes_q),
      .error_i(error)
  );

  tutti_counting_poller #(
      .Threads(Threads)
  ) i_poller (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .enable_i(config_now.enable && config_now.arrival == ArriveByMemory),
      .size_i(config_now.size),
      .base_i(config_now.arrival_base),
      .rd_valid_o,
      .rd_ready_i,
      .rd_addr_o,
      .rd_tag_o,
      .rsp_valid_i(mem_valid_i),
      .rsp_tag_i(mem_tag_i),
      .rsp_data_i(mem_data_i),
      .rsp_error_i(mem_error_i),
      .arrival_o(polled),
      .error_o(poll_error)
  );

  tutti_counting_notifier #(
      .Threads(Threads)
  ) i_notifier (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .path_i(config_now.departure),
      .size_i(config_now.size),
      .base_i(config_now.departure_base),
      .complete_i(|complete),
      .episodes_i(episodes_d),
      .wr_valid_o,
      .wr_ready_i,
      .wr_addr_o,
      .wr_data_o,
      .overrun_o(notify_overrun)
  );
endmodule
