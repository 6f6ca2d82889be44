// SPDX-License-Identifier: Apache-2.0
/// The register map of the counting, mask and tree barrier units, and their types.
/// One register a cache line of 64 bytes; the driver has the same numbers in hardware/cosim/registers.hpp.
package tutti_counting_pkg;

  localparam int unsigned AddressBits = 16;
  localparam int unsigned DataBits = 64;
  localparam int unsigned LineBytes = 64;
  localparam int unsigned MaxThreads = 128;
  /// Simultaneous message addresses (UMsg) of the platform: four threads, one address for each copy.
  localparam int unsigned MessageAddresses = 8;

  localparam logic [DataBits-1:0] Id = 64'h5455_5454_4942_4152;  // "TUTTIBAR"
  localparam logic [15:0] VersionMajor = 16'd1;
  localparam logic [15:0] VersionMinor = 16'd0;

  typedef enum logic [7:0] {
    VariantCounting = 8'd1,
    VariantMask = 8'd2,
    VariantTree = 8'd3
  } variant_e;

  typedef logic [AddressBits-1:0] address_t;
  localparam address_t RegId = 16'h0000;
  localparam address_t RegVersion = 16'h0040;
  localparam address_t RegCapability = 16'h0080;
  localparam address_t RegControl = 16'h00C0;  // bit 0 enable, bit 1 reset (clears itself)
  localparam address_t RegSize = 16'h0100;
  localparam address_t RegArrivalPath = 16'h0140;
  localparam address_t RegDeparturePath = 16'h0180;
  localparam address_t RegArrivalBase = 16'h01C0;
  localparam address_t RegDepartureBase = 16'h0200;
  localparam address_t RegStatus = 16'h0240;
  localparam address_t RegError = 16'h0280;  // a bit written as 1 is cleared
  localparam address_t RegArrived0 = 16'h02C0;  // of copy 0: who has arrived (mask variant), else how many
  localparam address_t RegArrived1 = 16'h0300;
  localparam address_t TriggerBase = 16'h4000;  // + copy * 16'h2000 + thread * 64
  localparam address_t SenseBase = 16'h8000;  // + copy * 16'h2000 + thread * 64

  typedef enum logic [1:0] {
    ArriveByRegister = 2'd0,
    ArriveByMessage = 2'd1,
    ArriveByMemory = 2'd2
  } arrival_path_e;

  typedef enum logic [1:0] {
    DepartByRegister = 2'd0,
    DepartByLines = 2'd1,  // the unit writes one line per thread
    DepartByLine = 2'd2  // the unit writes one line for all
  } departure_path_e;

  /// What software has configured.
  typedef struct packed {
    logic enable;
    logic [7:0] size;
    arrival_path_e arrival;
    departure_path_e departure;
    logic [DataBits-1:0] arrival_base;
    logic [DataBits-1:0] departure_base;
  } config_t;

  /// Bits of RegError; each stays until it is cleared.
  typedef struct packed {
    logic notify_overrun;  // an episode ended while the departure of the one before was being written
    logic poll_sequence;  // a polled line did not hold the next number
    logic arrived_again;  // mask variant: a participant arrived twice in an episode
    logic wrong_path;  // an arrival came by a path that is not the configured one
    logic foreign_arrival;  // an arrival of a thread that is no participant, or while disabled
    logic bad_path;  // a path that does not exist, or the message path for more than four threads
    logic bad_size;  // no participants, or more than the unit has
  } error_t;

  /// One arrival: who, and at which copy.
  typedef struct packed {
    logic valid;
    logic copy;
    logic [6:0] thread;
  } arrival_t;

endpackage
