// SPDX-License-Identifier: Apache-2.0
// The parameters of the machine. A model with other values sets them at tutti_machine_system.
package tutti_machine_config_pkg;
  // Cores in all, the same number in each socket, and barriers of a socket's unit.
  localparam int unsigned Cores = 16;
  localparam int unsigned Sockets = 2;
  // Hardware threads of each core: see tutti_machine_core_scheduler. Programs take them for cores.
  localparam int unsigned Threads = 1;
  localparam int unsigned Barriers = 8;
  // Barriers of the structures, which reach over all sockets.
  localparam int unsigned Structures = 8;

  localparam int unsigned ImageBytes = 4 << 20;
  localparam int unsigned RamBytes = 16 << 20;

  // Caches: see tutti_machine_cache.
  localparam int unsigned CacheBytes = 8192;
  localparam int unsigned Ways = 2;
  localparam int unsigned HoldCycles = 64;

  // Homes of lines, and transactions of each: see tutti_machine_directory.
  localparam int unsigned Banks = 4;
  localparam int unsigned HomeHash = 1;
  localparam int unsigned Transactions = 4;
  localparam int unsigned DirectoryLatency = 8;
  localparam int unsigned NearBytes = 1 << 20;
  localparam int unsigned NearLatency = 12;
  localparam int unsigned MemoryLatency = 100;

  // The network in a socket and the links between sockets: see tutti_machine_network.
  localparam int unsigned HopLatency = 6;
  localparam int unsigned LineCycles = 2;
  localparam int unsigned LinkLatency = 48;
  localparam int unsigned LinkLineCycles = 8;

  // Cycles of an interrupt to a core in the same and in another socket. Like a message of the
  // memory it crosses the socket twice: once in the sender's part, once in the receiver's.
  localparam int unsigned InterruptNear = 20;
  localparam int unsigned InterruptFar = 75;

  // Messages between threads, and the detector of their end: see tutti_machine_mailbox,
  // tutti_machine_messages and tutti_detector_mesh. 0 leaves them out.
  localparam int unsigned Messages = 0;
  // Words of a message at most, and slots of a mailbox.
  localparam int unsigned MessageWords = 4;
  localparam int unsigned MessageSlots = 16;
  // Cycles from router to router and entries of each queue, and the same for a link between sockets:
  // with its router it takes as long as a message of the memory.
  localparam int unsigned MessageHop = 2;
  localparam int unsigned MessageDepth = 4;
  localparam int unsigned MessageLink = 52;
  localparam int unsigned MessageLinkDepth = 16;
  // Groups of threads that are idle together; group 0 is that of all, and the last ones are local to
  // each socket.
  localparam int unsigned MessageGroups = 4;
  localparam int unsigned MessageLocalGroups = 1;
  // Cycles of the detector from socket to socket; its master is at the origin (0) or in the centre (1).
  localparam int unsigned DetectorHop = 54;
  localparam int unsigned DetectorCentre = 1;
endpackage
