// SPDX-License-Identifier: Apache-2.0
/// m subset barriers over n bits: local threads first, then peer sockets. It takes one message a
/// cycle.
///
/// Participation P and state S are stored as in Hetland et al. 2019: 0 marks a participant that has
/// not arrived. A barrier completes when all bits of its S are 1; S then becomes P again. In
/// addition there is one bit for each peer and barrier, `ahead`. With three sockets or more, a peer
/// that has completed an episode may announce the next one before the slowest announcement of this
/// one arrives; without the bit that announcement would be lost.
module tutti_hbs_core
  import tutti_hbs_pkg::*;
#(
    /// m: number of barriers.
    parameter int unsigned Barriers = 8,
    /// Hardware threads of this socket.
    parameter int unsigned Local = 16,
    /// Other sockets, 0 to 7.
    parameter int unsigned Peers = 3,
    /// Derived; do not set. n: number of bits.
    parameter int unsigned Bits = Local + Peers,
    /// Derived; do not set.
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1,
    /// Derived; do not set.
    parameter int unsigned SourceBits = Bits > 1 ? $clog2(Bits) : 1,
    /// Derived; do not set.
    parameter int unsigned PeerPorts = Peers > 0 ? Peers : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// A message. Socket arrivals never wait for the output to peers, so that sockets cannot block
    /// each other.
    input logic msg_valid_i,
    output logic msg_ready_o,
    input kind_e msg_kind_i,
    input logic [BarrierBits-1:0] msg_barrier_i,
    /// The sender's bit: a thread, or Local + peer.
    input logic [SourceBits-1:0] msg_source_i,
    /// For Create: participants are 1.
    input logic [Bits-1:0] msg_mask_i,
    /// Complete message to the local threads in the mask.
    output logic complete_valid_o,
    input logic complete_ready_i,
    output logic [BarrierBits-1:0] complete_barrier_o,
    output logic [Local-1:0] complete_mask_o,
    /// Socket arrival to each participating peer.
    output logic [PeerPorts-1:0] peer_valid_o,
    input logic [PeerPorts-1:0] peer_ready_i,
    output logic [BarrierBits-1:0] peer_barrier_o,
    output error_t error_o,
    /// A barrier's S and its participants (1).
    input logic [BarrierBits-1:0] read_barrier_i,
    output logic [Bits-1:0] read_arrived_o,
    output logic [Bits-1:0] read_members_o
);
  if (Barriers < 1 || Barriers > 128) $fatal(1, "tutti_hbs_core: Barriers must be 1 to 128");
  if (Local < 1 || Local > 256) $fatal(1, "tutti_hbs_core: Local must be 1 to 256");
  if (Peers > 7) $fatal(1, "tutti_hbs_core: Peers must be 0 to 7");

  logic [Barriers-1:0][Bits-1:0] p_q, s_q;
  logic [Barriers-1:0][PeerPorts-1:0] ahead_q;

  logic [Bits-1:0] p, s, source, s_arrived;
  logic [PeerPorts-1:0] ahead, ahead_d, peer_members, peer_source;
  logic take, in_range, member, arrive, local_done, was_local_done, complete, good_mask;

  assign in_range = 32'(msg_barrier_i) < Barriers && 32'(msg_source_i) < Bits;
  assign p = p_q[msg_barrier_i];
  assign s = s_q[msg_barrier_i];
  assign ahead = ahead_q[msg_barrier_i];
  assign source = Bits'(1) << msg_source_i;
  assign member = (source & ~p) != '0;
  if (Peers > 0) begin : gen_peers
    assign peer_members = ~p[Bits-1:Local];
    assign peer_source = source[Bits-1:Local];
  end else begin : gen_alone
    assign peer_members = '0;
    assign peer_source = '0;
  end

  // The kind must fit the sender: threads send as cores, the bits above as sockets.
  logic from_core, right_kind;
  assign from_core = 32'(msg_source_i) < Local;
  assign right_kind = msg_kind_i == SocketArrive ? !from_core : from_core;
  assign arrive = (msg_kind_i == CoreArrive || msg_kind_i == SocketArrive) && member && right_kind;
  assign s_arrived = arrive ? s | source : s;
  assign was_local_done = &s[Local-1:0];
  assign local_done = &s_arrived[Local-1:0];
  assign complete = take && arrive && &s_arrived;
  assign good_mask = msg_mask_i[Local-1:0] != '0;

  // Outputs.
  logic complete_free, peers_free;
  assign complete_free = !complete_valid_o || complete_ready_i;
  // Messages that leave now still count, so that there is no path from ready to ready.
  assign peers_free = peer_valid_o == '0;
  assign msg_ready_o = complete_free && (msg_kind_i == SocketArrive || peers_free);
  assign take = msg_valid_i && msg_ready_o && in_range;

  always_comb begin
    ahead_d = ahead;
    if (msg_kind_i == SocketArrive && arrive) ahead_d =
        ahead | (peer_source & {PeerPorts{(s & source) != '0}});
  end

  logic [Bits-1:0] rearmed;
  if (Peers > 0) begin : gen_rearm
    assign rearmed = {p[Bits-1:Local] | ahead_d, p[Local-1:0]};
  end else begin : gen_rearm_alone
    assign rearmed = p;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      p_q <= '1;
      s_q <= '1;
      ahead_q <= '0;
    end else if (take) begin
      unique case (msg_kind_i)
        Create:
        if (good_mask) begin
          p_q[msg_barrier_i] <= ~msg_mask_i;
          s_q[msg_barrier_i] <= ~msg_mask_i;
          ahead_q[msg_barrier_i] <= '0;
        end
        // An announcement cannot be withdrawn.
        Init: if (member && right_kind && !was_local_done) s_q[msg_barrier_i] <= s & ~source;
        default: begin
          s_q[msg_barrier_i] <= complete ? rearmed : s_arrived;
          ahead_q[msg_barrier_i] <= complete ? '0 : ahead_d;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      complete_valid_o <= 1'b0;
      complete_barrier_o <= '0;
      complete_mask_o <= '0;
      peer_valid_o <= '0;
      peer_barrier_o <= '0;
    end else begin
      if (complete_free) complete_valid_o <= complete;
      if (complete) begin
        complete_barrier_o <= msg_barrier_i;
        complete_mask_o <= ~p[Local-1:0];
      end
      peer_valid_o <= peer_valid_o & ~peer_ready_i;
      if (take && msg_kind_i == CoreArrive && arrive && local_done && !was_local_done) begin
        peer_valid_o <= peer_members;
        peer_barrier_o <= msg_barrier_i;
      end
    end
  end

  always_comb begin
    error_o = '0;
    if (msg_valid_i && msg_ready_o) begin
      error_o.out_of_range = !in_range;
      if (in_range) begin
        error_o.bad_create = msg_kind_i == Create && !good_mask;
        error_o.foreign = msg_kind_i != Create && !(member && right_kind);
        error_o.late_init = msg_kind_i == Init && member && right_kind && was_local_done;
        error_o.arrived_again = (msg_kind_i == CoreArrive && arrive && (s & source) != '0) ||
            (msg_kind_i == SocketArrive && arrive && (ahead & peer_source) != '0);
      end
    end
  end

  assign read_arrived_o = s_q[read_barrier_i] & ~p_q[read_barrier_i];
  assign read_members_o = ~p_q[read_barrier_i];
endmodule
