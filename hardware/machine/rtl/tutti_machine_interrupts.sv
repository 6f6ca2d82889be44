// SPDX-License-Identifier: Apache-2.0
// Carries interrupts between cores. Each arrives a fixed time after it was sent, which depends on
// whether the sender is in the same socket. A wheel, which has one mask of cores for each cycle to
// come, holds what is on its way.
module tutti_machine_interrupts #(
    parameter int unsigned Cores   = 16,
    parameter int unsigned Sockets = 2,
    /// Cycles from the store to the interrupt.
    parameter int unsigned Near    = 20,
    parameter int unsigned Far     = 75
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    /// The number of each core for programs. A message to 0xff goes to all other cores.
    input  logic [      7:0] number_i[Cores],
    input  logic             valid_i [Cores],
    input  logic [      7:0] target_i[Cores],
    output logic [Cores-1:0] ipi_o
);
  if (Cores < 1 || Cores > 64) $fatal(1, "tutti_machine_interrupts: Cores must be 1 to 64");
  if (Sockets < 1 || Cores % (Sockets < 1 ? 1 : Sockets) != 0)
    $fatal(1, "tutti_machine_interrupts: Sockets must divide Cores");
  if (Near < 2 || Near > 255 || Far < 2 || Far > 255)
    $fatal(1, "tutti_machine_interrupts: Near and Far must be 2 to 255");

  localparam int unsigned Slots = 1 << $clog2(Near > Far ? Near : Far);
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned Each = Cores / (Sockets < 1 ? 1 : Sockets);

  logic [Slots-1:0][Cores-1:0] wheel_q;
  logic [SlotBits-1:0] now_q;
  logic [Cores-1:0] near, far;
  always_comb begin
    near = '0;
    far  = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      if (valid_i[c]) begin
        for (int unsigned t = 0; t < Cores; t++) begin
          if (number_i[t] == target_i[c] || (target_i[c] == 8'hff && t != c)) begin
            if (t / Each == c / Each) near[t] = 1'b1;
            else far[t] = 1'b1;
          end
        end
      end
    end
  end

  // What is in slot now_q leaves now and arrives in the next cycle.
  logic [SlotBits-1:0] at_near, at_far;
  assign at_near = now_q + SlotBits'(Near - 1);
  assign at_far = now_q + SlotBits'(Far - 1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      now_q   <= '0;
      ipi_o   <= '0;
      wheel_q <= '0;
    end else begin
      now_q          <= now_q + 1'b1;
      ipi_o          <= wheel_q[now_q];
      wheel_q[now_q] <= '0;
      if (near != '0 || (Near == Far && far != '0))
        wheel_q[at_near] <= wheel_q[at_near] | near | (Near == Far ? far : '0);
      if (Near != Far && far != '0) wheel_q[at_far] <= wheel_q[at_far] | far;
    end
  end
endmodule
