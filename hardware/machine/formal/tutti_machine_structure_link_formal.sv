// SPDX-License-Identifier: Apache-2.0
/// The link of two structures with anything at its ports, for any latency, and resets at any time. A
/// message that is chosen freely comes out unchanged, after all that went in before it, from exactly
/// `latency` cycles after it went in until it is taken. The link's clock goes round, so that it must
/// be taken within 1024 cycles.
module tutti_machine_structure_link_formal #(
    parameter int unsigned Width = 3,
    parameter int unsigned Depth = 4,
    parameter int unsigned PlaceBits = $clog2(Depth)
) (
    input logic clk_i,
    // Free inputs; the latency stays the same, and `mark_i` chooses the message.
    input logic reset_i,
    input logic [9:0] latency_i,
    input logic valid_i,
    input logic [Width-1:0] data_i,
    input logic ready_i,
    input logic mark_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  logic [9:0] latency_q;
  always_ff @(posedge clk_i) begin
    power_q   <= 1'b0;
    latency_q <= latency_i;
  end

  logic ready, valid;
  logic [Width-1:0] data;
  tutti_machine_structure_link #(
      .Width(Width),
      .Depth(Depth)
  ) i_link (
      .clk_i,
      .rst_ni(rst_n),
      .latency_i,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o(data)
  );
  logic [PlaceBits:0] write, read;
  logic [Depth-1:0][Width-1:0] stored;
  logic [Depth-1:0][10:0] due;
  assign write = i_link.write_q;
  assign read  = i_link.read_q;
  for (genvar d = 0; d < Depth; ++d) begin : gen_place
    assign stored[d] = i_link.data_q[d];
    assign due[d] = i_link.due_q[d];
  end

  // How many are in it; the message that is followed and how many go before it.
  logic [PlaceBits:0] count_q, ahead_q;
  logic marked_q;
  logic [11:0] age_q;
  logic [Width-1:0] data_q;
  logic pushes, pops;
  assign pushes = valid_i && ready;
  assign pops = valid && ready_i;
  always_ff @(posedge clk_i) begin
    count_q <= count_q + (PlaceBits + 1)'(pushes) - (PlaceBits + 1)'(pops);
    age_q <= age_q + 12'd1;
    if (marked_q && pops) begin
      ahead_q <= ahead_q - (PlaceBits + 1)'(1);
      if (ahead_q == '0) marked_q <= 1'b0;
    end
    if (!marked_q && pushes && mark_i) begin
      marked_q <= 1'b1;
      ahead_q <= count_q - (PlaceBits + 1)'(pops);
      age_q <= 12'd1;
      data_q <= data_i;
    end
    if (!rst_n) begin
      count_q <= '0;
      marked_q <= 1'b0;
    end
  end
  logic [PlaceBits-1:0] place;
  assign place = PlaceBits'(read + ahead_q);
  always_comb begin
    assume (latency_i != '0 && (power_q || latency_i == latency_q));
    assume (!marked_q || age_q < 12'(latency_i) + 12'd1024);
  end

  always_comb begin
    if (!power_q) begin
      a_ready: assert (ready == (count_q != (PlaceBits + 1)'(Depth)));
      a_nothing_else: assert (!valid || count_q != '0);
      a_in_time: assert (!(marked_q && ahead_q == '0) || valid == (age_q >= 12'(latency_i)));
      a_unchanged: assert (!(marked_q && ahead_q == '0 && valid) || data == data_q);
      // What the induction needs.
      a_count: assert (count_q == write - read && count_q <= (PlaceBits + 1)'(Depth));
      a_there: assert (!marked_q || ahead_q < count_q);
      a_kept: assert (!marked_q || stored[place] == data_q);
      a_due: assert (!marked_q || due[place] == i_link.time_q - 11'(age_q) + 11'(latency_i));
      a_age: assert (!marked_q || age_q != '0);
    end
  end
  always_comb begin
    c_full: cover (rst_n && !ready);
    c_through: cover (rst_n && marked_q && ahead_q == '0 && pops && latency_i == 10'd3 && count_q > 1);
    c_waits: cover (rst_n && marked_q && valid && age_q > 12'(latency_i) + 12'd2);
  end
endmodule
