// SPDX-License-Identifier: Apache-2.0
/// The register map of the counting, mask and tree units, as the table of ../README.md says it:
/// proofs of whole units compare each answer with it, after any requests and resets.
///
/// What the registers show of the barrier comes from the specification of the unit that instantiates
/// this module; configuration, errors and refusals are specified here.
module tutti_counting_map_checker #(
    parameter int unsigned Threads = 4,
    /// 1 counting, 2 mask, 3 tree.
    parameter int unsigned Variant = 1,
    parameter int unsigned GenerationBits = 8,
    /// 1 if the paths through memory exist.
    parameter bit MemoryPaths = 1'b1,
    /// 1 if arrivals by message exist.
    parameter bit Messages = MemoryPaths,
    /// 1 if answers come a cycle later.
    parameter int unsigned RegisterResponse = 0
) (
    input logic clk_i,
    input logic rst_ni,
    /// Nothing is known before the first reset.
    input logic init_i,
    input logic req_valid_i,
    input logic req_write_i,
    input logic [15:0] req_addr_i,
    input logic [63:0] req_data_i,
    input logic rsp_valid_i,
    input logic [63:0] rsp_data_i,
    input logic [1:0] departing_i,
    input logic [1:0][GenerationBits-1:0] generation_i,
    input logic [1:0][63:0] arrived_i,
    input logic [31:0] episodes_i,
    /// Errors of this cycle, at their bits of ERROR; the first two come from here.
    input logic [6:2] error_i,
    output logic enable_o,
    output logic [7:0] size_o,
    output logic [1:0] arrival_o,
    output logic [1:0] departure_o,
    output logic [63:0] arrival_base_o,
    output logic [63:0] departure_base_o,
    output logic [6:0] error_o,
    output logic clear_o,
    /// A write to a trigger, whoever it is for.
    output logic trigger_o,
    output logic copy_o,
    output logic [6:0] thread_o
);
  logic write, good, changes;
  logic [1:0] refuses;
  logic [63:0] shown, promised;

  assign write = req_valid_i && req_write_i;
  assign trigger_o = write && req_addr_i >= 16'h4000 && req_addr_i < 16'h8000
      && req_addr_i % 16'd64 == '0;
  assign copy_o = req_addr_i[13];
  assign thread_o = req_addr_i[12:6];

  // Which values are refused: SIZE, ARRIVAL_PATH, DEPARTURE_PATH.
  always_comb begin
    good = 1'b0;
    case (req_addr_i)
      16'h0100:
      good = req_data_i >= 64'd1 && req_data_i <= 64'(Threads)
          && (arrival_o != 2'd1 || req_data_i <= 64'd4);
      16'h0140:
      good = req_data_i == '0 || (MemoryPaths && req_data_i == 64'd2)
          || (Messages && req_data_i == 64'd1 && size_o <= 8'd4);
      16'h0180: good = req_data_i == '0 || (MemoryPaths && req_data_i <= 64'd2);
      default: good = 1'b0;
    endcase
    changes = write && (req_addr_i == 16'h0100 || req_addr_i == 16'h0140 || req_addr_i == 16'h0180);
    refuses = {changes && !good && req_addr_i != 16'h0100, changes && !good
        && req_addr_i == 16'h0100};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enable_o <= 1'b0;
      size_o <= 8'd1;
      arrival_o <= '0;
      departure_o <= '0;
      arrival_base_o <= '0;
      departure_base_o <= '0;
      error_o <= '0;
      clear_o <= 1'b0;
    end else begin
      if (write && req_addr_i == 16'h00C0) enable_o <= req_data_i[0];
      if (changes && good && req_addr_i == 16'h0100) size_o <= req_data_i[7:0];
      if (changes && good && req_addr_i == 16'h0140) arrival_o <= req_data_i[1:0];
      if (changes && good && req_addr_i == 16'h0180) departure_o <= req_data_i[1:0];
      if (write && req_addr_i == 16'h01C0) arrival_base_o <= req_data_i;
      if (write && req_addr_i == 16'h0200) departure_base_o <= req_data_i;
      // An error of the cycle in which it is cleared stays.
      error_o <= (write && req_addr_i == 16'h0280 ? error_o & ~req_data_i[6:0] : error_o)
          | {error_i, refuses};
      clear_o <= (changes && good) || (write && req_addr_i == 16'h00C0 && req_data_i[1]);
    end
  end

  always_comb begin
    shown = '0;
    case (req_addr_i)
      16'h0000: shown = 64'h5455_5454_4942_4152;
      16'h0040: shown = {24'd0, 8'(Variant), 16'd1, 16'd0};
      16'h0080:
      shown = {31'd0, MemoryPaths, 8'(GenerationBits), Messages ? 8'd8 : 8'd0, 16'(Threads)};
      16'h00C0: shown = 64'(enable_o);
      16'h0100: shown = 64'(size_o);
      16'h0140: shown = 64'(arrival_o);
      16'h0180: shown = 64'(departure_o);
      16'h01C0: shown = arrival_base_o;
      16'h0200: shown = departure_base_o;
      16'h0240: shown = 64'(episodes_i);
      16'h0280: shown = 64'(error_o);
      16'h02C0: shown = arrived_i[0];
      16'h0300: shown = arrived_i[1];
      default:
      if (req_addr_i >= 16'h8000 && req_addr_i < 16'hC000 && req_addr_i % 16'd64 == '0)
        shown = {32'(generation_i[req_addr_i[13]]), 31'd0, departing_i[req_addr_i[13]]};
    endcase
  end

  logic answers;
  // Whether the state was known in the cycle of the request.
  logic shows;
  if (RegisterResponse == 1) begin : gen_later
    always_ff @(posedge clk_i) begin
      answers <= rst_ni && req_valid_i && !req_write_i;
      shows <= !init_i;
      promised <= shown;
    end
  end else begin : gen_now
    assign answers = req_valid_i && !req_write_i;
    assign shows = 1'b1;
    assign promised = shown;
  end

  always_comb begin
    if (!init_i) begin
      a_answers: assert (rsp_valid_i == answers);
      // The data are those of the register at the address, also where nothing is read: what a write
      // changes, the next cycle shows.
      a_data: assert (!(answers || shows) || rsp_data_i == promised);
      a_size: assert (size_o >= 8'd1 && 32'(size_o) <= Threads && (arrival_o != 2'd1
          || size_o <= 8'd4));
      a_paths: assert (arrival_o <= (MemoryPaths ? 2'd2 : Messages ? 2'd1 : 2'd0)
          && (Messages || arrival_o != 2'd1) && departure_o <= (MemoryPaths ? 2'd2 : 2'd0));
    end
  end
endmodule
