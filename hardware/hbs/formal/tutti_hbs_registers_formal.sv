// SPDX-License-Identifier: Apache-2.0
/// The registers of a socket: what each request and each peer's message becomes, what a refused
/// write leaves alone, each error, and each answer, under any requests, peers and resets.
///
/// tutti_hbs_core_formal shows what the structure does with messages, tutti_hbs_unit_formal in which
/// order it gets them.
module tutti_hbs_registers_formal
  import tutti_hbs_pkg::*;
#(
    parameter int unsigned Barriers = 3,
    parameter int unsigned Local = 3,
    parameter int unsigned Peers = 2,
    parameter int unsigned GenerationBits = 3,
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1
) (
    input logic clk_i,
    // Free inputs; the reset may come again at any time.
    input logic rst_ni,
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    input logic [Peers-1:0] in_valid_i,
    input logic [Peers-1:0][BarrierBits-1:0] in_barrier_i,
    input logic [Peers-1:0] out_ready_i,
    // A barrier; held constant.
    input logic [BarrierBits-1:0] symbol_i
);
  localparam int unsigned Bits = Local + Peers;
  localparam int unsigned MaskWords = (Bits + 63) / 64;
  localparam int unsigned Words = MaskWords + 1;

  logic init_q = 1'b1;
  logic [BarrierBits-1:0] symbol_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    symbol_q <= symbol_i;
  end

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
      .rst_ni,
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

  // The register map. Lines: 0x200000 TRIGGER, 0x400000 SENSE, 0x600000 INIT.
  logic [31:0] address, line_barrier, line_thread, place;
  logic taken, write, line, cluster, state, line_there, word_there, last, creates;
  assign address = 32'(req_addr_i);
  assign line = address >= 32'h20_0000;
  assign cluster = address >= 32'h1_0000 && address < 32'h2_0000;
  assign state = address >= 32'h2_0000 && address < 32'h3_0000;
  assign line_barrier = (address % 32'h20_0000) / 32'h4000;
  assign line_thread = (address % 32'h4000) / 32'd64;
  assign line_there = line && line_barrier < Barriers && line_thread < Local
      && address % 32'd64 == '0;
  assign place = (address % 32'h1_0000) / 32'd8;
  assign word_there = (cluster || state) && place < Barriers * Words && address % 32'd8 == '0;
  assign last = place % Words == MaskWords;
  assign taken = req_valid_i && req_ready;
  assign write = taken && req_write_i;

  // The participants written so far, and whether they make a barrier.
  logic [MaskWords*64-1:0] mask_q;
  logic good;
  always_comb begin
    good = mask_q[Local-1:0] != '0 && req_data_i == '0;
    for (int unsigned b = Bits; b < MaskWords * 64; ++b) if (mask_q[b]) good = 1'b0;
  end
  assign creates = write && cluster && word_there && last && good;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) mask_q <= '0;
    else
      for (int unsigned w = 0; w < MaskWords; ++w)
        if (write && cluster && word_there && place % Words == w)
          mask_q[w*64+:64] <= req_data_i;
  end

  // Messages to the structure.
  logic arrives, inits;
  logic [Peers-1:0] peer;
  assign arrives = write && line_there && address < 32'h40_0000;
  assign inits = write && line_there && address >= 32'h60_0000;
  assign peer = in_valid_i & in_ready;

  // The episodes of one barrier, and the errors.
  logic [GenerationBits-1:0] episodes_q;
  error_t own, error_q;
  always_comb begin
    own = '0;
    own.out_of_range = write && ((line && !line_there) || (cluster && !word_there));
    own.bad_create = write && cluster && word_there && last && !good;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      episodes_q <= '0;
      error_q <= '0;
    end else begin
      if (creates && place / Words == 32'(symbol_i)) episodes_q <= '0;
      else if (complete_valid && complete_barrier == symbol_i)
        episodes_q <= episodes_q + GenerationBits'(1);
      // An error of the cycle in which it is cleared stays.
      error_q <= (write && address == 32'hC0 ? error_q & ~req_data_i[4:0] : error_q) | own
          | i_unit.i_core.error_o;
    end
  end

  // Answers. STATE and CLUSTER show what the structure holds, in words.
  logic [DataBits-1:0] shown;
  logic [Bits-1:0] members_here, arrived_here;
  logic [MaskWords*64-1:0] members, arrived;
  assign members_here = ~i_unit.i_core.p_q[BarrierBits'(place / Words)];
  assign arrived_here = members_here & i_unit.i_core.s_q[BarrierBits'(place / Words)];
  assign members = (MaskWords * 64)'(members_here);
  assign arrived = (MaskWords * 64)'(arrived_here);
  always_comb begin
    shown = '0;
    if (line) begin
      if (line_there && address >= 32'h40_0000 && address < 32'h60_0000)
        shown = {32'(episodes_q), 32'd0};
    end else if (word_there) begin
      for (int unsigned w = 0; w < MaskWords; ++w)
        if (place % Words == w) shown = cluster ? members[w*64+:64] : arrived[w*64+:64];
    end else begin
      case (address)
        32'h00: shown = 64'h5455_5454_4948_4253;
        32'h40: shown = 64'h1_0000;
        32'h80: shown = {8'(GenerationBits), 16'(Local), 8'(Words), 16'(Barriers), 16'(Bits)};
        32'hC0: shown = 64'(error_q);
        default: shown = '0;
      endcase
    end
  end

  always_comb begin
    assume (!init_q || !rst_ni);
    assume (init_q || symbol_i == symbol_q);
    assume (32'(symbol_i) < Barriers);
    if (!init_q) begin
      // What reaches the structure is what was taken.
      a_message: assert ((i_unit.core_valid && i_unit.core_ready)
          == (creates || arrives || inits || peer != '0));
      a_create: assert (!creates || (i_unit.core_kind == Create && i_unit.mask_q == mask_q
          && 32'(i_unit.core_barrier) == place / Words));
      a_arrive: assert (!arrives || (i_unit.core_kind == CoreArrive
          && 32'(i_unit.core_barrier) == line_barrier && 32'(i_unit.core_source) == line_thread));
      a_init: assert (!inits || (i_unit.core_kind == Init
          && 32'(i_unit.core_barrier) == line_barrier && 32'(i_unit.core_source) == line_thread));
      // What is no message has no effect on the structure, and is taken at once.
      a_rest: assert (!(req_valid_i && !(req_write_i && ((line_there && (address < 32'h40_0000
          || address >= 32'h60_0000)) || (cluster && word_there && last && good)))) || req_ready);
      a_out: assert (i_unit.i_core.peer_valid_o == out_valid
          && i_unit.i_core.peer_ready_i == out_ready_i
          && i_unit.i_core.peer_barrier_o == out_barrier);
      a_complete: assert (i_unit.i_core.complete_valid_o == complete_valid
          && i_unit.i_core.complete_ready_i && i_unit.i_core.complete_mask_o == complete_mask);
      a_answers: assert (rsp_valid == (taken && !req_write_i));
      a_data: assert (!rsp_valid || (line && line_there && line_barrier != 32'(symbol_i))
          || rsp_data == shown);
      // Invariants: the unit's state is the specification's.
      a_error: assert (i_unit.error_q == error_q);
      a_mask: assert (i_unit.mask_q == mask_q);
      a_episodes: assert (i_unit.generation_q[symbol_i] == episodes_q);
    end
  end
  for (genvar k = 0; k < Peers; ++k) begin : gen_peer
    always_comb begin
      if (!init_q) begin
        a_peer: assert (!peer[k] || (i_unit.core_kind == SocketArrive
            && i_unit.core_barrier == in_barrier_i[k] && 32'(i_unit.core_source) == Local + k));
      end
    end
  end

  logic lived_q;
  always_ff @(posedge clk_i) begin
    if (init_q) lived_q <= 1'b0;
    else if (rst_ni && episodes_q != '0) lived_q <= 1'b1;
  end
  always_comb begin
    c_refused: cover (!init_q && own.bad_create && episodes_q != '0
        && place / Words == 32'(symbol_i));
    c_beside: cover (!init_q && own.out_of_range && line && line_barrier < Barriers
        && line_thread < Local);
    c_peer: cover (!init_q && peer[Peers-1]);
    c_again: cover (!init_q && creates && lived_q && episodes_q == '0 && error_q == '0);
    c_stays: cover (!init_q && write && address == 32'hC0 && i_unit.i_core.error_o != '0
        && (error_q & i_unit.i_core.error_o & req_data_i[4:0]) != '0);
  end
endmodule
