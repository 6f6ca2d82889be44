// SPDX-License-Identifier: Apache-2.0
/// Messages in the network of a socket.
package tutti_socket_pkg;
  typedef struct packed {
    logic [3:0] y;
    logic [3:0] x;
  } place_t;

  typedef enum logic [1:0] {
    // To the parent: all participants of this tile and of the tiles behind it have arrived.
    Up = 2'd0,
    // To a child: all participants of the barrier have arrived.
    Down = 2'd1,
    // What the tiles send each other otherwise.
    Other = 2'd2
  } kind_e;

  typedef struct packed {
    kind_e kind;
    // For Other. Messages of barriers go to the next tile.
    place_t to;
    // Other: contents.
    logic [8:0] load;
  } message_t;

  // Sides of a tile; the opposite side differs in the upper bit.
  localparam int unsigned North = 0;
  localparam int unsigned East = 1;
  localparam int unsigned South = 2;
  localparam int unsigned West = 3;
  localparam int unsigned Local = 4;
  /// The parent of the tile in the centre.
  localparam logic [2:0] NoParent = 3'd4;
endpackage
