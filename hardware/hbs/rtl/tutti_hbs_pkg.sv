// SPDX-License-Identifier: Apache-2.0
/// Messages and register map of the Hardware Barrier Structure (paper 000, section 4).
/// The driver has the same numbers in hardware/cosim/hbs_registers.hpp.
package tutti_hbs_pkg;

  /// The five messages are these four and complete, which the structure sends.
  typedef enum logic [1:0] {
    Create = 2'd0,  // mask: who takes part; local threads first, then peer sockets
    Init = 2'd1,  // the source has not arrived
    CoreArrive = 2'd2,
    SocketArrive = 2'd3  // all participants of the source's socket have arrived
  } kind_e;

  typedef struct packed {
    logic late_init;  // a thread was initialised after its socket had announced the episode
    logic out_of_range;  // a barrier or a register that does not exist
    logic bad_create;  // nobody local takes part, or a bit is set that stands for nobody
    logic arrived_again;  // a participant arrived twice in an episode
    logic foreign;  // one who takes no part arrived or was initialised
  } error_t;

  localparam int unsigned AddressBits = 23;
  localparam int unsigned DataBits = 64;
  typedef logic [AddressBits-1:0] address_t;

  localparam logic [DataBits-1:0] Id = 64'h5455_5454_4948_4253;  // "TUTTIHBS"
  localparam logic [31:0] Version = 32'h0001_0000;

  localparam address_t RegId = 23'h00_0000;
  localparam address_t RegVersion = 23'h00_0040;
  /// What cpuid would say: n [15:0], m [31:16], words of a cluster [39:32], local threads [55:40].
  localparam address_t RegCapability = 23'h00_0080;
  localparam address_t RegError = 23'h00_00C0;  // a bit written as 1 is cleared
  localparam address_t ClusterBase = 23'h01_0000;  // + (barrier * words + word) * 8; the last word is the timeout
  localparam address_t StateBase = 23'h02_0000;  // the same places: who of barrier's participants has arrived
  localparam address_t TriggerBase = 23'h20_0000;  // + barrier * 23'h4000 + thread * 64
  localparam address_t SenseBase = 23'h40_0000;  // the same; bits 63:32 are the completed episodes
  localparam address_t InitBase = 23'h60_0000;  // the same
endpackage
