// SPDX-License-Identifier: Apache-2.0
/// The types of the coherent memory system: what a core asks of its cache, and the messages between
/// caches and directories.
///
/// A directory (the home of a line) works on one transaction of a line at a time:
///
///     GetS, GetM, Upgrade   cache -> home    request    may read, may write, may write what it reads
///     Put                   cache -> home    request    asks to give back a line that it owns
///     FwdGetS, FwdGetM      home -> owner    forward    sends the line to `requester`
///     Invalidate            home -> sharer   forward    drops the line and sends Ack to `requester`
///     PutPull, PutStale     home -> cache    forward    answers Put; after PutPull the cache sends Done
///     Data                  -> requester     response   permission, the line (`has_line`), how many Acks
///     Ack                   -> requester     response   a sharer has dropped the line
///     Done                  cache -> home    response   ends the transaction; brings the line home
///
/// Until Done no other transaction of the line begins. Hence nothing depends on the order in which
/// messages arrive. Responses are taken at once, forwards wait for responses only, and requests for
/// both: no cycle of waiting exists.
package tutti_machine_pkg;
  typedef enum logic [3:0] {
    OpLoad,
    OpStore,
    OpLoadReserved,
    OpStoreConditional,
    OpAmoSwap,
    OpAmoAdd,
    OpAmoXor,
    OpAmoAnd,
    OpAmoOr,
    OpAmoMin,
    OpAmoMax,
    OpAmoMinu,
    OpAmoMaxu
  } op_t;

  /// The core's access to its cache: a word at addr[31:2]; a store writes the bytes of `strobe`.
  typedef struct packed {
    op_t op;
    logic [31:0] addr;
    logic [31:0] wdata;
    logic [3:0] strobe;
  } data_request_t;

  /// Cores and homes have at most 64 members; a line is numbered from the beginning of the memory.
  typedef logic [5:0] core_t;
  typedef logic [25:0] line_t;

  typedef enum logic [3:0] {
    GetS,
    GetM,
    Upgrade,
    Put,
    FwdGetS,
    FwdGetM,
    Invalidate,
    PutPull,
    PutStale,
    Data,
    Ack,
    Done
  } kind_t;

  /// What a cache may do with a line. `E` becomes `M` without a message.
  typedef enum logic [1:0] {
    I,
    S,
    E,
    M
  } permission_t;

  typedef struct packed {
    kind_t kind;
    /// The cache to which the message goes, or from which a message to the home comes.
    core_t core;
    /// Forwards: the cache to which the answer goes.
    core_t requester;
    line_t line;
    /// Data: the Acks that the requester must receive.
    logic [6:0] acks;
    /// Data: the permission.
    permission_t grant;
    /// The line travels with the message.
    logic has_line;
    /// Data: memory has an older value; the requester of a GetS sends the line home with Done.
    logic dirty;
  } message_t;

  /// A cache's part in a report of who waits for what.
  typedef struct packed {
    /// A miss waits: for Data, and for Acks.
    logic missing;
    logic has_data;
    logic [6:0] acks;
    line_t line;
    /// A line on its way home.
    logic put;
    line_t put_line;
    /// A reservation that holds its line.
    logic held;
    /// A message waits for the network.
    logic sending;
  } cache_status_t;

  typedef enum logic [2:0] {
    Free,
    Lookup,
    Send,
    Answer,
    Wait
  } step_t;

  /// A transaction in a report of who waits for what.
  typedef struct packed {
    step_t step;
    kind_t kind;
    core_t requester;
    line_t line;
  } transaction_status_t;

  /// The word that an atomic operation leaves behind.
  function automatic logic [31:0] modified(op_t op, logic [31:0] old, logic [31:0] operand);
    unique case (op)
      OpAmoAdd: return old + operand;
      OpAmoXor: return old ^ operand;
      OpAmoAnd: return old & operand;
      OpAmoOr: return old | operand;
      OpAmoMin: return $signed(old) < $signed(operand) ? old : operand;
      OpAmoMax: return $signed(old) < $signed(operand) ? operand : old;
      OpAmoMinu: return old < operand ? old : operand;
      OpAmoMaxu: return old < operand ? operand : old;
      default: return operand;
    endcase
  endfunction
endpackage
