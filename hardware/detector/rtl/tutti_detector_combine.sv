// SPDX-License-Identifier: Apache-2.0
/// The total of two totals. A sum wraps, so no order of the values changes a total. Who gave no value
/// changes nothing.
module tutti_detector_combine
  import tutti_detector_pkg::*;
#(
    /// Width of a value, 1 to 32.
    parameter int unsigned Bits = 32
) (
    input total_t a_i,
    input total_t b_i,
    output total_t total_o
);
  if (Bits < 1 || Bits > 32) $fatal(1, "tutti_detector_combine: Bits must be 1 to 32");

  logic [Bits-1:0] a, b, value;
  assign a = a_i.value[Bits-1:0];
  assign b = b_i.value[Bits-1:0];

  always_comb begin
    unique case (a_i.how)
      TotalSum: value = a + b;
      TotalMin: value = $signed(a) < $signed(b) ? a : b;
      TotalMax: value = $signed(a) < $signed(b) ? b : a;
      TotalAnd: value = a & b;
      TotalOr: value = a | b;
      TotalMinUnsigned: value = a < b ? a : b;
      TotalMaxUnsigned: value = a < b ? b : a;
      default: value = '0;
    endcase
  end

  always_comb begin
    if (a_i.how == TotalNone && b_i.how == TotalNone) total_o = '0;
    else if (a_i.how == TotalNone) total_o = '{how: b_i.how, value: 32'(b)};
    else if (b_i.how == TotalNone) total_o = '{how: a_i.how, value: 32'(a)};
    else if (a_i.how == b_i.how) total_o = '{how: a_i.how, value: 32'(value)};
    else total_o = '{how: TotalMixed, value: '0};
  end

  if (Bits < 32) begin : gen_narrow
    logic unused;
    assign unused = ^{a_i.value[31:Bits], b_i.value[31:Bits]};
  end
endmodule
