// SPDX-License-Identifier: Apache-2.0
/// The register map: takes one request a cycle and answers in the same cycle or the next; keeps
/// configuration and errors.
module tutti_counting_registers
  import tutti_counting_pkg::*;
#(
    /// The maximum number of participants.
    parameter int unsigned Threads = 28,
    /// The variant that RegVersion reports.
    parameter variant_e Variant = VariantCounting,
    /// Width of the number of completed episodes of a copy.
    parameter int unsigned GenerationBits = 8,
    /// 1 if the paths through memory exist, so that software can choose them.
    parameter bit HasMemoryPaths = 1'b1,
    /// 1 if arrivals by message exist.
    parameter bit HasMessages = HasMemoryPaths,
    /// 1 registers the answers, which adds one cycle.
    parameter int unsigned RegisterResponse = 0
) (
    input logic clk_i,
    input logic rst_ni,
    /// A request of software: a write, or a read, which is answered.
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    output logic rsp_valid_o,
    output logic [DataBits-1:0] rsp_data_o,
    output config_t config_o,
    /// Hard reset of both copies, for one cycle.
    output logic clear_o,
    /// A write to an arrival trigger, whichever path is configured.
    output arrival_t trigger_o,
    /// State of both copies.
    input logic [1:0] departing_i,
    input logic [1:0][GenerationBits-1:0] generation_i,
    input logic [1:0][DataBits-1:0] arrived_i,
    /// Completed episodes of both copies.
    input logic [31:0] episodes_i,
    /// Errors of this cycle.
    input error_t error_i
);
  if (Threads < 1 || Threads > MaxThreads)
    $fatal(1, "tutti_counting_registers: Threads must be 1 to 128");
  if (GenerationBits < 2 || GenerationBits > 32)
    $fatal(1, "tutti_counting_registers: GenerationBits must be 2 to 32");
  if (RegisterResponse > 1) $fatal(1, "tutti_counting_registers: RegisterResponse must be 0 or 1");

  config_t config_d, config_q;
  error_t error_d, error_q, own_error;
  logic clear_d, clear_q;

  logic write, in_trigger, in_sense, line_start;
  assign write = req_valid_i && req_write_i;
  assign line_start = req_addr_i[5:0] == '0;
  assign in_trigger = req_addr_i[15:14] == TriggerBase[15:14] && line_start;
  assign in_sense = req_addr_i[15:14] == SenseBase[15:14] && line_start;

  assign trigger_o = '{
      valid: write && in_trigger, copy: req_addr_i[13], thread: req_addr_i[12:6]
  };

  // A path is valid if it exists here; messages exist for four threads only.
  localparam logic [7:0] MessageThreads = 8'(MessageAddresses / 2);
  localparam logic [7:0] Addresses = HasMessages ? 8'(MessageAddresses) : '0;
  logic arrival_path_good, departure_path_good, size_good;
  assign arrival_path_good = req_data_i[DataBits-1:2] == '0 && req_data_i[1:0] != 2'd3 &&
      (HasMemoryPaths || req_data_i[1:0] != ArriveByMemory) &&
      (HasMessages || req_data_i[1:0] != ArriveByMessage) && !(req_data_i[1:0] == ArriveByMessage && config_q.size > MessageThreads);
  assign departure_path_good = req_data_i[DataBits-1:2] == '0 && req_data_i[1:0] != 2'd3 &&
      (HasMemoryPaths || req_data_i[1:0] == DepartByRegister);
  assign size_good = req_data_i != '0 && req_data_i <= DataBits'(Threads) &&
      !(config_q.arrival == ArriveByMessage && req_data_i > DataBits'(MessageThreads));

  always_comb begin
    config_d = config_q;
    clear_d = 1'b0;
    own_error = '0;
    if (write) begin
      unique case (req_addr_i)
        RegControl: begin
          config_d.enable = req_data_i[0];
          clear_d = req_data_i[1];
        end
        RegSize: begin
          if (size_good) config_d.size = req_data_i[7:0];
          own_error.bad_size = !size_good;
          clear_d = size_good;
        end
        RegArrivalPath: begin
          if (arrival_path_good) config_d.arrival = arrival_path_e'(req_data_i[1:0]);
          own_error.bad_path = !arrival_path_good;
          clear_d = arrival_path_good;
        end
        RegDeparturePath: begin
          if (departure_path_good) config_d.departure = departure_path_e'(req_data_i[1:0]);
          own_error.bad_path = !departure_path_good;
          clear_d = departure_path_good;
        end
        RegArrivalBase: config_d.arrival_base = req_data_i;
        RegDepartureBase: config_d.departure_base = req_data_i;
        default: ;
      endcase
    end
  end

  error_t cleared;
  assign cleared = write && req_addr_i == RegError ? error_t'(req_data_i[$bits(error_t)-1:0]) : '0;
  assign error_d = (error_q & ~cleared) | error_i | own_error;

  logic [31:0] generation_now;
  assign generation_now = 32'(generation_i[req_addr_i[13]]);

  logic [DataBits-1:0] data;
  always_comb begin
    data = '0;
    unique case (req_addr_i)
      RegId: data = Id;
      RegVersion: data = {24'b0, Variant, VersionMajor, VersionMinor};
      RegCapability:
      data = {
        24'b0, 7'b0, HasMemoryPaths, 8'(GenerationBits), Addresses, 16'(Threads)
      };
      RegControl: data = {63'b0, config_q.enable};
      RegSize: data = {56'b0, config_q.size};
      RegArrivalPath: data = {62'b0, config_q.arrival};
      RegDeparturePath: data = {62'b0, config_q.departure};
      RegArrivalBase: data = config_q.arrival_base;
      RegDepartureBase: data = config_q.departure_base;
      RegStatus: data = {32'b0, episodes_i};
      RegError: data = DataBits'(error_q);
      RegArrived0: data = arrived_i[0];
      RegArrived1: data = arrived_i[1];
      default: if (in_sense) data = {generation_now, 31'b0, departing_i[req_addr_i[13]]};
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      config_q <= '{
          enable: 1'b0,
          size: 8'd1,
          arrival: ArriveByRegister,
          departure: DepartByRegister,
          arrival_base: '0,
          departure_base: '0
      };
      error_q <= '0;
      clear_q <= 1'b0;
    end else begin
      config_q <= config_d;
      error_q <= error_d;
      clear_q <= clear_d;
    end
  end
  assign config_o = config_q;
  assign clear_o = clear_q;

  logic read;
  assign read = req_valid_i && !req_write_i;
  if (RegisterResponse == 1) begin : gen_registered
    always_ff @(posedge clk_i) begin
      rsp_valid_o <= rst_ni && read;
      rsp_data_o <= data;
    end
  end else begin : gen_direct
    assign rsp_valid_o = read;
    assign rsp_data_o = data;
  end
endmodule
