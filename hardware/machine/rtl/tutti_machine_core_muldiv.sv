// SPDX-License-Identifier: Apache-2.0
// Multiplication in two cycles, and division, one bit a cycle, in 34.
module tutti_machine_core_muldiv (
    input  logic        clk_i,
    input  logic        rst_ni,
    /// Operands and operation are valid; they are held until `done_o`.
    input  logic        valid_i,
    /// funct3 of the M extension.
    input  logic [ 2:0] funct3_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic        done_o,
    output logic [31:0] result_o
);
  // Steps that are left of a division; 0 also when a product is ready.
  logic [5:0] left_q, left_d;
  logic busy_q, busy_d;
  // The product, or {remainder, dividend that becomes the quotient}.
  logic [63:0] value_q, value_d;

  logic divides, signed_operands;
  assign divides = funct3_i[2];
  assign signed_operands = !funct3_i[0];

  logic negative_a, negative_b;
  logic [31:0] size_a, size_b;
  assign negative_a = signed_operands && a_i[31];
  assign negative_b = signed_operands && b_i[31];
  assign size_a = negative_a ? -a_i : a_i;
  assign size_b = negative_b ? -b_i : b_i;

  // The high word of a product of signed operands is that of the unsigned ones, less the other
  // operand for each negative one. mulh: both are signed; mulhsu: the first.
  logic [31:0] correction;
  assign correction = (a_i[31] && (funct3_i == 3'd1 || funct3_i == 3'd2) ? b_i : '0) +
      (b_i[31] && funct3_i == 3'd1 ? a_i : '0);

  logic [32:0] partial, difference;
  assign partial = value_q[63:31];
  assign difference = partial - {1'b0, size_b};

  always_comb begin
    left_d  = left_q;
    busy_d  = busy_q;
    value_d = value_q;
    if (!busy_q) begin
      if (valid_i) begin
        busy_d = 1'b1;
        if (divides) begin
          left_d  = 6'd32;
          value_d = {32'd0, size_a};
        end else begin
          value_d = 64'(a_i) * 64'(b_i);
        end
      end
    end else if (left_q != '0) begin
      left_d  = left_q - 6'd1;
      value_d = difference[32] ? {value_q[62:0], 1'b0} : {difference[31:0], value_q[30:0], 1'b1};
    end else begin
      busy_d = 1'b0;
    end
  end
  assign done_o = busy_q && left_q == '0;

  always_comb begin
    unique case (funct3_i)
      3'd0: result_o = value_q[31:0];
      3'd1, 3'd2, 3'd3: result_o = value_q[63:32] - correction;
      // The quotient of a division by 0 has all bits set, whatever the sign.
      3'd4, 3'd5:
      result_o = negative_a != negative_b && b_i != '0 ? -value_q[31:0] : value_q[31:0];
      default: result_o = negative_a ? -value_q[63:32] : value_q[63:32];
    endcase
  end

  always_ff @(posedge clk_i) begin
    value_q <= value_d;
    if (!rst_ni) begin
      left_q <= '0;
      busy_q <= 1'b0;
    end else begin
      left_q <= left_d;
      busy_q <= busy_d;
    end
  end
endmodule
