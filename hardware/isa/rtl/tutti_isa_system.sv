// SPDX-License-Identifier: Apache-2.0
// The system: tiles, the shared memory, the barrier unit, and the distance between tiles and unit.
// Cores that are not enabled stay in reset, so that one build serves every smaller number.
module tutti_isa_system
  import tutti_isa_pkg::*;
#(
    parameter int unsigned Cores    = 16,
    parameter int unsigned Barriers = 8,
    parameter int unsigned Banks    = 16
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    /// Number of cores that run: 0 .. cores_i - 1.
    input  logic [      7:0]       cores_i,
    input  logic [      7:0]       mem_latency_i,
    input  logic                   near_i,
    input  logic                   posted_i,
    /// Cycles in each direction.
    input  logic [      7:0]       unit_distance_i,
    input  logic [Cores-1:0]       external_irq_i,
    /// Loads into every tile.
    input  logic                   load_valid_i,
    input  logic [     13:0]       load_word_i,
    input  logic [     31:0]       load_data_i,
    output logic [Cores-1:0]       trace_valid_o,
    output logic [Cores-1:0][ 3:0] trace_tag_o,
    output logic [Cores-1:0][31:0] trace_data_o,
    output logic [Cores-1:0]       halted_o,
    output logic [Cores-1:0]       privileged_o,
    /// A barwait leaves the core, for the harness.
    output logic [Cores-1:0]       arrive_o,
    /// An answer reaches the core.
    output logic [Cores-1:0]       answer_o,
    output logic [Cores-1:0]       queued_o
);
  if (Cores < 1 || Cores > 16) $fatal(1, "tutti_isa_system: Cores must be 1 to 16");

  request_t [Cores-1:0] request, request_far;
  reply_t [Cores-1:0] reply, reply_far;
  mem_request_t [Cores-1:0] mem_request;
  logic [Cores-1:0] mem_ready, mem_idle, ipi_valid, ipi;
  logic [Cores-1:0][31:0] mem_rdata, ipi_mask;

  always_comb begin
    ipi = '0;
    for (int unsigned c = 0; c < Cores; c++) if (ipi_valid[c]) ipi |= ipi_mask[c][Cores-1:0];
  end

  for (genvar c = 0; c < Cores; c++) begin : gen_tile
    tutti_isa_tile u_tile (
        .clk_i,
        .rst_ni        (rst_ni && c < 32'(cores_i)),
        .core_i        (8'(c)),
        .cores_i       (cores_i),
        .load_valid_i,
        .load_word_i,
        .load_data_i,
        .external_irq_i(external_irq_i[c]),
        .ipi_i         (ipi[c]),
        .ipi_valid_o   (ipi_valid[c]),
        .ipi_mask_o    (ipi_mask[c]),
        .request_o     (request[c]),
        .reply_i       (reply_far[c]),
        .mem_request_o (mem_request[c]),
        .mem_ready_i   (mem_ready[c]),
        .mem_idle_i    (mem_idle[c]),
        .mem_rdata_i   (mem_rdata[c]),
        .trace_valid_o (trace_valid_o[c]),
        .trace_tag_o   (trace_tag_o[c]),
        .trace_data_o  (trace_data_o[c]),
        .halted_o      (halted_o[c]),
        .privileged_o  (privileged_o[c])
    );
    tutti_isa_link #(
        .Width($bits(request_t))
    ) u_to_unit (
        .clk_i,
        .rst_ni,
        .delay_i(unit_distance_i),
        .data_i (request[c]),
        .data_o (request_far[c])
    );
    tutti_isa_link #(
        .Width($bits(reply_t))
    ) u_from_unit (
        .clk_i,
        .rst_ni,
        .delay_i(unit_distance_i),
        .data_i (reply[c]),
        .data_o (reply_far[c])
    );
    assign arrive_o[c] = request[c].valid && request[c].op == OpWait;
    assign answer_o[c] = reply_far[c].valid;
  end

  tutti_isa_barrier_unit #(
      .Cores   (Cores),
      .Barriers(Barriers)
  ) u_unit (
      .clk_i,
      .rst_ni,
      .request_i(request_far),
      .reply_o  (reply)
  );

  tutti_isa_shared_memory #(
      .Cores(Cores),
      .Banks(Banks)
  ) u_memory (
      .clk_i,
      .rst_ni,
      .latency_i(mem_latency_i),
      .near_i,
      .posted_i,
      .request_i(mem_request),
      .ready_o  (mem_ready),
      .rdata_o  (mem_rdata),
      .idle_o   (mem_idle),
      .queued_o
  );

endmodule
