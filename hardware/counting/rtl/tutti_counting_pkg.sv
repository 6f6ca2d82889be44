// SPDX-License-Identifier: Apache-2.0
/// The register map and the types of the counting, mask and tree barrier units. Each register has a
/// cache line of 64 bytes; hardware/driver/registers.hpp has the same numbers for the driver.
package tutti_counting_pkg;

  localparam int unsigned AddressBits = 16;
  localparam int unsigned DataBits = 64;
  localparam int unsigned LineBytes = 64;
  localparam int unsigned MaxThreads = 128;
  /// Number of message addresses (UMsg) that the platform provides at the same time: four threads,
  /// one address for each copy.
  localparam int unsigned MessageAddresses = 8;

  // ASCII "TUTTIBAR".
  localparam logic [DataBits-1:0] Id = 64'h5455_5454_4942_4152;
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
  // Bit 0 enables, bit 1 resets and clears itself.
  localparam address_t RegControl = 16'h00C0;
  localparam address_t RegSize = 16'h0100;
  localparam address_t RegArrivalPath = 16'h0140;
  localparam address_t RegDeparturePath = 16'h0180;
  localparam address_t RegArrivalBase = 16'h01C0;
  localparam address_t RegDepartureBase = 16'h0200;
  localparam address_t RegStatus = 16'h0240;
  // Writing 1 clears a bit.
  localparam address_t RegError = 16'h0280;
  // For copy 0: the participants that have arrived (mask variant), otherwise their number.
  localparam address_t RegArrived0 = 16'h02C0;
  localparam address_t RegArrived1 = 16'h0300;
  // Plus copy * 16'h2000 + thread * 64.
  localparam address_t TriggerBase = 16'h4000;
  // Plus copy * 16'h2000 + thread * 64.
  localparam address_t SenseBase = 16'h8000;

  typedef enum logic [1:0] {
    ArriveByRegister = 2'd0,
    ArriveByMessage = 2'd1,
    ArriveByMemory = 2'd2
  } arrival_path_e;

  typedef enum logic [1:0] {
    DepartByRegister = 2'd0,
    // The unit writes one line for each thread.
    DepartByLines = 2'd1,
    // The unit writes one line for all threads.
    DepartByLine = 2'd2
  } departure_path_e;

  /// The configuration by software.
  typedef struct packed {
    logic enable;
    logic [7:0] size;
    arrival_path_e arrival;
    departure_path_e departure;
    logic [DataBits-1:0] arrival_base;
    logic [DataBits-1:0] departure_base;
  } config_t;

  /// Bits of RegError; each stays set until software clears it.
  typedef struct packed {
    // An episode ended while the previous departure was being written.
    logic notify_overrun;
    // A polled line did not hold the next number, or could not be read.
    logic poll_sequence;
    // Mask variant: a participant arrived twice in an episode.
    logic arrived_again;
    // An arrival came by a path other than the configured one.
    logic wrong_path;
    // A thread that is no participant arrived, or an arrival came while the unit was disabled.
    logic foreign_arrival;
    // The path does not exist, or is the message path for more than four threads.
    logic bad_path;
    // The size is 0, or larger than the unit supports.
    logic bad_size;
  } error_t;

  /// One arrival: the thread and the copy at which it arrives.
  typedef struct packed {
    logic valid;
    logic copy;
    logic [6:0] thread;
  } arrival_t;

endpackage
