// SPDX-License-Identifier: Apache-2.0
/// A tile's part of the structure: a core of the Hardware Barrier Structure whose local participants
/// are the tile's threads and the tiles behind its four sides, and whose one peer is the parent, the
/// next tile towards the centre.
///
/// When all participants of the tile have arrived, one message goes to the parent; when the parent's
/// message comes, one goes to each side that takes part. Messages that wait for the network are kept
/// in a queue that cannot overflow: a barrier has one on its way up and one on its way down at most.
module tutti_socket_tile
  import tutti_hbs_pkg::*;
  import tutti_socket_pkg::*;
#(
    /// Number of barriers, 1 to 128.
    parameter int unsigned Barriers = 8,
    /// Hardware threads of the tile, 1 to 14.
    parameter int unsigned Threads = 8,
    /// Derived; do not set.
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// The side of the parent, or NoParent; constant.
    input logic [2:0] parent_i,
    /// The kernel creates this tile's part of a barrier.
    input logic create_valid_i,
    output logic create_ready_o,
    input logic [BarrierBits-1:0] create_barrier_i,
    input logic [Threads-1:0] create_threads_i,
    /// The sides behind which participants are.
    input logic [3:0] create_sides_i,
    /// A thread arrives; it asks until it is taken.
    input logic [Threads-1:0] arrive_valid_i,
    output logic [Threads-1:0] arrive_ready_o,
    input logic [Threads-1:0][BarrierBits-1:0] arrive_barrier_i,
    /// Complete message to the threads in the mask.
    output logic complete_valid_o,
    output logic [BarrierBits-1:0] complete_barrier_o,
    output logic [Threads-1:0] complete_threads_o,
    /// From the network, with the side from which it came.
    input logic in_valid_i,
    output logic in_ready_o,
    input message_t in_message_i,
    input logic [1:0] in_side_i,
    /// To the network, with the side to which it goes.
    output logic out_valid_o,
    input logic out_ready_i,
    output message_t out_message_o,
    output logic [1:0] out_side_o,
    output error_t error_o
);
  /*verilator no_inline_module*/
  if (Threads < 1 || Threads > 14) $fatal(1, "tutti_socket_tile: Threads must be 1 to 14");

  localparam int unsigned Local4 = Threads + 4;
  localparam int unsigned Bits = Local4 + 1;
  localparam int unsigned SourceBits = $clog2(Bits);
  localparam int unsigned Inputs = Threads + 1;

  // Arrivals: the network, then the threads; a create message goes before all.
  logic [Inputs-1:0] request, grant;
  logic core_valid, core_ready;
  tutti_hbs_pkg::kind_e core_kind;
  logic [BarrierBits-1:0] core_barrier;
  logic [SourceBits-1:0] core_source;
  assign request = create_valid_i ? '0 : {arrive_valid_i, in_valid_i};
  tutti_hbs_arbiter #(
      .Inputs(Inputs)
  ) i_arbiter (
      .clk_i,
      .rst_ni,
      .request_i(request),
      .serve_i(core_ready),
      .grant_o(grant)
  );
  assign create_ready_o = core_ready;
  assign in_ready_o = grant[0] && core_ready;
  assign arrive_ready_o = core_ready ? grant[Inputs-1:1] : '0;

  always_comb begin
    core_valid = create_valid_i || grant != '0;
    core_kind = create_valid_i ? tutti_hbs_pkg::Create : tutti_hbs_pkg::CoreArrive;
    core_barrier = create_barrier_i;
    core_source = '0;
    for (int unsigned t = 0; t < Threads; ++t) begin
      if (grant[t+1]) begin
        core_barrier = arrive_barrier_i[t];
        core_source = SourceBits'(t);
      end
    end
    if (grant[0]) begin
      core_barrier = in_message_i.load[BarrierBits-1:0];
      if (in_message_i.kind == Down) begin
        core_kind = tutti_hbs_pkg::SocketArrive;
        core_source = SourceBits'(Local4);
      end else core_source = SourceBits'(Threads) + SourceBits'(in_side_i);
    end
  end

  logic peer_valid;
  logic [BarrierBits-1:0] peer_barrier;
  logic [Local4-1:0] complete_mask;
  logic [Bits-1:0] arrived, members;
  tutti_hbs_core #(
      .Barriers(Barriers),
      .Local(Local4),
      .Peers(1)
  ) i_core (
      .clk_i,
      .rst_ni,
      .msg_valid_i(core_valid),
      .msg_ready_o(core_ready),
      .msg_kind_i(core_kind),
      .msg_barrier_i(core_barrier),
      .msg_source_i(core_source),
      .msg_mask_i({parent_i != NoParent, create_sides_i, create_threads_i}),
      .complete_valid_o,
      .complete_ready_i(1'b1),
      .complete_barrier_o,
      .complete_mask_o(complete_mask),
      .peer_valid_o(peer_valid),
      .peer_ready_i(1'b1),
      .peer_barrier_o(peer_barrier),
      .error_o,
      .read_barrier_i('0),
      .read_arrived_o(arrived),
      .read_members_o(members)
  );
  assign complete_threads_o = complete_mask[Threads-1:0];

  // What leaves: the sides to which a message of a barrier still goes. What the core sends now is
  // offered at once if nothing waits.
  typedef struct packed {
    logic down;
    logic [BarrierBits-1:0] barrier;
    logic [3:0] sides;
  } job_t;
  localparam int unsigned PlaceBits = BarrierBits + 1;
  localparam int unsigned Depth = 1 << PlaceBits;
  job_t jobs[Depth];
  job_t fresh, head;
  logic [PlaceBits:0] used_q;
  logic [PlaceBits-1:0] first_q;
  logic [3:0] sent_q, open, side, rest;
  logic fresh_valid, push, pop, sends;
  assign fresh_valid = peer_valid || (complete_valid_o && complete_mask[Local4-1:Threads] != '0);
  always_comb begin
    fresh = '{down: 1'b1, barrier: complete_barrier_o, sides: complete_mask[Local4-1:Threads]};
    if (peer_valid) fresh = '{down: 1'b0, barrier: peer_barrier, sides: 4'(4'd1 << parent_i)};
  end
  assign head = used_q == '0 ? fresh : jobs[first_q];
  assign open = head.sides & ~sent_q;
  assign rest = open & ~side;
  assign out_valid_o = used_q != '0 || fresh_valid;
  assign sends = out_valid_o && out_ready_i;
  assign pop = sends && rest == '0;
  assign push = fresh_valid;
  always_comb begin
    out_message_o = '{kind: head.down ? Down : Up, to: '0, load: 9'(head.barrier)};
    // The lowest side that is open.
    side = '0;
    out_side_o = '0;
    for (int unsigned s = 4; s > 0; --s) begin
      if (open[s-1]) begin
        side = '0;
        side[s-1] = 1'b1;
        out_side_o = 2'(s - 1);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q <= '0;
      first_q <= '0;
      sent_q <= '0;
    end else begin
      used_q <= used_q + (PlaceBits + 1)'(push) - (PlaceBits + 1)'(pop);
      if (pop) first_q <= first_q + PlaceBits'(1);
      if (sends) sent_q <= pop ? '0 : sent_q | side;
    end
    if (push) jobs[first_q+used_q[PlaceBits-1:0]] <= fresh;
  end

  logic unused;
  assign unused = ^{arrived, members, in_message_i};
endmodule
