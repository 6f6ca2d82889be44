// SPDX-License-Identifier: Apache-2.0
// The messages between a core and the barrier unit. Each core has one open request at a time, and a
// cancel may follow an open wait; messages of one core stay in order in both directions.
package tutti_isa_pkg;

  typedef enum logic [3:0] {
    OpNone   = 4'd0,
    // barwait: arrive, and answer at the departure.
    OpWait   = 4'd1,
    // An interrupt came: answer Cancelled, unless the departure is already on its way.
    OpCancel = 4'd2,
    // barcap: number of participants and barriers.
    OpCap    = 4'd3,
    // barinit: privileged from here on.
    OpInit   = 4'd4,
    OpSet    = 4'd5,
    OpGet    = 4'd6,
    OpMove   = 4'd7,
    OpCtxGet = 4'd8,
    OpCtxSet = 4'd9
  } op_e;

  // Fields of a barrier, for barset and barget.
  typedef enum logic [2:0] {
    // Writing it makes or removes the barrier, with no arrivals and no installed core.
    FieldParticipants = 3'd0,
    // Cycles that a core may wait; 0 means without limit.
    FieldTimeout      = 3'd1,
    // The group whose threads may use it.
    FieldOwner        = 3'd2,
    // Read only.
    FieldArrived      = 3'd3,
    // Read only: departures not yet taken.
    FieldOwed         = 3'd4,
    // Read only: cores that have executed barinit.
    FieldInstalled    = 3'd5,
    // Writing it breaks the barrier, unless its episode is complete or the core is owed a
    // departure. A kernel does this after a timeout: either all participants depart, or all that
    // wait are refused. Cores that are owed a departure from the previous episode still get it.
    FieldBreak        = 3'd6
  } field_e;

  // Fields of a core's context, for barctx.
  typedef enum logic [2:0] {
    // The group of the running thread.
    CtxGroup = 3'd0,
    // Cycles left of the interrupted wait.
    CtxLeft  = 3'd1,
    // Read only, kept in the core's port: why the last barwait did not depart.
    CtxCause = 3'd2,
    // Writing it ends the privilege that the core has after reset.
    CtxUser  = 3'd3
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

  // Requests to the shared memory. The nine operations of the A extension, numbered as in its
  // funct5.
  typedef struct packed {
    logic        valid;
    logic        atomic;
    logic [4:0]  funct5;
    // 0 for a load.
    logic [3:0]  wstrb;
    logic [31:0] addr;
    logic [31:0] wdata;
  } mem_request_t;

  // 32-bit words of the shared memory, a power of two. It begins at 0x1000'0000. An address behind
  // it is a fault: if addresses wrapped around, two variables could be one.
  localparam int unsigned SharedWords = 65536;
  // Bits of a byte's address within it.
  localparam int unsigned SharedBits = $clog2(SharedWords) + 2;

  function automatic logic in_shared(logic [31:0] address);
    return address >> SharedBits == 32'h1000_0000 >> SharedBits;
  endfunction

endpackage
