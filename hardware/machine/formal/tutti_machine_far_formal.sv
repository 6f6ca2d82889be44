// SPDX-License-Identifier: Apache-2.0
/// The way between two sockets for any latency, with resets at any time: a message to the other
/// socket comes out unchanged, once, exactly `latency` cycles after it went in, if no other one
/// follows it meanwhile; one that stays passes at once, also meanwhile.
module tutti_machine_far_formal #(
    parameter int unsigned Width = 3
) (
    input logic clk_i,
    // Free inputs; the latency stays the same.
    input logic reset_i,
    input logic [9:0] latency_i,
    input logic far_i,
    input logic valid_i,
    input logic [Width-1:0] data_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  logic [9:0] latency_q;
  always_ff @(posedge clk_i) begin
    power_q   <= 1'b0;
    latency_q <= latency_i;
  end

  logic valid;
  logic [Width-1:0] data;
  tutti_machine_far #(
      .Width(Width)
  ) i_far (
      .clk_i,
      .rst_ni(rst_n),
      .latency_i,
      .far_i,
      .valid_i,
      .data_i,
      .valid_o(valid),
      .data_o(data)
  );

  // The message on its way.
  logic on_its_way_q;
  logic [9:0] age_q;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i) begin
    age_q <= age_q + 10'd1;
    if (on_its_way_q && age_q == latency_i) on_its_way_q <= 1'b0;
    if (valid_i && far_i) begin
      on_its_way_q <= 1'b1;
      age_q <= 10'd1;
      data_q <= data_i;
    end
    if (!rst_n) on_its_way_q <= 1'b0;
  end
  always_comb begin
    assume (latency_i != '0 && (power_q || latency_i == latency_q));
    assume (!valid_i || !on_its_way_q || (!far_i && age_q != latency_i));
  end

  always_comb begin
    if (!power_q) begin
      a_passes: assert (!(valid_i && !far_i) || (valid && data == data_i));
      a_in_time: assert (!on_its_way_q || valid == (age_q == latency_i || valid_i));
      a_nothing_else: assert (on_its_way_q || valid == (valid_i && !far_i));
      a_unchanged: assert (!(on_its_way_q && age_q == latency_i) || data == data_q);
      // What the induction needs.
      a_left: assert (i_far.left_q == (on_its_way_q ? latency_i - age_q + 10'd1 : 10'd0));
      a_age: assert (!on_its_way_q || (age_q != '0 && age_q <= latency_i));
      a_kept: assert (!on_its_way_q || i_far.data_q == data_q);
    end
  end
  always_comb begin
    c_far: cover (rst_n && on_its_way_q && valid && latency_i == 10'd3);
    c_passes: cover (rst_n && valid_i && !far_i && on_its_way_q);
  end
endmodule
