// SPDX-License-Identifier: Apache-2.0
/// Departure by memory: writes the number of completed episodes to one line for each participant,
/// or to one line for all.
module tutti_counting_notifier
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input departure_path_e path_i,
    input logic [7:0] size_i,
    /// Address of participant 0's line, or of the line for all.
    input logic [DataBits-1:0] base_i,
    /// An episode completes.
    input logic complete_i,
    /// Number of completed episodes, this one included.
    input logic [31:0] episodes_i,
    output logic wr_valid_o,
    input logic wr_ready_i,
    output logic [DataBits-1:0] wr_addr_o,
    output logic [DataBits-1:0] wr_data_o,
    /// An episode ended before the previous departure was written; only misuse can cause this.
    output logic overrun_o
);
  if (Threads < 1 || Threads > MaxThreads)
    $fatal(1, "tutti_counting_notifier: Threads must be 1 to 128");

  logic busy_q;
  logic [7:0] thread_q;
  logic [31:0] value_q;

  logic start, last;
  assign start = complete_i && path_i != DepartByRegister && !clear_i;
  assign last = path_i == DepartByLine || thread_q + 8'd1 >= size_i;
  assign overrun_o = start && busy_q;
  assign wr_valid_o = busy_q;
  assign wr_addr_o = base_i + DataBits'(thread_q) * DataBits'(LineBytes);
  assign wr_data_o = DataBits'(value_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      busy_q <= 1'b0;
      thread_q <= '0;
      value_q <= '0;
    end else if (start) begin
      busy_q <= 1'b1;
      thread_q <= '0;
      value_q <= episodes_i;
    end else if (busy_q && wr_ready_i) begin
      busy_q <= !last;
      thread_q <= last ? '0 : thread_q + 8'd1;
    end
  end
endmodule
