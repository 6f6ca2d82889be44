// SPDX-License-Identifier: Apache-2.0
/// The crossbar with anything at its ports and resets at any time. Of a message that a symbol chooses,
/// as many are in the queues as came in and did not leave, and it leaves at its output only. An output
/// that is wanted and free takes a message, one input's only; a line keeps it for LineCycles. While an
/// input waits for its turn, each other input has at most one before it.
module tutti_machine_crossbar_formal #(
    parameter int unsigned Inputs = 3,
    parameter int unsigned Outputs = 2,
    parameter int unsigned Latency = 2,
    parameter int unsigned Depth = 2,
    parameter int unsigned LineCycles = 3,
    parameter int unsigned OutputBits = Outputs > 1 ? $clog2(Outputs) : 1,
    parameter int unsigned InputBits = Inputs > 1 ? $clog2(Inputs) : 1,
    // A message names its output, and has two bits more.
    parameter int unsigned Width = OutputBits + 2
) (
    input logic clk_i,
    // Free inputs.
    input logic reset_i,
    input logic [Inputs-1:0] valid_i,
    input logic [Inputs-1:0] long_i,
    input logic [Inputs-1:0][Width-1:0] data_i,
    input logic [Outputs-1:0] ready_i,
    // Held constant: a message, and an input.
    input logic [Width-1:0] symbol_i,
    input logic [InputBits-1:0] input_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  logic [Width-1:0] symbol_q;
  logic [InputBits-1:0] input_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
    input_q <= input_i;
  end

  logic [Inputs-1:0][OutputBits-1:0] to;
  for (genvar i = 0; i < Inputs; ++i) begin : gen_to
    assign to[i] = data_i[i][OutputBits-1:0];
    always_comb assume (32'(to[i]) < Outputs);
  end
  logic [Inputs-1:0] ready;
  logic [Outputs-1:0] valid;
  logic [Outputs-1:0][Width-1:0] data;
  tutti_machine_crossbar #(
      .Inputs(Inputs),
      .Outputs(Outputs),
      .Width(Width),
      .LineCycles(LineCycles),
      .Latency(Latency),
      .Depth(Depth)
  ) i_crossbar (
      .clk_i,
      .rst_ni(rst_n),
      .valid_i,
      .ready_o(ready),
      .to_i(to),
      .long_i,
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o(data)
  );

  // The chosen input keeps its message until its turn.
  logic waits_q;
  logic [Width-1:0] waiting_data_q;
  logic [OutputBits-1:0] mine;
  assign mine = to[input_i];
  // Turns of others at its output since it began to wait.
  logic [InputBits:0] others_q;
  logic other_goes;
  assign other_goes = i_crossbar.gives[mine] && i_crossbar.chosen[mine] != input_i;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_n && valid_i[input_i] && !ready[input_i];
    waiting_data_q <= data_i[input_i];
    if (!rst_n || !valid_i[input_i] || ready[input_i]) others_q <= '0;
    else if (other_goes) others_q <= others_q + (InputBits + 1)'(1);
  end
  always_comb begin
    assume (power_q || (symbol_i == symbol_q && input_i == input_q));
    assume (32'(input_i) < Inputs && 32'(symbol_i[OutputBits-1:0]) < Outputs);
    assume (!waits_q || (valid_i[input_i] && data_i[input_i] == waiting_data_q));
  end
  logic [InputBits:0] distance;
  logic [InputBits-1:0] turn;
  assign turn = i_crossbar.turn_q[mine];
  assign distance = input_i >= turn ? (InputBits + 1)'(input_i - turn)
      : (InputBits + 1)'(Inputs) - (InputBits + 1)'(turn - input_i);

  logic [Inputs-1:0] in;
  logic [Outputs-1:0] out;
  logic [Outputs-1:0][7:0] held;
  logic [Outputs-1:0] stray;
  logic [7:0] entered, left, stays, inside_q;
  for (genvar i = 0; i < Inputs; ++i) begin : gen_in
    assign in[i] = valid_i[i] && ready[i] && data_i[i] == symbol_i;
  end
  for (genvar o = 0; o < Outputs; ++o) begin : gen_out
    logic [Depth-1:0] used, same, wrong;
    assign out[o] = valid[o] && ready_i[o] && data[o] == symbol_i;
    for (genvar d = 0; d < Depth; ++d) begin : gen_place
      logic [7:0] offset;
      assign offset = d >= 32'(i_crossbar.gen_output[o].i_queue.read_q)
          ? 8'(d) - 8'(i_crossbar.gen_output[o].i_queue.read_q)
          : 8'(d + Depth) - 8'(i_crossbar.gen_output[o].i_queue.read_q);
      assign used[d] = offset < 8'(i_crossbar.gen_output[o].i_queue.travelling_q)
          + 8'(i_crossbar.gen_output[o].i_queue.waiting_q);
      assign same[d] = used[d] && i_crossbar.gen_output[o].i_queue.data_q[d] == symbol_i;
      assign wrong[d] = used[d]
          && i_crossbar.gen_output[o].i_queue.data_q[d][OutputBits-1:0] != OutputBits'(o);
    end
    always_comb begin
      held[o] = '0;
      for (int unsigned d = 0; d < Depth; ++d) held[o] = held[o] + 8'(same[d]);
    end
    assign stray[o] = wrong != '0;
    // Cycles since a line took its turn here.
    logic [8:0] since_q;
    always_ff @(posedge clk_i) begin
      if (!rst_n) since_q <= 9'(LineCycles);
      else if (i_crossbar.gives[o] && long_i[i_crossbar.chosen[o]]) since_q <= 9'd1;
      else if (since_q < 9'(LineCycles)) since_q <= since_q + 9'd1;
    end
    always_comb begin
      if (!power_q) begin
        // What tutti_machine_queue_formal proves of each queue.
        a_queue: assert (32'(i_crossbar.gen_output[o].i_queue.travelling_q)
            + 32'(i_crossbar.gen_output[o].i_queue.waiting_q) <= Depth
            && 32'(i_crossbar.gen_output[o].i_queue.read_q) < Depth
            && 32'(i_crossbar.gen_output[o].i_queue.write_q)
            == (32'(i_crossbar.gen_output[o].i_queue.read_q)
              + 32'(i_crossbar.gen_output[o].i_queue.travelling_q)
              + 32'(i_crossbar.gen_output[o].i_queue.waiting_q)) % Depth);
        a_turn: assert (32'(i_crossbar.turn_q[o]) < Inputs);
        a_own: assert (!stray[o]);
        a_leaves: assert (!valid[o] || data[o][OutputBits-1:0] == OutputBits'(o));
        a_occupied: assert (since_q != '0 && since_q <= 9'(LineCycles)
            && 9'(i_crossbar.occupied_q[o]) == 9'(LineCycles) - since_q);
        a_line: assert (!i_crossbar.gives[o] || since_q == 9'(LineCycles));
        // A free output serves an input that wants it.
        a_works: assert (i_crossbar.wants[o] == '0 || !i_crossbar.free[o]
            || i_crossbar.occupied_q[o] != '0 || i_crossbar.gives[o]);
        a_chosen: assert (!i_crossbar.gives[o] || (i_crossbar.wants[o] >> i_crossbar.chosen[o] & 1)
            != '0);
      end
    end
  end
  always_comb begin
    entered = '0;
    left = '0;
    stays = '0;
    for (int unsigned i = 0; i < Inputs; ++i) entered = entered + 8'(in[i]);
    for (int unsigned o = 0; o < Outputs; ++o) begin
      left = left + 8'(out[o]);
      stays = stays + held[o];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_n) inside_q <= '0;
    else inside_q <= inside_q + entered - left;
  end
  logic [7:0] taken, given;
  always_comb begin
    taken = '0;
    given = '0;
    for (int unsigned i = 0; i < Inputs; ++i) taken = taken + 8'(ready[i]);
    for (int unsigned o = 0; o < Outputs; ++o) given = given + 8'(i_crossbar.gives[o]);
  end
  always_comb begin
    if (!power_q) begin
      a_flow: assert (inside_q == stays);
      a_ready: assert ((ready & ~valid_i) == '0 && taken == given);
      a_fair: assert (32'(others_q) <= Inputs - 1);
      a_distance: assert (!waits_q || 32'(others_q) + 32'(distance) <= Inputs - 1);
      a_rest: assert (waits_q || others_q == '0);
    end
    c_full: cover (rst_n && inside_q == 8'(Depth));
    c_fair: cover (rst_n && 32'(others_q) == Inputs - 1);
    c_line: cover (rst_n && out != '0 && i_crossbar.occupied_q != '0);
  end
endmodule
