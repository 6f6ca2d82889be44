// SPDX-License-Identifier: Apache-2.0
/// The total of two: the aggregators one by one, with values of any width; and that neither the order
/// nor the grouping of three values changes their total, so that trees and masters of any shape agree.
module tutti_detector_combine_formal
  import tutti_detector_pkg::*;
#(
    parameter int unsigned Bits = 32
) (
    input logic clk_i,
    // Free inputs.
    input total_t a_i,
    input total_t b_i,
    input total_t c_i
);
  total_t ab, ba, ab_c, bc, a_bc;
  tutti_detector_combine #(
      .Bits(Bits)
  ) i_ab (
      .a_i,
      .b_i,
      .total_o(ab)
  );
  tutti_detector_combine #(
      .Bits(Bits)
  ) i_ba (
      .a_i(b_i),
      .b_i(a_i),
      .total_o(ba)
  );
  tutti_detector_combine #(
      .Bits(Bits)
  ) i_ab_c (
      .a_i(ab),
      .b_i(c_i),
      .total_o(ab_c)
  );
  tutti_detector_combine #(
      .Bits(Bits)
  ) i_bc (
      .a_i(b_i),
      .b_i(c_i),
      .total_o(bc)
  );
  tutti_detector_combine #(
      .Bits(Bits)
  ) i_a_bc (
      .a_i,
      .b_i(bc),
      .total_o(a_bc)
  );

  logic [Bits-1:0] a, b, sum, got;
  logic same, less, less_signed;
  assign a = a_i.value[Bits-1:0];
  assign b = b_i.value[Bits-1:0];
  assign sum = a + b;
  assign got = ab.value[Bits-1:0];
  assign same = a_i.how == b_i.how;
  assign less = {1'b0, a} < {1'b0, b};
  // The sign turned, numbers with a sign have the order of those without.
  assign less_signed = (a ^ (Bits'(1) << (Bits - 1))) < (b ^ (Bits'(1) << (Bits - 1)));

  always_comb begin
    a_sum: assert (!(same && a_i.how == TotalSum) || got == sum);
    a_min: assert (!(same && a_i.how == TotalMin) || got == (less_signed ? a : b));
    a_max: assert (!(same && a_i.how == TotalMax) || got == (less_signed ? b : a));
    a_and: assert (!(same && a_i.how == TotalAnd) || got == (a & b));
    a_or: assert (!(same && a_i.how == TotalOr) || got == (a | b));
    a_min_unsigned: assert (!(same && a_i.how == TotalMinUnsigned) || got == (less ? a : b));
    a_max_unsigned: assert (!(same && a_i.how == TotalMaxUnsigned) || got == (less ? b : a));
    a_same: assert (!same || ab.how == a_i.how);
    a_none_left: assert (a_i.how != TotalNone || b_i.how == TotalNone || (ab.how == b_i.how && got == b));
    a_none_right: assert (b_i.how != TotalNone || a_i.how == TotalNone || (ab.how == a_i.how && got == a));
    a_mixed: assert (same || a_i.how == TotalNone || b_i.how == TotalNone
        || (ab.how == TotalMixed && got == '0));
    a_stays_mixed: assert (a_i.how != TotalMixed || b_i.how == TotalNone
        || (ab.how == TotalMixed && got == '0));
    a_nobody: assert (!(same && a_i.how == TotalNone) || ab == '0);
    a_high: assert ((ab.value >> Bits) == '0);
    a_commutes: assert (ab == ba);
    a_associates: assert (ab_c == a_bc);
    c_wraps: cover (same && a_i.how == TotalSum && got < a && ab_c.how == TotalSum);
    c_negative: cover (same && a_i.how == TotalMin && less != less_signed);
    c_mixed: cover (ab.how != TotalMixed && ab_c.how == TotalMixed);
  end

  logic unused;
  assign unused = clk_i;
endmodule
