// SPDX-License-Identifier: Apache-2.0
/// Messages between the threads of the machine. A message travels as one flit: the place of its
/// receiver in the mesh, and what the mailbox of the sender wrote.
package tutti_machine_message_pkg;
  /// Words of a message at most.
  localparam int unsigned Words = tutti_machine_config_pkg::MessageWords;
  localparam int unsigned LengthBits = $clog2(Words + 1);

  typedef logic [LengthBits-1:0] length_t;
  typedef logic [Words-1:0][31:0] words_t;

  typedef struct packed {
    /// Cores, as programs number them.
    logic [7:0] to;
    logic [7:0] from;
    length_t length;
    words_t words;
  } message_t;

  /// The position of a router; the largest mesh has 24 columns.
  typedef struct packed {
    logic [4:0] y;
    logic [4:0] x;
  } place_t;

  typedef struct packed {
    place_t to;
    message_t message;
  } flit_t;

  /// The instructions of custom-0, by funct3.
  typedef enum logic [2:0] {
    OpStatus  = 3'd0,
    OpSend    = 3'd1,
    OpAlloc   = 3'd2,
    OpReceive = 3'd3,
    OpIdle    = 3'd4,
    OpWait    = 3'd5,
    OpCause   = 3'd6
  } op_e;

  /// Why the mailbox refused the last instruction; CauseInterrupt: it starts again.
  typedef enum logic [3:0] {
    CauseNone      = 4'd0,
    CauseInterrupt = 4'd1,
    CauseNoCore    = 4'd2,
    CauseTooLong   = 4'd3,
    CauseNoSlot    = 4'd4,
    CauseGiven     = 4'd5,
    CauseNoMessage = 4'd6,
    CauseIdle      = 4'd7
  } cause_e;

  /// Columns of a socket's part of the mesh: a power of two, so that it is about as wide as high.
  function automatic int unsigned columns_of(int unsigned cores);
    return 1 << (($clog2(cores) + 1) / 2);
  endfunction
endpackage
