// SPDX-License-Identifier: Apache-2.0
/// A router with any messages at its ports and resets at any time. A message that the solver chooses
/// leaves once, unchanged, by the port to which its way leads, behind those that went that way before
/// it; as many leave as come in, and none is stopped where the way is free; a message that is not
/// taken stays. That everybody's turn comes is proved of tutti_machine_crossbar.
module tutti_machine_message_router_formal
  import tutti_machine_message_pkg::*;
#(
    parameter int unsigned Latency = 2,
    parameter int unsigned Depth = 2,
    parameter int unsigned Ports = tutti_detector_pkg::Ports
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input place_t here_i,
    input logic [Ports-1:0] valid_i,
    input flit_t [Ports-1:0] flit_i,
    input logic [Ports-1:0] ready_i,
    // Free: the message that enters at this port now is the chosen one.
    input logic choose_i,
    input logic [2:0] port_i
);
  // The router is reset at first, and again at any time; it does not move.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  place_t here_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    if (power_q) here_q <= here_i;
  end

  logic [Ports-1:0] ready, valid;
  flit_t [Ports-1:0] flit;
  tutti_machine_message_router #(
      .Latency(Latency),
      .Depth(Depth)
  ) u_router (
      .clk_i,
      .rst_ni(!init_q),
      .here_i(here_q),
      .valid_i,
      .ready_o(ready),
      .flit_i,
      .valid_o(valid),
      .ready_i,
      .flit_o(flit)
  );

  function automatic logic [2:0] way_of(place_t to, place_t here);
    if (to.x != here.x) return to.x > here.x ? 3'd1 : 3'd3;
    if (to.y != here.y) return to.y > here.y ? 3'd2 : 3'd0;
    return 3'd4;
  endfunction

  // The queues of the outputs.
  logic [Ports-1:0][7:0] used, read;
  flit_t [Ports-1:0][Depth-1:0] entry;
  logic [Ports-1:0] bounded, strays, pushes, leaves, wanted, stopped;
  for (genvar o = 0; o < Ports; o++) begin : gen_output
    logic [Depth-1:0] wrong;
    assign used[o] = 8'(u_router.u_crossbar.gen_output[o].i_queue.travelling_q)
        + 8'(u_router.u_crossbar.gen_output[o].i_queue.waiting_q);
    assign read[o] = 8'(u_router.u_crossbar.gen_output[o].i_queue.read_q);
    // What tutti_machine_queue_formal proves of each queue.
    assign bounded[o] = 32'(used[o]) <= Depth && 32'(read[o]) < Depth
        && 32'(u_router.u_crossbar.gen_output[o].i_queue.write_q)
            == (32'(read[o]) + 32'(used[o])) % Depth
        && 32'(u_router.u_crossbar.turn_q[o]) < Ports && u_router.u_crossbar.occupied_q[o] == '0;
    for (genvar d = 0; d < Depth; d++) begin : gen_place
      assign entry[o][d] = u_router.u_crossbar.gen_output[o].i_queue.data_q[d];
      assign wrong[d] = (32'(d) + Depth - 32'(read[o])) % Depth < 32'(used[o])
          && way_of(entry[o][d].to, here_q) != 3'(o);
    end
    assign strays[o] = wrong != '0;
    assign pushes[o] = u_router.u_crossbar.gives[o];
    assign leaves[o] = valid[o] && ready_i[o];
    // A port whose queue has a place takes one of the messages that go that way.
    always_comb begin
      wanted[o] = 1'b0;
      for (int unsigned i = 0; i < Ports; i++)
        if (valid_i[i] && way_of(flit_i[i].to, here_q) == 3'(o)) wanted[o] = 1'b1;
    end
    assign stopped[o] = wanted[o] && 32'(used[o]) < Depth && !pushes[o];
  end

  // The chosen message: at which output, behind how many, and what it says.
  logic inside_q = 1'b0;
  logic [2:0] out_q = '0, way;
  logic [7:0] ahead_q = '0;
  flit_t what_q = '0;
  logic enters;
  assign enters = choose_i && !inside_q && 32'(port_i) < Ports && valid_i[port_i] && ready[port_i];
  assign way = way_of(flit_i[port_i].to, here_q);
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      inside_q <= 1'b0;
    end else if (enters) begin
      inside_q <= 1'b1;
      out_q <= way;
      what_q <= flit_i[port_i];
      ahead_q <= used[way] - 8'(leaves[way]);
    end else if (inside_q && leaves[out_q]) begin
      if (ahead_q == '0) inside_q <= 1'b0;
      ahead_q <= ahead_q - 8'd1;
    end
  end
  logic [7:0] its_place;
  assign its_place = 8'((32'(read[out_q]) + 32'(ahead_q)) % Depth);

  // What was offered in the last cycle and not taken.
  logic [Ports-1:0] offered_q = '0, same;
  flit_t [Ports-1:0] offer_q = '0;
  always_ff @(posedge clk_i) begin
    offered_q <= init_q ? '0 : valid & ~ready_i;
    offer_q <= flit;
  end
  for (genvar o = 0; o < Ports; o++) begin : gen_same
    assign same[o] = valid[o] && flit[o] == offer_q[o];
  end

  always_comb begin
    if (!init_q) begin
      a_queues: assert (bounded == '1);
      a_ways: assert (strays == '0);
      a_as_many: assert ($countones(ready & valid_i) == $countones(pushes)
          && (ready & ~valid_i) == '0);
      a_none_is_stopped: assert (stopped == '0);
      a_stays: assert ((offered_q & ~same) == '0);
      a_port: assert (!inside_q || 32'(out_q) < Ports);
      a_there: assert (!inside_q || ahead_q < used[out_q]);
      a_kept: assert (!inside_q || entry[out_q][its_place[$clog2(Depth)-1:0]] == what_q);
      a_leaves: assert (!(inside_q && ahead_q == '0 && valid[out_q]) || flit[out_q] == what_q);
      a_its_way: assert (!inside_q || out_q == way_of(what_q.to, here_q));
    end
  end
  always_comb begin
    c_behind: cover (!init_q && inside_q && ahead_q == '0 && leaves[out_q] && 32'(used[out_q]) == Depth);
    c_all: cover (!init_q && &leaves && inside_q);
    c_stopped: cover (!init_q && valid_i[0] && !ready[0] && 32'(used[4]) == Depth && inside_q);
  end
endmodule
