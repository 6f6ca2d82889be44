// SPDX-License-Identifier: Apache-2.0
/// Order of service at the front end: local messages are masked while a socket arrival is on its
/// way out; socket arrivals never are. Nothing is assumed about requests, links and peers; waiting
/// time is counted while a request stays up.
module tutti_hbs_unit_formal
  import tutti_hbs_pkg::*;
#(
    parameter int unsigned Barriers = 1,
    parameter int unsigned Local = 2,
    parameter int unsigned Peers = 2,
    parameter int unsigned GenerationBits = 2,
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1,
    parameter int unsigned PeerBits = Peers > 1 ? $clog2(Peers) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    input logic [Peers-1:0] in_valid_i,
    input logic [Peers-1:0][BarrierBits-1:0] in_barrier_i,
    input logic [Peers-1:0] out_ready_i,
    // A peer; held constant.
    input logic [PeerBits-1:0] symbol_i
);
  // A cluster is then one word of participants and the timeout.
  if (Local + Peers > 63) $fatal(1, "tutti_hbs_unit_formal: at most 63 participants");

  localparam int unsigned Bits = Local + Peers;
  localparam int unsigned Inputs = Peers + 1;
  localparam int unsigned CountBits = $clog2(Peers + 2);
  typedef logic [CountBits-1:0] count_t;

  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic [PeerBits-1:0] symbol_q;
  logic req_ready, rsp_valid, complete_valid;
  logic [DataBits-1:0] rsp_data;
  logic [BarrierBits-1:0] complete_barrier, out_barrier;
  logic [Local-1:0] complete_mask;
  logic [Peers-1:0] in_ready, out_valid;

  tutti_hbs_unit #(
      .Barriers(Barriers),
      .Local(Local),
      .Peers(Peers),
      .GenerationBits(GenerationBits)
  ) i_unit (
      .clk_i,
      .rst_ni(!init_q),
      .req_valid_i,
      .req_ready_o(req_ready),
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .complete_valid_o(complete_valid),
      .complete_barrier_o(complete_barrier),
      .complete_mask_o(complete_mask),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_barrier_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_barrier_o(out_barrier)
  );

  // A message, by the register map, is a trigger or an INIT of an existing thread, or the last word
  // of a cluster, 0, whose participants exist, one of them here. Every other request concerns
  // registers only.
  logic line, cluster, message, bad_q;
  assign line = (req_addr_i[22:21] == TriggerBase[22:21] || req_addr_i[22:21] == InitBase[22:21])
      && 32'(req_addr_i[20:14]) < Barriers && 32'(req_addr_i[13:6]) < Local
      && req_addr_i[5:0] == '0;
  assign cluster = req_addr_i[22:16] == ClusterBase[22:16] && req_addr_i[2:0] == '0
      && 32'(req_addr_i[15:4]) < Barriers;
  assign message = req_valid_i && req_write_i
      && (line || (cluster && req_addr_i[3] && !bad_q && req_data_i == '0));

  logic links_free, local_waits, socket_waits;
  // Messages.
  logic [Inputs-1:0] taken;
  assign links_free = out_valid == '0;
  assign taken = {in_valid_i & in_ready, message && req_ready};
  assign local_waits = req_valid_i && !req_ready && links_free;
  assign socket_waits = in_valid_i[symbol_i] && !in_ready[symbol_i];

  // Cycles of waiting before this one.
  count_t local_q, socket_q;
  // The links were free, and no local message was taken.
  logic quiet_q;
  // The local message has waited for the links too.
  logic masked_q;
  // Messages that left in the last cycle.
  logic [Peers-1:0] left_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    symbol_q <= symbol_i;
    if (init_q) bad_q <= 1'b1;
    else if (req_valid_i && req_write_i && cluster && !req_addr_i[3]) bad_q <=
        req_data_i[DataBits-1:Bits] != '0 || req_data_i[Local-1:0] == '0;
    local_q <= !init_q && local_waits ? local_q + count_t'(1) : '0;
    socket_q <= !init_q && socket_waits ? socket_q + count_t'(1) : '0;
    quiet_q <= !init_q && links_free && !taken[0];
    masked_q <= !init_q && message && !taken[0] && (masked_q || !links_free);
    left_q <= init_q ? '0 : out_valid & out_ready_i;
  end

  // Inputs that the order of service puts before local messages, and before the symbol.
  logic [Inputs-1:0] later;
  count_t before_local, before_socket;
  assign later = i_unit.i_arbiter.later_q;
  always_comb begin
    before_local = '0;
    before_socket = '0;
    for (int unsigned i = 0; i < Inputs; ++i) begin
      if (!later[0] && later[i]) before_local += count_t'(1);
      // Input 1 + k is peer k.
      if (later[32'(symbol_i)+1] ? later[i] && i <= 32'(symbol_i) : later[i] || i <= 32'(symbol_i))
        before_socket += count_t'(1);
    end
  end

  always_comb begin
    assume (init_q || symbol_i == symbol_q);
    assume (32'(symbol_i) < Peers);
    if (!init_q) begin
      // One message a cycle, only from inputs that ask, and no cycle is lost while an input may be
      // served.
      a_one: assert ((taken & (taken - Inputs'(1))) == '0);
      a_asked: assert ((in_ready & ~in_valid_i) == '0);
      a_busy: assert (taken != '0 || (in_valid_i == '0 && !(message && links_free)));
      a_masked: assert (links_free || !taken[0]);
      a_registers: assert (message || !req_valid_i || req_ready);
      // A local message that asks while the links are free waits for at most one message from each
      // peer. A socket arrival waits for at most one message from each other peer and a local one,
      // whatever the links do.
      a_local: assert (!local_waits || 32'(local_q) < Peers);
      a_socket: assert (!socket_waits || 32'(socket_q) < Peers);
      // Free links stay free until a local message is taken, and a message that a link takes leaves
      // the unit.
      a_quiet: assert (!quiet_q || links_free);
      a_left: assert ((out_valid & left_q) == '0);
      // Invariants: every cycle of waiting removes one of the messages that go before.
      a_local_order: assert (!(req_valid_i && links_free)
          || 32'(local_q) + 32'(before_local) <= Peers);
      a_socket_order: assert (!in_valid_i[symbol_i] || 32'(socket_q) + 32'(before_socket) <= Peers);
      a_bad: assert (bad_q == (i_unit.stray_bits || i_unit.mask_q[Local-1:0] == '0));
    end
  end
  for (genvar i = 1; i < Inputs; ++i) begin : gen_run
    always_comb begin
      if (!init_q) a_run: assert (!later[i-1] || later[i]);
    end
  end

  always_comb begin
    c_local_last: cover (!init_q && taken[0] && 32'(local_q) == Peers);
    c_socket_last: cover (!init_q && taken[32'(symbol_i)+1] && 32'(socket_q) == Peers);
    // The links are busy, so a local message waits, and sockets do not.
    c_masked: cover (!init_q && message && !links_free && taken[Inputs-1:1] != '0);
    // It has waited for the links, and then for all peers.
    c_both: cover (!init_q && taken[0] && masked_q && 32'(local_q) == Peers);
    c_complete: cover (!init_q && complete_valid && complete_mask == '1);
  end
endmodule
