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

  /// The instructions of custom-0, by the lowest bit of funct7 and by funct3.
  typedef enum logic [3:0] {
    OpStatus  = 4'd0,
    OpSend    = 4'd1,
    OpAlloc   = 4'd2,
    OpReceive = 4'd3,
    OpIdle    = 4'd4,
    OpWait    = 4'd5,
    OpCause   = 4'd6,
    OpTotal   = 4'd8,
    OpGroup   = 4'd9
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
    CauseIdle      = 4'd7,
    CauseStranger  = 4'd8,
    CauseNoGroup   = 4'd9,
    CauseFromGroup = 4'd10,
    CauseNoTotal   = 4'd11,
    CauseMixed     = 4'd12
  } cause_e;

  /// The number of a group of threads; group 0 is that of all.
  typedef logic [2:0] group_t;

  /// What a mailbox tells beside the detector's wires: the group of its thread, the value that the
  /// thread has given, and the core to which it wants to send.
  typedef struct packed {
    group_t group;
    tutti_detector_pkg::total_t value;
    logic [7:0] to;
  } member_t;

  /// What it hears: the total of its group, with the release, and whether the core to which it wants to
  /// send is in another group.
  typedef struct packed {
    tutti_detector_pkg::total_t total;
    logic stranger;
  } group_reply_t;

  /// Columns of a socket's part of the mesh: a power of two, so that it is about as wide as high.
  function automatic int unsigned columns_of(int unsigned cores);
    return 1 << (($clog2(cores) + 1) / 2);
  endfunction
endpackage
