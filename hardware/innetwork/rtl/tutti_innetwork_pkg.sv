// SPDX-License-Identifier: Apache-2.0
/// The barrier packet: 48 bytes as in figure 1 of Arap et al., then 12 bytes with the numbers of the
/// episode and of the incarnation. And the types that the modules of the in-network engine exchange.
package tutti_innetwork_pkg;

  /// The queue from which a packet came: 2 * port, or 2 * port + 1 for the host's queue beside that
  /// port.
  typedef logic [3:0] queue_t;

  /// Information that accompanies a packet into the engine.
  typedef struct packed {
    logic [15:0] bytes;
    queue_t origin;
  } source_t;

  /// Information that accompanies a packet out of the engine; `to` has one bit for each queue.
  typedef struct packed {
    logic [15:0] to;
    logic [15:0] bytes;
    queue_t origin;
  } route_t;

  /// A beat of a packet; byte 0 of the frame is bits 7:0 of the first.
  typedef struct packed {
    // With the last beat: the frame is damaged.
    logic bad;
    logic last;
    logic [7:0] keep;
    logic [63:0] data;
  } beat_t;

  /// Low byte of the message field. The high byte is the low byte of the episode.
  typedef enum logic [7:0] {
    NoMessage = 8'd0,
    // From host to engine: MSG_AT_BR.
    Start = 8'd1,
    // From engine to engine: MSG_PREV_AT_BR, MSG_CHILD_AT_BR, a round of the butterfly.
    Arrive = 8'd2,
    // From engine to engine, or from engine to host.
    Release = 8'd3
  } message_e;

  /// The engine's clock, in cycles since its reset.
  typedef logic [63:0] stamp_t;

  /// A sum of up to 32 words of 16 bits, whose carries are not folded in yet; that takes a separate
  /// cycle.
  typedef logic [20:0] sum_t;

  /// The part of a host's packet that is kept to build packets later.
  typedef struct packed {
    // The host's queue.
    queue_t origin;
    logic [47:0] destination_mac;
    logic [47:0] source_mac;
    logic [31:0] source_ip;
    logic [31:0] destination_ip;
    logic [15:0] source_port;
    logic [15:0] destination_port;
    logic [15:0] communicator;
    logic [7:0] topology;
    logic [7:0] role;
    // When its first beat came in.
    stamp_t called;
  } header_t;

  localparam logic [15:0] TypeIpv4 = 16'h0800;
  // A packet has 60 bytes, the smallest frame without its check sequence.
  localparam logic [15:0] FrameBytes = 16'd60;
  localparam logic [15:0] IpBytes = 16'd46;
  localparam logic [15:0] UdpBytes = 16'd26;
  // Behind them a release for the host has three stamps.
  localparam logic [15:0] StampBytes = 16'd24;
  localparam logic [15:0] DontFragment = 16'h4000;
  // Time to live 64, protocol 17.
  localparam logic [15:0] LiveUdp = 16'h4011;
  localparam logic [15:0] Version4 = 16'h4500;
  /// Version of the packet, and no values (network/packet.h).
  localparam logic [31:0] Format = 32'h0100_0000;

  /// Register map. Each communicator has a window of 256 bytes, in words of 64 bits.
  localparam int unsigned AddressBits = 14;
  typedef logic [AddressBits-1:0] address_t;
  localparam logic [63:0] Id = 64'h5455_5454_494E_4554;  // "TUTTINET"
  localparam logic [31:0] Version = 32'h0002_0000;
  localparam address_t RegId = 14'h0000;
  localparam address_t RegVersion = 14'h0008;
  /// Ports [7:0], communicators [15:8], stages [23:16], UDP port [47:32].
  localparam address_t RegCapability = 14'h0010;
  /// Errors: a refused enable, a repeated arrival, an arrival from a stranger. Writing 1 clears a
  /// bit.
  localparam address_t RegError = 14'h0018;
  localparam address_t RegCounted = 14'h0020;
  localparam address_t RegRepeated = 14'h0028;
  localparam address_t RegStranger = 14'h0030;
  localparam address_t RegForwarded = 14'h0038;
  localparam address_t RegEchoed = 14'h0040;
  localparam address_t RegBad = 14'h0048;
  /// Cycles since the reset, and cycles in a second.
  localparam address_t RegTimer = 14'h0050;
  localparam address_t RegClock = 14'h0058;
  localparam address_t Windows = 14'h2000;
  // Bit 0: enabled. Each write starts again at episode 0. Bit 1: repeated messages are echoed.
  localparam logic [7:0] WinControl = 8'h00;
  // Communicator [15:0], topology [23:16], role [31:24], incarnation [63:32].
  localparam logic [7:0] WinKey = 8'h08;
  localparam logic [7:0] WinStages = 8'h10;
  // Arrived [23:0], stage [31:24], episode [63:32].
  localparam logic [7:0] WinState = 8'h18;
  // Plus 8 * stage.
  localparam logic [7:0] WinNeed = 8'h40;
  // Plus 8 * stage.
  localparam logic [7:0] WinSend = 8'h80;

  function automatic sum_t sum4(logic [63:0] words);
    return sum_t'(words[63:48]) + sum_t'(words[47:32]) + sum_t'(words[31:16]) + sum_t'(words[15:0]);
  endfunction

  /// Folds the carries in, in two steps. The result is a one's complement sum, 0 only if all words
  /// are 0.
  function automatic logic [16:0] brought_round(sum_t sum);
    return 17'(sum[15:0]) + 17'(sum[20:16]);
  endfunction
  function automatic logic [15:0] brought_round_again(logic [16:0] once);
    return once[15:0] + 16'(once[16]);
  endfunction

  /// Returns true if the one's complement sum is FFFF, as for words with their checksum: the sum is
  /// 65535, or twice that, ...
  function automatic logic sums_up(sum_t sum);
    return sum[15:5] == '1 && sum[4:0] == ~sum[20:16];
  endfunction

  /// Converts to network order and back.
  function automatic logic [63:0] swapped(logic [63:0] data);
    return {data[7:0], data[15:8], data[23:16], data[31:24], data[39:32], data[47:40], data[55:48],
        data[63:56]};
  endfunction

  // `bytes` is 1 to 8.
  function automatic logic [7:0] keep_of(logic [3:0] bytes);
    return 8'hFF >> (4'd8 - bytes);
  endfunction
endpackage
