// SPDX-License-Identifier: Apache-2.0
/// Messages and register map of the Hardware Barrier Structure (Hetland et al. 2019, section 4).
/// hardware/driver/hbs_registers.hpp has the same numbers for the driver.
package tutti_hbs_pkg;

  /// Four of the five messages; the structure itself sends the fifth, complete.
  typedef enum logic [1:0] {
    // The mask has the participants: local threads first, then peer sockets.
    Create = 2'd0,
    // The source has not arrived.
    Init = 2'd1,
    CoreArrive = 2'd2,
    // All participants of the source's socket have arrived.
    SocketArrive = 2'd3
  } kind_e;

  typedef struct packed {
    // A thread was initialised after its socket had announced the episode.
    logic late_init;
    // A write to a barrier or a thread that does not exist, or beside a register.
    logic out_of_range;
    // No local thread takes part, a bit without a meaning is set, or the timeout is not 0.
    logic bad_create;
    // A participant arrived twice in an episode.
    logic arrived_again;
    // A thread or socket that takes no part arrived or was initialised.
    logic foreign;
  } error_t;

  localparam int unsigned AddressBits = 23;
  localparam int unsigned DataBits = 64;
  typedef logic [AddressBits-1:0] address_t;

  // ASCII "TUTTIHBS".
  localparam logic [DataBits-1:0] Id = 64'h5455_5454_4948_4253;
  localparam logic [31:0] Version = 32'h0001_0000;

  localparam address_t RegId = 23'h00_0000;
  localparam address_t RegVersion = 23'h00_0040;
  /// The data that cpuid would report: n [15:0], m [31:16], words of a cluster [39:32], local
  /// threads [55:40].
  localparam address_t RegCapability = 23'h00_0080;
  // Writing 1 clears a bit.
  localparam address_t RegError = 23'h00_00C0;
  // Plus (barrier * words + word) * 8; the last word is the timeout, which must be 0.
  localparam address_t ClusterBase = 23'h01_0000;
  // The same offsets; shows which participants of a barrier have arrived.
  localparam address_t StateBase = 23'h02_0000;
  // Plus barrier * 23'h4000 + thread * 64.
  localparam address_t TriggerBase = 23'h20_0000;
  // The same offsets; bits 63:32 are the completed episodes.
  localparam address_t SenseBase = 23'h40_0000;
  // The same offsets.
  localparam address_t InitBase = 23'h60_0000;
endpackage
