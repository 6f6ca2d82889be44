// SPDX-License-Identifier: Apache-2.0
// The machine: tiles in sockets, the image, interrupts between cores, a barrier unit for each
// socket, and the RAM.
//
// One build serves every smaller number of cores in its sockets: of each socket, the first
// `each_i` cores run, and the others stay in reset. Programs see cores without gaps, socket by
// socket.
module tutti_machine_system
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    /// 1 to 64, in all.
    parameter int unsigned Cores = tutti_machine_config_pkg::Cores,
    /// 1 to 4.
    parameter int unsigned Sockets = tutti_machine_config_pkg::Sockets,
    /// Hardware threads of each core, 1, 2, 4 or 8; at most 64 in all. Programs take them for cores,
    /// and so do all units and the harness: thread t of core c is number c * Threads + t.
    parameter int unsigned Threads = tutti_machine_config_pkg::Threads,
    /// 1: the RAM is tutti_machine_ideal_memory, without caches, distance or contention.
    parameter int unsigned Ideal = 0,
    /// Barriers of a unit. Sockets of more than 32 cores have no unit.
    parameter int unsigned Barriers = tutti_machine_config_pkg::Barriers,
    parameter int unsigned Structures = tutti_machine_config_pkg::Structures,
    /// 1: mailboxes, their network and the detector of termination.
    parameter int unsigned Messages = tutti_machine_config_pkg::Messages,
    /// The others are described in tutti_machine_config_pkg.
    parameter int unsigned ImageBytes = tutti_machine_config_pkg::ImageBytes,
    parameter int unsigned RamBytes = tutti_machine_config_pkg::RamBytes,
    parameter int unsigned CacheBytes = tutti_machine_config_pkg::CacheBytes,
    parameter int unsigned Ways = tutti_machine_config_pkg::Ways,
    parameter int unsigned HoldCycles = tutti_machine_config_pkg::HoldCycles,
    parameter int unsigned Banks = tutti_machine_config_pkg::Banks,
    parameter int unsigned HomeHash = tutti_machine_config_pkg::HomeHash,
    parameter int unsigned Transactions = tutti_machine_config_pkg::Transactions,
    parameter int unsigned DirectoryLatency = tutti_machine_config_pkg::DirectoryLatency,
    parameter int unsigned NearBytes = tutti_machine_config_pkg::NearBytes,
    parameter int unsigned NearLatency = tutti_machine_config_pkg::NearLatency,
    parameter int unsigned MemoryLatency = tutti_machine_config_pkg::MemoryLatency,
    parameter int unsigned HopLatency = tutti_machine_config_pkg::HopLatency,
    parameter int unsigned LineCycles = tutti_machine_config_pkg::LineCycles,
    parameter int unsigned LinkLatency = tutti_machine_config_pkg::LinkLatency,
    parameter int unsigned LinkLineCycles = tutti_machine_config_pkg::LinkLineCycles,
    parameter int unsigned InterruptNear = tutti_machine_config_pkg::InterruptNear,
    parameter int unsigned InterruptFar = tutti_machine_config_pkg::InterruptFar
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    /// Cores of each socket that run.
    input  logic [      7:0] each_i,
    /// Cycles between a core and the barrier unit of its socket, in each direction.
    input  logic [      7:0] unit_distance_i,
    /// Cycles between two sockets for the units of tutti_machine_units, in each direction.
    input  logic [      9:0] unit_link_i,
    input  logic [     63:0] external_irq_i,
    /// What programs tell the harness: 0 trace, 1 console, 2 end.
    output logic [     63:0] report_valid_o,
    output logic [      1:0] report_kind_o  [Cores * Threads],
    output logic [     31:0] report_data_o  [Cores * Threads],
    output logic [     63:0] retired_o,
    output logic [      1:0] activity_o     [Cores * Threads],
    output logic [     31:0] pc_o           [Cores * Threads],
    /// The structures' barrier at which the core waits, or 0.
    output logic [      7:0] waits_o        [Cores * Threads],
    /// See tutti_machine_messages; and of each mailbox {vote, idle, takes, has to send}.
    output logic [      4:0] wave_o,
    output logic [Sockets*3:0] detector_error_o,
    output logic [      3:0] mailbox_o      [Cores * Threads],
    /// The last access to the RAM.
    output logic [      3:0] access_op_o    [Cores],
    output logic [     31:0] access_addr_o  [Cores],
    /// For a report of who waits for what. What a cache's miss lacks: {missing, has_data, acks}; and
    /// the transactions of the homes: {step, kind, requester, line}.
    output logic [      8:0] miss_o         [Cores],
    output logic [     25:0] miss_line_o    [Cores],
    output logic [     38:0] transaction_o  [Banks * Transactions]
);
  if (Cores < 1 || Cores > 64) $fatal(1, "tutti_machine_system: Cores must be 1 to 64");
  if (Sockets < 1 || Sockets > 4 || Cores % (Sockets < 1 ? 1 : Sockets) != 0)
    $fatal(1, "tutti_machine_system: Sockets must be 1 to 4 and divide Cores");
  if (Threads != 1 && Threads != 2 && Threads != 4 && Threads != 8)
    $fatal(1, "tutti_machine_system: Threads must be 1, 2, 4 or 8");
  if (Cores * Threads > 64)
    $fatal(1, "tutti_machine_system: Cores * Threads must be at most 64");

  localparam int unsigned Harts = Cores * Threads;
  // Threads of a socket, which are what its units count.
  localparam int unsigned Each = Harts / (Sockets < 1 ? 1 : Sockets);
  localparam int unsigned ImageBits = $clog2(ImageBytes);

  for (genvar c = Harts; c < 64; c++) begin : gen_absent
    assign report_valid_o[c] = 1'b0;
    assign retired_o[c] = 1'b0;
  end

  // The harness writes it.
  logic [31:0] image[ImageBytes/4];

  logic [63:0] mtime_q;
  always_ff @(posedge clk_i) mtime_q <= rst_ni ? mtime_q + 64'd1 : '0;

  // The inputs, from registers: nothing in the machine changes between two edges of the clock.
  logic [7:0] each_q, unit_distance_q;
  logic [9:0] unit_link_q;
  logic [63:0] external_irq_q;
  always_ff @(posedge clk_i) begin
    each_q          <= each_i;
    unit_distance_q <= unit_distance_i;
    unit_link_q     <= unit_link_i;
    external_irq_q  <= external_irq_i;
  end

  logic [7:0] number_q[Harts], ipi_target[Harts];
  logic ipi_valid[Harts];
  logic [Harts-1:0] ipi;
  tutti_machine_interrupts #(
      .Cores  (Harts),
      .Sockets(Sockets),
      .Near   (InterruptNear),
      .Far    (InterruptFar)
  ) u_interrupts (
      .clk_i,
      .rst_ni,
      .number_i(number_q),
      .valid_i (ipi_valid),
      .target_i(ipi_target),
      .ipi_o   (ipi)
  );

  // Remote calls take the same way, and have wires of their own.
  logic call_valid[Harts];
  logic [Harts-1:0] remote_call;
  tutti_machine_interrupts #(
      .Cores  (Harts),
      .Sockets(Sockets),
      .Near   (InterruptNear),
      .Far    (InterruptFar)
  ) u_calls (
      .clk_i,
      .rst_ni,
      .number_i(number_q),
      .valid_i (call_valid),
      .target_i(ipi_target),
      .ipi_o   (remote_call)
  );

  device_request_t device_request[Harts];
  device_reply_t device_reply[Harts];
  complete_t complete[Harts];
  pin_t pin[Harts];
  logic pin_complete[Harts];
  tutti_machine_units #(
      .Cores     (Harts),
      .Sockets   (Sockets),
      .Structures(Structures)
  ) u_units (
      .clk_i,
      .rst_ni,
      .unit_distance_i(unit_distance_q),
      .link_latency_i (unit_link_q),
      .number_i       (number_q),
      .request_i      (device_request),
      .reply_o        (device_reply),
      .complete_o     (complete),
      .pin_i          (pin),
      .pin_complete_o (pin_complete)
  );

  // Messages between threads.
  logic [Harts-1:0] runs, sends, receives, idle, vote, left, release_all, unanimous, enable;
  logic [Harts-1:0] takes, has_to_send;
  logic [Cores-1:0] out_valid, out_ready, in_valid, in_ready;
  tutti_machine_message_pkg::message_t out[Cores], in[Cores];
  tutti_machine_message_pkg::member_t member[Harts];
  tutti_machine_message_pkg::group_reply_t group_reply[Harts];
  if (Messages != 0) begin : gen_messages
    tutti_machine_messages #(
        .Cores  (Cores),
        .Sockets(Sockets),
        .Threads(Threads)
    ) u_messages (
        .clk_i,
        .rst_ni,
        .each_i     (each_q),
        .runs_i     (runs),
        .out_valid_i(out_valid),
        .out_ready_o(out_ready),
        .out_i      (out),
        .in_valid_o (in_valid),
        .in_ready_i (in_ready),
        .in_o       (in),
        .send_i     (sends),
        .receive_i  (receives),
        .idle_i     (idle),
        .vote_i     (vote),
        .left_i     (left),
        .release_o  (release_all),
        .unanimous_o(unanimous),
        .enable_o   (enable),
        .member_i   (member),
        .group_o    (group_reply),
        .wave_o,
        .error_o    (detector_error_o)
    );
  end else begin : gen_no_messages
    assign {out_ready, in_valid, release_all, unanimous, enable} = '0;
    for (genvar c = 0; c < Cores; c++) begin : gen_core
      assign in[c] = '0;
      logic unused;
      assign unused = ^out[c];
    end
    for (genvar h = 0; h < Harts; h++) begin : gen_thread
      assign group_reply[h] = '0;
      logic unused;
      assign unused = ^member[h];
    end
    assign wave_o = '0;
    assign detector_error_o = '0;
    logic unused;
    assign unused = ^{runs, out_valid, in_ready, sends, receives, idle, vote, left};
  end
  for (genvar h = 0; h < Harts; h++) begin : gen_mailbox
    assign mailbox_o[h] = {vote[h], idle[h], takes[h], has_to_send[h]};
  end

  logic mem_valid[Cores], mem_ready[Cores];
  data_request_t mem_request[Cores];
  logic [31:0] mem_rdata[Cores];

  for (genvar s = 0; s < Sockets; s++) begin : gen_socket
    tutti_isa_pkg::request_t [Each-1:0] unit_request;
    tutti_isa_pkg::reply_t [Each-1:0] unit_reply;

    if (Each <= 32) begin : gen_unit
      tutti_isa_barrier_unit #(
          .Cores   (Each),
          .Barriers(Barriers)
      ) u_unit (
          .clk_i,
          .rst_ni,
          .request_i(unit_request),
          .reply_o  (unit_reply)
      );
    end else begin : gen_none
      assign unit_reply = '0;
      logic unused;
      assign unused = ^unit_request;
    end

    for (genvar k = 0; k < Each / Threads; k++) begin : gen_tile
      localparam int unsigned C = s * (Each / Threads) + k;
      logic [31:0] fetch_addr, fetch_data_q, image_addr, image_data_q;
      // What the tile has for each of its threads.
      logic [Threads-1:0] tile_ipi_valid, tile_call_valid, tile_report, tile_pin_complete;
      logic [Threads-1:0] tile_external;
      logic [Threads-1:0][1:0] tile_report_kind, tile_activity;
      logic [Threads-1:0][7:0] tile_ipi_target, tile_waits;
      logic [Threads-1:0][31:0] tile_report_data, tile_pc;
      tutti_isa_pkg::request_t [Threads-1:0] tile_request;
      tutti_isa_pkg::reply_t [Threads-1:0] tile_reply;
      device_request_t [Threads-1:0] tile_device_request;
      device_reply_t [Threads-1:0] tile_device_reply;
      complete_t [Threads-1:0] tile_complete;
      pin_t [Threads-1:0] tile_pin;
      tutti_machine_message_pkg::member_t [Threads-1:0] tile_member;
      tutti_machine_message_pkg::group_reply_t [Threads-1:0] tile_group;

      // A core that does not run has numbers that no program may send an interrupt to.
      logic runs_q;
      logic [7:0] first_q;
      always_ff @(posedge clk_i) begin
        runs_q  <= rst_ni && k < 32'(each_q);
        first_q <= (8'(s) * each_q + 8'(k)) * 8'(Threads);
      end
      tutti_machine_tile #(
          .ImageBytes(ImageBytes),
          .RamBytes  (RamBytes),
          .Structures(Structures),
          .Messages  (Messages),
          .Threads   (Threads)
      ) u_tile (
          .clk_i,
          // From the first cycle of a reset on, also of one that is as short as that: an access of
          // the old program must not begin in a cache that has already been reset.
          .rst_ni        (rst_ni && runs_q),
          .core_i        (first_q),
          .cores_i       (8'(Sockets * Threads) * each_q),
          .socket_i      (8'(s)),
          .sockets_i     (8'(Sockets)),
          .mtime_i       (mtime_q),
          .external_irq_i(tile_external),
          .ipi_i         (ipi[C*Threads+:Threads]),
          .ipi_valid_o   (tile_ipi_valid),
          .ipi_target_o  (tile_ipi_target),
          .call_i        (remote_call[C*Threads+:Threads]),
          .call_valid_o  (tile_call_valid),
          .fetch_addr_o  (fetch_addr),
          .fetch_data_i  (fetch_data_q),
          .image_addr_o  (image_addr),
          .image_data_i  (image_data_q),
          .mem_valid_o   (mem_valid[C]),
          .mem_request_o (mem_request[C]),
          .mem_ready_i   (mem_ready[C]),
          .mem_rdata_i   (mem_rdata[C]),
          .unit_exists_i (Each <= 32),
          .unit_request_o(tile_request),
          .unit_reply_i  (tile_reply),
          .place_i         (8'(k * Threads)),
          .device_request_o(tile_device_request),
          .device_reply_i  (tile_device_reply),
          .complete_i      (tile_complete),
          .pin_o           (tile_pin),
          .pin_complete_i  (tile_pin_complete),
          .waits_o         (tile_waits),
          .out_valid_o     (out_valid[C]),
          .out_ready_i     (out_ready[C]),
          .out_o           (out[C]),
          .in_valid_i      (in_valid[C]),
          .in_ready_o      (in_ready[C]),
          .in_i            (in[C]),
          .send_o          (sends[C*Threads+:Threads]),
          .receive_o       (receives[C*Threads+:Threads]),
          .idle_o          (idle[C*Threads+:Threads]),
          .vote_o          (vote[C*Threads+:Threads]),
          .left_o          (left[C*Threads+:Threads]),
          .release_i       (release_all[C*Threads+:Threads]),
          .unanimous_i     (unanimous[C*Threads+:Threads]),
          .enable_i        (enable[C*Threads+:Threads]),
          .member_o        (tile_member),
          .group_i         (tile_group),
          .report_valid_o(tile_report),
          .report_kind_o (tile_report_kind),
          .report_data_o (tile_report_data),
          .retired_o     (retired_o[C*Threads+:Threads]),
          .activity_o    (tile_activity),
          .pc_o          (tile_pc),
          .takes_o       (takes[C*Threads+:Threads]),
          .sends_o       (has_to_send[C*Threads+:Threads])
      );
      for (genvar t = 0; t < Threads; t++) begin : gen_thread
        localparam int unsigned H = C * Threads + t;
        always_ff @(posedge clk_i)
          number_q[H] <= k < 32'(each_q) ?
              (8'(s) * each_q + 8'(k)) * 8'(Threads) + 8'(t) : 8'hff;
        assign runs[H] = runs_q;
        assign tile_external[t] = external_irq_q[H];
        assign ipi_valid[H] = tile_ipi_valid[t];
        assign ipi_target[H] = tile_ipi_target[t];
        assign call_valid[H] = tile_call_valid[t];
        assign device_request[H] = tile_device_request[t];
        assign tile_device_reply[t] = device_reply[H];
        assign tile_complete[t] = complete[H];
        assign pin[H] = tile_pin[t];
        assign tile_pin_complete[t] = pin_complete[H];
        assign waits_o[H] = tile_waits[t];
        assign member[H] = tile_member[t];
        assign tile_group[t] = group_reply[H];
        assign report_valid_o[H] = tile_report[t];
        assign report_kind_o[H] = tile_report_kind[t];
        assign report_data_o[H] = tile_report_data[t];
        assign activity_o[H] = tile_activity[t];
        assign pc_o[H] = tile_pc[t];

        tutti_isa_link #(
            .Width($bits(tutti_isa_pkg::request_t))
        ) u_to_unit (
            .clk_i,
            .rst_ni,
            .delay_i(unit_distance_q),
            .data_i (tile_request[t]),
            .data_o (unit_request[k*Threads+t])
        );
        tutti_isa_link #(
            .Width($bits(tutti_isa_pkg::reply_t))
        ) u_from_unit (
            .clk_i,
            .rst_ni,
            .delay_i(unit_distance_q),
            .data_i (unit_reply[k*Threads+t]),
            .data_o (tile_reply[t])
        );
      end
      logic unused;
      assign unused = ^{fetch_addr[31:ImageBits], fetch_addr[1:0], image_addr[31:ImageBits],
          image_addr[1:0]};

      always_ff @(posedge clk_i) begin
        fetch_data_q <= image[fetch_addr[ImageBits-1:2]];
        image_data_q <= image[image_addr[ImageBits-1:2]];
        if (mem_valid[C]) begin
          access_op_o[C]   <= mem_request[C].op;
          access_addr_o[C] <= mem_request[C].addr;
        end
      end
    end
  end

  if (Ideal != 0) begin : gen_ideal
    tutti_machine_ideal_memory #(
        .Cores   (Cores),
        .RamBytes(RamBytes)
    ) u_memory (
        .clk_i,
        .rst_ni,
        .valid_i  (mem_valid),
        .request_i(mem_request),
        .ready_o  (mem_ready),
        .rdata_o  (mem_rdata)
    );
    for (genvar c = 0; c < Cores; c++) begin : gen_status
      assign miss_o[c] = '0;
      assign miss_line_o[c] = '0;
    end
    for (genvar t = 0; t < Banks * Transactions; t++) begin : gen_transaction
      assign transaction_o[t] = '0;
    end
  end else begin : gen_coherent
    logic [Cores-1:0] valid, ready, fault;
    data_request_t [Cores-1:0] request;
    logic [Cores-1:0][31:0] rdata;
    cache_status_t [Cores-1:0] cache_status;
    transaction_status_t [Banks-1:0][Transactions-1:0] transaction_status;
    for (genvar c = 0; c < Cores; c++) begin : gen_core
      assign valid[c]     = mem_valid[c];
      assign request[c]   = mem_request[c];
      assign mem_ready[c] = ready[c];
      assign mem_rdata[c] = rdata[c];
    end
    tutti_machine_coherent #(
        .Cores(Cores),
        .Sockets(Sockets),
        .MemoryBytes(RamBytes),
        .Banks(Banks),
        .HomeHash(HomeHash),
        .CacheBytes(CacheBytes),
        .Ways(Ways),
        .HoldCycles(HoldCycles),
        .Transactions(Transactions),
        .DirectoryLatency(DirectoryLatency),
        .NearBytes(NearBytes),
        .NearLatency(NearLatency),
        .MemoryLatency(MemoryLatency),
        .HopLatency(HopLatency),
        .LineCycles(LineCycles),
        .LinkLatency(LinkLatency),
        .LinkLineCycles(LinkLineCycles)
    ) u_memory (
        .clk_i,
        .rst_ni,
        .data_valid_i        (valid),
        .data_request_i      (request),
        .data_ready_o        (ready),
        .data_rdata_o        (rdata),
        .data_fault_o        (fault),
        .cache_status_o      (cache_status),
        .transaction_status_o(transaction_status)
    );
    for (genvar c = 0; c < Cores; c++) begin : gen_status
      assign miss_o[c] = {cache_status[c].missing, cache_status[c].has_data, cache_status[c].acks};
      assign miss_line_o[c] = cache_status[c].line;
    end
    for (genvar b = 0; b < Banks; b++) begin : gen_home
      for (genvar t = 0; t < Transactions; t++) begin : gen_transaction
        assign transaction_o[b*Transactions+t] = transaction_status[b][t];
      end
    end
    // The tile has checked the address.
    logic unused;
    assign unused = ^{fault, cache_status};
  end
endmodule
