// SPDX-License-Identifier: Apache-2.0
// A core with its local memory (the program, the kernel's data, the user's data), devices, and the
// ports of the barrier and atomic instructions.
//
//  0x0000'0000  32 KiB  program; never written
//  0x0000'8000  16 KiB  kernel data and stack: privileged
//  0x0000'c000  16 KiB  user data and stack
//  0x1000'0000          shared memory; its first 4 KiB are privileged
//  0x2000'0000          devices: see the README
module tutti_isa_tile
  import tutti_isa_pkg::*;
(
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic         [ 7:0] core_i,
    input  logic         [ 7:0] cores_i,
    /// Loads the image before the core runs.
    input  logic                load_valid_i,
    input  logic         [13:0] load_word_i,
    input  logic         [31:0] load_data_i,
    /// Interrupts from the harness and from other cores.
    input  logic                external_irq_i,
    input  logic                ipi_i,
    output logic                ipi_valid_o,
    output logic         [31:0] ipi_mask_o,
    output request_t            request_o,
    input  reply_t              reply_i,
    output mem_request_t        mem_request_o,
    input  logic                mem_ready_i,
    input  logic                mem_idle_i,
    input  logic         [31:0] mem_rdata_i,
    /// The program's reports to the harness.
    output logic                trace_valid_o,
    output logic         [ 3:0] trace_tag_o,
    output logic         [31:0] trace_data_o,
    output logic                halted_o,
    output logic                privileged_o
);
  localparam int unsigned IrqTimer = 0;
  localparam int unsigned IrqFault = 2;
  localparam int unsigned IrqIpi = 4;
  localparam int unsigned IrqExternal = 5;

  logic mem_valid, mem_instr, mem_ready, la_read;
  logic [31:0] mem_addr, mem_wdata, mem_rdata, la_addr, irq, eoi;
  logic [3:0] mem_wstrb;
  logic pcpi_valid, pcpi_wait, pcpi_ready, pcpi_wr;
  logic [31:0] pcpi_insn, pcpi_rs1, pcpi_rs2, pcpi_rd;

  /* verilator lint_off PINCONNECTEMPTY */
  picorv32 #(
      .ENABLE_COUNTERS64(1),
      .BARREL_SHIFTER   (1),
      .ENABLE_PCPI      (1),
      .ENABLE_FAST_MUL  (1),
      .ENABLE_DIV       (1),
      .ENABLE_IRQ       (1),
      .ENABLE_IRQ_TIMER (0),
      .REGS_INIT_ZERO   (1),
      .PROGADDR_RESET   (32'h0000_0000),
      .PROGADDR_IRQ     (32'h0000_0010)
  ) u_core (
      .clk         (clk_i),
      .resetn      (rst_ni),
      .trap        (halted_o),
      .mem_valid   (mem_valid),
      .mem_instr   (mem_instr),
      .mem_ready   (mem_ready),
      .mem_addr    (mem_addr),
      .mem_wdata   (mem_wdata),
      .mem_wstrb   (mem_wstrb),
      .mem_rdata   (mem_rdata),
      .mem_la_read (la_read),
      .mem_la_write(),
      .mem_la_addr (la_addr),
      .mem_la_wdata(),
      .mem_la_wstrb(),
      .pcpi_valid  (pcpi_valid),
      .pcpi_insn   (pcpi_insn),
      .pcpi_rs1    (pcpi_rs1),
      .pcpi_rs2    (pcpi_rs2),
      .pcpi_wr     (pcpi_wr),
      .pcpi_rd     (pcpi_rd),
      .pcpi_wait   (pcpi_wait),
      .pcpi_ready  (pcpi_ready),
      .irq         (irq),
      .eoi         (eoi),
      .trace_valid (),
      .trace_data  ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // Interrupts: the core receives each once, the port until the handler runs.
  logic [5:0] pending_q, rises;
  logic [31:0] timer_q;
  logic timer_hits, fault;
  always_comb begin
    rises              = '0;
    rises[IrqTimer]    = timer_hits;
    rises[IrqIpi]      = ipi_i;
    rises[IrqExternal] = external_irq_i;
    irq                = 32'(rises);
    irq[IrqFault]      = fault;
  end
  always_ff @(posedge clk_i) begin
    pending_q <= (pending_q & ~eoi[5:0]) | rises;
    if (!rst_ni) pending_q <= '0;
  end

  // The target of an access, and whether it is permitted.
  logic to_local, to_shared, to_device, writes, forbidden;
  assign writes = mem_wstrb != '0;
  assign to_local = mem_addr[31:16] == '0;
  assign to_shared = in_shared(mem_addr);
  assign to_device = mem_addr[31:7] == 25'h40_0000;
  always_comb begin
    forbidden = !to_local && !to_shared && !to_device;
    if (to_local && !mem_addr[15]) forbidden = writes;
    if (to_local && mem_addr[15:14] == 2'b10) forbidden = !privileged_o;
    if (to_shared && mem_addr[27:12] == '0) forbidden = !privileged_o;
    if (to_device && mem_addr[6:4] == 3'd1) forbidden = writes && !privileged_o;
  end
  assign fault = mem_valid && forbidden;

  // Local memory: read one cycle ahead, so that it costs no wait.
  logic [31:0] local_mem[16384];
  logic [31:0] local_q, device_q;
  always_ff @(posedge clk_i) begin
    if (load_valid_i) local_mem[load_word_i] <= load_data_i;
    if (la_read) local_q <= local_mem[la_addr[15:2]];
    if (mem_valid && to_local && !forbidden)
      for (int unsigned i = 0; i < 4; i++)
        if (mem_wstrb[i]) local_mem[mem_addr[15:2]][8*i+:8] <= mem_wdata[8*i+:8];
  end

  // Devices.
  logic device_writes;
  assign device_writes = mem_valid && to_device && !forbidden && writes;
  always_comb begin
    unique case (mem_addr[6:2])
      5'd0: device_q = 32'(core_i);
      5'd1: device_q = 32'(cores_i);
      5'd2: device_q = 32'(privileged_o);
      default: device_q = '0;
    endcase
  end
  assign timer_hits = timer_q == 32'd1;
  always_ff @(posedge clk_i) begin
    if (timer_q != '0) timer_q <= timer_q - 32'd1;
    if (device_writes && mem_addr[6:2] == 5'd4) timer_q <= mem_wdata;
    if (!rst_ni) timer_q <= '0;
  end
  assign ipi_valid_o = device_writes && mem_addr[6:2] == 5'd5;
  assign ipi_mask_o = mem_wdata;
  assign trace_valid_o = device_writes && mem_addr[6];
  assign trace_tag_o = mem_addr[5:2];
  assign trace_data_o = mem_wdata;

  // The path to the shared memory: the core's own accesses, or one of its atomic instructions.
  mem_request_t amo;
  logic core_shared, amo_open_q, amo_ready, amo_wait, amo_allowed;
  logic [31:0] amo_rd;
  assign core_shared = mem_valid && to_shared && !forbidden;
  assign amo_allowed = pcpi_rs1[27:12] != '0 || privileged_o;
  always_comb begin
    mem_request_o = '{
        valid: core_shared,
        atomic: 1'b0,
        funct5: '0,
        wstrb: mem_wstrb,
        addr: mem_addr,
        wdata: mem_wdata
    };
    if (amo.valid && (amo_open_q || !core_shared)) mem_request_o = amo;
  end
  always_ff @(posedge clk_i) begin
    amo_open_q <= amo.valid && (amo_open_q || !core_shared) && !mem_ready_i;
    if (!rst_ni) amo_open_q <= 1'b0;
  end

  tutti_isa_amo_port u_amo (
      .pcpi_valid_i(pcpi_valid && amo_allowed),
      .pcpi_insn_i (pcpi_insn),
      .pcpi_rs1_i  (pcpi_rs1),
      .pcpi_rs2_i  (pcpi_rs2),
      .pcpi_wait_o (amo_wait),
      .pcpi_ready_o(amo_ready),
      .pcpi_rd_o   (amo_rd),
      .request_o   (amo),
      .ready_i     (mem_ready_i && mem_request_o.atomic),
      .rdata_i     (mem_rdata_i)
  );

  logic bar_wait, bar_ready, bar_wr;
  logic [31:0] bar_rd;
  tutti_isa_core_port u_port (
      .clk_i,
      .rst_ni,
      .pcpi_valid_i(pcpi_valid),
      .pcpi_insn_i (pcpi_insn),
      .pcpi_rs1_i  (pcpi_rs1),
      .pcpi_rs2_i  (pcpi_rs2),
      .pcpi_wait_o (bar_wait),
      .pcpi_ready_o(bar_ready),
      .pcpi_wr_o   (bar_wr),
      .pcpi_rd_o   (bar_rd),
      .handler_i   (|eoi),
      .interrupt_i (|pending_q),
      .drained_i   (mem_idle_i),
      .privileged_o(privileged_o),
      .request_o   (request_o),
      .reply_i     (reply_i)
  );
  assign pcpi_wait = bar_wait || amo_wait;
  assign pcpi_ready = bar_ready || amo_ready;
  assign pcpi_wr = amo_ready || bar_wr;
  assign pcpi_rd = amo_ready ? amo_rd : bar_rd;

  always_comb begin
    mem_ready = mem_valid && (forbidden || !to_shared || mem_ready_i && !mem_request_o.atomic);
    unique case (1'b1)
      forbidden: mem_rdata = '0;
      to_local: mem_rdata = local_q;
      to_device: mem_rdata = device_q;
      default: mem_rdata = mem_rdata_i;
    endcase
  end

  logic unused;
  assign unused = mem_instr | (|eoi[31:6]);

endmodule
