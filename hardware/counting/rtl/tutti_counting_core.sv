// SPDX-License-Identifier: Apache-2.0
/// One copy of the counting barrier (Hetland et al. 2019, figure 5): takes one arrival a cycle and
/// releases one cycle after the last.
///
/// The next count is 0 after a hard reset, 1 for the first arrival after a departure, and otherwise
/// one more. The count stays at the size while a departure is in progress.
module tutti_counting_core #(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// Width of the number of completed episodes, which wraps.
    parameter int unsigned GenerationBits = 8,
    /// Derived; do not set.
    parameter int unsigned CountBits = $clog2(Threads + 1)
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// Hard reset by software.
    input logic clear_i,
    /// Number of participants, 1 .. Threads; changes only together with clear_i.
    input logic [CountBits-1:0] size_i,
    /// One participant arrives.
    input logic arrive_i,
    /// Arrivals of the episode; equals the size while its departure is in progress.
    output logic [CountBits-1:0] count_o,
    /// 1 from the completion of an episode until the first arrival of the next.
    output logic departing_o,
    /// Number of completed episodes.
    output logic [GenerationBits-1:0] generation_o,
    /// This cycle's arrival completes the episode.
    output logic complete_o
);
  if (Threads < 1 || Threads > 128) $fatal(1, "tutti_counting_core: Threads must be 1 to 128");
  if (GenerationBits < 2 || GenerationBits > 32)
    $fatal(1, "tutti_counting_core: GenerationBits must be 2 to 32");

  logic [CountBits-1:0] count_d, count_q;
  logic departing_d, departing_q;
  logic [GenerationBits-1:0] generation_q;

  always_comb begin
    count_d = count_q;
    if (clear_i) count_d = '0;
    else if (arrive_i) count_d = departing_q ? CountBits'(1) : count_q + CountBits'(1);
  end

  assign complete_o = arrive_i && !clear_i && count_d == size_i;
  assign departing_d = !clear_i && (arrive_i ? complete_o : departing_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      departing_q <= 1'b0;
      generation_q <= '0;
    end else begin
      count_q <= count_d;
      departing_q <= departing_d;
      if (clear_i) generation_q <= '0;
      else if (complete_o) generation_q <= generation_q + GenerationBits'(1);
    end
  end

  assign count_o = count_q;
  assign departing_o = departing_q;
  assign generation_o = generation_q;
endmodule
