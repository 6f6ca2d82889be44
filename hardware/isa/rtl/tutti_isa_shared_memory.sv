// SPDX-License-Identifier: Apache-2.0
// The shared memory: banks interleaved by lines of 128 bytes, and the path of each core to them.
//
// A core has one access under way. Without contention it takes `latency_i` cycles from request to
// answer: of the cycles above two, half on the way there and half on the way back. With `near_i`,
// bank c is beside core c and answers it in two. With `posted_i`, a store lets the core continue at
// once, and only its next access waits for it. Both help software that polls, as caches and store
// buffers do.
module tutti_isa_shared_memory
  import tutti_isa_pkg::*;
#(
    parameter int unsigned Cores = 16,
    /// Number of banks, a power of two.
    parameter int unsigned Banks = 16,
    /// 32-bit words in all.
    parameter int unsigned Words = SharedWords
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    /// At least 2.
    input  logic         [7:0]             latency_i,
    input  logic                           near_i,
    input  logic                           posted_i,
    /// Held until ready.
    input  mem_request_t [Cores-1:0]       request_i,
    output logic         [Cores-1:0]       ready_o,
    output logic         [Cores-1:0][31:0] rdata_o,
    /// No access of the core is under way, posted stores included.
    output logic         [Cores-1:0]       idle_o,
    /// Requests that met another one at their bank, for reports.
    output logic         [Cores-1:0]       queued_o
);
  localparam int unsigned BankBits = $clog2(Banks);
  // Words of a line.
  localparam int unsigned LineBits = 5;

  if ((1 << BankBits) != Banks || Banks < 2)
    $fatal(1, "tutti_isa_shared_memory: Banks must be a power of two, 2 or more");

  typedef enum logic [2:0] {
    Idle,
    Going,
    AtBank,
    Coming,
    Answer
  } state_e;

  logic [7:0] hops, there, back;
  assign hops = latency_i - 8'd2;
  assign there = hops - (hops >> 1);
  assign back = hops >> 1;

  state_e [Cores-1:0] state_q;
  logic [Cores-1:0][7:0] count_q;
  logic [Cores-1:0] posted_q, near;
  mem_request_t [Cores-1:0] open_q, at_bank;
  logic [Cores-1:0][31:0] word;
  logic [Cores-1:0][BankBits-1:0] bank;
  logic [Banks-1:0][Cores-1:0] grant;
  logic [Banks-1:0][31:0] bank_rdata;
  logic [Cores-1:0] granted;

  for (genvar c = 0; c < Cores; c++) begin : gen_way
    assign bank[c] = open_q[c].addr[2+LineBits+:BankBits];
    assign word[c] = (32'(open_q[c].addr[27:2+LineBits+BankBits]) << LineBits) |
        32'(open_q[c].addr[2+:LineBits]);
    assign near[c] = near_i && 32'(request_i[c].addr[2+LineBits+:BankBits]) == c;
    assign granted[c] = grant[bank[c]][c];
    assign idle_o[c] = state_q[c] == Idle;
    assign queued_o[c] = state_q[c] == AtBank && !granted[c];
    always_comb begin
      at_bank[c]       = open_q[c];
      at_bank[c].valid = state_q[c] == AtBank;
    end
    logic stores;
    assign stores = posted_i && request_i[c].wstrb != '0 && !request_i[c].atomic;
    assign ready_o[c] = state_q[c] == Answer && !posted_q[c] ||
        state_q[c] == Idle && request_i[c].valid && stores;

    always_ff @(posedge clk_i) begin
      unique case (state_q[c])
        Idle:
        if (request_i[c].valid) begin
          open_q[c]   <= request_i[c];
          posted_q[c] <= stores;
          count_q[c]  <= there;
          state_q[c]  <= near[c] || there == '0 ? AtBank : Going;
        end
        Going: begin
          count_q[c] <= count_q[c] - 8'd1;
          if (count_q[c] == 8'd1) state_q[c] <= AtBank;
        end
        AtBank:
        if (granted[c]) begin
          rdata_o[c] <= bank_rdata[bank[c]];
          count_q[c] <= back;
          // The core does not wait for the answer to a posted store, but its next access stays
          // behind it.
          if (posted_q[c]) state_q[c] <= Idle;
          else state_q[c] <= near_i && 32'(bank[c]) == c || back == '0 ? Answer : Coming;
        end
        Coming: begin
          count_q[c] <= count_q[c] - 8'd1;
          if (count_q[c] == 8'd1) state_q[c] <= Answer;
        end
        default: state_q[c] <= Idle;
      endcase
      if (!rst_ni) state_q[c] <= Idle;
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    mem_request_t [Cores-1:0] mine;
    for (genvar c = 0; c < Cores; c++) begin : gen_mine
      always_comb begin
        mine[c]       = at_bank[c];
        mine[c].valid = at_bank[c].valid && 32'(bank[c]) == b;
      end
    end
    tutti_isa_memory_bank #(
        .Cores(Cores),
        .Words(Words / Banks)
    ) u_bank (
        .clk_i,
        .rst_ni,
        .request_i(mine),
        .word_i   (word),
        .grant_o  (grant[b]),
        .rdata_o  (bank_rdata[b])
    );
  end

endmodule
