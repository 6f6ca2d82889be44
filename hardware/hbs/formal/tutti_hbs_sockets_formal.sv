// SPDX-License-Identifier: Apache-2.0
/// Several sockets composed: whole units with one barrier of any participants, over links that
/// deliver every announcement at any later time. The kernel creates the barrier by its registers;
/// threads arrive by their triggers. A thread's socket completes an episode only when all
/// participants of all sockets have arrived at it, no announcement is lost or comes twice, and while
/// all have arrived and somebody waits, an announcement is on its way.
///
/// Counters modulo 4 tell how often each socket has announced and completed; between two sockets
/// they differ by the announcements that are on their way or noted.
module tutti_hbs_sockets_formal
  import tutti_hbs_pkg::*;
#(
    parameter int unsigned Sockets = 2,
    parameter int unsigned Local = 2,
    parameter int unsigned Peers = Sockets - 1,
    parameter int unsigned ThreadBits = Local > 1 ? $clog2(Local) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs: participants, which are taken once; a thread of each socket that arrives; when
    // links take and give.
    input logic [Sockets-1:0][Local-1:0] threads_i,
    input logic [Sockets-1:0] call_i,
    input logic [Sockets-1:0][ThreadBits-1:0] caller_i,
    input logic [Sockets-1:0][Peers-1:0] take_i,
    input logic [Sockets-1:0][Peers-1:0] give_i,
    // Held constant: a socket, and a thread of another.
    input logic [1:0] told_i,
    input logic [1:0] asked_i,
    input logic [ThreadBits-1:0] thread_i
);
  // Reset, the cluster's participants, its timeout, which creates the barrier, then arrivals.
  typedef enum logic [1:0] {Reset, Mask, Make, Live} phase_e;
  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  phase_e phase_q = Reset;
  phase_e phase;
  assign phase = init_q ? Reset : phase_q;
  logic [3+ThreadBits:0] chosen_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    phase_q <= phase == Reset ? Mask : phase == Mask ? Make : Live;
    chosen_q <= {told_i, asked_i, thread_i};
  end

  logic [Sockets-1:0][Local-1:0] threads_q, arrived, waiting_q;
  logic [Sockets-1:0] part, complete, done, made;
  logic [Sockets-1:0][Local-1:0][1:0] count_q;
  logic [Sockets-1:0][1:0] announced_q, completed_q, announced, completed;
  // Announcements from a socket to its peer k, on their way and in the unit that has them noted.
  logic [Sockets-1:0][Peers-1:0][1:0] link_q;
  logic [Sockets-1:0][Peers-1:0] out_valid, in_valid, in_ready, noted, ahead;
  logic [Sockets-1:0] busy;

  for (genvar s = 0; s < Sockets; ++s) begin : gen_socket
    logic [Peers-1:0] others;
    logic req_valid, req_ready, rsp_valid, announces, calls;
    address_t address;
    logic [DataBits-1:0] data, answer;
    logic complete_barrier, out_barrier;
    logic [Local-1:0] mask;
    assign part[s] = threads_q[s] != '0;
    for (genvar k = 0; k < Peers; ++k) begin : gen_peer
      localparam int unsigned To = k < s ? k : k + 1;
      localparam int unsigned Back = s < To ? s : s - 1;
      assign others[k] = part[To];
      // The link from the peer to here.
      assign in_valid[s][k] = phase == Live && give_i[s][k] && link_q[To][Back] != '0;
    end
    assign calls = phase == Live && call_i[s];
    always_comb begin
      req_valid = calls;
      address = TriggerBase + (address_t'(caller_i[s]) << 6);
      data = 64'd1;
      if (phase == Mask && part[s]) begin
        req_valid = 1'b1;
        address = ClusterBase;
        data = 64'({others, threads_q[s]});
      end else if (phase == Make && part[s]) begin
        req_valid = 1'b1;
        address = ClusterBase + 23'd8;
        data = '0;
      end
    end
    tutti_hbs_unit #(
        .Barriers(1),
        .Local(Local),
        .Peers(Peers),
        .GenerationBits(2)
    ) i_unit (
        .clk_i,
        .rst_ni(phase != Reset),
        .req_valid_i(req_valid),
        .req_ready_o(req_ready),
        .req_write_i(1'b1),
        .req_addr_i(address),
        .req_data_i(data),
        .rsp_valid_o(rsp_valid),
        .rsp_data_o(answer),
        .complete_valid_o(complete[s]),
        .complete_barrier_o(complete_barrier),
        .complete_mask_o(mask),
        .in_valid_i(in_valid[s]),
        .in_ready_o(in_ready[s]),
        .in_barrier_i('0),
        .out_valid_o(out_valid[s]),
        .out_ready_i(phase == Live ? take_i[s] : '0),
        .out_barrier_o(out_barrier)
    );
    logic [Local+Peers-1:0] members, bits;
    assign members = ~i_unit.i_core.p_q[0];
    assign bits = i_unit.i_core.s_q[0] & members;
    assign arrived[s] = bits[Local-1:0];
    assign noted[s] = bits[Local+Peers-1:Local];
    assign ahead[s] = i_unit.i_core.ahead_q[0];
    assign done[s] = arrived[s] == threads_q[s] && part[s];
    assign made[s] = part[s] && phase == Live;
    assign announces = calls && req_ready && !done[s]
        && (arrived[s] | Local'(1) << caller_i[s]) == threads_q[s];
    assign busy[s] = out_valid[s] != '0 || complete[s] || link_q[s] != '0;
    assign announced[s] = announced_q[s];
    assign completed[s] = completed_q[s] + 2'(complete[s]);

    always_ff @(posedge clk_i) begin
      if (phase == Reset) begin
        threads_q[s] <= threads_i[s];
        {announced_q[s], completed_q[s], waiting_q[s], count_q[s]} <= '0;
      end else begin
        if (announces) announced_q[s] <= announced_q[s] + 2'd1;
        if (complete[s]) completed_q[s] <= completed_q[s] + 2'd1;
        waiting_q[s] <= (waiting_q[s] | (calls && req_ready ? Local'(1) << caller_i[s] : '0))
            & ~(complete[s] ? mask : '0);
        if (calls && req_ready) count_q[s][caller_i[s]] <= count_q[s][caller_i[s]] + 2'd1;
      end
    end
    for (genvar k = 0; k < Peers; ++k) begin : gen_link
      localparam int unsigned To = k < s ? k : k + 1;
      localparam int unsigned Back = s < To ? s : s - 1;
      always_ff @(posedge clk_i) begin
        if (phase == Reset) link_q[s][k] <= '0;
        else
          link_q[s][k] <= link_q[s][k] + 2'(out_valid[s][k] && take_i[s][k] && phase == Live)
              - 2'(in_valid[To][Back] && in_ready[To][Back]);
      end
      // Announcements that this peer has not used: waiting here, on the link, noted there.
      logic [2:0] unused;
      assign unused = 3'(out_valid[s][k]) + 3'(link_q[s][k]) + 3'(noted[To][Back])
          + 3'(ahead[To][Back]);
      always_comb begin
        if (!init_q) begin
          a_flow: assert (!(part[s] && part[To]) || 2'(announced[s] - completed[To]) == 2'(unused));
          a_two_at_most: assert (unused <= 3'd2 && (!ahead[To][Back] || noted[To][Back]));
          a_strangers: assert ((part[s] && part[To]) || unused == '0);
          a_near: assert (!(part[s] && part[To]) || 2'(completed[s] - completed[To]) != 2'd2);
        end
      end
    end

    always_comb begin
      // Participants call when they have been told of the last episode.
      assume (!calls || (32'(caller_i[s]) < Local && threads_q[s][caller_i[s]]
          && !waiting_q[s][caller_i[s]]));
    end
    for (genvar t = 0; t < Local; ++t) begin : gen_count
      always_comb begin
        if (!init_q) begin
          a_count: assert (!threads_q[s][t] || count_q[s][t] == 2'(completed[s]
              + 2'(arrived[s][t])));
        end
      end
    end
    always_comb begin
      if (!init_q && phase != Reset) begin
        a_members: assert (members == (made[s] ? {others, threads_q[s]} : '0));
        a_mask: assert (phase != Make || !part[s] || i_unit.mask_q == 64'({others, threads_q[s]}));
        a_core: assert ((i_unit.i_core.s_q[0] | members) == '1);
        a_fresh: assert (phase == Live || {announced_q[s], completed_q[s], link_q[s], waiting_q[s],
            count_q[s], complete[s], out_valid[s], ahead[s]} == '0);
        a_announced: assert (!made[s] || announced[s] == 2'(completed[s] + 2'(done[s])));
        a_open: assert (!made[s] || !(done[s] && noted[s] == others));
        a_told: assert (!complete[s] || (mask == threads_q[s] && arrived[s] == '0
            && made[s]));
        a_waiting: assert (waiting_q[s] == (arrived[s] | (complete[s] ? mask : '0)));
        a_no_error: assert (i_unit.error_q == '0);
        a_out: assert (!out_barrier || out_valid[s] == '0);
        a_barrier: assert (!complete[s] || !complete_barrier);
        a_alone: assert (part[s] || !(complete[s] || out_valid[s] != '0));
        a_sense: assert (i_unit.generation_q[0] == completed_q[s]);
      end
    end
  end

  always_comb assume (init_q || {told_i, asked_i, thread_i} == chosen_q);

  logic all_arrived;
  always_comb begin
    all_arrived = 1'b1;
    for (int unsigned s = 0; s < Sockets; ++s)
      if ((threads_q[s] & ~arrived[s]) != '0) all_arrived = 1'b0;
  end
  always_comb begin
    if (!init_q && phase == Live) begin
      // The specification. A thread may have arrived twice more than another socket has completed;
      // once less is the error.
      a_nobody_early: assert (32'(told_i) >= Sockets || 32'(asked_i) >= Sockets
          || 32'(thread_i) >= Local || !(part[told_i] && threads_q[asked_i][thread_i])
          || 2'(count_q[asked_i][thread_i] - completed[told_i]) != 2'd3);
      a_never_stuck: assert (!(all_arrived && part != '0) || busy != '0);
    end
  end

  logic [1:0] episodes_q;
  always_ff @(posedge clk_i) begin
    if (phase == Reset) episodes_q <= '0;
    else if (complete[0] && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
  end
  always_comb begin
    c_all: cover (phase == Live && episodes_q == 2'd2 && threads_q == '1);
    c_one_socket: cover (phase == Live && episodes_q == 2'd1 && part == Sockets'(1));
    c_apart: cover (phase == Live && completed[0] != completed[1] && part == '1);
  end
endmodule
