// SPDX-License-Identifier: Apache-2.0
// A tile: a processor, its devices and its barrier instructions. It divides the addresses and says
// which accesses are permitted; the RAM, through a cache, is outside.
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
    /// 1: the tile has a mailbox.
    parameter int unsigned Messages   = 0
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic             [ 7:0] core_i,
    input  logic             [ 7:0] cores_i,
    input  logic             [ 7:0] socket_i,
    input  logic             [ 7:0] sockets_i,
    /// The clock that all tiles share.
    input  logic             [63:0] mtime_i,
    /// Sets the external interrupt, which lasts until the program clears it.
    input  logic                    external_irq_i,
    /// Sets the software interrupt.
    input  logic                    ipi_i,
    /// An interrupt for another core, or for all others (0xff).
    output logic                    ipi_valid_o,
    output logic             [ 7:0] ipi_target_o,
    /// The same of remote calls.
    input  logic                    call_i,
    output logic                    call_valid_o,

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
    output tutti_isa_pkg::request_t unit_request_o,
    input  tutti_isa_pkg::reply_t   unit_reply_i,

    /// The units of tutti_machine_units: a message and its answer, the end of an episode of the
    /// socket's structure, and the wires of the mask unit. `place_i`: the core's number in the
    /// structure of its socket.
    input  logic            [ 7:0]  place_i,
    output device_request_t         device_request_o,
    input  device_reply_t           device_reply_i,
    input  complete_t               complete_i,
    output pin_t                    pin_o,
    input  logic                    pin_complete_i,

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
    output logic             [31:0] report_data_o,

    output logic                    retired_o,
    output activity_e               activity_o,
    output logic             [ 7:0] waits_o,
    output logic             [31:0] pc_o
);
  if (RamBytes < (128 << 10) || (RamBytes & (RamBytes - 1)) != 0 || RamBytes > (1 << 30))
    $fatal(1, "tutti_machine_tile: RamBytes must be a power of two from 128 KiB to 1 GiB");

  // The part of the RAM that belongs to machine mode.
  localparam int unsigned KernelBytes = 64 << 10;
  localparam int unsigned RamBits = $clog2(RamBytes);

  logic msip_q, mtip_q, meip_q, call_q, call_taken;
  logic data_valid, data_ready, data_fault, machine_mode;
  data_request_t request;
  logic [31:0] data_rdata;
  logic ext_valid, ext_cancel, ext_known, ext_ready, ext_refused, ext_write;
  logic [31:0] ext_insn, ext_rs1, ext_rs2, ext_rd;
  trace_t trace;

  tutti_machine_core #(
      .ImageBytes(ImageBytes)
  ) u_core (
      .clk_i,
      .rst_ni,
      .hart_i        (32'(core_i)),
      .software_irq_i(msip_q),
      .timer_irq_i   (mtip_q),
      .external_irq_i(meip_q),
      .call_irq_i    (call_q),
      .call_taken_o  (call_taken),
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
      .ext_write_i   (ext_write),
      .ext_rd_i      (ext_rd),
      .activity_o,
      .pc_o,
      .trace_o       (trace)
  );
  assign retired_o = trace.valid && !trace.trap;
  logic unused;
  assign unused = ^trace;

  // The processor refuses or retires the instruction as the port says. Its accesses are complete
  // when the next instruction begins, so an arrival publishes what was written before it.
  assign ext_write = 1'b1;
  logic port_known, port_ready, port_refused, box_known, box_ready, box_refused;
  logic [31:0] port_rd, box_rd;
  assign ext_known = port_known || box_known;
  assign ext_ready = port_ready || box_ready;
  assign ext_refused = port_refused || box_refused;
  assign ext_rd = box_known ? box_rd : port_rd;
  logic unused_user;
  tutti_isa_pkg::request_t port_request;
  tutti_isa_pkg::reply_t port_reply;
  tutti_isa_port u_port (
      .clk_i,
      .rst_ni,
      .valid_i     (ext_valid),
      .insn_i      (ext_insn),
      .rs1_i       (ext_rs1),
      .rs2_i       (ext_rs2),
      .privileged_i(machine_mode),
      .drained_i   (1'b1),
      .cancel_i    (ext_cancel),
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

  // The target of the access, and whether it is permitted.
  logic to_image, to_ram, to_device, to_units, to_box, loads, device_known, units_known;
  logic box_exists, box_own;
  logic [31:0] box_rdata;
  assign loads = request.op == OpLoad;
  assign to_image = request.addr < ImageBytes;
  assign to_ram = request.addr >> RamBits == 32'h8000_0000 >> RamBits;
  assign to_device = request.addr[31:8] == 24'h20_0000;
  assign to_units = request.addr[31:27] == 5'b01010;
  assign to_box = Messages != 0 && request.addr[31:16] == 16'h3000;
  always_comb begin
    data_fault = 1'b1;
    if (to_image) data_fault = !loads;
    if (to_ram) data_fault = !machine_mode && request.addr[RamBits-1:0] < RamBits'(KernelBytes);
    if (to_device)
      data_fault = (!loads && request.op != OpStore) || request.strobe != 4'hf || !device_known;
    if (to_units)
      data_fault = (!loads && request.op != OpStore) || request.strobe != 4'hf || !units_known;
    // A slot that belongs to the mailbox can only be read.
    if (to_box)
      data_fault = (!loads && (request.op != OpStore || !box_own)) || request.strobe != 4'hf ||
          !box_exists;
  end

  if (Messages != 0) begin : gen_mailbox
    tutti_machine_mailbox u_mailbox (
        .clk_i,
        .rst_ni,
        .core_i,
        .cores_i,
        .valid_i      (ext_valid),
        .insn_i       (ext_insn),
        .rs1_i        (ext_rs1),
        .rs2_i        (ext_rs2),
        .cancel_i     (ext_cancel),
        .known_o      (box_known),
        .ready_o      (box_ready),
        .refused_o    (box_refused),
        .rd_o         (box_rd),
        .word_addr_i  (request.addr[15:0]),
        .word_write_i (data_valid && to_box && !data_fault && !loads),
        .word_data_i  (request.wdata),
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
  assign to_others = request.wdata == '1;
  assign target_known = to_others || request.wdata < 32'(cores_i);
  assign target_callable = to_others ? (callable_q | ('1 << cores_i)) == '1
                                     : callable_q[request.wdata[5:0]];
  logic [31:0] device_rdata;
  logic device_writes;
  assign device_writes = data_valid && to_device && !data_fault && !loads;
  always_comb begin
    device_known = 1'b0;
    device_rdata = '0;
    unique case (request.addr[7:0])
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
        device_known = machine_mode;
        device_rdata = 32'(msip_q);
      end
      8'h14: device_known = machine_mode && !loads && target_known;
      8'h18: begin
        device_known = loads;
        device_rdata = mtime_i[31:0];
      end
      8'h1c: begin
        device_known = loads;
        device_rdata = mtime_i[63:32];
      end
      8'h20: begin
        device_known = machine_mode;
        device_rdata = mtimecmp_q[31:0];
      end
      8'h24: begin
        device_known = machine_mode;
        device_rdata = mtimecmp_q[63:32];
      end
      8'h28: begin
        device_known = machine_mode;
        device_rdata = 32'(meip_q);
      end
      8'h2c: device_known = !loads && target_known && (machine_mode || target_callable);
      8'h30: begin
        device_known = machine_mode;
        device_rdata = callable_q[31:0];
      end
      8'h34: begin
        device_known = machine_mode;
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
  assign device = device_e'(request.addr[24:23]);
  assign in_unit = request.addr[22:0];
  always_comb begin
    unique case (device)
      DeviceStructure: units_known = machine_mode && 8'(request.addr[26:25]) < sockets_i;
      DeviceCounting, DeviceMask:
      units_known = request.addr[26:25] == '0 && in_unit[22:16] == '0 &&
          (machine_mode ||
           (loads ? in_unit[15:14] == tutti_counting_pkg::SenseBase[15:14]
                  : in_unit[15:14] == tutti_counting_pkg::TriggerBase[15:14]));
      default: units_known = 1'b0;
    endcase
  end
  // A store to the high half is kept for the store to the low half, which sends both.
  logic [31:0] high_q;
  logic units_access, keeps_high, device_busy_q;
  assign units_access = data_valid && to_units && !data_fault;
  assign keeps_high = !loads && in_unit[2];
  always_comb begin
    device_request_o = '{
        valid: !device_busy_q && (arrive_valid || (units_access && !keeps_high)),
        socket: request.addr[26:25],
        device: device,
        write: !loads,
        addr: in_unit,
        data: {high_q, request.wdata}
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
      if (units_access && keeps_high) high_q <= request.wdata;
      else if (units_access && data_ready) high_q <= '0;
    end
  end

  assign ipi_valid_o = device_writes && request.addr[7:0] == 8'h14;
  assign call_valid_o = device_writes && request.addr[7:0] == 8'h2c;
  assign ipi_target_o = request.wdata[7:0];
  assign report_valid_o = device_writes && request.addr[6];
  assign report_kind_o = request.addr[3:2];
  assign report_data_o = request.wdata;

  // Constants: the second port of the image needs a cycle.
  logic image_ready_q;
  assign image_addr_o = request.addr;

  assign mem_valid_o = data_valid && to_ram && !data_fault;
  assign mem_request_o = request;
  always_comb begin
    data_ready = 1'b1;
    data_rdata = device_rdata;
    if (!data_fault && to_image) begin
      data_ready = image_ready_q;
      data_rdata = image_data_i;
    end
    if (!data_fault && to_box) data_rdata = box_rdata;
    if (!data_fault && to_ram) begin
      data_ready = mem_ready_i;
      data_rdata = mem_rdata_i;
    end
    if (!data_fault && to_units) begin
      data_ready = keeps_high || device_reply_i.valid;
      data_rdata = device_reply_i.data;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      msip_q        <= 1'b0;
      mtip_q        <= 1'b0;
      meip_q        <= 1'b0;
      call_q        <= 1'b0;
      callable_q    <= '0;
      mtimecmp_q    <= '1;
      image_ready_q <= 1'b0;
    end else begin
      // An interrupt that comes while an older one is cleared stays.
      if (device_writes && request.addr[7:0] == 8'h10) msip_q <= 1'b0;
      if (ipi_i) msip_q <= 1'b1;
      if (device_writes && request.addr[7:0] == 8'h28) meip_q <= 1'b0;
      if (external_irq_i) meip_q <= 1'b1;
      if (call_taken) call_q <= 1'b0;
      if (call_i) call_q <= 1'b1;
      if (device_writes && request.addr[7:0] == 8'h30) callable_q[31:0] <= request.wdata;
      if (device_writes && request.addr[7:0] == 8'h34) callable_q[63:32] <= request.wdata;
      mtip_q <= mtime_i >= mtimecmp_q;
      if (device_writes && request.addr[7:0] == 8'h20) mtimecmp_q[31:0] <= request.wdata;
      if (device_writes && request.addr[7:0] == 8'h24) mtimecmp_q[63:32] <= request.wdata;
      image_ready_q <= data_valid && to_image && loads && !image_ready_q;
    end
  end

endmodule
