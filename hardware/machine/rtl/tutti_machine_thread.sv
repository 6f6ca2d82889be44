// SPDX-License-Identifier: Apache-2.0
// What a hardware thread has of its own in a tile: the devices of its addresses, its interrupts, the
// port of the barrier instructions with the agent, its way to the barrier units, and a mailbox. It
// answers the accesses of its thread to all of these.
module tutti_machine_thread
  import tutti_machine_pkg::*;
  import tutti_machine_device_pkg::*;
#(
    /// Barriers of the structures.
    parameter int unsigned Structures = 8,
    /// 1: the thread has a mailbox.
    parameter int unsigned Messages   = 0
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    /// The numbers that programs use: threads are their cores.
    input  logic             [ 7:0] core_i,
    input  logic             [ 7:0] cores_i,
    input  logic             [ 7:0] socket_i,
    input  logic             [ 7:0] sockets_i,
    /// The thread's number in the structure of its socket.
    input  logic             [ 7:0] place_i,
    /// The clock that all tiles share.
    input  logic             [63:0] mtime_i,
    /// Sets the external interrupt, which lasts until the program clears it.
    input  logic                    external_irq_i,
    /// Sets the software interrupt.
    input  logic                    ipi_i,
    /// An interrupt for another thread, or for all others (0xff).
    output logic                    ipi_valid_o,
    output logic             [ 7:0] ipi_target_o,
    /// The same of remote calls.
    input  logic                    call_i,
    output logic                    call_valid_o,

    /// What is pending, and the call that the core takes.
    output logic                    software_irq_o,
    output logic                    timer_irq_o,
    output logic                    external_irq_o,
    output logic                    call_irq_o,
    input  logic                    call_taken_i,

    /// An access of this thread, and whether the address belongs here. Without `valid_i` too: whether
    /// the access is not permitted.
    input  logic                    valid_i,
    input  data_request_t           request_i,
    input  logic                    machine_mode_i,
    output logic                    here_o,
    output logic                    fault_o,
    output logic                    ready_o,
    output logic             [31:0] rdata_o,

    /// The thread's extension instruction; see tutti_machine_core.
    input  logic                    ext_valid_i,
    input  logic             [31:0] ext_insn_i,
    input  logic             [31:0] ext_rs1_i,
    input  logic             [31:0] ext_rs2_i,
    input  logic                    ext_cancel_i,
    output logic                    ext_known_o,
    output logic                    ext_ready_o,
    output logic                    ext_refused_o,
    output logic             [31:0] ext_rd_o,

    /// The barrier unit.
    input  logic                    unit_exists_i,
    output tutti_isa_pkg::request_t unit_request_o,
    input  tutti_isa_pkg::reply_t   unit_reply_i,

    /// The units of tutti_machine_units: a message and its answer, the end of an episode of the
    /// socket's structure, and the wires of the mask unit.
    output device_request_t         device_request_o,
    input  device_reply_t           device_reply_i,
    input  complete_t               complete_i,
    output pin_t                    pin_o,
    input  logic                    pin_complete_i,
    output logic             [ 7:0] waits_o,

    /// The network and the detector of messages: see tutti_machine_mailbox.
    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output tutti_machine_message_pkg::message_t out_o,
    input  logic                    in_valid_i,
    output logic                    in_ready_o,
    input  tutti_machine_message_pkg::message_t in_i,
    output logic                    send_o,
    output logic                    receive_o,
    output logic                    idle_o,
    output logic                    vote_o,
    output logic                    left_o,
    input  logic                    release_i,
    input  logic                    unanimous_i,
    input  logic                    enable_i,
    output tutti_machine_message_pkg::member_t member_o,
    input  tutti_machine_message_pkg::group_reply_t group_i,

    /// What the program tells the harness: 0 trace, 1 console, 2 end.
    output logic                    report_valid_o,
    output logic             [ 1:0] report_kind_o,
    output logic             [31:0] report_data_o
);
  logic msip_q, mtip_q, meip_q, call_q;
  assign software_irq_o = msip_q;
  assign timer_irq_o = mtip_q;
  assign external_irq_o = meip_q;
  assign call_irq_o = call_q;

  // The processor refuses or retires the instruction as the port says. Its accesses are complete
  // when the next instruction begins, so an arrival publishes what was written before it.
  logic port_known, port_ready, port_refused, box_known, box_ready, box_refused;
  logic [31:0] port_rd, box_rd;
  assign ext_known_o = port_known || box_known;
  assign ext_ready_o = port_ready || box_ready;
  assign ext_refused_o = port_refused || box_refused;
  assign ext_rd_o = box_known ? box_rd : port_rd;
  logic unused_user;
  tutti_isa_pkg::request_t port_request;
  tutti_isa_pkg::reply_t port_reply;
  tutti_isa_port u_port (
      .clk_i,
      .rst_ni,
      .valid_i     (ext_valid_i),
      .insn_i      (ext_insn_i),
      .rs1_i       (ext_rs1_i),
      .rs2_i       (ext_rs2_i),
      .privileged_i(machine_mode_i),
      .drained_i   (1'b1),
      .cancel_i    (ext_cancel_i),
      .known_o     (port_known),
      .ready_o     (port_ready),
      .refused_o   (port_refused),
      .rd_o        (port_rd),
      .user_o      (unused_user),
      .request_o   (port_request),
      .reply_i     (port_reply)
  );

  // Without a barrier unit in the socket, its barriers do not exist.
  tutti_isa_pkg::request_t to_barriers;
  tutti_isa_pkg::reply_t from_barriers, absent_q;
  always_ff @(posedge clk_i) begin
    absent_q <= '0;
    if (rst_ni && !unit_exists_i && to_barriers.valid && to_barriers.op != tutti_isa_pkg::OpCancel)
      absent_q <= '{
          valid: 1'b1,
          kind: to_barriers.op == tutti_isa_pkg::OpWait ?
              tutti_isa_pkg::ReplyDenied : tutti_isa_pkg::ReplyDone,
          data: 32'(to_barriers.op != tutti_isa_pkg::OpCap &&
              to_barriers.op != tutti_isa_pkg::OpGet)
      };
  end
  assign unit_request_o = unit_exists_i ? to_barriers : '0;
  assign from_barriers = unit_exists_i ? unit_reply_i : absent_q;

  logic arrive_valid, arrive_done;
  logic [5:0] arrive_barrier;
  tutti_machine_agent #(
      .Structures(Structures)
  ) u_agent (
      .clk_i,
      .rst_ni,
      .request_i       (port_request),
      .reply_o         (port_reply),
      .unit_request_o  (to_barriers),
      .unit_reply_i    (from_barriers),
      .arrive_valid_o  (arrive_valid),
      .arrive_barrier_o(arrive_barrier),
      .arrive_done_i   (arrive_done),
      .complete_i,
      .pin_o,
      .pin_complete_i,
      .waits_o
  );

  // Whether the access is permitted.
  logic to_device, to_units, to_box, loads, device_known, units_known;
  logic box_exists, box_own;
  logic [31:0] box_rdata;
  assign loads = request_i.op == OpLoad;
  assign to_device = request_i.addr[31:8] == 24'h20_0000;
  assign to_units = request_i.addr[31:27] == 5'b01010;
  assign to_box = Messages != 0 && request_i.addr[31:16] == 16'h3000;
  assign here_o = to_device || to_units || to_box;
  always_comb begin
    fault_o = 1'b1;
    if (to_device)
      fault_o = (!loads && request_i.op != OpStore) || request_i.strobe != 4'hf || !device_known;
    if (to_units)
      fault_o = (!loads && request_i.op != OpStore) || request_i.strobe != 4'hf || !units_known;
    // A slot that belongs to the mailbox can only be read.
    if (to_box)
      fault_o = (!loads && (request_i.op != OpStore || !box_own)) || request_i.strobe != 4'hf ||
          !box_exists;
  end

  if (Messages != 0) begin : gen_mailbox
    tutti_machine_mailbox u_mailbox (
        .clk_i,
        .rst_ni,
        .core_i,
        .cores_i,
        .valid_i      (ext_valid_i),
        .insn_i       (ext_insn_i),
        .rs1_i        (ext_rs1_i),
        .rs2_i        (ext_rs2_i),
        .cancel_i     (ext_cancel_i),
        .known_o      (box_known),
        .ready_o      (box_ready),
        .refused_o    (box_refused),
        .rd_o         (box_rd),
        .word_addr_i  (request_i.addr[15:0]),
        .word_write_i (valid_i && to_box && !fault_o && !loads),
        .word_data_i  (request_i.wdata),
        .word_exists_o(box_exists),
        .word_own_o   (box_own),
        .word_data_o  (box_rdata),
        .out_valid_o,
        .out_ready_i,
        .out_o,
        .in_valid_i,
        .in_ready_o,
        .in_i,
        .send_o,
        .receive_o,
        .idle_o,
        .vote_o,
        .left_o,
        .release_i,
        .unanimous_i,
        .enable_i,
        .member_o,
        .group_i
    );
  end else begin : gen_no_mailbox
    assign {box_known, box_ready, box_refused, box_exists, box_own} = '0;
    assign box_rd = '0;
    assign box_rdata = '0;
    assign {out_valid_o, in_ready_o, send_o, receive_o} = '0;
    assign {idle_o, vote_o, left_o} = '1;
    assign out_o = '0;
    assign member_o = '0;
    logic unused_messages;
    assign unused_messages =
        ^{out_ready_i, in_valid_i, in_i, release_i, unanimous_i, enable_i, group_i};
  end

  // Devices answer in the same cycle. An access that they do not know is a fault.
  logic [63:0] mtimecmp_q;
  // The cores to which user mode may send remote calls.
  logic [63:0] callable_q;
  logic to_others, target_known, target_callable;
  assign to_others = request_i.wdata == '1;
  assign target_known = to_others || request_i.wdata < 32'(cores_i);
  assign target_callable = to_others ? (callable_q | ('1 << cores_i)) == '1
                                     : callable_q[request_i.wdata[5:0]];
  logic [31:0] device_rdata;
  logic device_writes;
  assign device_writes = valid_i && to_device && !fault_o && !loads;
  always_comb begin
    device_known = 1'b0;
    device_rdata = '0;
    unique case (request_i.addr[7:0])
      8'h00: begin
        device_known = loads;
        device_rdata = 32'(core_i);
      end
      8'h04: begin
        device_known = loads;
        device_rdata = 32'(cores_i);
      end
      8'h08: begin
        device_known = loads;
        device_rdata = 32'(sockets_i);
      end
      8'h0c: begin
        device_known = loads;
        device_rdata = 32'(socket_i);
      end
      8'h10: begin
        device_known = machine_mode_i;
        device_rdata = 32'(msip_q);
      end
      8'h14: device_known = machine_mode_i && !loads && target_known;
      8'h18: begin
        device_known = loads;
        device_rdata = mtime_i[31:0];
      end
      8'h1c: begin
        device_known = loads;
        device_rdata = mtime_i[63:32];
      end
      8'h20: begin
        device_known = machine_mode_i;
        device_rdata = mtimecmp_q[31:0];
      end
      8'h24: begin
        device_known = machine_mode_i;
        device_rdata = mtimecmp_q[63:32];
      end
      8'h28: begin
        device_known = machine_mode_i;
        device_rdata = 32'(meip_q);
      end
      8'h2c: device_known = !loads && target_known && (machine_mode_i || target_callable);
      8'h30: begin
        device_known = machine_mode_i;
        device_rdata = callable_q[31:0];
      end
      8'h34: begin
        device_known = machine_mode_i;
        device_rdata = callable_q[63:32];
      end
      8'h40, 8'h44, 8'h48: device_known = !loads;
      default: ;
    endcase
  end

  // The barrier units: the socket, the unit and half of a register of 64 bits. User mode has the
  // triggers and senses of the counting and the mask unit.
  device_e device;
  logic [22:0] in_unit;
  assign device = device_e'(request_i.addr[24:23]);
  assign in_unit = request_i.addr[22:0];
  always_comb begin
    unique case (device)
      DeviceStructure: units_known = machine_mode_i && 8'(request_i.addr[26:25]) < sockets_i;
      DeviceCounting, DeviceMask:
      units_known = request_i.addr[26:25] == '0 && in_unit[22:16] == '0 &&
          (machine_mode_i ||
           (loads ? in_unit[15:14] == tutti_counting_pkg::SenseBase[15:14]
                  : in_unit[15:14] == tutti_counting_pkg::TriggerBase[15:14]));
      default: units_known = 1'b0;
    endcase
  end
  // A store to the high half is kept for the store to the low half, which sends both.
  logic [31:0] high_q;
  logic units_access, keeps_high, device_busy_q;
  assign units_access = valid_i && to_units && !fault_o;
  assign keeps_high = !loads && in_unit[2];
  always_comb begin
    device_request_o = '{
        valid: !device_busy_q && (arrive_valid || (units_access && !keeps_high)),
        socket: request_i.addr[26:25],
        device: device,
        write: !loads,
        addr: in_unit,
        data: {high_q, request_i.wdata}
    };
    // Only one of both can be there: an arrival comes from an instruction.
    if (arrive_valid) begin
      device_request_o.socket = socket_i[1:0];
      device_request_o.device = DeviceStructure;
      device_request_o.write  = 1'b1;
      device_request_o.addr   = tutti_hbs_pkg::TriggerBase |
          {3'b0, arrive_barrier, place_i, 6'b0};
      device_request_o.data   = '0;
    end
  end
  assign arrive_done = device_reply_i.valid;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      device_busy_q <= 1'b0;
      high_q        <= '0;
    end else begin
      device_busy_q <= device_request_o.valid || (device_busy_q && !device_reply_i.valid);
      if (units_access && keeps_high) high_q <= request_i.wdata;
      else if (units_access && !loads && ready_o) high_q <= '0;
    end
  end

  assign ipi_valid_o = device_writes && request_i.addr[7:0] == 8'h14;
  assign call_valid_o = device_writes && request_i.addr[7:0] == 8'h2c;
  assign ipi_target_o = request_i.wdata[7:0];
  assign report_valid_o = device_writes && request_i.addr[6];
  assign report_kind_o = request_i.addr[3:2];
  assign report_data_o = request_i.wdata;

  always_comb begin
    ready_o = 1'b1;
    rdata_o = device_rdata;
    if (!fault_o && to_box) rdata_o = box_rdata;
    if (!fault_o && to_units) begin
      ready_o = keeps_high || device_reply_i.valid;
      rdata_o = device_reply_i.data;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      msip_q     <= 1'b0;
      mtip_q     <= 1'b0;
      meip_q     <= 1'b0;
      call_q     <= 1'b0;
      callable_q <= '0;
      mtimecmp_q <= '1;
    end else begin
      // An interrupt that comes while an older one is cleared stays.
      if (device_writes && request_i.addr[7:0] == 8'h10) msip_q <= 1'b0;
      if (ipi_i) msip_q <= 1'b1;
      if (device_writes && request_i.addr[7:0] == 8'h28) meip_q <= 1'b0;
      if (external_irq_i) meip_q <= 1'b1;
      if (call_taken_i) call_q <= 1'b0;
      if (call_i) call_q <= 1'b1;
      if (device_writes && request_i.addr[7:0] == 8'h30) callable_q[31:0] <= request_i.wdata;
      if (device_writes && request_i.addr[7:0] == 8'h34) callable_q[63:32] <= request_i.wdata;
      mtip_q <= mtime_i >= mtimecmp_q;
      if (device_writes && request_i.addr[7:0] == 8'h20) mtimecmp_q[31:0] <= request_i.wdata;
      if (device_writes && request_i.addr[7:0] == 8'h24) mtimecmp_q[63:32] <= request_i.wdata;
    end
  end

endmodule
