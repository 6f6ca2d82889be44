// SPDX-License-Identifier: Apache-2.0
/// The queue with anything at its ports and resets at any time. One entry that is chosen freely comes
/// out unchanged, after all that went in before it, at the end of the wire exactly Latency cycles
/// after it went in, and stays until it is taken. The entries on the wire arrive one after the other,
/// which is the invariant.
module tutti_machine_queue_formal #(
    parameter int unsigned Width = 3,
    parameter int unsigned Depth = 4,
    parameter int unsigned Latency = 3,
    parameter int unsigned PlaceBits = Depth > 1 ? $clog2(Depth) : 1,
    parameter int unsigned TimeBits = $clog2(Latency + 1)
) (
    input logic clk_i,
    // Free inputs; `mark_i` chooses the entry.
    input logic reset_i,
    input logic valid_i,
    input logic [Width-1:0] data_i,
    input logic ready_i,
    input logic mark_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic ready, valid;
  logic [Width-1:0] data;
  tutti_machine_queue #(
      .Width(Width),
      .Depth(Depth),
      .Latency(Latency)
  ) i_queue (
      .clk_i,
      .rst_ni(rst_n),
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o(data)
  );
  logic [PlaceBits:0] travelling, waiting;
  logic [PlaceBits-1:0] read, arrive, write;
  logic [Depth-1:0][TimeBits-1:0] arrival;
  logic [Depth-1:0][Width-1:0] stored;
  logic [TimeBits-1:0] now;
  assign travelling = i_queue.travelling_q;
  assign waiting = i_queue.waiting_q;
  assign read = i_queue.read_q;
  assign arrive = i_queue.arrive_q;
  assign write = i_queue.write_q;
  assign now = i_queue.time_q;
  for (genvar d = 0; d < Depth; ++d) begin : gen_place
    assign arrival[d] = i_queue.arrival_q[d];
    assign stored[d] = i_queue.data_q[d];
  end

  // The entry that is followed.
  logic marked_q;
  logic [PlaceBits:0] ahead_q;
  logic [Width-1:0] data_q;
  logic [9:0] age_q;
  logic pushes, pops;
  assign pushes = valid_i && ready;
  assign pops = valid && ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      marked_q <= 1'b0;
    end else if (!marked_q) begin
      if (pushes && mark_i) begin
        marked_q <= 1'b1;
        ahead_q <= travelling + waiting - (PlaceBits + 1)'(pops);
        data_q <= data_i;
        age_q <= 10'd1;
      end
    end else begin
      if (age_q <= 10'(Latency)) age_q <= age_q + 10'd1;
      if (pops) begin
        if (ahead_q == '0) marked_q <= 1'b0;
        ahead_q <= ahead_q - (PlaceBits + 1)'(1);
      end
    end
  end

  function automatic logic [PlaceBits-1:0] place(logic [PlaceBits-1:0] from,
                                                 logic [PlaceBits:0] offset);
    logic [PlaceBits+1:0] sum;
    sum = (PlaceBits + 2)'(from) + (PlaceBits + 2)'(offset);
    return PlaceBits'(sum >= (PlaceBits + 2)'(Depth) ? sum - (PlaceBits + 2)'(Depth) : sum);
  endfunction

  // The cycles until the entry at an offset from the next arrival arrives.
  logic [Depth-1:0][TimeBits-1:0] left;
  logic [Depth-1:0] order_bad;
  always_comb begin
    for (int unsigned d = 0; d < Depth; ++d) begin
      left[d] = arrival[place(arrive, (PlaceBits + 1)'(d))] - now;
      order_bad[d] = (PlaceBits + 1)'(d) < travelling && (32'(left[d]) > Latency - 2
          || (d > 0 && left[d] <= left[d > 0 ? d - 1 : 0]));
    end
  end
  always_comb begin
    if (!power_q) begin
      a_bound: assert (32'(travelling) + 32'(waiting) <= Depth);
      a_places: assert (32'(read) < Depth && 32'(arrive) < Depth && 32'(write) < Depth
          && (Latency == 1 || arrive == place(read, waiting))
          && write == place(read, travelling + waiting));
      a_wire: assert (Latency == 1 ? travelling == '0 : order_bad == '0);
      a_there: assert (!marked_q || ahead_q < travelling + waiting);
      a_kept: assert (!marked_q || stored[place(read, ahead_q)] == data_q);
      a_comes_out: assert (!(marked_q && valid && ahead_q == '0) || data == data_q);
      a_in_time: assert (!marked_q || (ahead_q < waiting) == (age_q >= 10'(Latency)));
      a_on_the_wire: assert (!marked_q || ahead_q < waiting
          || 10'(left[(PlaceBits)'(ahead_q - waiting)]) + age_q + 10'd1 == 10'(Latency));
      a_shown: assert (valid == (waiting != '0));
      a_age: assert (!marked_q || (age_q != '0 && age_q <= 10'(Latency + 1)));
    end
  end
  always_comb begin
    c_full: cover (rst_n && !ready && waiting == (PlaceBits + 1)'(Depth));
    c_through: cover (rst_n && marked_q && pops && ahead_q == '0 && (Latency == 1 || Depth == 1 || travelling != '0));
  end
endmodule
