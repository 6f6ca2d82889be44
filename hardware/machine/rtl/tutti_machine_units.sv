// SPDX-License-Identifier: Apache-2.0
// The barrier units that tiles reach by addresses and, for the structures and the mask unit, by
// barwait: a Hardware Barrier Structure for each socket, linked with the others, and a counting and
// a mask unit in socket 0, which serve all cores.
//
// A unit takes one message a cycle; the cores take turns. Messages cross the socket in
// `unit_distance_i` cycles and the way to another socket in `link_latency_i`, in each direction.
module tutti_machine_units
  import tutti_machine_device_pkg::*;
#(
    parameter int unsigned Cores      = 16,
    parameter int unsigned Sockets    = 2,
    /// Barriers of the structures.
    parameter int unsigned Structures = 8,
    /// The largest unit_distance_i, a power of two less one.
    parameter int unsigned MaxDistance = 63
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic            [  7:0] unit_distance_i,
    /// 1 to 1023.
    input  logic            [  9:0] link_latency_i,
    /// The number of each core for programs, which is its number in the mask unit.
    input  logic            [  7:0] number_i       [Cores],
    input  device_request_t         request_i      [Cores],
    output device_reply_t           reply_o        [Cores],
    output complete_t               complete_o     [Cores],
    input  pin_t                    pin_i          [Cores],
    output logic                    pin_complete_o [Cores]
);
  if (Cores < 1 || Cores > 64) $fatal(1, "tutti_machine_units: Cores must be 1 to 64");
  if (Sockets < 1 || Sockets > 4 || Cores % (Sockets < 1 ? 1 : Sockets) != 0)
    $fatal(1, "tutti_machine_units: Sockets must be 1 to 4 and divide Cores");
  if (Structures < 1 || Structures > 64)
    $fatal(1, "tutti_machine_units: Structures must be 1 to 64");

  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1;
  localparam int unsigned Each = Cores / (Sockets < 1 ? 1 : Sockets);
  localparam int unsigned Peers = Sockets - 1;
  localparam int unsigned PeerPorts = Peers > 0 ? Peers : 1;
  localparam int unsigned BarrierBits = Structures > 1 ? $clog2(Structures) : 1;
  localparam int unsigned LinkDepth = Structures > 1 ? 2 << $clog2(Structures) : 2;
  // The structures, then the counting and the mask unit.
  localparam int unsigned Units = Sockets + 2;

  // Each core's message at its unit, until the unit takes it.
  device_request_t current[Cores];
  logic [Cores-1:0] wants, taken;
  logic [Units-1:0][Cores-1:0] asks, grant;
  logic [Units-1:0] ready;
  logic [Units-1:0][63:0] data;
  device_request_t chosen[Units];

  pin_t pin[Cores];
  logic mask_complete;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    localparam logic [1:0] Socket = 2'(c / Each);
    device_request_t near, arriving, held_q;
    logic pending_q, arriving_valid;
    logic [$bits(device_request_t)-1:0] arriving_bits;
    tutti_isa_link #(
        .Width($bits(device_request_t)),
        .MaxDelay(MaxDistance)
    ) u_request (
        .clk_i,
        .rst_ni,
        .delay_i(unit_distance_i),
        .data_i (request_i[c]),
        .data_o (near)
    );
    tutti_machine_far #(
        .Width($bits(device_request_t))
    ) u_request_far (
        .clk_i,
        .rst_ni,
        .latency_i(link_latency_i),
        .far_i    (near.socket != Socket),
        .valid_i  (near.valid),
        .data_i   (near),
        .valid_o  (arriving_valid),
        .data_o   (arriving_bits)
    );
    assign arriving = arriving_bits;
    assign wants[c] = arriving_valid || pending_q;
    assign current[c] = arriving_valid ? arriving : held_q;
    for (genvar u = 0; u < Sockets; u++) begin : gen_structure
      assign asks[u][c] = wants[c] && current[c].device == DeviceStructure &&
          32'(current[c].socket) == u;
    end
    assign asks[Sockets][c] = wants[c] && current[c].device == DeviceCounting;
    assign asks[Sockets+1][c] = wants[c] && current[c].device == DeviceMask;

    logic [63:0] answer;
    always_comb begin
      taken[c] = 1'b0;
      answer   = '0;
      for (int unsigned u = 0; u < Units; u++) begin
        if (grant[u][c] && ready[u]) begin
          taken[c] = 1'b1;
          answer   = data[u];
        end
      end
    end

    device_reply_t reply_q, reply, back;
    logic reply_far_q, reply_valid;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        pending_q   <= 1'b0;
        reply_q     <= '0;
        reply_far_q <= 1'b0;
      end else begin
        pending_q   <= wants[c] && !taken[c];
        reply_q     <= '{valid: taken[c],
                         data: current[c].addr[2] ? answer[63:32] : answer[31:0]};
        reply_far_q <= current[c].socket != Socket;
      end
      if (arriving_valid) held_q <= arriving;
    end
    logic [31:0] reply_data;
    tutti_machine_far #(
        .Width(32)
    ) u_reply_far (
        .clk_i,
        .rst_ni,
        .latency_i(link_latency_i),
        .far_i    (reply_far_q),
        .valid_i  (reply_q.valid),
        .data_i   (reply_q.data),
        .valid_o  (reply_valid),
        .data_o   (reply_data)
    );
    assign reply = '{valid: reply_valid, data: reply_data};
    tutti_isa_link #(
        .Width($bits(device_reply_t)),
        .MaxDelay(MaxDistance)
    ) u_reply (
        .clk_i,
        .rst_ni,
        .delay_i(unit_distance_i),
        .data_i (reply),
        .data_o (back)
    );
    assign reply_o[c] = back;

    // The mask unit's wires.
    pin_t near_pin;
    logic pin_valid, pin_parity, far_complete;
    tutti_isa_link #(
        .Width($bits(pin_t)),
        .MaxDelay(MaxDistance)
    ) u_pin (
        .clk_i,
        .rst_ni,
        .delay_i(unit_distance_i),
        .data_i (pin_i[c]),
        .data_o (near_pin)
    );
    tutti_machine_far #(
        .Width(1)
    ) u_pin_far (
        .clk_i,
        .rst_ni,
        .latency_i(link_latency_i),
        .far_i    (Socket != 2'd0),
        .valid_i  (near_pin.valid),
        .data_i   (near_pin.parity),
        .valid_o  (pin_valid),
        .data_o   (pin_parity)
    );
    assign pin[c] = '{valid: pin_valid, parity: pin_parity};
    logic unused;
    tutti_machine_far #(
        .Width(1)
    ) u_complete_far (
        .clk_i,
        .rst_ni,
        .latency_i(link_latency_i),
        .far_i    (Socket != 2'd0),
        .valid_i  (mask_complete),
        .data_i   (1'b0),
        .valid_o  (far_complete),
        .data_o   (unused)
    );
    tutti_isa_link #(
        .Width(1),
        .MaxDelay(MaxDistance)
    ) u_pin_complete (
        .clk_i,
        .rst_ni,
        .delay_i(unit_distance_i),
        .data_i (far_complete),
        .data_o (pin_complete_o[c])
    );
  end

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    tutti_hbs_arbiter #(
        .Inputs(Cores)
    ) u_arbiter (
        .clk_i,
        .rst_ni,
        .request_i(asks[u]),
        .serve_i  (ready[u]),
        .grant_o  (grant[u])
    );
    always_comb begin
      chosen[u] = '0;
      if (grant[u] != '0)
        for (int unsigned c = 0; c < Cores; c++) if (grant[u][c]) chosen[u] = current[c];
      chosen[u].valid = grant[u] != '0;
    end
  end

  // Peer k of socket s is socket k, or k + 1 if k is s or above.
  logic [Sockets-1:0][PeerPorts-1:0] out_valid, out_ready, in_valid, in_ready;
  logic [Sockets-1:0][BarrierBits-1:0] out_barrier;
  logic [Sockets-1:0][PeerPorts-1:0][BarrierBits-1:0] in_barrier;
  for (genvar s = 0; s < Sockets; s++) begin : gen_socket
    logic complete_valid, unused_valid;
    logic [BarrierBits-1:0] complete_barrier;
    logic [Each-1:0] complete_mask;
    tutti_hbs_unit #(
        .Barriers(Structures),
        .Local   (Each),
        .Peers   (Peers)
    ) u_structure (
        .clk_i,
        .rst_ni,
        .req_valid_i       (chosen[s].valid),
        .req_ready_o       (ready[s]),
        .req_write_i       (chosen[s].write),
        // A read names the register, and bit 2 its half.
        .req_addr_i        ({chosen[s].addr[22:3], 3'b0}),
        .req_data_i        (chosen[s].data),
        .rsp_valid_o       (unused_valid),
        .rsp_data_o        (data[s]),
        .complete_valid_o  (complete_valid),
        .complete_barrier_o(complete_barrier),
        .complete_mask_o   (complete_mask),
        .in_valid_i        (in_valid[s]),
        .in_ready_o        (in_ready[s]),
        .in_barrier_i      (in_barrier[s]),
        .out_valid_o       (out_valid[s]),
        .out_ready_i       (out_ready[s]),
        .out_barrier_o     (out_barrier[s])
    );
    for (genvar k = 0; k < Peers; k++) begin : gen_link
      localparam int unsigned To = k < s ? k : k + 1;
      // This socket's number as seen from the other one.
      localparam int unsigned Back = s < To ? s : s - 1;
      tutti_machine_structure_link #(
          .Width(BarrierBits),
          .Depth(LinkDepth)
      ) u_link (
          .clk_i,
          .rst_ni,
          .latency_i(link_latency_i),
          .valid_i  (out_valid[s][k]),
          .ready_o  (out_ready[s][k]),
          .data_i   (out_barrier[s]),
          .valid_o  (in_valid[To][Back]),
          .ready_i  (in_ready[To][Back]),
          .data_o   (in_barrier[To][Back])
      );
    end
    if (Peers == 0) begin : gen_alone
      assign out_ready[s]  = '1;
      assign in_valid[s]   = '0;
      assign in_barrier[s] = '0;
      logic unused_alone;
      assign unused_alone = ^{out_valid[s], in_ready[s], out_barrier[s]};
    end
    for (genvar k = 0; k < Each; k++) begin : gen_complete
      complete_t complete, there;
      assign complete = '{
              valid: complete_valid && complete_mask[k],
              barrier: 6'(complete_barrier)
          };
      tutti_isa_link #(
          .Width($bits(complete_t)),
          .MaxDelay(MaxDistance)
      ) u_complete (
          .clk_i,
          .rst_ni,
          .delay_i(unit_distance_i),
          .data_i (complete),
          .data_o (there)
      );
      assign complete_o[s*Each+k] = there;
    end
  end

  // Only arrivals and departures by registers are connected.
  assign ready[Sockets] = 1'b1;
  logic [2:0] unused_counting;
  logic [63:0] unused_read_addr, unused_write_addr, unused_write_data;
  logic [CoreBits-1:0] unused_tag;
  tutti_counting_unit #(
      .Threads(Cores),
      .HasMessages(1'b0),
      .HasMemoryPaths(1'b0)
  ) u_counting (
      .clk_i,
      .rst_ni,
      .req_valid_i(chosen[Sockets].valid),
      .req_write_i(chosen[Sockets].write),
      .req_addr_i ({chosen[Sockets].addr[15:3], 3'b0}),
      .req_data_i (chosen[Sockets].data),
      .rsp_valid_o(unused_counting[0]),
      .rsp_data_o (data[Sockets]),
      .msg_valid_i(1'b0),
      .msg_addr_i ('0),
      .rd_valid_o (unused_counting[1]),
      .rd_ready_i (1'b0),
      .rd_addr_o  (unused_read_addr),
      .rd_tag_o   (unused_tag),
      .mem_valid_i(1'b0),
      .mem_tag_i  ('0),
      .mem_data_i ('0),
      .mem_error_i(1'b0),
      .wr_valid_o (unused_counting[2]),
      .wr_ready_i (1'b0),
      .wr_addr_o  (unused_write_addr),
      .wr_data_o  (unused_write_data)
  );

  assign ready[Sockets+1] = 1'b1;
  logic [Cores-1:0] arrive, parity, sense;
  always_comb begin
    arrive = '0;
    parity = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      if (pin[c].valid && 32'(number_i[c]) < Cores) begin
        arrive[number_i[c][CoreBits-1:0]] = 1'b1;
        parity[number_i[c][CoreBits-1:0]] = pin[c].parity;
      end
    end
  end
  logic unused_mask, unused_sense, mask_clears, sense_q;
  assign unused_sense = ^sense;
  tutti_mask_unit #(
      .Threads     (Cores),
      .PinRegisters(0)
  ) u_mask (
      .clk_i,
      .rst_ni,
      .req_valid_i (chosen[Sockets+1].valid),
      .req_write_i (chosen[Sockets+1].write),
      .req_addr_i  ({chosen[Sockets+1].addr[15:3], 3'b0}),
      .req_data_i  (chosen[Sockets+1].data),
      .rsp_valid_o (unused_mask),
      .rsp_data_o  (data[Sockets+1]),
      .pin_arrive_i(arrive),
      .pin_parity_i(parity),
      .pin_sense_o (sense),
      .clear_o     (mask_clears)
  );
  // The sense changes with the end of each episode, and is the same for all. A hard reset ends none.
  always_ff @(posedge clk_i) sense_q <= rst_ni && !mask_clears && sense[0];
  assign mask_complete = sense[0] != sense_q;

endmodule
