// SPDX-License-Identifier: Apache-2.0
/// Messages of the termination detector, and the shape of its trees.
package tutti_detector_pkg;
  /// Width of a message count. Counts wrap; they are right while fewer than 2^24 messages are under
  /// way.
  localparam int unsigned CountBits = 24;
  /// Width of a coordinate of the mesh.
  localparam int unsigned PlaceBits = 4;

  /// Detect asks whether a node is idle. Release lets its threads continue without sending. Enable
  /// lets them send again.
  typedef enum logic [1:0] {
    Detect  = 2'd0,
    Release = 2'd1,
    Enable  = 2'd2
  } phase_t;

  /// Data: from thread to thread. Order: from the master. Reply: to the master.
  typedef enum logic [1:0] {
    Data  = 2'd0,
    Order = 2'd1,
    Reply = 2'd2
  } kind_t;

  /// What becomes of the values that threads give when they wait: their total, by one of these. Of
  /// values that were given for different ones there is no total.
  typedef enum logic [3:0] {
    TotalNone = 4'd0,
    TotalSum = 4'd1,
    TotalMin = 4'd2,
    TotalMax = 4'd3,
    TotalAnd = 4'd4,
    TotalOr = 4'd5,
    TotalMinUnsigned = 4'd6,
    TotalMaxUnsigned = 4'd7,
    TotalMixed = 4'd8
  } aggregator_t;

  /// A value, or the total of some.
  typedef struct packed {
    aggregator_t how;
    logic [31:0] value;
  } total_t;

  typedef struct packed {
    logic [PlaceBits-1:0] y;
    logic [PlaceBits-1:0] x;
  } place_t;

  /// The content of an order or a reply; data messages may use the same bits for anything.
  typedef struct packed {
    phase_t phase;
    logic black;
    /// For an order: all threads voted true.
    logic vote;
    logic [CountBits-1:0] count;
    /// The total of the values of all threads.
    total_t total;
  } report_t;

  typedef struct packed {
    kind_t kind;
    /// The message is for the master, which is attached at `to`.
    logic to_master;
    place_t to;
    place_t from;
    report_t report;
  } message_t;

  /// Ports of a router.
  localparam int unsigned North = 0, East = 1, South = 2, West = 3, Local = 4, Ports = 5;

  /// Number of entries of a reduction tree at a level; level 0 has the leaves.
  function automatic int unsigned tree_width(int unsigned leaves, int unsigned radix,
                                                int unsigned level);
    return (leaves + radix ** level - 1) / radix ** level;
  endfunction

  /// Number of registers between the leaves and the root, for at most 256 leaves.
  function automatic int unsigned tree_levels(int unsigned leaves, int unsigned radix);
    return leaves <= 1 ? 0 : leaves <= radix ? 1 : leaves <= radix ** 2 ? 2
        : leaves <= radix ** 3 ? 3 : leaves <= radix ** 4 ? 4 : leaves <= radix ** 5 ? 5
        : leaves <= radix ** 6 ? 6 : leaves <= radix ** 7 ? 7 : 8;
  endfunction
endpackage
