// SPDX-License-Identifier: Apache-2.0
/// The home of a part of the memory: a full map of who has which line, and the memory behind it.
///
/// A transaction begins with the lookup, which writes the map's new entry at once, sends its forwards
/// or the line from memory, and ends with Done. Requests for a line with a transaction wait in it:
/// there is a place for each cache, and they take turns. While memory's line is read, the next reader
/// does not wait for the Done of the one before; all others do. Up to `Transactions` lines are in
/// work; a request for another one waits at the door, and with it all behind it, so that transactions
/// run out of requests and end.
///
/// A memory-side cache makes recent lines faster. It has no contents of its own here: only its tags,
/// which choose between two latencies.
///
/// The map is empty at power-on. A reset of a directory that has been used empties it, a line each
/// cycle; requests wait meanwhile. The memory keeps its contents.
module tutti_machine_directory
  import tutti_machine_pkg::*;
#(
    /// Caches, 1 to 64.
    parameter int unsigned Cores = 16,
    /// Homes, a power of two. This one has one line of each Banks lines that follow each other.
    parameter int unsigned Banks = 4,
    parameter int unsigned LineBytes = 64,
    /// The memory of all homes, a power of two.
    parameter int unsigned MemoryBytes = 16 << 20,
    /// Lines in work at a time, 1 to 16.
    parameter int unsigned Transactions = 4,
    /// Cycles of a lookup, 1 to 255.
    parameter int unsigned DirectoryLatency = 8,
    /// The memory-side cache of all homes, a power of two or 0; direct-mapped.
    parameter int unsigned NearBytes = 1 << 20,
    /// Cycles of the memory-side cache and of the memory, 0 to 255 and 0 to 1023.
    parameter int unsigned NearLatency = 12,
    parameter int unsigned MemoryLatency = 100,
    localparam int unsigned LineBits = 8 * LineBytes
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    input logic request_valid_i,
    output logic request_ready_o,
    input message_t request_i,
    output logic forward_valid_o,
    input logic forward_ready_i,
    output message_t forward_o,
    /// Done; always taken.
    input logic response_valid_i,
    output logic response_ready_o,
    input message_t response_i,
    input logic [LineBits-1:0] response_line_i,
    output logic response_valid_o,
    input logic response_ready_i,
    output message_t response_o,
    output logic [LineBits-1:0] response_line_o,
    output transaction_status_t [Transactions-1:0] status_o
);
  /*verilator no_inline_module*/
  localparam int unsigned Lines = MemoryBytes / LineBytes / Banks;
  localparam int unsigned LineNumberBits = Lines > 1 ? $clog2(Lines) : 1;
  localparam int unsigned NearLines = NearBytes / LineBytes / Banks;
  localparam int unsigned NearBits = NearLines > 1 ? $clog2(NearLines) : 1;
  localparam int unsigned NearPlaces = NearLines > 0 ? NearLines : 1;
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1;
  localparam int unsigned PlaceBits = Transactions > 1 ? $clog2(Transactions) : 1;

  if (Cores < 1 || Cores > 64) $fatal(1, "tutti_machine_directory: Cores must be 1 to 64");
  if (Banks < 1 || Banks > 64 || (Banks & (Banks - 1)) != 0)
    $fatal(1, "tutti_machine_directory: Banks must be a power of two, 1 to 64");
  if (LineBytes < 4 || (LineBytes & (LineBytes - 1)) != 0)
    $fatal(1, "tutti_machine_directory: LineBytes must be a power of two from 4");
  if (Lines < 1 || (MemoryBytes & (MemoryBytes - 1)) != 0)
    $fatal(1, "tutti_machine_directory: MemoryBytes must be a power of two, a line for each bank");
  if (Transactions < 1 || Transactions > 16)
    $fatal(1, "tutti_machine_directory: Transactions must be 1 to 16");
  if (DirectoryLatency < 1 || DirectoryLatency > 255)
    $fatal(1, "tutti_machine_directory: DirectoryLatency must be 1 to 255");
  if (NearBytes != 0 && (NearBytes & (NearBytes - 1)) != 0)
    $fatal(1, "tutti_machine_directory: NearBytes must be 0 or a power of two");
  if (NearLatency > 255 || MemoryLatency > 1023)
    $fatal(1, "tutti_machine_directory: NearLatency must be at most 255, MemoryLatency 1023");

  typedef logic [LineNumberBits-1:0] index_t;
  typedef logic [PlaceBits-1:0] place_t;
  typedef logic [Cores-1:0] caches_t;
  typedef struct packed {
    // One cache owns the line, for writing.
    logic exclusive;
    // All that may have it.
    caches_t caches;
  } entry_t;

  function automatic index_t index_of(line_t line);
    return Lines > 1 ? index_t'(line >> $clog2(Banks)) : '0;
  endfunction
  function automatic logic [CoreBits-1:0] place_of(core_t core);
    return core[CoreBits-1:0];
  endfunction
  // The first member at or after `from`; requests has one.
  function automatic core_t next_of(caches_t requests, core_t from);
    core_t found;
    found = '0;
    for (int unsigned i = Cores; i > 0; --i) if (requests[i-1]) found = core_t'(i - 1);
    for (int unsigned i = Cores; i > 0; --i)
      if (requests[i-1] && core_t'(i - 1) >= from) found = core_t'(i - 1);
    return found;
  endfunction
  function automatic place_t next_place(logic [Transactions-1:0] requests, place_t from);
    place_t found;
    found = '0;
    for (int unsigned i = Transactions; i > 0; --i) if (requests[i-1]) found = place_t'(i - 1);
    for (int unsigned i = Transactions; i > 0; --i)
      if (requests[i-1] && place_t'(i - 1) >= from) found = place_t'(i - 1);
    return found;
  endfunction

  entry_t entry_q[Lines];
  logic [LineBits-1:0] memory_q[Lines]  /*verilator public_flat_rw*/;
  // A line's number above the bits of its place; 1 at the front if there is one.
  logic [LineNumberBits:0] near_q[NearPlaces];
  initial begin
    for (int unsigned i = 0; i < Lines; ++i) entry_q[i] = '0;
    for (int unsigned i = 0; i < Lines; ++i) memory_q[i] = '0;
    for (int unsigned i = 0; i < NearPlaces; ++i) near_q[i] = '0;
  end

  // The transactions.
  step_t step_q[Transactions];
  kind_t kind_q[Transactions];
  core_t requester_q[Transactions];
  line_t line_q[Transactions];
  logic [9:0] timer_q[Transactions];
  // Lookup's result: what to send to whom, and the answer.
  kind_t forward_kind_q[Transactions];
  caches_t targets_q[Transactions];
  logic [6:0] acks_q[Transactions];
  permission_t grant_q[Transactions];
  logic has_line_q[Transactions];
  // How many Dones are to come, and whether all of them are of readers of memory's line.
  logic [6:0] pending_q[Transactions];
  logic reading_q[Transactions];
  logic at_hand_q[Transactions];
  // Requests that wait for the line.
  caches_t waiting_q[Transactions];
  kind_t waiting_kind_q[Transactions][Cores];

  logic forwards_q, responds_q;
  message_t forward_q, response_q;
  logic [LineBits-1:0] response_line_q;
  place_t forward_turn_q, response_turn_q, lookup_turn_q;

  // After power-on nothing has been used.
  logic used_q = 1'b0;
  logic empties_q;
  index_t empty_at_q;

  // The transactions that may go on in this cycle.
  logic [Transactions-1:0] lookups, senders, answers, busy, same_line;
  // A Done comes; nothing more is to come; the next request's turn.
  logic [Transactions-1:0] dones, rest, turns;
  core_t [Transactions-1:0] next;
  place_t lookup, sender, answer, match, free;
  logic looks, sends, responds, accepts, joins;
  for (genvar t = 0; t < Transactions; ++t) begin : gen_place
    assign busy[t] = step_q[t] != Free;
    assign lookups[t] = step_q[t] == Lookup && timer_q[t] == '0;
    assign senders[t] = step_q[t] == Send;
    assign answers[t] = step_q[t] == Answer && timer_q[t] == '0;
    assign same_line[t] = busy[t] && line_q[t] == request_i.line;
  end
  assign looks = lookups != '0;
  assign sends = senders != '0 && (!forwards_q || forward_ready_i);
  assign responds = answers != '0 && (!responds_q || response_ready_i);
  always_comb begin
    lookup = '0;
    sender = '0;
    answer = '0;
    match = '0;
    free = '0;
    if (looks) lookup = next_place(lookups, lookup_turn_q);
    if (sends) sender = next_place(senders, forward_turn_q);
    if (responds) answer = next_place(answers, response_turn_q);
    if (request_valid_i) begin
      match = next_place(same_line, '0);
      free = next_place(~busy, '0);
    end
  end
  always_comb begin
    dones = '0;
    rest = '0;
    turns = '0;
    next = '0;
    for (int unsigned t = 0; t < Transactions; ++t) begin
      if (busy[t]) begin
        dones[t] = response_valid_i && line_q[t] == response_i.line;
        if (step_q[t] == Wait) begin
          rest[t] = pending_q[t] == 7'(dones[t]);
          if (waiting_q[t] != '0) begin
            next[t] = next_of(waiting_q[t], requester_q[t] + 6'd1);
            turns[t] = rest[t] || (reading_q[t] && waiting_kind_q[t][place_of(next[t])] == GetS);
          end
        end
      end
    end
  end
  // A transaction takes no request in the cycle in which it ends or takes up another.
  assign joins = request_valid_i && !empties_q && same_line != '0 && !rest[match] && !turns[match];
  assign accepts = request_valid_i && !empties_q && same_line == '0 && busy != '1;
  assign request_ready_o = joins || accepts;
  assign response_ready_o = 1'b1;

  // The lookup.
  entry_t entry, next_entry;
  index_t index;
  caches_t requester_bit, others;
  kind_t forward_kind;
  logic from_memory, near, is_get_s;
  logic [NearBits-1:0] near_at;
  logic [LineNumberBits:0] near_tag;
  always_comb begin
    index = '0;
    entry = '0;
    requester_bit = '0;
    near_at = '0;
    near_tag = '0;
    near = 1'b0;
    if (looks) begin
      index = index_of(line_q[lookup]);
      entry = entry_q[index];
      requester_bit[place_of(requester_q[lookup])] = 1'b1;
      near_at = NearLines > 1 ? NearBits'(index) : '0;
      near_tag = {1'b1, LineNumberBits'(index >> (NearLines > 1 ? NearBits : 0))};
      near = NearLines > 0 && near_q[near_at] == near_tag;
    end
  end
  assign is_get_s = kind_q[lookup] == GetS;
  assign others = entry.caches & ~requester_bit;
  always_comb begin
    forward_kind = Invalidate;
    next_entry = '{exclusive: 1'b1, caches: requester_bit};
    from_memory = !entry.exclusive;
    if (kind_q[lookup] == Put) begin
      forward_kind = entry.exclusive && others == '0 ? PutPull : PutStale;
      next_entry = forward_kind == PutPull ? '0 : entry;
      from_memory = 1'b0;
    end else if (entry.exclusive) begin
      forward_kind = is_get_s ? FwdGetS : FwdGetM;
      if (is_get_s) next_entry = '{exclusive: 1'b0, caches: entry.caches | requester_bit};
    end else if (is_get_s && entry.caches != '0) begin
      next_entry = '{exclusive: 1'b0, caches: entry.caches | requester_bit};
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned t = 0; t < Transactions; ++t) begin
        step_q[t] <= Free;
        waiting_q[t] <= '0;
      end
      forwards_q <= 1'b0;
      responds_q <= 1'b0;
      forward_turn_q <= '0;
      response_turn_q <= '0;
      lookup_turn_q <= '0;
      empties_q <= used_q;
      empty_at_q <= '0;
    end else begin
      if (forwards_q && forward_ready_i) forwards_q <= 1'b0;
      if (responds_q && response_ready_i) responds_q <= 1'b0;
      if (busy != '0)
        for (int unsigned t = 0; t < Transactions; ++t)
          if (timer_q[t] != '0) timer_q[t] <= timer_q[t] - 10'd1;

      if (empties_q) begin
        empty_at_q <= empty_at_q + index_t'(1);
        if (empty_at_q == index_t'(Lines - 1)) begin
          empties_q <= 1'b0;
          used_q <= 1'b0;
        end
      end
      if (accepts) begin
        used_q <= 1'b1;
        step_q[free] <= Lookup;
        kind_q[free] <= request_i.kind;
        requester_q[free] <= request_i.core;
        line_q[free] <= request_i.line;
        timer_q[free] <= 10'(DirectoryLatency - 1);
        at_hand_q[free] <= 1'b0;
        pending_q[free] <= '0;
      end
      if (joins) begin
        waiting_q[match][place_of(request_i.core)] <= 1'b1;
        waiting_kind_q[match][place_of(request_i.core)] <= request_i.kind;
      end

      if (looks) begin
        lookup_turn_q <= lookup == place_t'(Transactions - 1) ? '0 : lookup + place_t'(1);
        forward_kind_q[lookup] <= forward_kind;
        acks_q[lookup] <= '0;
        grant_q[lookup] <= !is_get_s ? M : entry.caches == '0 ? E : S;
        has_line_q[lookup] <= !(kind_q[lookup] == Upgrade && (entry.caches & requester_bit) != '0);
        targets_q[lookup] <= from_memory ? others
            : kind_q[lookup] == Put ? requester_bit : entry.caches;
        timer_q[lookup] <= at_hand_q[lookup] ||
            (kind_q[lookup] == Upgrade && (entry.caches & requester_bit) != '0) ? '0
            : near ? 10'(NearLatency) : 10'(MemoryLatency);
        step_q[lookup] <= from_memory && (is_get_s || others == '0) ? Answer : Send;
      end

      if (sends) begin
        caches_t left;
        left = targets_q[sender] & (targets_q[sender] - caches_t'(1));
        forward_turn_q <= sender == place_t'(Transactions - 1) ? '0 : sender + place_t'(1);
        forwards_q <= 1'b1;
        forward_q <= '{
            kind: forward_kind_q[sender],
            core: next_of(targets_q[sender], '0),
            requester: requester_q[sender],
            line: line_q[sender],
            acks: '0,
            grant: I,
            has_line: 1'b0,
            dirty: 1'b0
        };
        targets_q[sender] <= left;
        acks_q[sender] <= acks_q[sender] + 7'd1;
        if (left == '0) step_q[sender] <= forward_kind_q[sender] == Invalidate ? Answer : Wait;
      end

      if (responds) begin
        response_turn_q <= answer == place_t'(Transactions - 1) ? '0 : answer + place_t'(1);
        responds_q <= 1'b1;
        response_q <= '{
            kind: Data,
            core: requester_q[answer],
            requester: requester_q[answer],
            line: line_q[answer],
            acks: acks_q[answer],
            grant: grant_q[answer],
            has_line: has_line_q[answer],
            dirty: 1'b0
        };
        if (has_line_q[answer]) response_line_q <= memory_q[index_of(line_q[answer])];
        step_q[answer] <= Wait;
      end

      for (int unsigned t = 0; t < Transactions; ++t) begin
        if (dones[t]) pending_q[t] <= pending_q[t] - 7'd1;
        if (turns[t]) begin
          requester_q[t] <= next[t];
          kind_q[t] <= waiting_kind_q[t][place_of(next[t])];
          waiting_q[t][place_of(next[t])] <= 1'b0;
          step_q[t] <= Lookup;
          // Another reader finds the entry and the line at hand.
          at_hand_q[t] <= !rest[t];
          timer_q[t] <= rest[t] ? 10'(DirectoryLatency - 1) : '0;
        end else if (rest[t]) begin
          step_q[t] <= Free;
        end
      end
      if (looks) begin
        pending_q[lookup] <= pending_q[lookup] + 7'(forward_kind != PutStale)
            - 7'(dones[lookup]);
        reading_q[lookup] <= from_memory && is_get_s && entry.caches != '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    // Before the first reset the transactions are not defined; the map and the memory are.
    if (rst_ni) begin
      if (empties_q) entry_q[empty_at_q] <= '0;
      else if (looks) entry_q[index] <= next_entry;
      if (looks) near_q[near_at] <= near_tag;
      if (response_valid_i && response_i.has_line)
        memory_q[index_of(response_i.line)] <= response_line_i;
    end
  end

  assign forward_valid_o = forwards_q;
  assign forward_o = forward_q;
  assign response_valid_o = responds_q;
  assign response_o = response_q;
  assign response_line_o = response_line_q;
  for (genvar t = 0; t < Transactions; ++t) begin : gen_status
    assign status_o[t] = '{
            step: step_q[t],
            kind: kind_q[t],
            requester: requester_q[t],
            line: line_q[t]
        };
  end
endmodule
