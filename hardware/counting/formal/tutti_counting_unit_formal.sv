// SPDX-License-Identifier: Apache-2.0
/// The whole counting unit against its specification: any requests, messages, memory and resets, in
/// any order and at the same time, of any threads, participants or not.
///
/// tutti_counting_pair_formal shows what the counts mean; this proof shows that the unit counts what
/// it should by every path, reports every error and nothing else, and shows its state as the
/// register map says.
module tutti_counting_unit_formal
  import tutti_counting_pkg::*;
#(
    parameter int unsigned Threads = 3,
    parameter int unsigned GenerationBits = 3,
    parameter int unsigned RegisterResponse = 0,
    parameter bit HasMessages = 1'b1,
    parameter bit HasMemoryPaths = 1'b1,
    parameter int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    // Free inputs; the reset may come again at any time.
    input logic rst_ni,
    input logic req_valid_i,
    input logic req_write_i,
    input address_t req_addr_i,
    input logic [DataBits-1:0] req_data_i,
    input logic msg_valid_i,
    input logic [2:0] msg_addr_i,
    input logic rd_ready_i,
    input logic mem_valid_i,
    input logic [ThreadBits-1:0] mem_tag_i,
    input logic [DataBits-1:0] mem_data_i,
    input logic mem_error_i,
    input logic wr_ready_i
);
  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  logic rsp_valid, rd_valid, wr_valid;
  logic [DataBits-1:0] rsp_data, rd_addr, wr_addr, wr_data;
  logic [ThreadBits-1:0] rd_tag;
  tutti_counting_unit #(
      .Threads(Threads),
      .GenerationBits(GenerationBits),
      .RegisterResponse(RegisterResponse),
      .HasMessages(HasMessages),
      .HasMemoryPaths(HasMemoryPaths)
  ) i_unit (
      .clk_i,
      .rst_ni,
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .msg_valid_i,
      .msg_addr_i,
      .rd_valid_o(rd_valid),
      .rd_ready_i,
      .rd_addr_o(rd_addr),
      .rd_tag_o(rd_tag),
      .mem_valid_i,
      .mem_tag_i,
      .mem_data_i,
      .mem_error_i,
      .wr_valid_o(wr_valid),
      .wr_ready_i,
      .wr_addr_o(wr_addr),
      .wr_data_o(wr_data)
  );

  // The specification.
  logic enable, clear, trigger, trigger_copy;
  logic [7:0] size;
  logic [1:0] arrival, departure;
  logic [63:0] arrival_base, departure_base;
  logic [6:0] trigger_thread, error;
  logic [6:2] wrong;
  logic [1:0][7:0] count_q;
  logic [1:0] departing_q;
  logic [1:0][GenerationBits-1:0] uses_q;
  logic [1:0][63:0] arrived;
  logic [31:0] episodes_q;
  for (genvar c = 0; c < 2; ++c) begin : gen_arrived
    assign arrived[c] = 64'(count_q[c]);
  end
  tutti_counting_map_checker #(
      .Threads(Threads),
      .Variant(1),
      .GenerationBits(GenerationBits),
      .MemoryPaths(HasMemoryPaths),
      .Messages(HasMessages),
      .RegisterResponse(RegisterResponse)
  ) i_map (
      .clk_i,
      .rst_ni,
      .init_i(init_q),
      .req_valid_i,
      .req_write_i,
      .req_addr_i,
      .req_data_i,
      .rsp_valid_i(rsp_valid),
      .rsp_data_i(rsp_data),
      .departing_i(departing_q),
      .generation_i(uses_q),
      .arrived_i(arrived),
      .episodes_i(episodes_q),
      .error_i(wrong),
      .enable_o(enable),
      .size_o(size),
      .arrival_o(arrival),
      .departure_o(departure),
      .arrival_base_o(arrival_base),
      .departure_base_o(departure_base),
      .error_o(error),
      .clear_o(clear),
      .trigger_o(trigger),
      .copy_o(trigger_copy),
      .thread_o(trigger_thread)
  );

  // Memory: one read in flight for a line; what was in flight at a reset by software is stale.
  logic [Threads-1:0] flight_q, stale_q;
  logic [Threads-1:0][1:0] seen_q;
  logic [7:0] next_q;
  logic polls, reads, answers, polled;
  logic [1:0] step;
  assign polls = enable && arrival == 2'd2 && !clear;
  assign reads = polls && !flight_q[next_q[ThreadBits-1:0]] && rd_ready_i;
  assign answers = mem_valid_i && !stale_q[mem_tag_i] && !clear;
  assign step = mem_data_i[1:0] - seen_q[mem_tag_i];
  assign polled = answers && !mem_error_i && step == 2'd1;
  // The platform answers only what was asked. It forgets with the unit in a hard reset.
  always_comb assume (!mem_valid_i || (32'(mem_tag_i) < Threads && flight_q[mem_tag_i]));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flight_q <= '0;
      stale_q <= '0;
      seen_q <= '0;
      next_q <= '0;
    end else begin
      if (reads) flight_q[next_q[ThreadBits-1:0]] <= 1'b1;
      if (clear) stale_q <= flight_q;
      if (mem_valid_i) begin
        flight_q[mem_tag_i] <= 1'b0;
        stale_q[mem_tag_i] <= 1'b0;
      end
      if (clear) seen_q <= '0;
      else if (polled) seen_q[mem_tag_i] <= seen_q[mem_tag_i] + 2'd1;
      if (clear) next_q <= '0;
      else if (polls && (reads || flight_q[next_q[ThreadBits-1:0]]))
        next_q <= next_q + 8'd1 < size ? next_q + 8'd1 : '0;
    end
  end

  // The configured path's arrival.
  logic comes, comes_copy, member, counts;
  logic [6:0] who;
  logic [1:0] completes;
  always_comb begin
    case (arrival)
      2'd0: {comes, comes_copy, who} = {trigger, trigger_copy, trigger_thread};
      2'd1: {comes, comes_copy, who} = {msg_valid_i, msg_addr_i[2], 5'd0, msg_addr_i[1:0]};
      default: {comes, comes_copy, who} = {polled, seen_q[mem_tag_i][0], 7'(mem_tag_i)};
    endcase
  end
  assign member = enable && 8'(who) < size;
  assign counts = comes && member && !clear;
  for (genvar c = 0; c < 2; ++c) begin : gen_copy
    assign completes[c] = counts && comes_copy == 1'(c)
        && (departing_q[c] ? size == 8'd1 : count_q[c] + 8'd1 == size);
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear) begin
        count_q[c] <= '0;
        departing_q[c] <= 1'b0;
        uses_q[c] <= '0;
      end else if (counts && comes_copy == 1'(c)) begin
        count_q[c] <= departing_q[c] ? 8'd1 : count_q[c] + 8'd1;
        departing_q[c] <= completes[c];
        if (completes[c]) uses_q[c] <= uses_q[c] + GenerationBits'(1);
      end
    end
  end

  // Departures by memory.
  logic writing_q;
  logic [7:0] line_q;
  logic [31:0] number_q;
  logic writes;
  assign writes = completes != '0 && departure != 2'd0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) begin
      episodes_q <= '0;
      writing_q <= 1'b0;
      line_q <= '0;
      number_q <= '0;
    end else begin
      if (completes != '0) episodes_q <= episodes_q + 32'd1;
      if (writes) begin
        writing_q <= 1'b1;
        line_q <= '0;
        number_q <= episodes_q + 32'd1;
      end else if (writing_q && wr_ready_i) begin
        writing_q <= departure == 2'd1 && line_q + 8'd1 < size;
        line_q <= departure == 2'd1 && line_q + 8'd1 < size ? line_q + 8'd1 : '0;
      end
    end
  end

  assign wrong = {
    writes && writing_q,
    answers && (mem_error_i || step >= 2'd2),
    1'b0,
    (trigger && arrival != 2'd0) || (msg_valid_i && arrival != 2'd1),
    comes && !member
  };

  always_comb begin
    assume (!init_q || !rst_ni);
    if (!init_q) begin
      a_read: assert (rd_valid == (polls && !flight_q[next_q[ThreadBits-1:0]]));
      a_read_line: assert (!rd_valid || (8'(rd_tag) == next_q && rd_addr == arrival_base
          + 64'(next_q) * 64'd64));
      a_write: assert (wr_valid == writing_q);
      a_write_line: assert (!wr_valid || (wr_addr == departure_base + 64'(line_q) * 64'd64
          && wr_data == 64'(number_q)));
      // Invariants: the unit's state is the specification's.
      a_config: assert (i_unit.i_registers.config_q == {enable, size, arrival, departure,
          arrival_base, departure_base});
      a_error: assert (i_unit.i_registers.error_q == error);
      a_clear: assert (i_unit.i_registers.clear_q == clear);
      a_episodes: assert (i_unit.episodes_q == episodes_q);
      a_poller: assert (i_unit.i_poller.busy_q == flight_q && i_unit.i_poller.drop_q == stale_q
          && i_unit.i_poller.seen_q == seen_q && 8'(i_unit.i_poller.next_q) == next_q);
      a_poller_place: assert (clear || next_q < size);
      a_poller_stale: assert ((stale_q & ~flight_q) == '0);
      a_notifier: assert (i_unit.i_notifier.busy_q == writing_q && i_unit.i_notifier.thread_q
          == line_q && i_unit.i_notifier.value_q == number_q);
      a_notifier_place: assert (clear || (line_q < size && (departure != 2'd0 || !writing_q)
          && (departure == 2'd1 || line_q == '0)));
    end
  end
  for (genvar c = 0; c < 2; ++c) begin : gen_state
    always_comb begin
      if (!init_q) begin
        a_count: assert (8'(i_unit.gen_copy[c].i_core.count_q) == count_q[c]);
        a_departing: assert (i_unit.gen_copy[c].i_core.departing_q == departing_q[c]);
        a_uses: assert (i_unit.gen_copy[c].i_core.generation_q == uses_q[c]);
        a_bound: assert (clear || (departing_q[c] ? count_q[c] == size : count_q[c] < size));
      end
    end
  end

  // Reachable: an episode by each path, an overrun, and an episode after a second hard reset.
  logic again_q;
  always_ff @(posedge clk_i) begin
    if (init_q) again_q <= 1'b0;
    else if (!rst_ni && episodes_q != '0) again_q <= 1'b1;
  end
  always_comb begin
    c_message: cover (!init_q && completes != '0 && arrival == 2'd1 && size > 8'd1);
    c_memory: cover (!init_q && completes != '0 && arrival == 2'd2 && departure == 2'd1);
    c_again: cover (!init_q && completes != '0 && again_q);
    c_clears_and_sets: cover (!init_q && req_valid_i && req_write_i && req_addr_i == 16'h0280
        && req_data_i[2] && wrong[2] && error[2]);
  end
endmodule
