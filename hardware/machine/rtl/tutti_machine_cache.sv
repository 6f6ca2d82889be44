// SPDX-License-Identifier: Apache-2.0
/// A private data cache: write-back, MESI, one miss at a time, and one line on its way home.
///
/// A hit takes two cycles, an atomic operation three: the first reads the arrays at the line's set,
/// the second compares. The cache performs atomic operations on a line that it may write. It serves
/// the core and the directories in turn. A core's access is complete before the line that was
/// fetched for it can be taken away.
///
/// LoadReserved fetches the line for writing and holds it for HoldCycles, or until the core's next
/// access. An Invalidate or FwdGet waits that long, once: a LoadReserved does not hold a line for
/// which somebody waits. Hence a StoreConditional that follows within HoldCycles succeeds at the
/// second try at the latest, and nobody waits for ever.
module tutti_machine_cache
  import tutti_machine_pkg::*;
#(
    /// Bytes of a line, a power of two from 4.
    parameter int unsigned LineBytes = 64,
    /// Bytes of the cache, a power of two.
    parameter int unsigned CacheBytes = 8192,
    /// Lines of a set, 1 to 8.
    parameter int unsigned Ways = 2,
    /// The coherent memory; accesses to other addresses fault.
    parameter logic [31:0] MemoryBase = 32'h8000_0000,
    parameter int unsigned MemoryBytes = 16 << 20,
    /// How long LoadReserved holds its line, 1 to 255 cycles.
    parameter int unsigned HoldCycles = 64,
    localparam int unsigned LineBits = 8 * LineBytes
) (
    input logic clk_i,
    /// Synchronous reset, active low. The contents are lost.
    input logic rst_ni,
    /// The number of this cache.
    input core_t core_i,
    /// The core's access, held until `data_ready_o`.
    input logic data_valid_i,
    input data_request_t data_request_i,
    output logic data_ready_o,
    /// The word; 0 or 1 of a StoreConditional that succeeded or failed.
    output logic [31:0] data_rdata_o,
    output logic data_fault_o,
    /// To the homes.
    output logic request_valid_o,
    input logic request_ready_i,
    output message_t request_o,
    /// From the homes.
    input logic forward_valid_i,
    output logic forward_ready_o,
    input message_t forward_i,
    /// From homes and caches; always taken.
    input logic response_valid_i,
    output logic response_ready_o,
    input message_t response_i,
    input logic [LineBits-1:0] response_line_i,
    /// To homes and caches.
    output logic response_valid_o,
    input logic response_ready_i,
    output message_t response_o,
    output logic [LineBits-1:0] response_line_o,
    output cache_status_t status_o
);
  /*verilator no_inline_module*/
  localparam int unsigned Words = LineBytes / 4;
  localparam int unsigned WordBits = Words > 1 ? $clog2(Words) : 1;
  localparam int unsigned OffsetBits = $clog2(LineBytes);
  localparam int unsigned Sets = CacheBytes / LineBytes / Ways;
  localparam int unsigned SetBits = Sets > 1 ? $clog2(Sets) : 1;
  localparam int unsigned WayBits = Ways > 1 ? $clog2(Ways) : 1;
  // The bits of a line's number, and its tag: the bits above the set.
  localparam int unsigned LineNumberBits = $clog2(MemoryBytes) - OffsetBits;
  localparam int unsigned TagBits = LineNumberBits > $clog2(Sets) ? LineNumberBits - $clog2(Sets) : 1;

  if (LineBytes < 4 || LineBytes > 256 || (LineBytes & (LineBytes - 1)) != 0)
    $fatal(1, "tutti_machine_cache: LineBytes must be a power of two, 4 to 256");
  if (Ways < 1 || Ways > 8) $fatal(1, "tutti_machine_cache: Ways must be 1 to 8");
  if (Sets < 1 || (Sets & (Sets - 1)) != 0 || Sets * Ways * LineBytes != CacheBytes)
    $fatal(1, "tutti_machine_cache: CacheBytes must be LineBytes * Ways * a power of two");
  if ((MemoryBytes & (MemoryBytes - 1)) != 0 || MemoryBytes / 2 < LineBytes
      || MemoryBytes > (1 << 30))
    $fatal(1, "tutti_machine_cache: MemoryBytes must be a power of two, two lines to 2^30");
  if (MemoryBytes / LineBytes > (1 << 26))
    $fatal(1, "tutti_machine_cache: the memory must have at most 2^26 lines");
  if ((MemoryBase & 32'(MemoryBytes - 1)) != '0)
    $fatal(1, "tutti_machine_cache: MemoryBase must be a multiple of MemoryBytes");
  if (HoldCycles < 1 || HoldCycles > 255)
    $fatal(1, "tutti_machine_cache: HoldCycles must be 1 to 255");

  typedef logic [SetBits-1:0] set_t;
  typedef logic [TagBits-1:0] tag_t;
  typedef logic [WayBits-1:0] way_t;
  typedef logic [LineBits-1:0] data_t;

  function automatic set_t set_of(line_t line);
    return Sets > 1 ? set_t'(line) : '0;
  endfunction
  function automatic tag_t tag_of(line_t line);
    return tag_t'(line >> $clog2(Sets));
  endfunction

  typedef enum logic [2:0] {
    Idle,
    // The core's access, its atomic operation, the end of its miss.
    Look,
    Modify,
    Finish,
    // A forward.
    Serve
  } state_t;

  state_t state_q;
  // The line whose set is read; valid in all states but Idle.
  line_t look_q;
  // The next free cycle is a forward's if there is one.
  logic forward_turn_q;

  permission_t [Sets-1:0][Ways-1:0] permission_q;
  tag_t tag_q[Ways][Sets];
  data_t data_q[Ways][Sets];
  // The way after the one used last: with two ways the one used least recently.
  way_t [Sets-1:0] victim_q;

  // The miss.
  logic missing_q, get_q, has_data_q, miss_dirty_q;
  kind_t miss_kind_q;
  line_t miss_q;
  way_t miss_way_q;
  logic [6:0] acks_q, acks_needed_q;
  // The line on its way home. It answers forwards until the home has answered Put.
  logic put_q, put_request_q, put_dirty_q;
  line_t put_line_q;
  data_t put_data_q;

  logic reserved_q;
  line_t reserved_line_q;
  logic [7:0] hold_q;
  logic [31:0] old_q;

  logic sends_q;
  message_t response_q;
  data_t response_line_q;

  // The lookup.
  logic [31:0] offset;
  logic in_range;
  set_t look_set;
  logic hit, owned;
  way_t hit_way, victim;
  permission_t found;
  logic [WordBits-1:0] word_at;
  logic [31:0] word, stored;
  assign offset = data_request_i.addr - MemoryBase;
  assign in_range = offset < 32'(MemoryBytes);
  assign word_at = Words > 1 ? WordBits'(offset >> 2) : '0;
  assign look_set = set_of(look_q);
  always_comb begin
    hit = 1'b0;
    hit_way = '0;
    victim = victim_q[look_set];
    for (int unsigned w = 0; w < Ways; ++w) if (permission_q[look_set][w] == I) victim = way_t'(w);
    for (int unsigned w = 0; w < Ways; ++w) begin
      if (permission_q[look_set][w] != I && tag_q[w][look_set] == tag_of(look_q)) begin
        hit = 1'b1;
        hit_way = way_t'(w);
      end
    end
    found = hit ? permission_q[look_set][hit_way] : I;
    owned = found == E || found == M;
    word = data_q[hit_way][look_set][32*word_at+:32];
    stored = data_request_i.wdata;
    if (state_q == Modify) stored = modified(data_request_i.op, old_q, data_request_i.wdata);
    else
      for (int unsigned b = 0; b < 4; ++b)
        if (!data_request_i.strobe[b] && data_request_i.op == OpStore)
          stored[8*b+:8] = word[8*b+:8];
  end

  // What the core's access does in this cycle.
  logic looks, done, writes, misses, starts, conditional;
  logic evicts;
  permission_t victim_permission;
  kind_t miss_kind;
  way_t miss_way;
  line_t victim_line;
  assign looks = state_q == Look && in_range;
  assign conditional = reserved_q && reserved_line_q == look_q;
  always_comb begin
    done = 1'b0;
    writes = 1'b0;
    misses = 1'b0;
    if (state_q == Look && !in_range) done = 1'b1;
    if (state_q == Modify) begin
      done = 1'b1;
      writes = 1'b1;
    end
    if (looks) begin
      unique case (data_request_i.op)
        OpLoad: begin
          done = hit;
          misses = !hit;
        end
        OpStore: begin
          done = owned;
          writes = owned;
          misses = !owned;
        end
        OpLoadReserved: begin
          done = owned;
          misses = !owned;
        end
        // The reservation ends with the ownership: the line is here.
        OpStoreConditional: begin
          done = 1'b1;
          writes = conditional;
        end
        default: misses = !owned;
      endcase
    end
  end
  assign data_ready_o = done;
  assign data_fault_o = state_q == Look && !in_range;
  assign data_rdata_o = state_q == Modify ? old_q
      : data_request_i.op == OpStoreConditional ? {31'b0, !conditional} : word;

  assign miss_kind = data_request_i.op == OpLoad ? GetS : hit ? Upgrade : GetM;
  assign miss_way = hit ? hit_way : victim;
  assign victim_permission = permission_q[look_set][victim];
  assign victim_line = Sets > 1 ? line_t'({tag_q[victim][look_set], look_set})
      : line_t'(tag_q[victim][look_set]);
  assign evicts = !hit && (victim_permission == E || victim_permission == M);
  // A line on its way home comes back only after the home's answer; one goes home at a time.
  assign starts = misses && !put_request_q && !(put_q && (evicts || put_line_q == look_q));

  // Forwards.
  logic can_send, waits, held, from_put, serves, complete;
  assign can_send = !sends_q || response_ready_i;
  assign waits = forward_i.kind inside {FwdGetS, FwdGetM, Invalidate};
  assign held = hold_q != '0 && waits && forward_i.line == reserved_line_q;
  assign from_put = put_q && put_line_q == look_q;
  assign serves = state_q == Serve && (can_send || forward_i.kind == PutStale);
  assign forward_ready_o = serves;
  assign complete = missing_q && has_data_q && acks_q == acks_needed_q;

  logic takes_data;
  assign response_ready_o = 1'b1;
  assign takes_data = response_valid_i && response_i.kind == Data;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      forward_turn_q <= 1'b0;
      permission_q <= {Sets * Ways{I}};
      victim_q <= '0;
      missing_q <= 1'b0;
      get_q <= 1'b0;
      has_data_q <= 1'b0;
      acks_q <= '0;
      put_q <= 1'b0;
      put_request_q <= 1'b0;
      reserved_q <= 1'b0;
      hold_q <= '0;
      sends_q <= 1'b0;
    end else begin
      if (sends_q && response_ready_i) sends_q <= 1'b0;
      if (request_ready_i) begin
        if (get_q) get_q <= 1'b0;
        else put_request_q <= 1'b0;
      end
      if (hold_q != '0) hold_q <= hold_q - 8'd1;

      if (response_valid_i) begin
        if (response_i.kind == Ack) acks_q <= acks_q + 7'd1;
        if (takes_data) begin
          has_data_q <= 1'b1;
          miss_dirty_q <= response_i.dirty;
          acks_needed_q <= response_i.acks;
          permission_q[set_of(miss_q)][miss_way_q] <= response_i.grant;
        end
      end

      unique case (state_q)
        Idle: begin
          if (complete) begin
            state_q <= Finish;
            look_q <= miss_q;
          end else if (forward_valid_i && !held && (forward_turn_q || !data_valid_i || missing_q))
          begin
            state_q <= Serve;
            look_q <= forward_i.line;
          end else if (data_valid_i && !missing_q) begin
            state_q <= Look;
            look_q <= line_t'(offset >> OffsetBits);
          end
        end
        Finish: begin
          if (can_send) begin
            state_q <= Look;
            missing_q <= 1'b0;
            has_data_q <= 1'b0;
            acks_q <= '0;
            sends_q <= 1'b1;
            response_q <= '{
                kind: Done,
                core: core_i,
                requester: core_i,
                line: look_q,
                acks: '0,
                grant: I,
                has_line: miss_dirty_q,
                dirty: 1'b0
            };
            if (miss_dirty_q) response_line_q <= data_q[hit_way][look_set];
          end
        end
        Look: begin
          state_q <= done || misses ? Idle : Modify;
          old_q <= word;
          forward_turn_q <= 1'b1;
          if (hit && !misses) begin
            victim_q[look_set] <= hit_way == way_t'(Ways - 1) ? '0 : hit_way + way_t'(1);
          end
          // An access that waits for a line ends the hold, even if its miss cannot start yet.
          if (misses) hold_q <= '0;
          else begin
            // Any other access ends the hold; StoreConditional ends the reservation, too.
            if (data_request_i.op != OpLoadReserved || !in_range) hold_q <= '0;
            if (data_request_i.op == OpStoreConditional && in_range) reserved_q <= 1'b0;
            if (data_request_i.op == OpLoadReserved && in_range) begin
              reserved_q <= 1'b1;
              reserved_line_q <= look_q;
              if (hold_q == '0 || !conditional)
                hold_q <= forward_valid_i && waits && forward_i.line == look_q ? '0
                    : 8'(HoldCycles);
            end
          end
          if (starts) begin
            missing_q <= 1'b1;
            get_q <= 1'b1;
            miss_kind_q <= miss_kind;
            miss_q <= look_q;
            miss_way_q <= miss_way;
            if (!hit) begin
              permission_q[look_set][victim] <= I;
              if (reserved_line_q == victim_line && victim_permission != I) reserved_q <= 1'b0;
            end
            if (evicts) begin
              put_q <= 1'b1;
              put_request_q <= 1'b1;
              put_line_q <= victim_line;
              put_dirty_q <= victim_permission == M;
              put_data_q <= data_q[victim][look_set];
            end
          end
        end
        Modify: state_q <= Idle;
        default:
        if (serves) begin
          state_q <= Idle;
          forward_turn_q <= 1'b0;
          if (waits && forward_i.line == reserved_line_q) begin
            reserved_q <= 1'b0;
            hold_q <= '0;
          end
          if (!waits) put_q <= 1'b0;
          if (waits && hit) permission_q[look_set][hit_way] <= forward_i.kind == FwdGetS ? S : I;
          if (forward_i.kind != PutStale) begin
            sends_q <= 1'b1;
            response_q <= '{
                kind: forward_i.kind == Invalidate ? Ack : waits ? Data : Done,
                core: waits ? forward_i.requester : core_i,
                requester: core_i,
                line: look_q,
                acks: '0,
                grant: forward_i.kind == FwdGetM ? M : S,
                has_line: forward_i.kind == PutPull ? put_dirty_q : forward_i.kind != Invalidate,
                dirty: forward_i.kind == FwdGetS && (from_put ? put_dirty_q : found == M)
            };
            if (forward_i.kind != Invalidate)
              response_line_q <= from_put ? put_data_q : data_q[hit_way][look_set];
          end
        end
      endcase
      if (writes) permission_q[look_set][hit_way] <= M;
    end
  end

  // A line that comes, or the core's word, by one port: two would not fit into the RAM of an FPGA.
  logic fills;
  way_t write_way;
  set_t write_set;
  assign fills = takes_data && response_i.has_line;
  assign write_way = fills ? miss_way_q : hit_way;
  assign write_set = fills ? set_of(miss_q) : look_set;
  always_ff @(posedge clk_i) begin
    if (fills) tag_q[miss_way_q][set_of(miss_q)] <= tag_of(miss_q);
    if (fills || writes)
      for (int unsigned w = 0; w < Words; ++w)
        if (fills || w == 32'(word_at))
          data_q[write_way][write_set][32*w+:32] <= fills ? response_line_i[32*w+:32] : stored;
  end

  assign request_valid_o = get_q || put_request_q;
  assign request_o = '{
          kind: get_q ? miss_kind_q : Put,
          core: core_i,
          requester: core_i,
          line: get_q ? miss_q : put_line_q,
          acks: '0,
          grant: I,
          has_line: 1'b0,
          dirty: 1'b0
      };
  assign response_valid_o = sends_q;
  assign response_o = response_q;
  assign response_line_o = response_line_q;
  assign status_o = '{
          missing: missing_q,
          has_data: has_data_q,
          acks: has_data_q ? acks_needed_q - acks_q : '0,
          line: miss_q,
          put: put_q,
          put_line: put_line_q,
          held: hold_q != '0,
          sending: sends_q || request_valid_o
      };
endmodule
