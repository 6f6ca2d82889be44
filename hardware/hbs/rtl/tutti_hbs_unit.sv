// SPDX-License-Identifier: Apache-2.0
/// One socket's structure with its registers: clusters of 64-bit words hold a barrier's
/// participants and its timeout; each trigger and sense has a cache line of its own; links connect
/// the peers.
module tutti_hbs_unit
  import tutti_hbs_pkg::*;
#(
    /// m: number of barriers.
    parameter int unsigned Barriers = 8,
    /// Hardware threads of this socket.
    parameter int unsigned Local = 16,
    /// Other sockets, 0 to 7.
    parameter int unsigned Peers = 3,
    /// Width of the number of completed episodes that a sense shows.
    parameter int unsigned GenerationBits = 8,
    /// Derived; do not set.
    parameter int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1,
    /// Derived; do not set.
    parameter int unsigned PeerPorts = Peers > 0 ? Peers : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// A request; a read is answered in the cycle in which it is taken.
    input logic req_valid_i,
    output logic req_ready_o,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    output logic rsp_valid_o,
    output logic [DataBits-1:0] rsp_data_o,
    /// Complete message to the local threads in the mask.
    output logic complete_valid_o,
    output logic [BarrierBits-1:0] complete_barrier_o,
    output logic [Local-1:0] complete_mask_o,
    /// Socket arrivals from peers.
    input logic [PeerPorts-1:0] in_valid_i,
    output logic [PeerPorts-1:0] in_ready_o,
    input logic [PeerPorts-1:0][BarrierBits-1:0] in_barrier_i,
    /// Socket arrivals to peers.
    output logic [PeerPorts-1:0] out_valid_o,
    input logic [PeerPorts-1:0] out_ready_i,
    output logic [BarrierBits-1:0] out_barrier_o
);
  if (GenerationBits < 2 || GenerationBits > 32)
    $fatal(1, "tutti_hbs_unit: GenerationBits must be 2 to 32");

  localparam int unsigned Bits = Local + Peers;
  localparam int unsigned SourceBits = Bits > 1 ? $clog2(Bits) : 1;
  localparam int unsigned MaskWords = (Bits + 63) / 64;
  // Words of a cluster.
  localparam int unsigned Words = MaskWords + 1;
  localparam int unsigned Inputs = 1 + Peers;

  // Decoding of a request.
  logic [1:0] region;
  logic [6:0] line_barrier;
  logic [7:0] line_thread;
  // Word number in the clusters.
  logic [12:0] place;
  assign region = req_addr_i[22:21];
  assign line_barrier = req_addr_i[20:14];
  assign line_thread = req_addr_i[13:6];
  assign place = req_addr_i[15:3];

  logic in_cluster, in_state, in_lines;
  assign in_cluster = region == 2'd0 && req_addr_i[20:16] == ClusterBase[20:16];
  assign in_state = region == 2'd0 && req_addr_i[20:16] == StateBase[20:16];
  assign in_lines = region != 2'd0;

  logic [12:0] cluster_barrier, cluster_word;
  assign cluster_barrier = place / 13'(Words);
  assign cluster_word = place % 13'(Words);
  logic last_word, line_good, cluster_good;
  assign last_word = cluster_word == 13'(MaskWords);
  assign line_good = 32'(line_barrier) < Barriers && 32'(line_thread) < Local
      && req_addr_i[5:0] == '0;
  assign cluster_good = 32'(cluster_barrier) < Barriers && req_addr_i[2:0] == '0;

  // The words of a cluster are collected until its last one, the timeout, is written, which creates
  // the barrier. The kernel writes clusters one after the other.
  logic [MaskWords*64-1:0] mask_q;
  logic stray_bits, refused;
  if (MaskWords * 64 > Bits) begin : gen_stray
    assign stray_bits = mask_q[MaskWords*64-1:Bits] != '0;
  end else begin : gen_full
    assign stray_bits = 1'b0;
  end

  // What does not become a barrier, and leaves one that is there alone. No timer is here, so that a
  // timeout is refused too.
  assign refused = stray_bits || mask_q[Local-1:0] == '0 || req_data_i != '0;

  logic is_message, line_message, create_message;
  kind_e kind;
  assign line_message = in_lines && req_write_i && line_good && region != SenseBase[22:21];
  assign create_message = in_cluster && req_write_i && last_word && cluster_good && !refused;
  assign is_message = line_message || create_message;
  always_comb begin
    if (create_message) kind = Create;
    else if (region == InitBase[22:21]) kind = Init;
    else kind = CoreArrive;
  end

  // Inputs of the arbiter: requests that are messages, then the peers.
  logic [Inputs-1:0] request, grant;
  logic core_ready, core_valid, complete_valid;
  kind_e core_kind;
  logic [BarrierBits-1:0] core_barrier;
  logic [SourceBits-1:0] core_source;

  // A local message waits while a socket arrival is on its way out, so that it never delays the
  // peers.
  assign request[0] = req_valid_i && is_message && out_valid_o == '0;
  for (genvar k = 0; k < Peers; ++k) begin : gen_request
    assign request[k+1] = in_valid_i[k];
    assign in_ready_o[k] = grant[k+1] && core_ready;
  end
  if (Peers == 0) begin : gen_alone
    assign in_ready_o = '1;
    logic unused_in;
    assign unused_in = ^{in_valid_i, in_barrier_i};
  end

  tutti_hbs_arbiter #(
      .Inputs(Inputs)
  ) i_arbiter (
      .clk_i,
      .rst_ni,
      .request_i(request),
      .serve_i(1'b1),
      .grant_o(grant)
  );

  always_comb begin
    core_valid = grant != '0;
    core_kind = kind;
    core_barrier = create_message ? BarrierBits'(cluster_barrier) : BarrierBits'(line_barrier);
    core_source = create_message ? '0 : SourceBits'(line_thread);
    for (int unsigned k = 1; k < Inputs; ++k) begin
      if (grant[k]) begin
        core_kind = SocketArrive;
        core_barrier = in_barrier_i[k-1];
        core_source = SourceBits'(Local + k - 1);
      end
    end
  end

  error_t core_error, own_error, error_q;
  logic [Bits-1:0] shown_arrived, shown_members;

  tutti_hbs_core #(
      .Barriers(Barriers),
      .Local(Local),
      .Peers(Peers)
  ) i_core (
      .clk_i,
      .rst_ni,
      .msg_valid_i(core_valid),
      .msg_ready_o(core_ready),
      .msg_kind_i(core_kind),
      .msg_barrier_i(core_barrier),
      .msg_source_i(core_source),
      .msg_mask_i(mask_q[Bits-1:0]),
      .complete_valid_o(complete_valid),
      .complete_ready_i(1'b1),
      .complete_barrier_o,
      .complete_mask_o,
      .peer_valid_o(out_valid_o),
      .peer_ready_i(out_ready_i),
      .peer_barrier_o(out_barrier_o),
      .error_o(core_error),
      .read_barrier_i(BarrierBits'(cluster_barrier)),
      .read_arrived_o(shown_arrived),
      .read_members_o(shown_members)
  );
  assign complete_valid_o = complete_valid;

  logic taken, write;
  assign req_ready_o = !is_message || (grant[0] && core_ready);
  assign taken = req_valid_i && req_ready_o;
  assign write = taken && req_write_i;

  // Episodes of each barrier, for threads that poll instead of waiting for a message.
  logic [Barriers-1:0][GenerationBits-1:0] generation_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      generation_q <= '0;
      mask_q <= '0;
      error_q <= '0;
    end else begin
      if (complete_valid)
        generation_q[complete_barrier_o] <= generation_q[complete_barrier_o] + GenerationBits'(1);
      if (write && create_message) generation_q[cluster_barrier[BarrierBits-1:0]] <= '0;
      for (int unsigned w = 0; w < MaskWords; ++w)
      if (write && in_cluster && cluster_good && cluster_word == 13'(w))
        mask_q[w*64+:64] <= req_data_i;
      error_q <=
          (write && req_addr_i == RegError ? error_q & ~req_data_i[$bits(error_t)-1:0] : error_q) |
          core_error | own_error;
    end
  end

  always_comb begin
    own_error = '0;
    if (write) begin
      own_error.out_of_range = (in_lines && !line_good) || (in_cluster && !cluster_good);
      own_error.bad_create = in_cluster && cluster_good && last_word && refused;
    end
  end

  logic [MaskWords*64-1:0] wide_arrived, wide_members;
  assign wide_arrived = (MaskWords * 64)'(shown_arrived);
  assign wide_members = (MaskWords * 64)'(shown_members);
  always_comb begin
    rsp_data_o = '0;
    if (in_lines) begin
      if (region == SenseBase[22:21] && line_good)
        rsp_data_o = {32'(generation_q[line_barrier[BarrierBits-1:0]]), 32'b0};
    end else if (in_cluster || in_state) begin
      for (int unsigned w = 0; w < MaskWords; ++w)
      if (cluster_good && cluster_word == 13'(w))
        rsp_data_o = in_state ? wide_arrived[w*64+:64] : wide_members[w*64+:64];
    end else begin
      unique case (req_addr_i)
        RegId: rsp_data_o = Id;
        RegVersion: rsp_data_o = DataBits'(Version);
        RegCapability: rsp_data_o =
            {8'(GenerationBits), 16'(Local), 8'(Words), 16'(Barriers), 16'(Bits)};
        RegError: rsp_data_o = DataBits'(error_q);
        default: rsp_data_o = '0;
      endcase
    end
  end
  assign rsp_valid_o = taken && !req_write_i;
endmodule
