// SPDX-License-Identifier: Apache-2.0
// Messages between the tiles and the barrier units that they reach by addresses: the Hardware
// Barrier Structure of each socket, and one counting and one mask unit for the whole machine, which
// are in socket 0. A core has one open message.
package tutti_machine_device_pkg;

  typedef enum logic [1:0] {
    DeviceStructure = 2'd0,
    DeviceCounting  = 2'd1,
    DeviceMask      = 2'd2
  } device_e;

  typedef struct packed {
    logic        valid;
    // Where the unit is.
    logic [1:0]  socket;
    device_e     device;
    logic        write;
    // Half of a register: bit 2 chooses the half that a read returns.
    logic [22:0] addr;
    logic [63:0] data;
  } device_request_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] data;
  } device_reply_t;

  // An episode of a barrier of the socket's structure is complete, and the core takes part in it.
  typedef struct packed {
    logic       valid;
    logic [5:0] barrier;
  } complete_t;

  // The core arrives at the mask unit, with the parity of its episode.
  typedef struct packed {
    logic valid;
    logic parity;
  } pin_t;

endpackage
