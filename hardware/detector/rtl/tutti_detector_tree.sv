// SPDX-License-Identifier: Apache-2.0
/// Reduces the wires of all cores of a node to one message count and one state. Sum and
/// conjunctions pass through the same registered entries, so that all outputs describe the same
/// cycle.
module tutti_detector_tree
  import tutti_detector_pkg::*;
#(
    /// Cores of the node, 1 to 256.
    parameter int unsigned Cores = 64,
    /// Inputs of an entry of the tree, 2 to 16.
    parameter int unsigned Radix = 4,
    /// Width of the values that threads give, at most 32; 0: there are none.
    parameter int unsigned ValueBits = 0,
    localparam int unsigned SumBits = $clog2(Cores) + 2
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// A thread of the core sends a message.
    input logic [Cores-1:0] send_i,
    /// A thread of the core has taken a message and freed its slot.
    input logic [Cores-1:0] receive_i,
    /// All threads of the core wait for termination.
    input logic [Cores-1:0] idle_i,
    /// All threads of the core voted true.
    input logic [Cores-1:0] vote_i,
    /// No thread of the core still has to leave the episode that was released last.
    input logic [Cores-1:0] left_i,
    /// The total of the values that the core's threads have given.
    input total_t [Cores-1:0] total_i,
    /// Messages sent minus messages received, signed.
    output logic [SumBits-1:0] sum_o,
    output logic idle_o,
    output logic vote_o,
    output logic left_o,
    output total_t total_o
);
  if (Cores < 1 || Cores > 256) $fatal(1, "tutti_detector_tree: Cores must be 1 to 256");
  if (Radix < 2 || Radix > 16) $fatal(1, "tutti_detector_tree: Radix must be 2 to 16");
  if (ValueBits > 32) $fatal(1, "tutti_detector_tree: ValueBits must be at most 32");

  localparam int unsigned Levels = tree_levels(Cores, Radix);

  for (genvar l = 0; l <= Levels; ++l) begin : gen_level
    localparam int unsigned Width = tree_width(Cores, Radix, l);
    logic [Width-1:0][SumBits-1:0] sum;
    logic [Width-1:0] idle, vote, left;
    total_t [Width-1:0] value;
    if (l == 0) begin : gen_leaves
      for (genvar n = 0; n < Width; ++n) begin : gen_leaf
        assign sum[n] = SumBits'(send_i[n]) - SumBits'(receive_i[n]);
      end
      assign idle = idle_i;
      assign vote = vote_i;
      assign left = left_i;
      assign value = ValueBits == 0 ? '0 : total_i;
    end else begin : gen_entries
      localparam int unsigned Below = tree_width(Cores, Radix, l - 1);
      for (genvar n = 0; n < Width; ++n) begin : gen_entry
        localparam int unsigned First = n * Radix;
        localparam int unsigned Children = First + Radix > Below ? Below - First : Radix;
        logic [SumBits-1:0] total;
        always_comb begin
          total = '0;
          for (int unsigned c = 0; c < Children; ++c) total = total + gen_level[l-1].sum[First+c];
        end
        always_ff @(posedge clk_i) begin
          if (!rst_ni) begin
            sum[n] <= '0;
            idle[n] <= 1'b0;
            vote[n] <= 1'b0;
            left[n] <= 1'b0;
          end else begin
            sum[n] <= total;
            idle[n] <= &gen_level[l-1].idle[First+:Children];
            vote[n] <= &gen_level[l-1].vote[First+:Children];
            left[n] <= &gen_level[l-1].left[First+:Children];
          end
        end
        if (ValueBits == 0) begin : gen_no_values
          assign value[n] = '0;
          logic unused;
          assign unused = ^gen_level[l-1].value[First+:Children];
        end else begin : gen_values
          for (genvar c = 0; c < Children; ++c) begin : gen_child
            // The total of the first children, up to this one.
            total_t upto;
            if (c == 0) begin : gen_first
              assign upto = gen_level[l-1].value[First];
            end else begin : gen_next
              tutti_detector_combine #(
                  .Bits(ValueBits)
              ) i_combine (
                  .a_i(gen_child[c-1].upto),
                  .b_i(gen_level[l-1].value[First+c]),
                  .total_o(upto)
              );
            end
          end
          always_ff @(posedge clk_i) value[n] <= rst_ni ? gen_child[Children-1].upto : '0;
        end
      end
    end
  end

  assign sum_o = gen_level[Levels].sum[0];
  assign idle_o = gen_level[Levels].idle[0];
  assign vote_o = gen_level[Levels].vote[0];
  assign left_o = gen_level[Levels].left[0];
  assign total_o = gen_level[Levels].value[0];

  if (Levels == 0) begin : gen_no_register
    logic unused;
    assign unused = clk_i ^ rst_ni;
  end
endmodule
