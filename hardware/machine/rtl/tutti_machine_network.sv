// SPDX-License-Identifier: Apache-2.0
/// The network: a socket has a crossbar for each of the three virtual networks, and each pair of
/// sockets a link in each direction. Requests go from caches to homes, forwards from homes to caches,
/// responses from both to both. A message passes its own socket's crossbar, and for another socket
/// the link and that socket's crossbar; a virtual network therefore cannot wait for itself.
module tutti_machine_network
  import tutti_machine_pkg::*;
#(
    /// See tutti_machine_coherent.
    parameter int unsigned Cores = 16,
    parameter int unsigned Sockets = 1,
    parameter int unsigned Banks = 4,
    parameter int unsigned HomeHash = 1,
    parameter int unsigned LineBytes = 64,
    /// Cycles from an input's turn to its output; cycles for which a line occupies an output.
    parameter int unsigned HopLatency = 6,
    parameter int unsigned LineCycles = 2,
    /// Cycles of a link, cycles for which a line occupies it, and messages of a virtual network that
    /// a link takes before the first has left it.
    parameter int unsigned LinkLatency = 48,
    parameter int unsigned LinkLineCycles = 8,
    parameter int unsigned LinkDepth = 16,
    localparam int unsigned LineBits = 8 * LineBytes
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// The ports of the caches.
    input logic [Cores-1:0] request_valid_i,
    output logic [Cores-1:0] request_ready_o,
    input message_t [Cores-1:0] request_i,
    output logic [Cores-1:0] forward_valid_o,
    input logic [Cores-1:0] forward_ready_i,
    output message_t [Cores-1:0] forward_o,
    input logic [Cores-1:0] response_valid_i,
    output logic [Cores-1:0] response_ready_o,
    input message_t [Cores-1:0] response_i,
    input logic [Cores-1:0][LineBits-1:0] response_line_i,
    output logic [Cores-1:0] response_valid_o,
    input logic [Cores-1:0] response_ready_i,
    output message_t [Cores-1:0] response_o,
    output logic [Cores-1:0][LineBits-1:0] response_line_o,
    /// The ports of the homes.
    output logic [Banks-1:0] home_request_valid_o,
    input logic [Banks-1:0] home_request_ready_i,
    output message_t [Banks-1:0] home_request_o,
    input logic [Banks-1:0] home_forward_valid_i,
    output logic [Banks-1:0] home_forward_ready_o,
    input message_t [Banks-1:0] home_forward_i,
    input logic [Banks-1:0] home_response_valid_i,
    output logic [Banks-1:0] home_response_ready_o,
    input message_t [Banks-1:0] home_response_i,
    input logic [Banks-1:0][LineBits-1:0] home_response_line_i,
    output logic [Banks-1:0] home_response_valid_o,
    input logic [Banks-1:0] home_response_ready_i,
    output message_t [Banks-1:0] home_response_o,
    output logic [Banks-1:0][LineBits-1:0] home_response_line_o
);
  if (Cores < 1 || Cores > 64) $fatal(1, "tutti_machine_network: Cores must be 1 to 64");
  if (Sockets < 1 || Sockets > 4) $fatal(1, "tutti_machine_network: Sockets must be 1 to 4");
  if (Cores % Sockets != 0)
    $fatal(1, "tutti_machine_network: Cores must be a multiple of Sockets");
  if (Banks < 1 || Banks > 64 || (Banks & (Banks - 1)) != 0)
    $fatal(1, "tutti_machine_network: Banks must be a power of two, 1 to 64");

  // The ports of a socket's crossbars: its caches, its homes (responses only have both), its links.
  localparam int unsigned Tiles = Cores / Sockets;
  localparam int unsigned Homes = (Banks + Sockets - 1) / Sockets;
  localparam int unsigned Links = Sockets - 1;
  // A message is padded to a whole number of words, which simulates faster.
  localparam int unsigned Short = 64;
  localparam int unsigned Pad = Short - $bits(message_t);
  localparam int unsigned Long = Short + LineBits;
  localparam int unsigned HopDepth = HopLatency + 2;
  localparam int unsigned RequestPorts = Homes + Links;
  localparam int unsigned RequestBits = RequestPorts > 1 ? $clog2(RequestPorts) : 1;
  localparam int unsigned ForwardPorts = Tiles + Links;
  localparam int unsigned ForwardBits = ForwardPorts > 1 ? $clog2(ForwardPorts) : 1;
  localparam int unsigned ResponsePorts = Tiles + Homes + Links;
  localparam int unsigned ResponseBits = $clog2(ResponsePorts);

  typedef logic [31:0] number_t;
  // Groups of bits of the line's number, added without carries: a program that uses every second
  // line, say, still reaches all homes.
  localparam int unsigned BankBits = $clog2(Banks);
  function automatic number_t home_of(line_t line);
    line_t hash;
    hash = line ^ line >> BankBits ^ line >> 2 * BankBits ^ line >> 3 * BankBits;
    if (HomeHash != 0) return number_t'(hash) % Banks;
    return number_t'(line) % Banks;
  endfunction
  // The link of socket `from` to socket `to`.
  function automatic number_t link_to(number_t from, number_t to);
    return to < from ? to : to - 1;
  endfunction
  // The output for a home and for a cache; `first` is the one of the first home or cache, `links` of
  // the first link.
  function automatic number_t port_of_home(number_t socket, line_t line, number_t first,
                                           number_t links);
    number_t home;
    home = home_of(line);
    return home % Sockets == socket ? first + home / Sockets
        : links + link_to(socket, home % Sockets);
  endfunction
  function automatic number_t port_of_core(number_t socket, core_t core, number_t links);
    number_t number;
    number = number_t'(core);
    return number / Tiles == socket ? number % Tiles : links + link_to(socket, number / Tiles);
  endfunction

  // Indexed by [to][from]; used where the two differ.
  logic [Sockets-1:0][Sockets-1:0][2:0] out_valid, out_ready, in_valid, in_ready;
  logic [Sockets-1:0][Sockets-1:0][1:0][Short-1:0] out_short, in_short;
  logic [Sockets-1:0][Sockets-1:0][Long-1:0] out_long, in_long;

  for (genvar s = 0; s < Sockets; ++s) begin : gen_socket
    // Requests.
    logic [Tiles+Links-1:0] q_valid, q_ready;
    logic [Tiles+Links-1:0][RequestBits-1:0] q_to;
    logic [Tiles+Links-1:0][Short-1:0] q_data;
    logic [RequestPorts-1:0] q_out_valid, q_out_ready;
    logic [RequestPorts-1:0][Short-1:0] q_out;
    // Forwards.
    logic [Homes+Links-1:0] f_valid, f_ready;
    logic [Homes+Links-1:0][ForwardBits-1:0] f_to;
    logic [Homes+Links-1:0][Short-1:0] f_data;
    logic [ForwardPorts-1:0] f_out_valid, f_out_ready;
    logic [ForwardPorts-1:0][Short-1:0] f_out;
    // Responses.
    logic [ResponsePorts-1:0] r_valid, r_ready, r_long;
    logic [ResponsePorts-1:0][ResponseBits-1:0] r_to;
    logic [ResponsePorts-1:0][Long-1:0] r_data;
    logic [ResponsePorts-1:0] r_out_valid, r_out_ready;
    logic [ResponsePorts-1:0][Long-1:0] r_out;

    function automatic logic [ResponseBits-1:0] response_to(message_t message);
      return message.kind == Done
          ? ResponseBits'(port_of_home(s, message.line, Tiles, Tiles + Homes))
          : ResponseBits'(port_of_core(s, message.core, Tiles + Homes));
    endfunction

    for (genvar i = 0; i < Tiles; ++i) begin : gen_tile
      localparam int unsigned C = s * Tiles + i;
      assign q_valid[i] = request_valid_i[C];
      assign request_ready_o[C] = q_ready[i];
      assign q_to[i] = RequestBits'(port_of_home(s, request_i[C].line, 0, Homes));
      assign q_data[i] = {{Pad{1'b0}}, request_i[C]};
      assign forward_valid_o[C] = f_out_valid[i];
      assign f_out_ready[i] = forward_ready_i[C];
      assign forward_o[C] = message_t'(f_out[i]);
      assign r_valid[i] = response_valid_i[C];
      assign response_ready_o[C] = r_ready[i];
      assign r_to[i] = response_to(response_i[C]);
      assign r_long[i] = response_i[C].has_line;
      assign r_data[i] = {{Pad{1'b0}}, response_i[C], response_line_i[C]};
      assign response_valid_o[C] = r_out_valid[i];
      assign r_out_ready[i] = response_ready_i[C];
      assign response_o[C] = message_t'(r_out[i][Long-1:LineBits]);
      assign response_line_o[C] = r_out[i][LineBits-1:0];
    end

    for (genvar h = 0; h < Homes; ++h) begin : gen_home
      localparam int unsigned B = h * Sockets + s;
      if (B < Banks) begin : gen_there
        assign home_request_valid_o[B] = q_out_valid[h];
        assign q_out_ready[h] = home_request_ready_i[B];
        assign home_request_o[B] = message_t'(q_out[h]);
        assign f_valid[h] = home_forward_valid_i[B];
        assign home_forward_ready_o[B] = f_ready[h];
        assign f_to[h] = ForwardBits'(port_of_core(s, home_forward_i[B].core, Tiles));
        assign f_data[h] = {{Pad{1'b0}}, home_forward_i[B]};
        assign r_valid[Tiles+h] = home_response_valid_i[B];
        assign home_response_ready_o[B] = r_ready[Tiles+h];
        assign r_to[Tiles+h] = response_to(home_response_i[B]);
        assign r_long[Tiles+h] = home_response_i[B].has_line;
        assign r_data[Tiles+h] = {{Pad{1'b0}}, home_response_i[B], home_response_line_i[B]};
        assign home_response_valid_o[B] = r_out_valid[Tiles+h];
        assign r_out_ready[Tiles+h] = home_response_ready_i[B];
        assign home_response_o[B] = message_t'(r_out[Tiles+h][Long-1:LineBits]);
        assign home_response_line_o[B] = r_out[Tiles+h][LineBits-1:0];
      end else begin : gen_none
        // The sockets have different numbers of homes.
        assign q_out_ready[h] = 1'b0;
        assign f_valid[h] = 1'b0;
        assign f_to[h] = '0;
        assign f_data[h] = '0;
        assign r_valid[Tiles+h] = 1'b0;
        assign r_to[Tiles+h] = '0;
        assign r_long[Tiles+h] = 1'b0;
        assign r_data[Tiles+h] = '0;
        assign r_out_ready[Tiles+h] = 1'b0;
        logic unused;
        assign unused = ^{q_out_valid[h], q_out[h], f_ready[h], r_ready[Tiles+h],
            r_out_valid[Tiles+h], r_out[Tiles+h]};
      end
    end

    for (genvar p = 0; p < Sockets; ++p) begin : gen_peer
      if (p != s) begin : gen_link
        localparam int unsigned L = p < s ? p : p - 1;
        message_t request, forward, response;
        assign request = message_t'(in_short[s][p][0]);
        assign forward = message_t'(in_short[s][p][1]);
        assign response = message_t'(in_long[s][p][Long-1:LineBits]);
        // From the peer.
        assign q_valid[Tiles+L] = in_valid[s][p][0];
        assign f_valid[Homes+L] = in_valid[s][p][1];
        assign r_valid[Tiles+Homes+L] = in_valid[s][p][2];
        assign in_ready[s][p] = {r_ready[Tiles+Homes+L], f_ready[Homes+L], q_ready[Tiles+L]};
        assign q_to[Tiles+L] = RequestBits'(port_of_home(s, request.line, 0, Homes));
        assign f_to[Homes+L] = ForwardBits'(port_of_core(s, forward.core, Tiles));
        assign r_to[Tiles+Homes+L] = response_to(response);
        assign r_long[Tiles+Homes+L] = response.has_line;
        assign q_data[Tiles+L] = in_short[s][p][0];
        assign f_data[Homes+L] = in_short[s][p][1];
        assign r_data[Tiles+Homes+L] = in_long[s][p];
        // To the peer.
        assign out_valid[p][s] = {r_out_valid[Tiles+Homes+L], f_out_valid[Tiles+L],
            q_out_valid[Homes+L]};
        assign q_out_ready[Homes+L] = out_ready[p][s][0];
        assign f_out_ready[Tiles+L] = out_ready[p][s][1];
        assign r_out_ready[Tiles+Homes+L] = out_ready[p][s][2];
        assign out_short[p][s] = {f_out[Tiles+L], q_out[Homes+L]};
        assign out_long[p][s] = r_out[Tiles+Homes+L];
        message_t leaving;
        assign leaving = message_t'(out_long[p][s][Long-1:LineBits]);
        logic unused;
        assign unused = ^{request, forward, response, leaving};
        tutti_machine_link #(
            .Width(Short),
            .LongWidth(Long),
            .LineCycles(LinkLineCycles),
            .Latency(LinkLatency),
            .Depth(LinkDepth)
        ) i_link (
            .clk_i,
            .rst_ni,
            .valid_i(out_valid[p][s]),
            .ready_o(out_ready[p][s]),
            .short_i(out_short[p][s]),
            .long_i(out_long[p][s]),
            .has_line_i(leaving.has_line),
            .valid_o(in_valid[p][s]),
            .ready_i(in_ready[p][s]),
            .short_o(in_short[p][s]),
            .long_o(in_long[p][s])
        );
      end else begin : gen_self
        assign out_valid[p][s] = '0;
        assign out_ready[p][s] = '0;
        assign in_valid[p][s] = '0;
        assign in_ready[p][s] = '0;
        assign out_short[p][s] = '0;
        assign in_short[p][s] = '0;
        assign out_long[p][s] = '0;
        assign in_long[p][s] = '0;
      end
    end

    tutti_machine_crossbar #(
        .Inputs(Tiles + Links),
        .Outputs(RequestPorts),
        .Width(Short),
        .LineCycles(LineCycles),
        .Latency(HopLatency),
        .Depth(HopDepth)
    ) i_requests (
        .clk_i,
        .rst_ni,
        .valid_i(q_valid),
        .ready_o(q_ready),
        .to_i(q_to),
        .long_i('0),
        .data_i(q_data),
        .valid_o(q_out_valid),
        .ready_i(q_out_ready),
        .data_o(q_out)
    );
    tutti_machine_crossbar #(
        .Inputs(Homes + Links),
        .Outputs(ForwardPorts),
        .Width(Short),
        .LineCycles(LineCycles),
        .Latency(HopLatency),
        .Depth(HopDepth)
    ) i_forwards (
        .clk_i,
        .rst_ni,
        .valid_i(f_valid),
        .ready_o(f_ready),
        .to_i(f_to),
        .long_i('0),
        .data_i(f_data),
        .valid_o(f_out_valid),
        .ready_i(f_out_ready),
        .data_o(f_out)
    );
    tutti_machine_crossbar #(
        .Inputs(ResponsePorts),
        .Outputs(ResponsePorts),
        .Width(Long),
        .LineCycles(LineCycles),
        .Latency(HopLatency),
        .Depth(HopDepth)
    ) i_responses (
        .clk_i,
        .rst_ni,
        .valid_i(r_valid),
        .ready_o(r_ready),
        .to_i(r_to),
        .long_i(r_long),
        .data_i(r_data),
        .valid_o(r_out_valid),
        .ready_i(r_out_ready),
        .data_o(r_out)
    );
  end
  // The padding of what comes in is not read; neither are the places of sockets without links.
  logic unused;
  assign unused = ^{out_valid, out_ready, in_valid, in_ready, out_short, in_short, out_long, in_long};
endmodule
