// SPDX-License-Identifier: Apache-2.0
// A tile: a processor, and what each of its hardware threads has of its own (tutti_machine_thread).
// It divides the addresses and says which accesses are permitted; the RAM, through a cache, is
// outside.
module tutti_machine_tile
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    /// Bytes of the image, which begins at 0.
    parameter int unsigned ImageBytes = 4 << 20,
    /// Bytes of the RAM, which begins at 0x8000'0000.
    parameter int unsigned RamBytes   = 16 << 20,
    /// Barriers of the structures.
    parameter int unsigned Structures = 8,
    /// 1: the threads have mailboxes.
    parameter int unsigned Messages   = 0,
    /// Hardware threads: 1, 2, 4 or 8.
    parameter int unsigned Threads    = 1
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    /// The number of the first thread, and how many threads the machine has: programs take threads
    /// for cores. Ports of Threads bits or words have one for each thread.
    input  logic             [ 7:0] core_i,
    input  logic             [ 7:0] cores_i,
    input  logic             [ 7:0] socket_i,
    input  logic             [ 7:0] sockets_i,
    /// The clock that all tiles share.
    input  logic             [63:0] mtime_i,
    /// Sets the external interrupt, which lasts until the program clears it.
    input  logic      [Threads-1:0] external_irq_i,
    /// Sets the software interrupt.
    input  logic      [Threads-1:0] ipi_i,
    /// An interrupt for another thread, or for all others (0xff).
    output logic      [Threads-1:0] ipi_valid_o,
    output logic [Threads-1:0][7:0] ipi_target_o,
    /// The same of remote calls.
    input  logic      [Threads-1:0] call_i,
    output logic      [Threads-1:0] call_valid_o,

    /// Two ports of the image: instructions and constants. The data come in the next cycle.
    output logic             [31:0] fetch_addr_o,
    input  logic             [31:0] fetch_data_i,
    output logic             [31:0] image_addr_o,
    input  logic             [31:0] image_data_i,

    /// An access to the RAM, held until it is ready.
    output logic                    mem_valid_o,
    output data_request_t           mem_request_o,
    input  logic                    mem_ready_i,
    input  logic             [31:0] mem_rdata_i,

    /// The barrier unit.
    input  logic                    unit_exists_i,
    output tutti_isa_pkg::request_t [Threads-1:0] unit_request_o,
    input  tutti_isa_pkg::reply_t   [Threads-1:0] unit_reply_i,

    /// The units of tutti_machine_units: a message and its answer, the end of an episode of the
    /// socket's structure, and the wires of the mask unit. `place_i`: the first thread's number in
    /// the structure of its socket.
    input  logic             [ 7:0] place_i,
    output device_request_t [Threads-1:0] device_request_o,
    input  device_reply_t   [Threads-1:0] device_reply_i,
    input  complete_t       [Threads-1:0] complete_i,
    output pin_t            [Threads-1:0] pin_o,
    input  logic            [Threads-1:0] pin_complete_i,

    /// The network, and the detector of messages: see tutti_machine_mailbox.
    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output tutti_machine_message_pkg::message_t out_o,
    input  logic                    in_valid_i,
    output logic                    in_ready_o,
    input  tutti_machine_message_pkg::message_t in_i,
    output logic      [Threads-1:0] send_o,
    output logic      [Threads-1:0] receive_o,
    output logic      [Threads-1:0] idle_o,
    output logic      [Threads-1:0] vote_o,
    output logic      [Threads-1:0] left_o,
    input  logic      [Threads-1:0] release_i,
    input  logic      [Threads-1:0] unanimous_i,
    input  logic      [Threads-1:0] enable_i,
    output tutti_machine_message_pkg::member_t [Threads-1:0] member_o,
    input  tutti_machine_message_pkg::group_reply_t [Threads-1:0] group_i,

    /// What the program tells the harness: 0 trace, 1 console, 2 end.
    output logic      [Threads-1:0] report_valid_o,
    output logic [Threads-1:0][1:0] report_kind_o,
    output logic [Threads-1:0][31:0] report_data_o,

    output logic      [Threads-1:0] retired_o,
    output logic [Threads-1:0][1:0] activity_o,
    output logic [Threads-1:0][7:0] waits_o,
    output logic [Threads-1:0][31:0] pc_o,
    /// What a mailbox has to do with the network: it takes a message, it has one to send.
    output logic      [Threads-1:0] takes_o,
    output logic      [Threads-1:0] sends_o
);
  if (RamBytes < (128 << 10) || (RamBytes & (RamBytes - 1)) != 0 || RamBytes > (1 << 30))
    $fatal(1, "tutti_machine_tile: RamBytes must be a power of two from 128 KiB to 1 GiB");
  if (Threads != 1 && Threads != 2 && Threads != 4 && Threads != 8)
    $fatal(1, "tutti_machine_tile: Threads must be 1, 2, 4 or 8");

  // The part of the RAM that belongs to machine mode.
  localparam int unsigned KernelBytes = 64 << 10;
  localparam int unsigned RamBits = $clog2(RamBytes);

  localparam int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1;
  logic [ThreadBits-1:0] thread;
  logic [Threads-1:0] is_here;
  assign is_here = Threads'(1) << thread;

  logic data_valid, data_ready, data_fault;
  data_request_t request;
  logic [31:0] data_rdata;
  logic [Threads-1:0] machine_mode, software_irq, timer_irq, external_irq, call_irq, call_taken;
  logic [Threads-1:0] ext_valid, ext_cancel, ext_known, ext_ready, ext_refused;
  logic [Threads-1:0][31:0] ext_insn, ext_rs1, ext_rs2, ext_rd;
  trace_t trace;

  tutti_machine_core #(
      .ImageBytes(ImageBytes),
      .Threads   (Threads)
  ) u_core (
      .clk_i,
      .rst_ni,
      .hart_i        (32'(core_i)),
      .software_irq_i(software_irq),
      .timer_irq_i   (timer_irq),
      .external_irq_i(external_irq),
      .call_irq_i    (call_irq),
      .call_taken_o  (call_taken),
      .thread_o      (thread),
      .fetch_addr_o,
      .fetch_data_i,
      .data_valid_o  (data_valid),
      .data_request_o(request),
      .machine_mode_o(machine_mode),
      .data_ready_i  (data_ready),
      .data_rdata_i  (data_rdata),
      .data_fault_i  (data_fault),
      .ext_valid_o   (ext_valid),
      .ext_insn_o    (ext_insn),
      .ext_rs1_o     (ext_rs1),
      .ext_rs2_o     (ext_rs2),
      .ext_cancel_o  (ext_cancel),
      .ext_known_i   (ext_known),
      .ext_ready_i   (ext_ready),
      .ext_refused_i (ext_refused),
      .ext_write_i   ('1),
      .ext_rd_i      (ext_rd),
      .activity_o,
      .pc_o,
      .trace_o       (trace)
  );
  assign retired_o = trace.valid && !trace.trap ? is_here : '0;
  logic unused;
  assign unused = ^trace;

  // The threads' devices, ports and mailboxes.
  logic [Threads-1:0] here, fault, ready, out_valid, out_ready, in_valid, in_ready;
  logic [Threads-1:0][31:0] rdata;
  tutti_machine_message_pkg::message_t [Threads-1:0] out;
  for (genvar t = 0; t < Threads; t++) begin : gen_thread
    tutti_machine_thread #(
        .Structures(Structures),
        .Messages  (Messages)
    ) u_thread (
        .clk_i,
        .rst_ni,
        .core_i          (core_i + 8'(t)),
        .cores_i,
        .socket_i,
        .sockets_i,
        .place_i         (place_i + 8'(t)),
        .mtime_i,
        .external_irq_i  (external_irq_i[t]),
        .ipi_i           (ipi_i[t]),
        .ipi_valid_o     (ipi_valid_o[t]),
        .ipi_target_o    (ipi_target_o[t]),
        .call_i          (call_i[t]),
        .call_valid_o    (call_valid_o[t]),
        .software_irq_o  (software_irq[t]),
        .timer_irq_o     (timer_irq[t]),
        .external_irq_o  (external_irq[t]),
        .call_irq_o      (call_irq[t]),
        .call_taken_i    (call_taken[t]),
        .valid_i         (data_valid && is_here[t]),
        .request_i       (request),
        .machine_mode_i  (machine_mode[t]),
        .here_o          (here[t]),
        .fault_o         (fault[t]),
        .ready_o         (ready[t]),
        .rdata_o         (rdata[t]),
        .ext_valid_i     (ext_valid[t]),
        .ext_insn_i      (ext_insn[t]),
        .ext_rs1_i       (ext_rs1[t]),
        .ext_rs2_i       (ext_rs2[t]),
        .ext_cancel_i    (ext_cancel[t]),
        .ext_known_o     (ext_known[t]),
        .ext_ready_o     (ext_ready[t]),
        .ext_refused_o   (ext_refused[t]),
        .ext_rd_o        (ext_rd[t]),
        .unit_exists_i,
        .unit_request_o  (unit_request_o[t]),
        .unit_reply_i    (unit_reply_i[t]),
        .device_request_o(device_request_o[t]),
        .device_reply_i  (device_reply_i[t]),
        .complete_i      (complete_i[t]),
        .pin_o           (pin_o[t]),
        .pin_complete_i  (pin_complete_i[t]),
        .waits_o         (waits_o[t]),
        .out_valid_o     (out_valid[t]),
        .out_ready_i     (out_ready[t]),
        .out_o           (out[t]),
        .in_valid_i      (in_valid[t]),
        .in_ready_o      (in_ready[t]),
        .in_i,
        .send_o          (send_o[t]),
        .receive_o       (receive_o[t]),
        .idle_o          (idle_o[t]),
        .vote_o          (vote_o[t]),
        .left_o          (left_o[t]),
        .release_i       (release_i[t]),
        .unanimous_i     (unanimous_i[t]),
        .enable_i        (enable_i[t]),
        .member_o        (member_o[t]),
        .group_i         (group_i[t]),
        .report_valid_o  (report_valid_o[t]),
        .report_kind_o   (report_kind_o[t]),
        .report_data_o   (report_data_o[t])
    );
  end
  tutti_machine_mailbox_share #(
      .Threads(Threads)
  ) u_share (
      .clk_i,
      .rst_ni,
      .out_valid_i(out_valid),
      .out_ready_o(out_ready),
      .out_i      (out),
      .in_valid_o (in_valid),
      .in_ready_i (in_ready),
      .out_valid_o,
      .out_ready_i,
      .out_o,
      .in_valid_i,
      .in_ready_o,
      .in_to_i    (in_i.to)
  );
  assign takes_o = in_ready;
  assign sends_o = out_valid;

  // The target of the access, and whether it is permitted.
  logic to_image, to_ram;
  assign to_image = request.addr < ImageBytes;
  assign to_ram = request.addr >> RamBits == 32'h8000_0000 >> RamBits;
  always_comb begin
    data_fault = 1'b1;
    if (to_image) data_fault = request.op != OpLoad;
    if (to_ram)
      data_fault = !machine_mode[thread] && request.addr[RamBits-1:0] < RamBits'(KernelBytes);
    if (here[thread]) data_fault = fault[thread];
  end

  // Constants: the second port of the image needs a cycle.
  logic image_ready_q;
  assign image_addr_o = request.addr;

  assign mem_valid_o = data_valid && to_ram && !data_fault;
  assign mem_request_o = request;
  always_comb begin
    data_ready = ready[thread];
    data_rdata = rdata[thread];
    if (!data_fault && to_image) begin
      data_ready = image_ready_q;
      data_rdata = image_data_i;
    end
    if (!data_fault && to_ram) begin
      data_ready = mem_ready_i;
      data_rdata = mem_rdata_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) image_ready_q <= 1'b0;
    else image_ready_q <= data_valid && to_image && request.op == OpLoad && !image_ready_q;
  end

endmodule
