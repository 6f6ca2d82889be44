// SPDX-License-Identifier: Apache-2.0
// What a core says to the barrier unit, and what the unit answers. One request a core is open at a time, and a cancel
// may follow an open wait; messages of one core stay in order in both directions.
package tutti_isa_pkg;

  typedef enum logic [3:0] {
    OpNone   = 4'd0,
    OpWait   = 4'd1,  // barwait: arrive, and answer at the departure
    OpCancel = 4'd2,  // an interrupt came: answer Cancelled, unless the departure is on its way already
    OpCap    = 4'd3,  // barcap: number of participants and barriers
    OpInit   = 4'd4,  // barinit: privileged from here on
    OpSet    = 4'd5,
    OpGet    = 4'd6,
    OpMove   = 4'd7,
    OpCtxGet = 4'd8,
    OpCtxSet = 4'd9
  } op_e;

  // Fields of a barrier, for barset and barget.
  typedef enum logic [2:0] {
    FieldParticipants = 3'd0,  // writing it makes or removes the barrier, with no arrivals and nobody installed
    FieldTimeout      = 3'd1,  // cycles a core may wait; 0: for ever
    FieldOwner        = 3'd2,  // the group whose threads may use it
    FieldArrived      = 3'd3,  // read only
    FieldOwed         = 3'd4,  // read only: departures not yet taken
    FieldInstalled    = 3'd5,  // read only: cores that have executed barinit
    // Write: breaks the barrier, unless its episode is complete or the core is owed a departure. What a kernel does after
    // a timeout: either everybody departs, or everybody who waits is refused. Who is owed a departure of the episode
    // before still gets it.
    FieldBreak        = 3'd6
  } field_e;

  // Fields of a core's context, for barctx.
  typedef enum logic [2:0] {
    CtxGroup = 3'd0,  // the group of the thread that runs
    CtxLeft  = 3'd1,  // cycles left of the wait that was interrupted
    CtxCause = 3'd2,  // read only, kept in the core's port: why the last barwait did not depart
    CtxUser  = 3'd3   // write: ends the privilege that the core has after reset
  } ctx_e;

  typedef struct packed {
    logic        valid;
    op_e         op;
    logic        privileged;
    logic [2:0]  field;
    logic [7:0]  index;
    logic [31:0] data;
  } request_t;

  typedef enum logic [1:0] {
    ReplyDone      = 2'd0,
    ReplyCancelled = 2'd1,
    ReplyTimeout   = 2'd2,
    ReplyDenied    = 2'd3
  } reply_e;

  typedef struct packed {
    logic        valid;
    reply_e      kind;
    logic [31:0] data;
  } reply_t;

  // Requests to the shared memory. The nine operations of the A extension, numbered as in its funct5.
  typedef struct packed {
    logic        valid;
    logic        atomic;
    logic [4:0]  funct5;
    logic [3:0]  wstrb;  // 0: a load
    logic [31:0] addr;
    logic [31:0] wdata;
  } mem_request_t;

  // 32-bit words of the shared memory; a power of two. It begins at 0x1000'0000, and an address behind it is a fault:
  // if it wrapped around, two variables could be one.
  localparam int unsigned SharedWords = 65536;
  localparam int unsigned SharedBits = $clog2(SharedWords) + 2;  // of a byte's address within it

  function automatic logic in_shared(logic [31:0] address);
    return address >> SharedBits == 32'h1000_0000 >> SharedBits;
  endfunction

endpackage
