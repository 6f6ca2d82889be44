// SPDX-License-Identifier: Apache-2.0
/// The barrier units of all sockets with any messages of the cores and resets at any time: a message
/// waits until the unit that it names has taken it, one at a time, and its sender has the answer of
/// that cycle in the next one; arrivals at the mask unit and ends of episodes go to whom they belong
/// to, over the distance of each. What the units, the wires and the ways between sockets do is proved
/// of tutti_hbs_unit, tutti_counting_unit, tutti_mask_unit, tutti_isa_link, tutti_machine_far and
/// tutti_machine_structure_link.
module tutti_machine_units_formal
  import tutti_machine_device_pkg::*;
#(
    parameter int unsigned Cores = 4,
    parameter int unsigned Sockets = 2,
    parameter int unsigned Structures = 2
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs.
    input logic [7:0] unit_distance_i,
    input logic [9:0] link_latency_i,
    input logic [Cores-1:0][7:0] number_i,
    input device_request_t [Cores-1:0] request_i,
    input pin_t [Cores-1:0] pin_i
);
  localparam int unsigned Each = Cores / Sockets;
  localparam int unsigned Units = Sockets + 2;

  // The units are reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  logic [7:0] number[Cores];
  device_request_t request[Cores];
  device_reply_t reply[Cores];
  complete_t complete[Cores];
  pin_t pin[Cores];
  logic pin_complete[Cores];
  tutti_machine_units #(
      .Cores      (Cores),
      .Sockets    (Sockets),
      .Structures (Structures),
      .MaxDistance(1)
  ) u_units (
      .clk_i,
      .rst_ni        (!init_q),
      .unit_distance_i,
      .link_latency_i,
      .number_i      (number),
      .request_i     (request),
      .reply_o       (reply),
      .complete_o    (complete),
      .pin_i         (pin),
      .pin_complete_o(pin_complete)
  );

  // What each unit is asked and answers.
  logic [Units-1:0] asked, ready, writes;
  logic [Units-1:0][22:0] addr;
  logic [Units-1:0][63:0] wdata, rdata;
  for (genvar s = 0; s < Sockets; s++) begin : gen_structure
    assign asked[s] = u_units.gen_socket[s].u_structure.req_valid_i;
    assign ready[s] = u_units.gen_socket[s].u_structure.req_ready_o;
    assign writes[s] = u_units.gen_socket[s].u_structure.req_write_i;
    assign addr[s] = 23'(u_units.gen_socket[s].u_structure.req_addr_i);
    assign wdata[s] = u_units.gen_socket[s].u_structure.req_data_i;
    assign rdata[s] = u_units.gen_socket[s].u_structure.rsp_data_o;
  end
  assign asked[Sockets] = u_units.u_counting.req_valid_i;
  assign ready[Sockets] = 1'b1;
  assign writes[Sockets] = u_units.u_counting.req_write_i;
  assign addr[Sockets] = 23'(u_units.u_counting.req_addr_i);
  assign wdata[Sockets] = u_units.u_counting.req_data_i;
  assign rdata[Sockets] = u_units.u_counting.rsp_data_o;
  assign asked[Sockets+1] = u_units.u_mask.req_valid_i;
  assign ready[Sockets+1] = 1'b1;
  assign writes[Sockets+1] = u_units.u_mask.req_write_i;
  assign addr[Sockets+1] = 23'(u_units.u_mask.req_addr_i);
  assign wdata[Sockets+1] = u_units.u_mask.req_data_i;
  assign rdata[Sockets+1] = u_units.u_mask.rsp_data_o;

  // The messages that have come to their unit, with a register of their own.
  device_request_t [Cores-1:0] arrived, message, open_message_q;
  logic [Cores-1:0] comes, open_q = '0, wants, taken, was_taken_q = '0, was_far_q;
  logic [Cores-1:0][2:0] unit;
  logic [Cores-1:0][31:0] answer, was_answer_q = '0;
  logic [Units-1:0][Cores-1:0] granted;
  logic [Cores-1:0] pin_comes, pin_parity;
  // What must be so of each core and unit.
  logic [Cores-1:0] to_unit, waits, to_core, by_wire, told;
  logic [Units-1:0] one, same;
  logic ends, ended_q = 1'b0;
  for (genvar c = 0; c < Cores; c++) begin : gen_core
    localparam int unsigned Socket = c / Each;
    assign number[c] = number_i[c];
    assign request[c] = request_i[c];
    assign pin[c] = pin_i[c];
    // The way to the unit.
    assign arrived[c] = u_units.gen_core[c].u_request_far.data_o;
    assign comes[c] = u_units.gen_core[c].u_request_far.valid_o;
    device_request_t near;
    assign near = u_units.gen_core[c].u_request.data_o;
    assign to_unit[c] = u_units.gen_core[c].u_request.data_i == request_i[c]
        && u_units.gen_core[c].u_request.delay_i == unit_distance_i
        && u_units.gen_core[c].u_request_far.latency_i == link_latency_i
        && u_units.gen_core[c].u_request_far.far_i == (32'(near.socket) != Socket)
        && u_units.gen_core[c].u_request_far.valid_i == near.valid
        && u_units.gen_core[c].u_request_far.data_i == near;
    // It is there until it is taken.
    assign wants[c] = comes[c] || open_q[c];
    assign message[c] = comes[c] ? arrived[c] : open_message_q[c];
    assign unit[c] = message[c].device == DeviceCounting ? 3'(Sockets)
        : message[c].device == DeviceMask ? 3'(Sockets + 1)
        : message[c].device == DeviceStructure && 32'(message[c].socket) < Sockets
        ? {1'b0, message[c].socket} : 3'd7;
    assign waits[c] = (u_units.gen_core[c].pending_q == open_q[c])
        && (!open_q[c] || u_units.gen_core[c].held_q == open_message_q[c]);
    always_comb begin
      taken[c]  = 1'b0;
      answer[c] = '0;
      for (int unsigned u = 0; u < Units; u++) begin
        granted[u][c] = u_units.grant[u][c];
        if (granted[u][c] && ready[u]) begin
          taken[c]  = 1'b1;
          answer[c] = message[c].addr[2] ? rdata[u][63:32] : rdata[u][31:0];
        end
      end
    end
    // The way back, which has no data without an answer.
    assign to_core[c] = u_units.gen_core[c].u_reply_far.valid_i == was_taken_q[c]
        && u_units.gen_core[c].u_reply_far.data_i == was_answer_q[c]
        && (!was_taken_q[c] || u_units.gen_core[c].u_reply_far.far_i == was_far_q[c])
        && u_units.gen_core[c].u_reply_far.latency_i == link_latency_i
        && u_units.gen_core[c].u_reply.delay_i == unit_distance_i
        && u_units.gen_core[c].u_reply.data_i == {u_units.gen_core[c].u_reply_far.valid_o,
        u_units.gen_core[c].u_reply_far.data_o}
        && reply[c] == u_units.gen_core[c].u_reply.data_o;
    // The wires of the mask unit, which is in socket 0.
    pin_t near_pin;
    assign near_pin = u_units.gen_core[c].u_pin.data_o;
    assign pin_comes[c] = u_units.gen_core[c].u_pin_far.valid_o;
    assign pin_parity[c] = u_units.gen_core[c].u_pin_far.data_o;
    assign by_wire[c] = u_units.gen_core[c].u_pin.data_i == pin_i[c]
        && u_units.gen_core[c].u_pin.delay_i == unit_distance_i
        && u_units.gen_core[c].u_pin_far.latency_i == link_latency_i
        && u_units.gen_core[c].u_pin_far.far_i == (Socket != 0)
        && u_units.gen_core[c].u_pin_far.valid_i == near_pin.valid
        && u_units.gen_core[c].u_pin_far.data_i == near_pin.parity;
    assign told[c] = u_units.gen_core[c].u_complete_far.valid_i == ends
        && u_units.gen_core[c].u_complete_far.latency_i == link_latency_i
        && u_units.gen_core[c].u_complete_far.far_i == (Socket != 0)
        && u_units.gen_core[c].u_pin_complete.delay_i == unit_distance_i
        && u_units.gen_core[c].u_pin_complete.data_i == u_units.gen_core[c].u_complete_far.valid_o
        && pin_complete[c] == u_units.gen_core[c].u_pin_complete.data_o;
  end
  always_ff @(posedge clk_i) begin
    open_q         <= init_q ? '0 : wants & ~taken;
    open_message_q <= message;
    was_taken_q    <= init_q ? '0 : taken;
    was_answer_q   <= init_q ? '0 : answer;
    for (int unsigned c = 0; c < Cores; c++)
      was_far_q[c] <= 32'(message[c].socket) != c / Each;
    ended_q        <= !init_q && u_units.u_mask.complete;
  end
  // Everybody is told in the cycle after the arrivals that complete an episode, and of nothing else.
  assign ends = ended_q;

  // A unit works on one of the messages that name it, if there is one.
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    logic [Cores-1:0] naming;
    device_request_t its;
    always_comb begin
      its = '0;
      for (int unsigned c = 0; c < Cores; c++) begin
        naming[c] = wants[c] && unit[c] == 3'(u);
        if (granted[u][c]) its = message[c];
      end
    end
    assign one[u] = asked[u] == (naming != '0) && (granted[u] & ~naming) == '0
        && $countones(granted[u]) == int'(naming != '0)
        && u_units.gen_unit[u].u_arbiter.serve_i == ready[u];
    assign same[u] = !asked[u] || (writes[u] == its.write && wdata[u] == its.data
        && addr[u] == 23'(u < Sockets ? {its.addr[22:3], 3'b0} : {7'b0, its.addr[15:3], 3'b0}));
  end

  // Arrivals at the mask unit, by the numbers that programs use.
  logic [Cores-1:0] arrive, parity;
  logic distinct;
  always_comb begin
    arrive   = '0;
    parity   = '0;
    distinct = 1'b1;
    for (int unsigned n = 0; n < Cores; n++)
      for (int unsigned c = 0; c < Cores; c++) begin
        if (pin_comes[c] && number_i[c] == 8'(n)) begin
          arrive[n] = 1'b1;
          parity[n] = pin_parity[c];
        end
        if (c != n && number_i[c] == number_i[n] && number_i[c] != 8'hff) distinct = 1'b0;
      end
  end

  // The structures' announcements, and the ends of their episodes.
  logic [Sockets-1:0] linked;
  logic [Cores-1:0] ended;
  for (genvar s = 0; s < Sockets; s++) begin : gen_socket
    logic [Sockets-1:0] to;
    for (genvar d = 0; d < Sockets; d++) begin : gen_to
      if (d == s) begin : gen_self
        assign to[d] = 1'b1;
      end else begin : gen_other
        // Peer d of socket s, and peer s of socket d.
        localparam int unsigned K = d < s ? d : d - 1;
        localparam int unsigned Back = s < d ? s : s - 1;
        assign to[d] = u_units.gen_socket[s].gen_link[K].u_link.latency_i == link_latency_i
            && u_units.gen_socket[s].gen_link[K].u_link.valid_i
            == u_units.gen_socket[s].u_structure.out_valid_o[K]
            && u_units.gen_socket[s].gen_link[K].u_link.data_i
            == u_units.gen_socket[s].u_structure.out_barrier_o
            && u_units.gen_socket[s].u_structure.out_ready_i[K]
            == u_units.gen_socket[s].gen_link[K].u_link.ready_o
            && u_units.gen_socket[d].u_structure.in_valid_i[Back]
            == u_units.gen_socket[s].gen_link[K].u_link.valid_o
            && u_units.gen_socket[d].u_structure.in_barrier_i[Back]
            == u_units.gen_socket[s].gen_link[K].u_link.data_o
            && u_units.gen_socket[s].gen_link[K].u_link.ready_i
            == u_units.gen_socket[d].u_structure.in_ready_o[Back];
      end
    end
    assign linked[s] = to == '1;
    for (genvar k = 0; k < Each; k++) begin : gen_complete
      complete_t its;
      assign its = '{
              valid: u_units.gen_socket[s].u_structure.complete_valid_o
                  && u_units.gen_socket[s].u_structure.complete_mask_o[k],
              barrier: 6'(u_units.gen_socket[s].u_structure.complete_barrier_o)
          };
      assign ended[s*Each+k] = u_units.gen_socket[s].gen_complete[k].u_complete.data_i == its
          && u_units.gen_socket[s].gen_complete[k].u_complete.delay_i == unit_distance_i
          && complete[s*Each+k] == u_units.gen_socket[s].gen_complete[k].u_complete.data_o;
    end
  end

  always_comb begin
    assume (distinct);
  end
  always_comb begin
    if (!init_q) begin
      a_to_unit: assert (to_unit == '1);
      a_waits: assert (waits == '1);
      a_one: assert (one == '1);
      a_same: assert (same == '1);
      a_to_core: assert (to_core == '1);
      a_by_wire: assert (by_wire == '1);
      a_arrive: assert (u_units.u_mask.pin_arrive_i == arrive
          && (u_units.u_mask.pin_parity_i & arrive) == parity);
      a_sense: assert ((u_units.u_mask.pin_sense_o[0] != u_units.sense_q) == ended_q);
      a_told: assert (told == '1);
      a_linked: assert (linked == '1);
      a_ended: assert (ended == '1);
      // Only the registers of the counting unit are connected.
      a_registers_only: assert (!u_units.u_counting.msg_valid_i && !u_units.u_counting.rd_ready_i
          && !u_units.u_counting.mem_valid_i && !u_units.u_counting.wr_ready_i);
      // Its CAPABILITY promises no messages and no memory.
      a_capability: assert (!asked[Sockets] || addr[Sockets] != 23'h80
          || (rdata[Sockets][63:32] == '0 && rdata[Sockets][23:16] == '0));
    end
  end

  always_comb begin
    if (!init_q) begin
      c_far: cover (reply[0].valid && was_far_q[0] && link_latency_i == 10'd2);
      c_waits: cover (open_q[0] && taken[0]);
      c_all: cover (pin_comes == '1 && number_i[0] == 8'd1);
    end
  end
endmodule
