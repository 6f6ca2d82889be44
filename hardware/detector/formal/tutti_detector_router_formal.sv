// SPDX-License-Identifier: Apache-2.0
/// A router with any messages at its ports: a message that the solver chooses leaves once, unchanged,
/// by the port to which its way leads, and nothing leaves that has not come in. A port without a
/// message gives 0.
///
/// The specification follows the chosen message through the queue of its input.
module tutti_detector_router_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned MasterWest = 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input place_t here_i,
    input logic [Ports-1:0] valid_i,
    input message_t [Ports-1:0] message_i,
    input logic [Ports-1:0] ready_i,
    // Free: the message that enters at this port now is the chosen one.
    input logic choose_i,
    input logic [2:0] port_i
);
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic [Ports-1:0] ready, valid;
  message_t [Ports-1:0] message;
  // The router does not move.
  place_t here_q;
  always_ff @(posedge clk_i) if (power_q) here_q <= here_i;

  tutti_detector_router #(
      .MasterWest(MasterWest)
  ) i_router (
      .clk_i,
      .rst_ni(!init_q),
      .here_i(here_q),
      .valid_i,
      .ready_o(ready),
      .message_i,
      .valid_o(valid),
      .ready_i,
      .message_o(message)
  );

  logic [Ports-1:0][1:0] used;
  message_t [Ports-1:0] first, second;
  logic [Ports-1:0] pops, leaves;
  for (genvar i = 0; i < Ports; ++i) begin : gen_port
    assign used[i] = i_router.gen_port[i].i_fifo.used_q;
    assign first[i] = i_router.gen_port[i].i_fifo.first_q;
    assign second[i] = i_router.gen_port[i].i_fifo.second_q;
    assign pops[i] = i_router.gen_port[i].i_fifo.pop;
    assign leaves[i] = valid[i] && ready_i[i];
  end

  // The chosen message: where it is, and what it says.
  logic inside_q = 1'b0, second_q = 1'b0;
  logic [2:0] port_q = '0;
  message_t what_q = '0;
  logic enters;
  assign enters = choose_i && !inside_q && 32'(port_i) < Ports && valid_i[port_i] && ready[port_i];
  always_ff @(posedge clk_i) begin
    if (init_q) begin
      inside_q <= 1'b0;
    end else if (enters) begin
      inside_q <= 1'b1;
      port_q <= port_i;
      what_q <= message_i[port_i];
      second_q <= used[port_i] == 2'd1 && !pops[port_i];
    end else if (inside_q && pops[port_q]) begin
      if (!second_q) inside_q <= 1'b0;
      second_q <= 1'b0;
    end
  end

  // The port to which the way of the chosen message leads: along the row, then along the column.
  logic [2:0] way;
  always_comb begin
    if (what_q.to.x != here_q.x) way = what_q.to.x > here_q.x ? 3'(East) : 3'(West);
    else if (what_q.to.y != here_q.y) way = what_q.to.y > here_q.y ? 3'(South) : 3'(North);
    else way = MasterWest == 1 && what_q.to_master ? 3'(West) : 3'(Local);
  end

  // What was offered in the last cycle and not taken.
  logic [Ports-1:0] offered_q = '0;
  message_t [Ports-1:0] offer_q = '0;
  always_ff @(posedge clk_i) begin
    offered_q <= init_q ? '0 : valid & ~ready_i;
    offer_q <= message;
  end

  always_comb begin
    if (!init_q) begin
      for (int unsigned i = 0; i < Ports; ++i) begin
        assert (used[i] <= 2'd2);
        assert (!offered_q[i] || (valid[i] && message[i] == offer_q[i]));
        assert (valid[i] || message[i] == '0);
      end
      a_as_many: assert ($countones(pops) == $countones(leaves));
      if (inside_q) begin
        a_port: assert (32'(port_q) < Ports);
        a_kept: assert (used[port_q] > 2'(second_q)
                        && (second_q ? second[port_q] : first[port_q]) == what_q);
        if (!second_q) begin
          a_offers: assert (valid[way]);
          a_leaves: assert (!pops[port_q] || (leaves[way] && message[way] == what_q
                                              && i_router.grant[way][port_q]));
          a_waits: assert (pops[port_q] || !(leaves[way] && i_router.grant[way][port_q]));
        end
      end
    end
  end

  always_comb begin
    c_second_leaves: cover (!init_q && inside_q && !second_q && pops[port_q] && way == 3'(Local)
                            && used[port_q] == 2'd2);
    c_all_leave: cover (!init_q && &leaves && inside_q);
  end
endmodule
