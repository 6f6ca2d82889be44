// SPDX-License-Identifier: Apache-2.0
/// What a hardware thread has of its own in a tile, under any accesses and instructions and any
/// answers from outside, with resets at any time: the map of its addresses and who may use them, its
/// interrupts and registers, the messages to the barrier units, and the wires between the core's
/// extension port, the port of the barrier instructions, the agent and the mailbox. What these answer
/// is proved of tutti_isa_port, tutti_machine_agent and tutti_machine_mailbox.
module tutti_machine_thread_formal
  import tutti_machine_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    parameter int unsigned Messages = 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [7:0] core_i,
    input logic [7:0] cores_i,
    input logic [7:0] socket_i,
    input logic [7:0] sockets_i,
    input logic [7:0] place_i,
    input logic [63:0] mtime_i,
    input logic external_irq_i,
    input logic ipi_i,
    input logic call_i,
    input logic call_taken_i,
    input logic valid_i,
    input data_request_t request_i,
    input logic machine_mode_i,
    input logic ext_valid_i,
    input logic [31:0] ext_insn_i,
    input logic [31:0] ext_rs1_i,
    input logic [31:0] ext_rs2_i,
    input logic ext_cancel_i,
    input logic unit_exists_i,
    input tutti_isa_pkg::reply_t unit_reply_i,
    input device_reply_t device_reply_i,
    input complete_t complete_i,
    input logic pin_complete_i,
    input logic out_ready_i,
    input logic in_valid_i,
    input tutti_machine_message_pkg::message_t in_i,
    input logic release_i,
    input logic unanimous_i,
    input logic enable_i,
    input tutti_machine_message_pkg::group_reply_t group_i
);
  // The thread is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic ipi_valid, call_valid, software_irq, timer_irq, external_irq, call_irq, here, fault, ready;
  logic ext_known, ext_ready, ext_refused, out_valid, in_ready, send, receive, idle, vote, left;
  logic report_valid;
  logic [1:0] report_kind;
  logic [7:0] ipi_target, waits;
  logic [31:0] rdata, ext_rd, report_data;
  tutti_isa_pkg::request_t unit_request;
  device_request_t device_request;
  pin_t pin;
  tutti_machine_message_pkg::message_t out;
  tutti_machine_message_pkg::member_t member;
  tutti_machine_thread #(
      .Messages(Messages)
  ) u_thread (
      .clk_i,
      .rst_ni          (!init_q),
      .core_i,
      .cores_i,
      .socket_i,
      .sockets_i,
      .place_i,
      .mtime_i,
      .external_irq_i,
      .ipi_i,
      .ipi_valid_o     (ipi_valid),
      .ipi_target_o    (ipi_target),
      .call_i,
      .call_valid_o    (call_valid),
      .software_irq_o  (software_irq),
      .timer_irq_o     (timer_irq),
      .external_irq_o  (external_irq),
      .call_irq_o      (call_irq),
      .call_taken_i,
      .valid_i,
      .request_i,
      .machine_mode_i,
      .here_o          (here),
      .fault_o         (fault),
      .ready_o         (ready),
      .rdata_o         (rdata),
      .ext_valid_i,
      .ext_insn_i,
      .ext_rs1_i,
      .ext_rs2_i,
      .ext_cancel_i,
      .ext_known_o     (ext_known),
      .ext_ready_o     (ext_ready),
      .ext_refused_o   (ext_refused),
      .ext_rd_o        (ext_rd),
      .unit_exists_i,
      .unit_request_o  (unit_request),
      .unit_reply_i,
      .device_request_o(device_request),
      .device_reply_i,
      .complete_i,
      .pin_o           (pin),
      .pin_complete_i,
      .waits_o         (waits),
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
      .report_data_o   (report_data)
  );

  // What the mailbox says; without one, nothing.
  logic box_known, box_ready, box_refused, box_exists, box_own, box_writes;
  logic [31:0] box_rd, box_word;
  if (Messages != 0) begin : gen_box
    assign box_known = u_thread.gen_mailbox.u_mailbox.known_o;
    assign box_ready = u_thread.gen_mailbox.u_mailbox.ready_o;
    assign box_refused = u_thread.gen_mailbox.u_mailbox.refused_o;
    assign box_rd = u_thread.gen_mailbox.u_mailbox.rd_o;
    assign box_exists = u_thread.gen_mailbox.u_mailbox.word_exists_o;
    assign box_own = u_thread.gen_mailbox.u_mailbox.word_own_o;
    assign box_word = u_thread.gen_mailbox.u_mailbox.word_data_o;
    assign box_writes = u_thread.gen_mailbox.u_mailbox.word_write_i;
  end else begin : gen_no_box
    assign {box_known, box_ready, box_refused, box_exists, box_own, box_writes} = '0;
    assign {box_rd, box_word} = '0;
  end

  // The map of addresses.
  logic loads, stores, words, in_devices, in_units, in_slots, user;
  logic [7:0] offset;
  assign loads = request_i.op == OpLoad;
  assign stores = request_i.op == OpStore;
  assign words = request_i.strobe == 4'b1111;
  assign user = !machine_mode_i;
  assign offset = request_i.addr[7:0];
  assign in_devices = request_i.addr >= 32'h2000_0000 && request_i.addr <= 32'h2000_00ff;
  assign in_units = request_i.addr >= 32'h5000_0000 && request_i.addr <= 32'h57ff_ffff;
  assign in_slots = Messages != 0 && request_i.addr >= 32'h3000_0000
      && request_i.addr <= 32'h3000_ffff;

  // The thread's registers as programs see them.
  logic software_q = 1'b0, timer_q = 1'b0, external_q = 1'b0, called_q = 1'b0, sent_q = 1'b0;
  logic [63:0] callable_q = '0, compare_q = '1;
  logic [31:0] high_q = '0;
  tutti_isa_pkg::reply_t absent_q = '0;

  // Whom an interrupt or a remote call may reach.
  logic target_exists, target_callable, everybody;
  always_comb begin
    everybody = 1'b1;
    for (int unsigned c = 0; c < 64; c++)
      if (c < 32'(cores_i) && !callable_q[c]) everybody = 1'b0;
    target_exists = request_i.wdata == 32'hffff_ffff || request_i.wdata < 32'(cores_i);
    target_callable = request_i.wdata == 32'hffff_ffff ? everybody
        : callable_q[request_i.wdata[5:0]];
  end

  // The registers of the devices: whether the access is one, and what a load returns.
  logic device_allows;
  logic [31:0] device_value;
  always_comb begin
    device_allows = 1'b0;
    device_value = '0;
    case (offset)
      8'h00, 8'h04, 8'h08, 8'h0c, 8'h18, 8'h1c: device_allows = loads;
      8'h10, 8'h20, 8'h24, 8'h28, 8'h30, 8'h34: device_allows = !user && (loads || stores);
      8'h14: device_allows = !user && stores && target_exists;
      8'h2c: device_allows = stores && target_exists && (!user || target_callable);
      8'h40, 8'h44, 8'h48: device_allows = stores;
      default: ;
    endcase
    case (offset)
      8'h00: device_value = {24'd0, core_i};
      8'h04: device_value = {24'd0, cores_i};
      8'h08: device_value = {24'd0, sockets_i};
      8'h0c: device_value = {24'd0, socket_i};
      8'h10: device_value = {31'd0, software_q};
      8'h18: device_value = mtime_i[31:0];
      8'h1c: device_value = mtime_i[63:32];
      8'h20: device_value = compare_q[31:0];
      8'h24: device_value = compare_q[63:32];
      8'h28: device_value = {31'd0, external_q};
      8'h30: device_value = callable_q[31:0];
      8'h34: device_value = callable_q[63:32];
      default: ;
    endcase
  end

  // The units: 32 MiB for each socket, 8 MiB for each unit.
  logic [1:0] of_socket, of_unit;
  logic unit_allows, opens, slot_allows;
  assign {of_socket, of_unit} = request_i.addr[26:23];
  // Triggers take stores of user mode, and senses its loads: 16 KiB each.
  assign opens = (stores && request_i.addr[22:14] == 9'h001)
      || (loads && request_i.addr[22:14] == 9'h002);
  always_comb begin
    case (of_unit)
      2'd0: unit_allows = !user && {6'd0, of_socket} < sockets_i;
      2'd1, 2'd2: unit_allows = of_socket == '0 && request_i.addr[22:16] == '0 && (!user || opens);
      default: unit_allows = 1'b0;
    endcase
  end
  assign slot_allows = box_exists && (loads || (stores && box_own));

  logic allowed, device_writes, to_unit, keeps, sends_one;
  assign allowed = words && ((in_devices && device_allows) || (in_slots && slot_allows)
      || (in_units && (loads || stores) && unit_allows));
  assign device_writes = valid_i && allowed && in_devices && stores;
  // A store to a high half stays here, until one to the low half sends both.
  assign to_unit = valid_i && allowed && in_units;
  assign keeps = stores && request_i.addr[2];
  logic arrives;
  assign arrives = u_thread.u_agent.arrive_valid_o;
  assign sends_one = !sent_q && (arrives || (to_unit && !keeps));

  // What the agent asks of the barrier unit of a socket that has none.
  tutti_isa_pkg::request_t asks;
  assign asks = u_thread.u_agent.unit_request_o;

  always_ff @(posedge clk_i) begin
    if (init_q) begin
      {software_q, timer_q, external_q, called_q, sent_q} <= '0;
      callable_q <= '0;
      compare_q  <= '1;
      high_q     <= '0;
      absent_q   <= '0;
    end else begin
      software_q <= ipi_i || (software_q && !(device_writes && offset == 8'h10));
      external_q <= external_irq_i || (external_q && !(device_writes && offset == 8'h28));
      called_q   <= call_i || (called_q && !call_taken_i);
      timer_q    <= mtime_i >= compare_q;
      sent_q     <= sends_one || (sent_q && !device_reply_i.valid);
      if (device_writes && offset == 8'h20) compare_q[31:0] <= request_i.wdata;
      if (device_writes && offset == 8'h24) compare_q[63:32] <= request_i.wdata;
      if (device_writes && offset == 8'h30) callable_q[31:0] <= request_i.wdata;
      if (device_writes && offset == 8'h34) callable_q[63:32] <= request_i.wdata;
      if (to_unit && keeps) high_q <= request_i.wdata;
      else if (to_unit && stores && device_reply_i.valid) high_q <= '0;
      absent_q <= '0;
      if (!unit_exists_i && asks.valid && asks.op != tutti_isa_pkg::OpCancel) begin
        absent_q.valid <= 1'b1;
        absent_q.kind <= asks.op == tutti_isa_pkg::OpWait ? tutti_isa_pkg::ReplyDenied
            : tutti_isa_pkg::ReplyDone;
        // No participant and no barrier; every other operation fails.
        absent_q.data <= asks.op == tutti_isa_pkg::OpCap || asks.op == tutti_isa_pkg::OpGet
            ? 32'd0 : 32'd1;
      end
    end
  end

  always_comb begin
    assume (cores_i <= 8'd64);
  end

  always_comb begin
    if (!init_q) begin
      // Accesses.
      a_here: assert (here == (in_devices || in_units || in_slots));
      a_fault: assert (fault == !allowed);
      a_ready: assert (!allowed || ready == (!in_units || keeps || device_reply_i.valid));
      a_fault_at_once: assert (allowed || ready);
      a_devices_answer: assert (!(allowed && in_devices && loads) || rdata == device_value);
      a_slots_answer: assert (!(allowed && in_slots && loads) || rdata == box_word);
      a_units_answer: assert (!(allowed && in_units && loads) || rdata == device_reply_i.data);

      // Registers and interrupts.
      a_interrupts: assert ({software_irq, timer_irq, external_irq, call_irq}
          == {software_q, timer_q, external_q, called_q});
      a_compare: assert (u_thread.mtimecmp_q == compare_q);
      a_callable: assert (u_thread.callable_q == callable_q);
      a_sends_interrupts: assert (ipi_valid == (device_writes && offset == 8'h14));
      a_sends_calls: assert (call_valid == (device_writes && offset == 8'h2c));
      a_target: assert (!(ipi_valid || call_valid) || ipi_target == request_i.wdata[7:0]);
      a_reports: assert (report_valid == (device_writes && offset >= 8'h40));
      a_report: assert (!report_valid || ({2'd0, report_kind} == (offset[5:2])
          && report_data == request_i.wdata));

      // Messages to the units: one is open at a time.
      a_high: assert (u_thread.high_q == high_q);
      a_one_message: assert (u_thread.device_busy_q == sent_q);
      a_sends: assert (device_request.valid == sends_one);
      a_arrival: assert (!(sends_one && arrives) || (device_request.socket == socket_i[1:0]
          && device_request.device == DeviceStructure && device_request.write
          && device_request.addr == (23'h20_0000 | (23'(u_thread.u_agent.arrive_barrier_o) << 14)
          | (23'(place_i) << 6)) && device_request.data == '0));
      a_access: assert (!(sends_one && !arrives) || (device_request.socket == of_socket
          && 2'(device_request.device) == of_unit && device_request.write == stores
          && device_request.addr == request_i.addr[22:0]
          && device_request.data == {high_q, request_i.wdata}));

      // The extension port and what answers there.
      a_known: assert (ext_known == (u_thread.u_port.known_o || box_known));
      a_ext_ready: assert (ext_ready == (u_thread.u_port.ready_o || box_ready));
      a_refused: assert (ext_refused == (u_thread.u_port.refused_o || box_refused));
      a_result: assert (ext_rd == (box_known ? box_rd : u_thread.u_port.rd_o));
      a_port: assert (u_thread.u_port.valid_i == ext_valid_i
          && u_thread.u_port.insn_i == ext_insn_i && u_thread.u_port.rs1_i == ext_rs1_i
          && u_thread.u_port.rs2_i == ext_rs2_i && u_thread.u_port.privileged_i == machine_mode_i
          && u_thread.u_port.drained_i && u_thread.u_port.cancel_i == ext_cancel_i);
      a_port_and_agent: assert (u_thread.u_agent.request_i == u_thread.u_port.request_o
          && u_thread.u_port.reply_i == u_thread.u_agent.reply_o);
      a_agent: assert (u_thread.u_agent.arrive_done_i == device_reply_i.valid
          && u_thread.u_agent.complete_i == complete_i && pin == u_thread.u_agent.pin_o
          && u_thread.u_agent.pin_complete_i == pin_complete_i
          && waits == u_thread.u_agent.waits_o);
      a_unit: assert (unit_request == (unit_exists_i ? asks : '0)
          && u_thread.u_agent.unit_reply_i == (unit_exists_i ? unit_reply_i : u_thread.absent_q));
      // After the unit's disappearance nothing is said of an older answer: sockets do not change.
      a_absent: assert (u_thread.absent_q == absent_q);
    end
  end

  if (Messages != 0) begin : gen_messages
    always_comb begin
      if (!init_q) begin
        a_mailbox: assert (u_thread.gen_mailbox.u_mailbox.core_i == core_i
            && u_thread.gen_mailbox.u_mailbox.cores_i == cores_i
            && u_thread.gen_mailbox.u_mailbox.valid_i == ext_valid_i
            && u_thread.gen_mailbox.u_mailbox.insn_i == ext_insn_i
            && u_thread.gen_mailbox.u_mailbox.rs1_i == ext_rs1_i
            && u_thread.gen_mailbox.u_mailbox.rs2_i == ext_rs2_i
            && u_thread.gen_mailbox.u_mailbox.cancel_i == ext_cancel_i
            && u_thread.gen_mailbox.u_mailbox.word_addr_i == request_i.addr[15:0]);
        a_mailbox_writes: assert (box_writes == (valid_i && allowed && in_slots && stores)
            && (!box_writes || u_thread.gen_mailbox.u_mailbox.word_data_i == request_i.wdata));
        a_network: assert (out_valid == u_thread.gen_mailbox.u_mailbox.out_valid_o
            && out == u_thread.gen_mailbox.u_mailbox.out_o
            && in_ready == u_thread.gen_mailbox.u_mailbox.in_ready_o
            && u_thread.gen_mailbox.u_mailbox.out_ready_i == out_ready_i
            && u_thread.gen_mailbox.u_mailbox.in_valid_i == in_valid_i
            && u_thread.gen_mailbox.u_mailbox.in_i == in_i);
        a_detector: assert (send == u_thread.gen_mailbox.u_mailbox.send_o
            && receive == u_thread.gen_mailbox.u_mailbox.receive_o
            && idle == u_thread.gen_mailbox.u_mailbox.idle_o
            && vote == u_thread.gen_mailbox.u_mailbox.vote_o
            && left == u_thread.gen_mailbox.u_mailbox.left_o
            && member == u_thread.gen_mailbox.u_mailbox.member_o
            && u_thread.gen_mailbox.u_mailbox.release_i == release_i
            && u_thread.gen_mailbox.u_mailbox.unanimous_i == unanimous_i
            && u_thread.gen_mailbox.u_mailbox.enable_i == enable_i
            && u_thread.gen_mailbox.u_mailbox.group_i == group_i);
      end
    end
  end else begin : gen_no_messages
    always_comb begin
      // Without a mailbox a thread sends nothing, and ends nobody's wait and begins none.
      if (!init_q)
        a_no_mailbox: assert ({out_valid, in_ready, send, receive} == '0 && {idle, vote, left} == '1
            && out == '0 && member == '0);
    end
  end

  always_comb begin
    if (!init_q) begin
      c_user_calls: cover (call_valid && user && request_i.wdata == '1 && cores_i == 8'd3);
      c_timer: cover (timer_irq && compare_q != '1);
      c_both_halves: cover (device_request.valid && !arrives && stores && high_q == 32'd7);
      c_absent: cover (absent_q.valid && absent_q.kind == tutti_isa_pkg::ReplyDenied);
      c_arrives: cover (arrives && sends_one);
    end
  end
endmodule
