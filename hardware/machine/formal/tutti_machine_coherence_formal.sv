// SPDX-License-Identifier: Apache-2.0
/// Caches and a directory with any accesses of the cores, over a network that keeps every message for
/// any time: one place for each way (a cache to the home, the home to a cache, a cache to a cache) in
/// each virtual network. Resets at any time.
///
/// Two lines of one word and caches of one line, so that the lines evict each other. For each line:
/// * value: a load, an atomic operation, and a successful StoreConditional find what was written last;
/// * reservation: each StoreConditional ends it, whatever its line, and so does another core's write;
/// * permission: a cache that may write is the only one that has the line;
/// * nothing is lost: a miss is at exactly one place (its request, the directory, a forward, Data, the
///   cache that has got it), likewise a line on its way home; the directory expects exactly the Dones
///   that will come, and a requester exactly the Acks.
/// The other assertions are what the induction needs. They say what each step of a transaction knows.
module tutti_machine_coherence_formal
  import tutti_machine_pkg::*;
#(
    parameter int unsigned Caches = 2,
    parameter int unsigned Transactions = 2
) (
    input logic clk_i,
    // Free: a reset; the accesses.
    input logic rst_ni,
    input logic [Caches-1:0] valid_i,
    input data_request_t [Caches-1:0] access_i,
    // Free: which message arrives. A source of responses is a cache, or the home: Caches.
    input logic [Caches-1:0] forward_arrives_i,
    input logic request_arrives_i,
    input logic [2:0] request_from_i,
    input logic home_arrives_i,
    input logic [2:0] home_from_i,
    input logic [Caches-1:0] response_arrives_i,
    input logic [Caches-1:0][2:0] response_from_i,
    // For the simulation that walks here: the accesses that end.
    output logic [Caches-1:0] ready_o
);
  localparam int unsigned N = Caches;
  localparam int unsigned T = Transactions;
  localparam int unsigned Lines = 2;
  typedef logic [31:0] word_t;
  typedef struct packed {
    logic valid;
    message_t message;
    word_t word;
  } slot_t;

  logic power_q = 1'b1;
  logic rst_n;
  assign rst_n = !power_q && rst_ni;
  always_ff @(posedge clk_i) power_q <= 1'b0;

  // The cores: an access stays until it is answered.
  logic [N-1:0] ready, fault, open_q;
  data_request_t [N-1:0] access_q;
  word_t [N-1:0] rdata;
  logic [N-1:0] access_line;
  assign ready_o = ready;
  always_ff @(posedge clk_i) begin
    open_q <= rst_n ? valid_i & ~ready : '0;
    access_q <= access_i;
  end
  for (genvar c = 0; c < N; ++c) begin : gen_core
    assign access_line[c] = access_i[c].addr[2];
    always_comb begin
      assume (power_q || !open_q[c] || (valid_i[c] && access_i[c] == access_q[c]));
      assume (access_i[c].op <= OpAmoMaxu);
    end
  end

  // The messages on their way.
  slot_t [N-1:0] request_q, forward_q, home_q, data_q;
  // Indexed by [to][from].
  slot_t [N-1:0][N-1:0] peer_q;
  // A forward that is offered stays.
  logic [N-1:0] offered_q;

  logic [N-1:0] request_valid, request_ready, forward_valid, forward_ready;
  logic [N-1:0] sent_valid, sent_ready, response_valid;
  message_t [N-1:0] request, forward, sent, response;
  word_t [N-1:0] sent_word, response_word;
  logic home_request_valid, home_request_ready, home_forward_valid, home_forward_ready;
  logic home_sent_valid, home_sent_ready, home_response_valid;
  message_t home_request, home_forward, home_sent, home_response;
  word_t home_sent_word, home_response_word;
  transaction_status_t [T-1:0] status;

  // What the caches and the directory contain.
  permission_t [N-1:0] permission;
  logic [N-1:0] tag;
  word_t [N-1:0] data, put_data, old;
  logic [N-1:0][2:0] state;
  line_t [N-1:0] look, miss, put_line, reserved_line;
  logic [N-1:0] missing, get, has_data, dirty, put, put_request, put_dirty, reserved, holds_line;
  logic [N-1:0] victim, miss_way;
  kind_t [N-1:0] miss_kind;
  logic [N-1:0][6:0] acks, needed;

  for (genvar c = 0; c < N; ++c) begin : gen_cache
    cache_status_t unused;
    logic always_taken;
    tutti_machine_cache #(
        .LineBytes(4),
        .CacheBytes(4),
        .Ways(1),
        .MemoryBytes(8),
        .HoldCycles(3)
    ) i_cache (
        .clk_i,
        .rst_ni(rst_n),
        .core_i(core_t'(c)),
        .data_valid_i(valid_i[c]),
        .data_request_i(access_i[c]),
        .data_ready_o(ready[c]),
        .data_rdata_o(rdata[c]),
        .data_fault_o(fault[c]),
        .request_valid_o(request_valid[c]),
        .request_ready_i(request_ready[c]),
        .request_o(request[c]),
        .forward_valid_i(forward_valid[c]),
        .forward_ready_o(forward_ready[c]),
        .forward_i(forward[c]),
        .response_valid_i(response_valid[c]),
        .response_ready_o(always_taken),
        .response_i(response[c]),
        .response_line_i(response_word[c]),
        .response_valid_o(sent_valid[c]),
        .response_ready_i(sent_ready[c]),
        .response_o(sent[c]),
        .response_line_o(sent_word[c]),
        .status_o(unused)
    );
    assign permission[c] = i_cache.permission_q[0][0];
    assign tag[c] = i_cache.tag_q[0][0];
    assign data[c] = i_cache.data_q[0][0];
    assign put_data[c] = i_cache.put_data_q;
    assign old[c] = i_cache.old_q;
    assign state[c] = i_cache.state_q;
    assign look[c] = i_cache.look_q;
    assign miss[c] = i_cache.miss_q;
    assign put_line[c] = i_cache.put_line_q;
    assign reserved_line[c] = i_cache.reserved_line_q;
    assign victim[c] = i_cache.victim_q[0];
    assign miss_way[c] = i_cache.miss_way_q;
    assign missing[c] = i_cache.missing_q;
    assign get[c] = i_cache.get_q;
    assign has_data[c] = i_cache.has_data_q;
    assign dirty[c] = i_cache.miss_dirty_q;
    assign put[c] = i_cache.put_q;
    assign put_request[c] = i_cache.put_request_q;
    assign put_dirty[c] = i_cache.put_dirty_q;
    assign reserved[c] = i_cache.reserved_q;
    assign holds_line[c] = i_cache.hold_q != '0;
    assign miss_kind[c] = i_cache.miss_kind_q;
    assign acks[c] = i_cache.acks_q;
    assign needed[c] = i_cache.acks_needed_q;
  end

  step_t [T-1:0] step;
  kind_t [T-1:0] kind, forward_kind;
  core_t [T-1:0] requester;
  line_t [T-1:0] line;
  logic [T-1:0][N-1:0] targets, waiting;
  kind_t [T-1:0][N-1:0] waiting_kind;
  logic [T-1:0][6:0] sent_acks, pending;
  permission_t [T-1:0] grant;
  logic [T-1:0] has_line, reading;
  logic [Lines-1:0] exclusive;
  logic [Lines-1:0][N-1:0] sharers;
  word_t [Lines-1:0] memory;
  logic empties, used, empty_at;
  logic home_taken;

  tutti_machine_directory #(
      .Cores(N),
      .Banks(1),
      .LineBytes(4),
      .MemoryBytes(8),
      .Transactions(T),
      .DirectoryLatency(1),
      .NearBytes(0),
      .NearLatency(0),
      .MemoryLatency(0)
  ) i_directory (
      .clk_i,
      .rst_ni(rst_n),
      .request_valid_i(home_request_valid),
      .request_ready_o(home_request_ready),
      .request_i(home_request),
      .forward_valid_o(home_forward_valid),
      .forward_ready_i(home_forward_ready),
      .forward_o(home_forward),
      .response_valid_i(home_response_valid),
      .response_ready_o(home_taken),
      .response_i(home_response),
      .response_line_i(home_response_word),
      .response_valid_o(home_sent_valid),
      .response_ready_i(home_sent_ready),
      .response_o(home_sent),
      .response_line_o(home_sent_word),
      .status_o(status)
  );
  for (genvar t = 0; t < T; ++t) begin : gen_transaction
    assign step[t] = i_directory.step_q[t];
    assign kind[t] = i_directory.kind_q[t];
    assign forward_kind[t] = i_directory.forward_kind_q[t];
    assign requester[t] = i_directory.requester_q[t];
    assign line[t] = i_directory.line_q[t];
    assign targets[t] = i_directory.targets_q[t];
    assign waiting[t] = i_directory.waiting_q[t];
    for (genvar c = 0; c < N; ++c) begin : gen_waiting
      assign waiting_kind[t][c] = i_directory.waiting_kind_q[t][c];
    end
    assign sent_acks[t] = i_directory.acks_q[t];
    assign pending[t] = i_directory.pending_q[t];
    assign grant[t] = i_directory.grant_q[t];
    assign has_line[t] = i_directory.has_line_q[t];
    assign reading[t] = i_directory.reading_q[t];
  end
  for (genvar l = 0; l < Lines; ++l) begin : gen_memory
    assign {exclusive[l], sharers[l]} = i_directory.entry_q[l];
    assign memory[l] = i_directory.memory_q[l];
  end
  // The map is empty at power-on.
  always_comb assume (!power_q || {exclusive, sharers} == '0);
  assign empties = i_directory.empties_q;
  assign used = i_directory.used_q;
  assign empty_at = i_directory.empty_at_q;

  // The network.
  slot_t home_from;
  slot_t [N-1:0] response_from;
  always_comb begin
    home_request = request_q[0].message;
    home_request_valid = 1'b0;
    home_from = home_q[0];
    home_response_valid = 1'b0;
    for (int unsigned c = 0; c < N; ++c) begin
      if (request_from_i == 3'(c)) begin
        home_request = request_q[c].message;
        home_request_valid = request_arrives_i && request_q[c].valid;
      end
      if (home_from_i == 3'(c)) begin
        home_from = home_q[c];
        home_response_valid = home_arrives_i && home_q[c].valid;
      end
    end
    home_response = home_from.message;
    home_response_word = home_from.word;
    home_forward_ready = 1'b0;
    home_sent_ready = 1'b0;
    for (int unsigned c = 0; c < N; ++c) begin
      request_ready[c] = !request_q[c].valid;
      forward[c] = forward_q[c].message;
      forward_valid[c] = forward_q[c].valid && (forward_arrives_i[c] || offered_q[c]);
      if (home_forward.core == core_t'(c)) home_forward_ready = !forward_q[c].valid;
      if (home_sent.core == core_t'(c)) home_sent_ready = !data_q[c].valid;
      response_from[c] = data_q[c];
      for (int unsigned s = 0; s < N; ++s)
        if (response_from_i[c] == 3'(s)) response_from[c] = peer_q[c][s];
      response_valid[c] = response_arrives_i[c] && response_from[c].valid;
      response[c] = response_from[c].message;
      response_word[c] = response_from[c].word;
      sent_ready[c] = 1'b0;
      if (sent[c].kind == Done) sent_ready[c] = !home_q[c].valid;
      else
        for (int unsigned to = 0; to < N; ++to)
          if (sent[c].core == core_t'(to)) sent_ready[c] = !peer_q[to][c].valid;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < N; ++c) begin
      if (home_request_valid && home_request_ready && request_from_i == 3'(c))
        request_q[c].valid <= 1'b0;
      if (request_valid[c] && request_ready[c]) request_q[c] <= '{1'b1, request[c], '0};
      offered_q[c] <= forward_valid[c] && !forward_ready[c];
      if (forward_valid[c] && forward_ready[c]) forward_q[c].valid <= 1'b0;
      if (home_forward_valid && home_forward_ready && home_forward.core == core_t'(c))
        forward_q[c] <= '{1'b1, home_forward, '0};
      if (home_response_valid && home_from_i == 3'(c)) home_q[c].valid <= 1'b0;
      if (sent_valid[c] && sent_ready[c] && sent[c].kind == Done)
        home_q[c] <= '{1'b1, sent[c], sent_word[c]};
      if (response_valid[c] && response_from_i[c] >= 3'(N)) data_q[c].valid <= 1'b0;
      if (home_sent_valid && home_sent_ready && home_sent.core == core_t'(c))
        data_q[c] <= '{1'b1, home_sent, home_sent_word};
      for (int unsigned s = 0; s < N; ++s) begin
        if (response_valid[c] && response_from_i[c] == 3'(s)) peer_q[c][s].valid <= 1'b0;
        if (sent_valid[s] && sent_ready[s] && sent[s].kind != Done && sent[s].core == core_t'(c))
          peer_q[c][s] <= '{1'b1, sent[s], sent_word[s]};
      end
      if (!rst_n) begin
        request_q[c].valid <= 1'b0;
        forward_q[c].valid <= 1'b0;
        offered_q[c] <= 1'b0;
        home_q[c].valid <= 1'b0;
        data_q[c].valid <= 1'b0;
        for (int unsigned s = 0; s < N; ++s) peer_q[c][s].valid <= 1'b0;
      end
    end
  end

  // The accesses that end in this cycle, and what they leave.
  logic [N-1:0] ends, writes;
  word_t [Lines-1:0] value_q;
  word_t [N-1:0] written;
  // The line of a cache's last LoadReserved, and whether another cache has written it since.
  logic [N-1:0] reserved_at_q, written_since_q;
  // A core's access, other than a LoadReserved that ended, was looked up in the cycle before.
  logic [N-1:0] ends_hold_q;
  // A StoreConditional, of any line and with any result, has ended since this one's LoadReserved.
  logic [N-1:0] spent_q;
  always_comb begin
    for (int unsigned c = 0; c < N; ++c) begin
      ends[c] = ready[c] && !fault[c];
      writes[c] = ends[c] && access_i[c].op != OpLoad && access_i[c].op != OpLoadReserved
          && !(access_i[c].op == OpStoreConditional && rdata[c] != '0);
      written[c] = modified(access_i[c].op, value_q[access_line[c]], access_i[c].wdata);
      if (access_i[c].op == OpStore)
        for (int unsigned b = 0; b < 4; ++b)
          if (!access_i[c].strobe[b]) written[c][8*b+:8] = value_q[access_line[c]][8*b+:8];
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < N; ++c) begin
      if (writes[c]) value_q[access_line[c]] <= written[c];
      for (int unsigned e = 0; e < N; ++e)
        if (e != c && writes[e] && access_line[e] == reserved_at_q[c])
          written_since_q[c] <= 1'b1;
      if (ends[c] && access_i[c].op == OpLoadReserved) begin
        reserved_at_q[c] <= access_line[c];
        {written_since_q[c], spent_q[c]} <= '0;
      end
      if (ends[c] && access_i[c].op == OpStoreConditional) spent_q[c] <= 1'b1;
      ends_hold_q[c] <= rst_n && state[c] == 3'd1
          && !(ends[c] && access_i[c].op == OpLoadReserved);
    end
    if (!rst_n) value_q <= memory;
  end

  // Everything with the line's number beyond the memory, or of the wrong kind, core or place; what a
  // message of its kind does not use is zero, and the requester is who sends or gets it.
  logic [N-1:0] odd_cache, odd_state;
  logic [T-1:0] odd_transaction;
  logic odd_home;
  always_comb begin
    for (int unsigned c = 0; c < N; ++c) begin
      odd_cache[c] = (request_q[c].valid && (request_q[c].message.line >= Lines
          || !(request_q[c].message.kind inside {GetS, GetM, Upgrade, Put})
          || request_q[c].message.core != core_t'(c)
          || request_q[c].message.requester != core_t'(c)
          || {request_q[c].message.acks, request_q[c].message.has_line,
            request_q[c].message.dirty} != '0 || request_q[c].message.grant != I))
        || (forward_q[c].valid && (forward_q[c].message.line >= Lines
          || !(forward_q[c].message.kind inside {FwdGetS, FwdGetM, Invalidate, PutPull, PutStale})
          || forward_q[c].message.core != core_t'(c) || forward_q[c].message.requester >= N
          || {forward_q[c].message.acks, forward_q[c].message.has_line,
            forward_q[c].message.dirty} != '0 || forward_q[c].message.grant != I))
        || (home_q[c].valid && (home_q[c].message.line >= Lines || home_q[c].message.kind != Done))
        || (data_q[c].valid && (data_q[c].message.line >= Lines || data_q[c].message.kind != Data
          || data_q[c].message.core != core_t'(c) || data_q[c].message.requester != core_t'(c)
          || data_q[c].message.dirty))
        || (sent_valid[c] && (sent[c].line >= Lines || !(sent[c].kind inside {Data, Ack, Done})
          || sent[c].core >= N || sent[c].requester != core_t'(c)
          || (sent[c].kind == Done && sent[c].core != core_t'(c))
          || (sent[c].kind != Data && (sent[c].acks != '0 || sent[c].dirty))
          || (sent[c].kind == Ack && sent[c].has_line)));
      for (int unsigned s = 0; s < N; ++s)
        if (peer_q[c][s].valid && (peer_q[c][s].message.line >= Lines
            || !(peer_q[c][s].message.kind inside {Data, Ack})
            || peer_q[c][s].message.core != core_t'(c) || s == c
            || (peer_q[c][s].message.kind == Data && (peer_q[c][s].message.acks != '0
              || !peer_q[c][s].message.has_line || !(peer_q[c][s].message.grant inside {S, M})
              || (peer_q[c][s].message.dirty && peer_q[c][s].message.grant != S)))))
          odd_cache[c] = 1'b1;
      if (sent_valid[c] && sent[c].kind != Done && sent[c].core == core_t'(c)) odd_cache[c] = 1'b1;
      if (sent_valid[c] && sent[c].kind == Data && (sent[c].acks != '0 || !sent[c].has_line
          || !(sent[c].grant inside {S, M}) || (sent[c].dirty && sent[c].grant != S)))
        odd_cache[c] = 1'b1;
      // Idle, Look, Modify, Finish, Serve.
      odd_state[c] = state[c] > 3'd4
        || (missing[c] && (miss[c] >= Lines || !(miss_kind[c] inside {GetS, GetM, Upgrade})))
        || (missing[c] && (!open_q[c] || access_q[c].addr >> 3 != 29'h1000_0000
          || miss[c] != 26'(access_q[c].addr[2])))
        || (missing[c] && permission[c] != I && miss[c] != 26'(tag[c]))
        || victim[c] || (missing[c] && miss_way[c])
        || (put[c] && put_line[c] >= Lines)
        || (get[c] && (!missing[c] || has_data[c])) || (has_data[c] && !missing[c])
        || (put_request[c] && !put[c]) || (!missing[c] && acks[c] != '0)
        || (state[c] inside {3'd1, 3'd2} && (missing[c] || !open_q[c]))
        || (state[c] inside {3'd2} && look[c] != 26'(access_q[c].addr[2]))
        || (state[c] == 3'd1 && access_q[c].addr >> 3 == 29'h1000_0000
          && look[c] != 26'(access_q[c].addr[2]))
        || (state[c] == 3'd2 && !(permission[c] inside {E, M} && look[c] == 26'(tag[c])
          && access_q[c].op >= OpAmoSwap && access_q[c].addr >> 3 == 29'h1000_0000
          && old[c] == data[c]))
        || (state[c] == 3'd3 && !(missing[c] && has_data[c] && acks[c] == needed[c]
          && look[c] == miss[c]))
        || (state[c] == 3'd4 && !(offered_q[c] && forward_q[c].valid
          && look[c] == forward_q[c].message.line))
        || (offered_q[c] && !forward_q[c].valid)
        || (reserved[c] && !(permission[c] inside {E, M} && reserved_line[c] == 26'(tag[c])
          && reserved_line[c] == 26'(reserved_at_q[c]) && !written_since_q[c] && !spent_q[c]))
        || (ends_hold_q[c] && holds_line[c]);
    end
    odd_home = (home_forward_valid && (home_forward.line >= Lines || home_forward.core >= N
          || home_forward.requester >= N || home_forward.grant != I
          || {home_forward.acks, home_forward.has_line, home_forward.dirty} != '0
          || !(home_forward.kind inside {FwdGetS, FwdGetM, Invalidate, PutPull, PutStale})))
        || (home_sent_valid && (home_sent.line >= Lines || home_sent.kind != Data
          || home_sent.core >= N || home_sent.requester != home_sent.core || home_sent.dirty));
    for (int unsigned t = 0; t < T; ++t) begin
      odd_transaction[t] = step[t] > Wait
        || (step[t] == Free && waiting[t] != '0)
        || (step[t] != Free && (line[t] >= Lines || requester[t] >= N || empties || !used
          || !(kind[t] inside {GetS, GetM, Upgrade, Put})));
      for (int unsigned c = 0; c < N; ++c)
        if (waiting[t][c] && !(waiting_kind[t][c] inside {GetS, GetM, Upgrade, Put}))
          odd_transaction[t] = 1'b1;
      for (int unsigned u = 0; u < T; ++u)
        if (u != t && step[t] != Free && step[u] != Free && line[t] == line[u])
          odd_transaction[t] = 1'b1;
    end
  end
  always_comb begin
    if (!power_q) begin
      a_cache_messages: assert (odd_cache == '0);
      a_cache_state: assert (odd_state == '0);
      a_home_messages: assert (!odd_home);
      a_transactions: assert (odd_transaction == '0);
      a_emptying: assert (!empties || used);
    end
  end

  for (genvar l = 0; l < Lines; ++l) begin : gen_line
    // The line's transaction.
    logic there, t_reading, t_has_line;
    step_t t_step;
    kind_t t_kind, t_forward;
    core_t t_requester;
    logic [N-1:0] t_targets, t_waiting;
    kind_t [N-1:0] t_waiting_kind;
    logic [6:0] t_acks, t_pending;
    permission_t t_grant;
    always_comb begin
      there = 1'b0;
      t_reading = 1'b0;
      t_has_line = 1'b0;
      t_step = Free;
      t_kind = GetS;
      t_forward = GetS;
      t_requester = '0;
      t_targets = '0;
      t_waiting = '0;
      t_waiting_kind = '{default: GetS};
      t_acks = '0;
      t_pending = '0;
      t_grant = I;
      for (int unsigned t = 0; t < T; ++t) begin
        if (step[t] != Free && line[t] == line_t'(l)) begin
          there = 1'b1;
          t_reading = reading[t];
          t_has_line = has_line[t];
          t_step = step[t];
          t_kind = kind[t];
          t_forward = forward_kind[t];
          t_requester = requester[t];
          t_targets = targets[t];
          t_waiting = waiting[t];
          t_waiting_kind = waiting_kind[t];
          t_acks = sent_acks[t];
          t_pending = pending[t];
          t_grant = grant[t];
        end
      end
    end

    // Where each cache's miss of the line is, its line on the way home, its Dones; who has it.
    permission_t [N-1:0] has;
    logic [N-1:0] misses, got, puts;
    // At most 4 bits: sums of a few places.
    logic [N-1:0][3:0] asks, serves, forwards, datas, dones, put_asks, invalidates, ack_count;
    logic [N-1:0] look_up, expects;
    // The messages that a cache will get: Invalidate, or FwdGet, or PutPull.
    logic [N-1:0][3:0] told, asked, pulled;
    // PutStale is on its way: another cache holds the line.
    logic [N-1:0] refused;
    // A Data's contents, and a Done's, wherever it is.
    logic [N-1:0] data_bad, upgrades, done_bad, done_line;
    permission_t [N-1:0] data_grant;
    logic [N-1:0] data_has_line, data_dirty;
    logic [N-1:0][6:0] data_acks;
    word_t value;
    assign value = value_q[l];
    always_comb begin
      for (int unsigned c = 0; c < N; ++c) begin
        has[c] = tag[c] == 1'(l) ? permission[c] : I;
        misses[c] = missing[c] && miss[c] == line_t'(l);
        got[c] = has_data[c] && misses[c];
        puts[c] = put[c] && put_line[c] == line_t'(l);
        asks[c] = 4'(get[c] && misses[c])
            + 4'(request_q[c].valid && request_q[c].message.line == line_t'(l)
              && request_q[c].message.kind != Put)
            + 4'(there && t_waiting[c] && t_waiting_kind[c] != Put);
        look_up[c] = there && t_step == Lookup && t_requester == core_t'(c) && t_kind != Put;
        serves[c] = 4'(there && t_step inside {Send, Answer} && t_requester == core_t'(c)
            && t_kind != Put);
        put_asks[c] = 4'(put_request[c] && puts[c])
            + 4'(request_q[c].valid && request_q[c].message.line == line_t'(l)
              && request_q[c].message.kind == Put)
            + 4'(there && t_waiting[c] && t_waiting_kind[c] == Put)
            + 4'(there && t_step inside {Lookup, Send} && t_requester == core_t'(c)
              && t_kind == Put)
            + 4'(home_forward_valid && home_forward.line == line_t'(l)
              && home_forward.core == core_t'(c) && home_forward.kind inside {PutPull, PutStale})
            + 4'(forward_q[c].valid && forward_q[c].message.line == line_t'(l)
              && forward_q[c].message.kind inside {PutPull, PutStale});
        pulled[c] = 4'(there && t_step == Send && t_requester == core_t'(c) && t_kind == Put
              && t_forward == PutPull)
            + 4'(home_forward_valid && home_forward.line == line_t'(l)
              && home_forward.core == core_t'(c) && home_forward.kind == PutPull)
            + 4'(forward_q[c].valid && forward_q[c].message.line == line_t'(l)
              && forward_q[c].message.kind == PutPull);
        refused[c] = (there && t_step == Send && t_requester == core_t'(c) && t_kind == Put
              && t_forward == PutStale)
            || (home_forward_valid && home_forward.line == line_t'(l)
              && home_forward.core == core_t'(c) && home_forward.kind == PutStale)
            || (forward_q[c].valid && forward_q[c].message.line == line_t'(l)
              && forward_q[c].message.kind == PutStale);
        told[c] = 4'(there && t_step == Send && t_forward == Invalidate && t_targets[c])
            + 4'(home_forward_valid && home_forward.line == line_t'(l)
              && home_forward.core == core_t'(c) && home_forward.kind == Invalidate)
            + 4'(forward_q[c].valid && forward_q[c].message.line == line_t'(l)
              && forward_q[c].message.kind == Invalidate);
        asked[c] = 4'(there && t_step == Send && t_forward inside {FwdGetS, FwdGetM}
              && t_targets[c])
            + 4'(home_forward_valid && home_forward.line == line_t'(l)
              && home_forward.core == core_t'(c) && home_forward.kind inside {FwdGetS, FwdGetM})
            + 4'(forward_q[c].valid && forward_q[c].message.line == line_t'(l)
              && forward_q[c].message.kind inside {FwdGetS, FwdGetM});
        dones[c] = 4'(sent_valid[c] && sent[c].kind == Done && sent[c].line == line_t'(l))
            + 4'(home_q[c].valid && home_q[c].message.line == line_t'(l));
        // Each Done: what it brings is the value, or the memory has it already.
        done_line[c] = (sent_valid[c] && sent[c].kind == Done && sent[c].line == line_t'(l)
              && sent[c].has_line)
            || (home_q[c].valid && home_q[c].message.line == line_t'(l)
              && home_q[c].message.has_line);
        done_bad[c] = (sent_valid[c] && sent[c].kind == Done && sent[c].line == line_t'(l)
              && sent[c].has_line && sent_word[c] != value)
            || (home_q[c].valid && home_q[c].message.line == line_t'(l)
              && home_q[c].message.has_line && home_q[c].word != value);
        upgrades[c] = miss_kind[c] == Upgrade;
      end
      for (int unsigned c = 0; c < N; ++c) begin
        forwards[c] = 4'(home_forward_valid && home_forward.line == line_t'(l)
            && home_forward.requester == core_t'(c)
            && home_forward.kind inside {FwdGetS, FwdGetM});
        invalidates[c] = 4'(home_forward_valid && home_forward.line == line_t'(l)
            && home_forward.requester == core_t'(c) && home_forward.kind == Invalidate);
        datas[c] = '0;
        ack_count[c] = '0;
        data_bad[c] = 1'b0;
        data_grant[c] = I;
        data_has_line[c] = 1'b0;
        data_dirty[c] = 1'b0;
        data_acks[c] = '0;
        if (home_sent_valid && home_sent.line == line_t'(l) && home_sent.core == core_t'(c)) begin
          datas[c] = datas[c] + 4'd1;
          data_bad[c] = home_sent.has_line && home_sent_word != value;
          data_grant[c] = home_sent.grant;
          data_has_line[c] = home_sent.has_line;
          data_acks[c] = home_sent.acks;
        end
        if (data_q[c].valid && data_q[c].message.line == line_t'(l)) begin
          datas[c] = datas[c] + 4'd1;
          data_bad[c] = data_q[c].message.has_line && data_q[c].word != value;
          data_grant[c] = data_q[c].message.grant;
          data_has_line[c] = data_q[c].message.has_line;
          data_acks[c] = data_q[c].message.acks;
        end
        for (int unsigned s = 0; s < N; ++s) begin
          if (forward_q[s].valid && forward_q[s].message.line == line_t'(l)
              && forward_q[s].message.requester == core_t'(c)) begin
            forwards[c] = forwards[c] + 4'(forward_q[s].message.kind inside {FwdGetS, FwdGetM});
            invalidates[c] = invalidates[c] + 4'(forward_q[s].message.kind == Invalidate);
          end
          if (sent_valid[s] && sent[s].line == line_t'(l) && sent[s].core == core_t'(c)) begin
            ack_count[c] = ack_count[c] + 4'(sent[s].kind == Ack);
            if (sent[s].kind == Data) begin
              datas[c] = datas[c] + 4'd1;
              data_bad[c] = sent_word[s] != value;
              data_grant[c] = sent[s].grant;
              data_has_line[c] = 1'b1;
              data_dirty[c] = sent[s].dirty;
            end
          end
          if (peer_q[c][s].valid && peer_q[c][s].message.line == line_t'(l)) begin
            ack_count[c] = ack_count[c] + 4'(peer_q[c][s].message.kind == Ack);
            if (peer_q[c][s].message.kind == Data) begin
              datas[c] = datas[c] + 4'd1;
              data_bad[c] = peer_q[c][s].word != value;
              data_grant[c] = peer_q[c][s].message.grant;
              data_has_line[c] = 1'b1;
              data_dirty[c] = peer_q[c][s].message.dirty;
            end
          end
        end
      end
    end

    // The entry, while the directory is not emptying it.
    logic owned;
    logic [N-1:0] members, one_member;
    logic known;
    assign owned = exclusive[l];
    assign members = sharers[l];
    assign one_member = members & (members - N'(1));
    assign known = !empties || 1'(l) < empty_at;

    // The steps of a transaction, as far as they matter for who has the line.
    logic quiet, pull, from_owner, to_share, owner_is_asked;
    // One cache answers for the line: it has it, or it is on its way home from there.
    logic [N-1:0] holds, holds_bad;
    logic [N-1:0] r;
    logic someone_holds;
    logic stale;
    assign stale = there && t_kind == Put && t_forward == PutStale && t_step inside {Send, Wait};
    assign quiet = !there || stale || (t_step inside {Lookup, Wait} && t_pending == '0);
    assign pull = there && !quiet && t_kind == Put;
    assign from_owner = there && !quiet && !t_reading && t_kind != Put
        && t_forward inside {FwdGetS, FwdGetM};
    assign to_share = from_owner && t_forward == FwdGetS;
    logic [3:0] all_forwards, all_datas, all_dones, all_asked, all_pulled, all_got, all_serves;
    logic [N-1:0] others_have;
    always_comb begin
      all_forwards = '0;
      all_datas = '0;
      all_dones = '0;
      all_asked = '0;
      all_pulled = '0;
      all_got = '0;
      all_serves = '0;
      for (int unsigned c = 0; c < N; ++c) begin
        all_forwards = all_forwards + forwards[c];
        all_datas = all_datas + datas[c];
        all_dones = all_dones + dones[c];
        all_asked = all_asked + asked[c];
        all_pulled = all_pulled + pulled[c];
        all_got = all_got + 4'(got[c]);
        all_serves = all_serves + serves[c];
        holds[c] = (has[c] inside {E, M}) != puts[c];
        // What the holder has is the value; unless it says so, the memory has it, too.
        holds_bad[c] = (has[c] != I && (data[c] != value || (has[c] == E && memory[l] != value)))
            || (puts[c] && (put_data[c] != value || (!put_dirty[c] && memory[l] != value)));
        r[c] = t_requester == core_t'(c);
      end
      for (int unsigned c = 0; c < N; ++c) begin
        others_have[c] = 1'b0;
        for (int unsigned e = 0; e < N; ++e) if (e != c && has[e] != I) others_have[c] = 1'b1;
      end
    end
    assign owner_is_asked = all_asked != '0;

    logic [N-1:0] b_miss, b_put, b_acks, b_told, b_kind, b_permission, b_shared;
    logic [N-1:0] b_owner, b_reading, b_before, b_share, b_take, b_pull, b_grant, b_upgrade, b_got, b_refused;
    logic settled_own, settled_shared;
    assign settled_own = known && quiet && owned;
    assign settled_shared = known && quiet && !owned;
    always_comb begin
      for (int unsigned c = 0; c < N; ++c) begin
        // A miss is at one place; so is a Put.
        b_miss[c] = asks[c] + 4'(look_up[c]) + serves[c] + forwards[c] + datas[c] + 4'(got[c])
            != 4'(misses[c]);
        b_put[c] = put_asks[c] != 4'(puts[c]);
        b_acks[c] = serves[c] != '0 && t_step == Answer || serves[c] != '0 && t_forward == Invalidate
            ? 7'(invalidates[c]) + 7'(ack_count[c]) + acks[c] != t_acks
            : datas[c] != '0 ? 7'(invalidates[c]) + 7'(ack_count[c]) + acks[c] != data_acks[c]
            : got[c] ? 7'(invalidates[c]) + 7'(ack_count[c]) + acks[c] != needed[c]
            : 7'(invalidates[c]) + 7'(ack_count[c]) != '0 || (misses[c] && acks[c] != '0);
        b_told[c] = told[c] > 4'd1 || asked[c] > 4'd1 || (told[c] != '0 && (quiet || t_reading
            || t_kind == Put || from_owner || r[c]));
        b_kind[c] = (request_q[c].valid && request_q[c].message.line == line_t'(l)
              && request_q[c].message.kind != Put && request_q[c].message.kind != miss_kind[c])
            || (there && t_waiting[c] && t_waiting_kind[c] != Put
              && t_waiting_kind[c] != miss_kind[c])
            || (forward_q[c].valid && forward_q[c].message.line == line_t'(l)
              && forward_q[c].message.kind inside {FwdGetS, FwdGetM}
              && forward_q[c].message.kind != t_forward)
            || (home_forward_valid && home_forward.line == line_t'(l)
              && home_forward.kind inside {FwdGetS, FwdGetM} && home_forward.kind != t_forward)
            || ((look_up[c] || serves[c] != '0 || forwards[c] != '0) && t_kind != miss_kind[c]);
        // Until Data is here, only who upgrades has the line, for reading.
        b_permission[c] = (puts[c] && (has[c] != I || misses[c]))
            || (misses[c] && !got[c] && has[c] != I && !(has[c] == S && upgrades[c]))
            || (got[c] && has[c] == I);
        // The readers have the value.
        b_shared[c] = has[c] != I && data[c] != value;
        // Nobody has a line owner_is_asked the directory has emptied its entry.
        b_owner[c] = settled_own && (members[c] ? !holds[c] || holds_bad[c] || others_have[c]
            : has[c] != I);
        b_upgrade[c] = known && !owned && (asks[c] != '0 || look_up[c]) && upgrades[c]
            && members[c] && has[c] != S;
        b_reading[c] = there && t_reading && !quiet && ((has[c] != I && !(has[c] == S && members[c]))
            || (serves[c] != '0 && (t_step != Answer || t_grant != S || !t_has_line || !members[c]
              || t_acks != '0))
            || (look_up[c] && t_kind != GetS)
            || (datas[c] != '0 && (data_bad[c] || data_grant[c] != S || !data_has_line[c]
              || data_dirty[c] || data_acks[c] != '0 || !members[c]))
            || (got[c] && (dirty[c] || needed[c] != '0 || has[c] != S)) || done_line[c]);
        // The owner has been asked.
        b_before[c] = from_owner && owner_is_asked && (asked[c] != '0
            ? !holds[c] || holds_bad[c] || others_have[c] || r[c] || got[c]
              || (to_share && !members[c])
            : has[c] != I) || (forwards[c] != '0 && !r[c]);
        b_share[c] = to_share && !owner_is_asked && ((has[c] != I && !(has[c] == S && members[c]))
            || (datas[c] != '0 && (data_bad[c] || data_grant[c] != S || !r[c] || !data_has_line[c]
              || (!data_dirty[c] && memory[l] != value)))
            || (got[c] && (has[c] != S || !r[c] || (!dirty[c] && memory[l] != value)))
            || (dones[c] != '0 && (!r[c] || done_bad[c] || (!done_line[c] && memory[l] != value))));
        // A cache gets the line for writing, from the owner or the memory.
        b_take[c] = from_owner && !to_share && !owner_is_asked && ((datas[c] != '0
              && (data_bad[c] || data_grant[c] != M || !r[c] || has[c] != I || !data_has_line[c]
                || data_dirty[c]))
            || (got[c] && (has[c] != M || !r[c] || dirty[c]))
            || (dones[c] != '0 && (!r[c] || done_line[c] || !holds[c] || holds_bad[c]))
            || (!r[c] && has[c] != I));
        b_pull[c] = pull && (has[c] != I || datas[c] != '0 || (pulled[c] != '0 && (!puts[c] || holds_bad[c]))
            || (dones[c] != '0 && (done_bad[c] || (!done_line[c] && memory[l] != value))));
        b_grant[c] = there && !quiet && !t_reading && t_kind != Put && t_forward == Invalidate && (
            (!r[c] && has[c] != I && (has[c] != S || told[c] == '0 || t_grant == E))
            || (serves[c] != '0 && (memory[l] != value || !(t_grant inside {E, M})
              || (!t_has_line && has[c] != S) || has[c] inside {E, M}))
            || (t_grant == E) != (t_kind == GetS) || (t_grant == E && !t_has_line)
            || (datas[c] != '0 && (!r[c] || data_bad[c] || memory[l] != value || data_dirty[c]
              || data_grant[c] != t_grant || !(t_grant inside {E, M})
              || (!data_has_line[c] && has[c] != S) || has[c] inside {E, M}))
            || (got[c] && (!r[c] || dirty[c] || !(has[c] inside {E, M}) || holds_bad[c]
              || has[c] == S))
            || (dones[c] != '0 && (!r[c] || done_line[c] || !holds[c] || holds_bad[c]
              || others_have[c])));
        b_refused[c] = refused[c] && (asked[c] != '0 || (owned && members[c]));
        b_got[c] = got[c] && dirty[c] && !(to_share && !owner_is_asked);
      end
    end
    always_comb begin
      if (!power_q) begin
        a_miss_is_at_one_place: assert (b_miss == '0);
        a_put_is_at_one_place: assert (b_put == '0);
        a_dones: assert (t_pending == 7'(all_serves) + 7'(all_forwards) + 7'(all_datas)
            + 7'(all_got) + 7'(all_dones) + 7'(all_pulled));
        a_acks: assert (b_acks == '0);
        a_told: assert (b_told == '0);
        a_asked: assert (all_asked == (there && t_step == Send && t_forward inside {FwdGetS, FwdGetM}
            ? all_serves : '0) + all_forwards);
        a_kind: assert (b_kind == '0);
        a_permission: assert (b_permission == '0);
        a_value: assert (b_shared == '0);
        a_entry: assert (!known || !owned || (members != '0 && one_member == '0));
        a_unused: assert ((used && !(empties && 1'(l) < empty_at)) || {owned, members} == '0);
        a_empty: assert (known || (!there && value == memory[l] && has == '0 && puts == '0));
        a_one: assert (!there || t_reading || t_pending <= 7'd1);
        a_free: assert (there || t_pending == '0);
        a_lookup: assert (!(there && t_step == Lookup && t_pending != '0)
            || (t_reading && t_kind == GetS));
        a_send: assert (!(there && t_step == Send) || (t_targets != '0
            && (t_forward == Invalidate || (t_targets & (t_targets - N'(1))) == '0)
            && (t_forward == Invalidate) == (t_kind inside {GetM, Upgrade} && t_grant == M
              && t_forward == Invalidate)
            && (t_kind == Put) == (t_forward inside {PutPull, PutStale})));
        a_send_put: assert (!(there && t_step == Send && t_kind == Put)
            || t_targets == N'(1) << t_requester);
        a_answer: assert (!(there && t_step == Answer) || (t_kind != Put
            && (t_reading || t_forward == Invalidate)));
        a_forward_kind: assert (!(there && t_kind != Put && !quiet && !t_reading)
            || t_forward == Invalidate || t_forward == (t_kind == GetS ? FwdGetS : FwdGetM));
        a_put_kind: assert (!(there && t_kind == Put && t_step inside {Send, Wait})
            || (t_forward inside {PutPull, PutStale} && !t_reading
              && (t_forward != PutStale || t_pending == '0)));
        a_reading: assert (!(there && t_reading && !quiet)
            || (!owned && members != '0 && all_forwards == '0 && all_pulled == '0 && memory[l] == value
              && t_step != Send && t_kind == GetS));
        a_read: assert (b_reading == '0);
        a_owner: assert (b_owner == '0);
        a_sharers: assert (!settled_shared || memory[l] == value);
        a_upgrade: assert (b_upgrade == '0);
        a_before: assert (b_before == '0);
        a_share: assert (b_share == '0);
        a_share_entry: assert (!to_share || (!owned && (members >> t_requester & N'(1)) != '0));
        a_take: assert (b_take == '0);
        a_take_entry: assert (!(there && !quiet && !t_reading && t_kind != Put && !to_share)
            || (owned && members == N'(1) << t_requester));
        a_pull: assert (b_pull == '0);
        a_pull_entry: assert (!pull || {owned, members} == '0);
        a_grant: assert (b_grant == '0);
        a_got: assert (b_got == '0);
        a_refused: assert (b_refused == '0);
        a_pulled: assert (all_pulled == '0 || pull);
        a_forwards: assert ((all_forwards == '0 && all_asked == '0) || from_owner);
      end
    end
    for (genvar c = 0; c < N; ++c) begin : gen_sharer
      always_comb begin
        if (!power_q) begin
          a_sharer: assert (!settled_shared || has[c] == I || (has[c] == S && members[c]));
          a_single_writer: assert (!(has[c] inside {E, M} && others_have[c]) || misses[c]);
        end
      end
    end
  end

  // The directory's transactions take turns at the lookup, at forwards and at answers: one that
  // could have gone on while another did goes on before that one does again.
  logic [2:0][T-1:0] can_go;
  logic [2:0] goes;
  logic [2:0][3:0] gone, turn, next_q;
  logic [2:0][T-1:0][T-1:0] overtaken_q, bad_turn;
  assign can_go = {i_directory.answers, i_directory.senders, i_directory.lookups};
  assign goes = {i_directory.responds, i_directory.sends, i_directory.looks};
  assign gone = {4'(i_directory.answer), 4'(i_directory.sender), 4'(i_directory.lookup)};
  assign turn = {4'(i_directory.response_turn_q), 4'(i_directory.forward_turn_q),
      4'(i_directory.lookup_turn_q)};
  function automatic logic [3:0] turns_until(int unsigned t, logic [3:0] now);
    return now <= 4'(t) ? 4'(t) - now : 4'(t) + 4'(T) - now;
  endfunction
  for (genvar k = 0; k < 3; ++k) begin : gen_turn
    always_ff @(posedge clk_i)
      if (!rst_n) next_q[k] <= '0;
      else if (goes[k]) next_q[k] <= gone[k] == 4'(T - 1) ? '0 : gone[k] + 4'd1;
    for (genvar t = 0; t < T; ++t) begin : gen_waits
      for (genvar u = 0; u < T; ++u) begin : gen_overtakes
        always_ff @(posedge clk_i)
          overtaken_q[k][t][u] <= rst_n && t != u && can_go[k][t] && !(goes[k] && gone[k] == 4'(t))
              && (overtaken_q[k][t][u] || (goes[k] && gone[k] == 4'(u)));
        assign bad_turn[k][t][u] = overtaken_q[k][t][u] && (!can_go[k][t]
            || (goes[k] && gone[k] == 4'(u))
            || turns_until(t, turn[k]) >= turns_until(u, turn[k]));
      end
    end
  end
  always_comb begin
    if (!power_q) begin
      // The next one's turn follows whoever has gone.
      a_turns: assert (bad_turn == '0 && turn == next_q && turn[0] < 4'(T) && turn[1] < 4'(T)
          && turn[2] < 4'(T));
    end
  end

  // What the cores see.
  for (genvar c = 0; c < N; ++c) begin : gen_sees
    always_comb begin
      if (!power_q) begin
        a_load: assert (!ends[c] || access_i[c].op inside {OpStore, OpStoreConditional}
            || rdata[c] == value_q[access_line[c]]);
        a_conditional: assert (!(ends[c] && access_i[c].op == OpStoreConditional
            && rdata[c] == '0) || !(written_since_q[c] || spent_q[c]));
        a_fault: assert (!ready[c] || fault[c] == (access_i[c].addr >> 3 != 29'h1000_0000));
        // Nobody else ends an access to the line in the cycle in which it is written.
        for (int unsigned e = 0; e < N; ++e)
          if (e != c)
            assert (!(writes[c] && ends[e] && access_line[c] == access_line[e]
                && !(access_i[e].op == OpStoreConditional && rdata[e] != '0)));
      end
    end
  end
  // What the assumptions leave possible.
  logic [N-1:0] stored_q;
  logic ever_stored_q = 1'b0;
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < N; ++c) stored_q[c] <= rst_n && (stored_q[c] || writes[c]);
    if (rst_n && writes != '0) ever_stored_q <= 1'b1;
  end
  always_comb begin
    c_conditional: cover (rst_n && ends[0] && access_i[0].op == OpStoreConditional
        && rdata[0] == '0);
    c_lost_reservation: cover (rst_n && ends[0] && access_i[0].op == OpLoad && written_since_q[0]
        && stored_q == N'(2));
    c_dirty_to_reader: cover (rst_n && has_data[1] && dirty[1] && stored_q == N'(1));
    c_line_goes_home: cover (rst_n && home_response_valid && home_response.has_line
        && put == '0 && stored_q[0]);
    c_stale: cover (rst_n && forward_ready[0] && forward[0].kind == PutStale);
    c_upgrade: cover (rst_n && response_valid[0] && response[0].kind == Data
        && !response[0].has_line && response[0].acks != '0);
    c_ack_first: cover (rst_n && missing[0] && !has_data[0] && acks[0] != '0);
    c_readers: cover (rst_n && gen_line[0].t_pending == 7'd2);
    c_emptying: cover (rst_n && empties && ever_stored_q);
  end
  logic unused;
  assign unused = ^{status, home_taken};
endmodule
