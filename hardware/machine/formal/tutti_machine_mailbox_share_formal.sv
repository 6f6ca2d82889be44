// SPDX-License-Identifier: Apache-2.0
/// The way of several threads' messages to one router and back, with any mailboxes and any router: a
/// message leaves unchanged and once, stays until the router has taken it, and waits for at most one
/// message of each other thread; one that comes reaches the thread that its receiver names.
module tutti_machine_mailbox_share_formal
  import tutti_machine_message_pkg::*;
#(
    parameter int unsigned Threads = 2,
    localparam int unsigned ThreadBits = $clog2(Threads)
) (
    input logic clk_i,
    // Free inputs.
    input logic reset_i,
    input logic [Threads-1:0] out_valid_i,
    input message_t [Threads-1:0] out_i,
    input logic [Threads-1:0] in_ready_i,
    input logic out_ready_i,
    input logic in_valid_i,
    input logic [7:0] in_to_i,
    // Held constant: a thread.
    input logic [ThreadBits-1:0] watched_i
);
  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && !reset_i;
  logic [Threads-1:0] out_ready, in_valid;
  logic out_valid, in_ready;
  message_t out;
  tutti_machine_mailbox_share #(
      .Threads(Threads)
  ) u_share (
      .clk_i,
      .rst_ni(rst_n),
      .out_valid_i,
      .out_ready_o(out_ready),
      .out_i,
      .in_valid_o(in_valid),
      .in_ready_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_o(out),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_to_i
  );

  logic past_q = 1'b0, open_q = 1'b0;
  logic [ThreadBits-1:0] watched_q, distance;
  logic [Threads-1:0] kept_q;
  message_t [Threads-1:0] out_q;
  message_t sent_q;
  // Messages of others since the watched thread has one.
  logic [3:0] others_q = '0;
  assign distance = watched_i - u_share.gen_several.last_q;
  // How many others may still come before it. With a message open, the last thread is its sender.
  logic [31:0] earlier;
  always_comb begin
    earlier = 32'(distance);
    if (!u_share.gen_several.open_q) earlier = (distance == '0 ? Threads : 32'(distance)) - 1;
  end
  always_ff @(posedge clk_i) begin
    power_q   <= 1'b0;
    past_q    <= rst_n;
    watched_q <= watched_i;
    kept_q    <= rst_n ? out_valid_i & ~out_ready : '0;
    out_q     <= out_i;
    open_q    <= rst_n && out_valid && !out_ready_i;
    sent_q    <= out;
    others_q  <= !rst_n || !out_valid_i[watched_i] || out_ready[watched_i] ? '0
        : others_q + 4'(out_ready != '0);
  end
  always_comb begin
    assume (power_q || watched_i == watched_q);
    // A mailbox holds its message until it is taken.
    for (int unsigned t = 0; t < Threads; t++)
      assume (!(past_q && kept_q[t]) || (out_valid_i[t] && out_i[t] == out_q[t]));
  end
  always_comb begin
    if (rst_n) begin
      a_offers: assert (out_valid == (out_valid_i != '0));
      a_is_held: assert (!(past_q && open_q) || (out_valid && out == sent_q));
      a_taken: assert (!out_ready[watched_i] || (out_valid_i[watched_i] && out_ready_i
          && out == out_i[watched_i]));
      a_once: assert ((out_ready & (out_ready - Threads'(1))) == '0
          && (out_ready != '0) == (out_valid && out_ready_i));
      a_open: assert (!u_share.gen_several.open_q || (past_q && open_q));
      a_in_turn: assert (!out_valid_i[watched_i] || 32'(others_q) + earlier <= Threads - 1);
      a_comes: assert (in_valid == (in_valid_i ? Threads'(1) << in_to_i[ThreadBits-1:0] : '0));
      a_takes: assert (in_ready == in_ready_i[in_to_i[ThreadBits-1:0]]);
    end
  end
  always_comb begin
    if (rst_n) begin
      c_waits_for_all: cover (32'(others_q) == Threads - 1 && out_ready[watched_i]);
      c_is_held: cover (past_q && open_q && out_ready_i && out_valid_i == '1);
      c_comes: cover (in_valid[watched_i] && in_ready);
    end
  end
endmodule
