// SPDX-License-Identifier: Apache-2.0
/// A tile under any program, with any answers from outside and resets at any time: an access goes to
/// the one place that its address names, if the map of addresses permits it, and has the answer of
/// that place; each thread of the core has the numbers, interrupts, devices and mailbox of its own.
/// What these answer is proved of the core, of tutti_machine_thread and of its parts.
module tutti_machine_tile_formal
  import tutti_machine_pkg::*;
  import tutti_machine_core_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    parameter int unsigned Threads = 2,
    parameter int unsigned Messages = 1,
    parameter int unsigned ImageBytes = 1 << 14,
    parameter int unsigned RamBytes = 1 << 17
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [7:0] core_i,
    input logic [7:0] cores_i,
    input logic [7:0] socket_i,
    input logic [7:0] sockets_i,
    input logic [63:0] mtime_i,
    input logic [Threads-1:0] external_irq_i,
    input logic [Threads-1:0] ipi_i,
    input logic [Threads-1:0] call_i,
    input logic [31:0] fetch_data_i,
    input logic [31:0] image_data_i,
    input logic mem_ready_i,
    input logic [31:0] mem_rdata_i,
    input logic unit_exists_i,
    input tutti_isa_pkg::reply_t [Threads-1:0] unit_reply_i,
    input logic [7:0] place_i,
    input device_reply_t [Threads-1:0] device_reply_i,
    input complete_t [Threads-1:0] complete_i,
    input logic [Threads-1:0] pin_complete_i,
    input logic out_ready_i,
    input logic in_valid_i,
    input tutti_machine_message_pkg::message_t in_i,
    input logic [Threads-1:0] release_i,
    input logic [Threads-1:0] unanimous_i,
    input logic [Threads-1:0] enable_i,
    input tutti_machine_message_pkg::group_reply_t [Threads-1:0] group_i
);
  // The tile is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic [Threads-1:0] ipi_valid, call_valid, send, receive, idle, vote, left, report_valid, retired;
  logic [Threads-1:0] takes, sends;
  logic [Threads-1:0][7:0] ipi_target, waits;
  logic [Threads-1:0][1:0] report_kind, activity;
  logic [Threads-1:0][31:0] report_data, pc;
  logic [31:0] fetch_addr, image_addr;
  logic mem_valid, out_valid, in_ready;
  data_request_t mem_request;
  tutti_isa_pkg::request_t [Threads-1:0] unit_request;
  device_request_t [Threads-1:0] device_request;
  pin_t [Threads-1:0] pin;
  tutti_machine_message_pkg::message_t out;
  tutti_machine_message_pkg::member_t [Threads-1:0] member;
  tutti_machine_tile #(
      .ImageBytes(ImageBytes),
      .RamBytes  (RamBytes),
      .Messages  (Messages),
      .Threads   (Threads)
  ) u_tile (
      .clk_i,
      .rst_ni          (!init_q),
      .core_i,
      .cores_i,
      .socket_i,
      .sockets_i,
      .mtime_i,
      .external_irq_i,
      .ipi_i,
      .ipi_valid_o     (ipi_valid),
      .ipi_target_o    (ipi_target),
      .call_i,
      .call_valid_o    (call_valid),
      .fetch_addr_o    (fetch_addr),
      .fetch_data_i,
      .image_addr_o    (image_addr),
      .image_data_i,
      .mem_valid_o     (mem_valid),
      .mem_request_o   (mem_request),
      .mem_ready_i,
      .mem_rdata_i,
      .unit_exists_i,
      .unit_request_o  (unit_request),
      .unit_reply_i,
      .place_i,
      .device_request_o(device_request),
      .device_reply_i,
      .complete_i,
      .pin_o           (pin),
      .pin_complete_i,
      .out_valid_o     (out_valid),
      .out_ready_i,
      .out_o           (out),
      .in_valid_i,
      .in_ready_o      (in_ready),
      .in_i,
      .send_o          (send),
      .receive_o       (receive),
      .idle_o          (idle),
      .vote_o          (vote),
      .left_o          (left),
      .release_i,
      .unanimous_i,
      .enable_i,
      .member_o        (member),
      .group_i,
      .report_valid_o  (report_valid),
      .report_kind_o   (report_kind),
      .report_data_o   (report_data),
      .retired_o       (retired),
      .activity_o      (activity),
      .waits_o         (waits),
      .pc_o            (pc),
      .takes_o         (takes),
      .sends_o         (sends)
  );

  // The access of the thread that has the core.
  localparam int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1;
  logic [ThreadBits-1:0] thread;
  logic valid, user, loads, fault;
  data_request_t request;
  trace_t trace;
  assign thread = u_tile.u_core.thread_o;
  assign valid = u_tile.u_core.data_valid_o;
  assign request = u_tile.u_core.data_request_o;
  assign user = !u_tile.u_core.machine_mode_o[thread];
  assign fault = u_tile.u_core.data_fault_i;
  assign trace = u_tile.u_core.trace_o;
  assign loads = request.op == OpLoad;

  // The map of addresses.
  localparam longint unsigned Ram = 64'h8000_0000;
  logic [63:0] addr;
  logic in_image, in_ram, in_kernel, in_thread;
  assign addr = 64'(request.addr);
  assign in_image = addr < 64'(ImageBytes);
  assign in_ram = addr >= Ram && addr < Ram + 64'(RamBytes);
  assign in_kernel = addr >= Ram && addr < Ram + 64'd65536;
  assign in_thread = (addr >= 64'h2000_0000 && addr < 64'h2000_0100)
      || (addr >= 64'h5000_0000 && addr < 64'h5800_0000)
      || (Messages != 0 && addr >= 64'h3000_0000 && addr < 64'h3001_0000);

  // What the threads have.
  logic [Threads-1:0] accessed, here, thread_fault, thread_ready, apart, has_out, may_send, has_in;
  logic [Threads-1:0] may_take;
  logic [Threads-1:0][31:0] thread_rdata;
  tutti_machine_message_pkg::message_t [Threads-1:0] outs, ins;
  for (genvar t = 0; t < Threads; t++) begin : gen_thread
    assign accessed[t] = u_tile.gen_thread[t].u_thread.valid_i;
    assign here[t] = u_tile.gen_thread[t].u_thread.here_o;
    assign thread_fault[t] = u_tile.gen_thread[t].u_thread.fault_o;
    assign thread_ready[t] = u_tile.gen_thread[t].u_thread.ready_o;
    assign thread_rdata[t] = u_tile.gen_thread[t].u_thread.rdata_o;
    assign has_out[t] = u_tile.gen_thread[t].u_thread.out_valid_o;
    assign may_send[t] = u_tile.gen_thread[t].u_thread.out_ready_i;
    assign outs[t] = u_tile.gen_thread[t].u_thread.out_o;
    assign has_in[t] = u_tile.gen_thread[t].u_thread.in_valid_i;
    assign may_take[t] = u_tile.gen_thread[t].u_thread.in_ready_o;
    assign ins[t] = u_tile.gen_thread[t].u_thread.in_i;
    // Its numbers, its part of the core's ports, and its wires to the outside.
    assign apart[t] = u_tile.gen_thread[t].u_thread.core_i == 8'(core_i + 8'(t))
        && u_tile.gen_thread[t].u_thread.cores_i == cores_i
        && u_tile.gen_thread[t].u_thread.socket_i == socket_i
        && u_tile.gen_thread[t].u_thread.sockets_i == sockets_i
        && u_tile.gen_thread[t].u_thread.place_i == 8'(place_i + 8'(t))
        && u_tile.gen_thread[t].u_thread.mtime_i == mtime_i
        && u_tile.gen_thread[t].u_thread.request_i == request
        && u_tile.gen_thread[t].u_thread.machine_mode_i == u_tile.u_core.machine_mode_o[t]
        && u_tile.u_core.software_irq_i[t] == u_tile.gen_thread[t].u_thread.software_irq_o
        && u_tile.u_core.timer_irq_i[t] == u_tile.gen_thread[t].u_thread.timer_irq_o
        && u_tile.u_core.external_irq_i[t] == u_tile.gen_thread[t].u_thread.external_irq_o
        && u_tile.u_core.call_irq_i[t] == u_tile.gen_thread[t].u_thread.call_irq_o
        && u_tile.gen_thread[t].u_thread.call_taken_i == u_tile.u_core.call_taken_o[t]
        && u_tile.gen_thread[t].u_thread.external_irq_i == external_irq_i[t]
        && u_tile.gen_thread[t].u_thread.ipi_i == ipi_i[t]
        && ipi_valid[t] == u_tile.gen_thread[t].u_thread.ipi_valid_o
        && ipi_target[t] == u_tile.gen_thread[t].u_thread.ipi_target_o
        && u_tile.gen_thread[t].u_thread.call_i == call_i[t]
        && call_valid[t] == u_tile.gen_thread[t].u_thread.call_valid_o
        && u_tile.gen_thread[t].u_thread.ext_valid_i == u_tile.u_core.ext_valid_o[t]
        && u_tile.gen_thread[t].u_thread.ext_insn_i == u_tile.u_core.ext_insn_o[t]
        && u_tile.gen_thread[t].u_thread.ext_rs1_i == u_tile.u_core.ext_rs1_o[t]
        && u_tile.gen_thread[t].u_thread.ext_rs2_i == u_tile.u_core.ext_rs2_o[t]
        && u_tile.gen_thread[t].u_thread.ext_cancel_i == u_tile.u_core.ext_cancel_o[t]
        && u_tile.u_core.ext_known_i[t] == u_tile.gen_thread[t].u_thread.ext_known_o
        && u_tile.u_core.ext_ready_i[t] == u_tile.gen_thread[t].u_thread.ext_ready_o
        && u_tile.u_core.ext_refused_i[t] == u_tile.gen_thread[t].u_thread.ext_refused_o
        && u_tile.u_core.ext_rd_i[t] == u_tile.gen_thread[t].u_thread.ext_rd_o
        && u_tile.u_core.ext_write_i[t]
        && u_tile.gen_thread[t].u_thread.unit_exists_i == unit_exists_i
        && unit_request[t] == u_tile.gen_thread[t].u_thread.unit_request_o
        && u_tile.gen_thread[t].u_thread.unit_reply_i == unit_reply_i[t]
        && device_request[t] == u_tile.gen_thread[t].u_thread.device_request_o
        && u_tile.gen_thread[t].u_thread.device_reply_i == device_reply_i[t]
        && u_tile.gen_thread[t].u_thread.complete_i == complete_i[t]
        && pin[t] == u_tile.gen_thread[t].u_thread.pin_o
        && u_tile.gen_thread[t].u_thread.pin_complete_i == pin_complete_i[t]
        && waits[t] == u_tile.gen_thread[t].u_thread.waits_o
        && send[t] == u_tile.gen_thread[t].u_thread.send_o
        && receive[t] == u_tile.gen_thread[t].u_thread.receive_o
        && idle[t] == u_tile.gen_thread[t].u_thread.idle_o
        && vote[t] == u_tile.gen_thread[t].u_thread.vote_o
        && left[t] == u_tile.gen_thread[t].u_thread.left_o
        && u_tile.gen_thread[t].u_thread.release_i == release_i[t]
        && u_tile.gen_thread[t].u_thread.unanimous_i == unanimous_i[t]
        && u_tile.gen_thread[t].u_thread.enable_i == enable_i[t]
        && member[t] == u_tile.gen_thread[t].u_thread.member_o
        && u_tile.gen_thread[t].u_thread.group_i == group_i[t]
        && report_valid[t] == u_tile.gen_thread[t].u_thread.report_valid_o
        && report_kind[t] == u_tile.gen_thread[t].u_thread.report_kind_o
        && report_data[t] == u_tile.gen_thread[t].u_thread.report_data_o
        && activity[t] == u_tile.u_core.activity_o[t] && pc[t] == u_tile.u_core.pc_o[t];
  end

  // The mailboxes share a router: whose message is there, and for whom one has come.
  logic [Threads-1:0] sender, receiver;
  always_comb begin
    for (int unsigned t = 0; t < Threads; t++) begin
      sender[t]   = may_send[t] && has_out[t];
      receiver[t] = has_in[t];
    end
  end
  logic [ThreadBits-1:0] to;
  assign to = Threads > 1 ? in_i.to[ThreadBits-1:0] : '0;

  // A constant of the image: the second port has it one cycle later.
  logic constant, constant_q = 1'b0;
  assign constant = valid && in_image && loads;
  always_ff @(posedge clk_i) constant_q <= !init_q && constant && !constant_q;

  logic forbidden;
  always_comb begin
    if (in_thread) forbidden = thread_fault[thread];
    else if (in_ram) forbidden = user && in_kernel;
    else forbidden = !(in_image && loads);
  end

  always_comb begin
    // The numbers of a core's threads are side by side: the first divides by Threads.
    assume (core_i % 8'(Threads) == '0);
  end

  always_comb begin
    if (!init_q) begin
      a_threads: assert (apart == '1);
      a_instructions: assert (fetch_addr == u_tile.u_core.fetch_addr_o
          && u_tile.u_core.fetch_data_i == fetch_data_i);
      a_number: assert (u_tile.u_core.hart_i == 32'(core_i));
      a_here: assert (here == (in_thread ? '1 : '0));
      a_accessed: assert (accessed == (valid ? Threads'(1) << thread : '0));
      a_fault: assert (!valid || fault == forbidden);
      a_fault_at_once: assert (!(valid && fault) || u_tile.u_core.data_ready_i);
      a_memory: assert (mem_valid == (valid && in_ram && !forbidden));
      a_request: assert (!mem_valid || mem_request == request);
      a_memory_answers: assert (!(mem_valid)
          || (u_tile.u_core.data_ready_i == mem_ready_i
          && u_tile.u_core.data_rdata_i == mem_rdata_i));
      a_image: assert (!constant || image_addr == request.addr);
      a_image_answers: assert (!constant || (u_tile.u_core.data_ready_i == constant_q
          && u_tile.u_core.data_rdata_i == image_data_i));
      a_image_turn: assert (u_tile.image_ready_q == constant_q);
      a_thread_answers: assert (!(valid && in_thread && !fault)
          || (u_tile.u_core.data_ready_i == thread_ready[thread]
          && u_tile.u_core.data_rdata_i == thread_rdata[thread]));
      a_retired: assert (retired == (trace.valid && !trace.trap ? Threads'(1) << thread : '0));
      a_out: assert (out_valid == (has_out != '0) && ($countones(sender) <= 1)
          && (sender != '0) == (out_valid && out_ready_i));
      a_in: assert (receiver == (in_valid_i ? Threads'(1) << to : '0)
          && in_ready == may_take[to] && ins[to] == in_i);
      a_mailboxes: assert (takes == may_take && sends == has_out);
    end
  end
  for (genvar t = 0; t < Threads; t++) begin : gen_out
    always_comb begin
      if (!init_q) a_message: assert (!sender[t] || out == outs[t]);
    end
  end

  always_comb begin
    if (!init_q) begin
      c_memory: cover (mem_valid && mem_ready_i && thread == ThreadBits'(Threads - 1));
      c_image: cover (constant && constant_q);
      c_device: cover (valid && in_thread && !fault && !loads);
      c_kernel: cover (valid && in_kernel && fault);
    end
  end
endmodule
