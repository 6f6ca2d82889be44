// SPDX-License-Identifier: Apache-2.0
/// Connects the mailboxes of a core's hardware threads with its router. The threads take turns at
/// sending, a message that the router has not taken keeps its turn, and a message that comes goes to
/// the thread that the low bits of its receiver name.
module tutti_machine_mailbox_share
  import tutti_machine_message_pkg::*;
#(
    /// 1, 2, 4 or 8.
    parameter int unsigned Threads = 1
) (
    input  logic                   clk_i,
    /// Synchronous reset, active low.
    input  logic                   rst_ni,
    /// The mailboxes. `in_valid_o` says whose the router's message is.
    input  logic     [Threads-1:0] out_valid_i,
    output logic     [Threads-1:0] out_ready_o,
    input  message_t [Threads-1:0] out_i,
    output logic     [Threads-1:0] in_valid_o,
    input  logic     [Threads-1:0] in_ready_i,
    /// The router.
    output logic                   out_valid_o,
    input  logic                   out_ready_i,
    output message_t               out_o,
    input  logic                   in_valid_i,
    output logic                   in_ready_o,
    input  logic     [        7:0] in_to_i
);
  if (Threads != 1 && Threads != 2 && Threads != 4 && Threads != 8)
    $fatal(1, "tutti_machine_mailbox_share: Threads must be 1, 2, 4 or 8");

  if (Threads == 1) begin : gen_one
    assign out_valid_o = out_valid_i[0];
    assign out_ready_o = out_ready_i;
    assign out_o = out_i[0];
    assign in_valid_o = in_valid_i;
    assign in_ready_o = in_ready_i[0];
    logic unused;
    assign unused = ^{clk_i, rst_ni, in_to_i};
  end else begin : gen_several
    localparam int unsigned ThreadBits = $clog2(Threads);
    typedef logic [ThreadBits-1:0] thread_t;
    // The thread that sent last, or whose message the router has not taken yet.
    thread_t last_q, chosen, candidate, to;
    logic open_q;
    // The nearest one after the last is found last.
    always_comb begin
      chosen = last_q;
      for (int unsigned k = Threads - 1; k > 0; k--) begin
        candidate = last_q + thread_t'(k);
        if (!open_q && out_valid_i[candidate]) chosen = candidate;
      end
    end
    assign out_valid_o = out_valid_i[chosen];
    assign out_o = out_i[chosen];
    assign out_ready_o = out_valid_o && out_ready_i ? Threads'(1) << chosen : '0;

    assign to = thread_t'(in_to_i);
    assign in_valid_o = in_valid_i ? Threads'(1) << to : '0;
    assign in_ready_o = in_ready_i[to];
    logic unused;
    assign unused = ^in_to_i;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        last_q <= '0;
        open_q <= 1'b0;
      end else begin
        last_q <= chosen;
        open_q <= out_valid_o && !out_ready_i;
      end
    end
  end
endmodule
