// SPDX-License-Identifier: Apache-2.0
/// Arrival by memory: reads one line for each participant in turn. Each line has at most one read
/// in flight, so that answers that overtake each other never show an old value. A participant
/// writes 1, 2, 3, ... to its line.
module tutti_counting_poller
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// Derived; do not set.
    parameter int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    /// Returns to the initial state; answers still in flight are dropped.
    input logic clear_i,
    /// Enables polling.
    input logic enable_i,
    input logic [7:0] size_i,
    /// Address of participant 0's line; the others' lines follow.
    input logic [DataBits-1:0] base_i,
    output logic rd_valid_o,
    input logic rd_ready_i,
    output logic [DataBits-1:0] rd_addr_o,
    output logic [ThreadBits-1:0] rd_tag_o,
    /// An answer, which is always accepted.
    input logic rsp_valid_i,
    input logic [ThreadBits-1:0] rsp_tag_i,
    input logic [DataBits-1:0] rsp_data_i,
    /// The read failed: the data are no number. The line is read again.
    input logic rsp_error_i,
    output arrival_t arrival_o,
    /// A read failed, or a line held neither its last number nor the next.
    output logic error_o
);
  if (Threads < 1 || Threads > MaxThreads)
    $fatal(1, "tutti_counting_poller: Threads must be 1 to 128");

  logic [ThreadBits-1:0] next_q;
  logic [Threads-1:0] busy_q, drop_q;
  // The low bits suffice, since no participant is more than one episode ahead.
  logic [Threads-1:0][1:0] seen_q;

  logic issue, last, known;
  assign last = 8'(next_q) + 8'd1 >= size_i;
  assign rd_valid_o = enable_i && !clear_i && !busy_q[next_q];
  assign rd_addr_o = base_i + DataBits'(next_q) * DataBits'(LineBytes);
  assign rd_tag_o = next_q;
  assign issue = rd_valid_o && rd_ready_i;

  logic [1:0] step;
  assign known = rsp_valid_i && busy_q[rsp_tag_i] && !drop_q[rsp_tag_i] && !clear_i;
  assign step = rsp_data_i[1:0] - seen_q[rsp_tag_i];
  assign arrival_o = '{
      valid: known && !rsp_error_i && step == 2'd1, copy: seen_q[rsp_tag_i][0], thread: 7'(rsp_tag_i)
  };
  assign error_o = known && (rsp_error_i || step[1]);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_q <= '0;
      busy_q <= '0;
      drop_q <= '0;
      seen_q <= '0;
    end else begin
      // A busy line is skipped, so that one slow answer does not delay the others.
      if (clear_i) next_q <= '0;
      else if (issue || (enable_i && busy_q[next_q])) next_q <= last ? '0 : next_q + ThreadBits'(1);
      if (issue) busy_q[next_q] <= 1'b1;
      if (clear_i) drop_q <= busy_q;
      if (rsp_valid_i) begin
        busy_q[rsp_tag_i] <= 1'b0;
        drop_q[rsp_tag_i] <= 1'b0;
      end
      if (clear_i) seen_q <= '0;
      else if (arrival_o.valid) seen_q[rsp_tag_i] <= rsp_data_i[1:0];
    end
  end

  logic unused;
  assign unused = ^rsp_data_i[DataBits-1:2];
endmodule
