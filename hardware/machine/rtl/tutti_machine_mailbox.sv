// SPDX-License-Identifier: Apache-2.0
/// The mailbox of a thread: slots for messages, and the instructions of custom-0 that send, receive
/// and wait for termination.
///
/// A slot belongs to the program or to the mailbox. `alloc` gives a slot to the mailbox, which puts
/// the next message into it; `receive` gives the slot with the oldest message back. `send` copies a
/// slot of the program's and never waits: without room it does nothing and says so. While no slot is
/// empty, messages wait in the network.
///
/// `idle` parks the thread until a message has come or the detector releases it. A parked thread
/// stays idle if an interrupt takes it out of the instruction: what has happened meanwhile is its
/// result when the instruction starts again, and until then the mailbox refuses to send.
///
/// Threads are idle in groups. Each begins in group 0, that of all. `group` names the group in which it
/// goes on after the next release: from group 0 any group, from another one group 0. A thread sends to
/// threads of its own group only. With `idle` it may give a value and an aggregator; after the release
/// `total` has what the threads of its group have given together.
module tutti_machine_mailbox
  import tutti_machine_message_pkg::*;
#(
    /// 2 to 64.
    parameter int unsigned Slots = tutti_machine_config_pkg::MessageSlots,
    /// 1 to 8.
    parameter int unsigned Groups = tutti_machine_config_pkg::MessageGroups,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    /// The own number, and how many cores there are.
    input  logic [ 7:0] core_i,
    input  logic [ 7:0] cores_i,

    /// An instruction, held until it is ready or refused.
    input  logic        valid_i,
    input  logic [31:0] insn_i,
    input  logic [31:0] rs1_i,
    input  logic [31:0] rs2_i,
    /// An interrupt is pending: a wait must end.
    input  logic        cancel_i,
    output logic        known_o,
    output logic        ready_o,
    output logic        refused_o,
    output logic [31:0] rd_o,

    /// An access of the program to a word of a slot: 64 bytes for each slot. A store must be permitted.
    input  logic [15:0] word_addr_i,
    input  logic        word_write_i,
    input  logic [31:0] word_data_i,
    output logic        word_exists_o,
    output logic        word_own_o,
    output logic [31:0] word_data_o,

    /// A message to the network, held until it is taken, and one from it.
    output logic        out_valid_o,
    input  logic        out_ready_i,
    output message_t    out_o,
    input  logic        in_valid_i,
    output logic        in_ready_o,
    input  message_t    in_i,

    /// The wires of the detector: see tutti_detector_node.
    output logic        send_o,
    output logic        receive_o,
    output logic        idle_o,
    output logic        vote_o,
    output logic        left_o,
    input  logic        release_i,
    input  logic        unanimous_i,
    input  logic        enable_i,
    output member_t     member_o,
    input  group_reply_t group_i
`ifdef FORMAL
    ,
    output logic [Slots-1:0] formal_given_o,
    output logic [Slots-1:0] formal_empty_o,
    output logic [Slots-1:0][SlotBits-1:0] formal_order_o,
    output logic [SlotBits:0] formal_count_o,
    output logic [SlotBits-1:0] formal_first_o,
    output message_t [Slots-1:0] formal_stored_o,
    output logic formal_parked_o,
    output logic [1:0] formal_owed_o,
    output cause_e formal_cause_o,
    output group_t formal_next_o,
    output tutti_detector_pkg::total_t formal_total_o
`endif
);
  if (Slots < 2 || Slots > 64 || (Slots & (Slots - 1)) != 0)
    $fatal(1, "tutti_machine_mailbox: Slots must be a power of two from 2 to 64");
  if (Words < 1 || Words > 16)
    $fatal(1, "tutti_machine_mailbox: MessageWords must be 1 to 16");

  if (Groups < 1 || Groups > 8) $fatal(1, "tutti_machine_mailbox: Groups must be 1 to 8");

  localparam logic [6:0] Custom0 = 7'h0b;
  typedef logic [SlotBits-1:0] slot_t;

  words_t words_q[Slots];
  logic [7:0] from_q[Slots];
  length_t length_q[Slots];
  // Slots that belong to the mailbox, and those of them without a message; the others of them, by age.
  logic [Slots-1:0] given_q, given_d, empty_q, empty_d;
  slot_t order_q[Slots];
  slot_t first_q;
  logic [SlotBits:0] count_q;
  logic out_valid_q;
  message_t out_q;
  // The thread is idle, has voted so, and returns with this: 1 after a release, 2 if all voted true.
  logic parked_q, parked_d, vote_q;
  logic [1:0] owed_q, owed_d;
  cause_e cause_q, wrong;
  // The thread's group, the one in which it goes on, the value that it gives, and the last total.
  group_t group_q, next_q;
  tutti_detector_pkg::total_t value_q, total_q;

  op_e op;
  logic mine, available, room;
  assign op = op_e'({insn_i[25], insn_i[14:12]});
  assign known_o = insn_i[6:0] == Custom0 && insn_i[31:26] == '0 &&
      (insn_i[25] ? insn_i[14:13] == '0 : insn_i[14:12] != 3'd7);
  assign mine = valid_i && known_o;
  assign available = count_q != '0;
  assign room = !out_valid_q && enable_i;

  // The slot that the instruction names: send has its length, too.
  logic [31:0] named;
  slot_t slot, oldest, into;
  assign named = op == OpSend ? 32'(rs2_i[7:0]) : rs1_i;
  assign slot = slot_t'(named);
  assign oldest = order_q[first_q];

  always_comb begin
    wrong = CauseNone;
    unique case (op)
      OpSend: begin
        if (parked_q) wrong = CauseIdle;
        else if (rs1_i >= 32'(cores_i)) wrong = CauseNoCore;
        else if (group_i.stranger) wrong = CauseStranger;
        else if (32'(rs2_i[31:8]) > Words) wrong = CauseTooLong;
        else if (named >= Slots) wrong = CauseNoSlot;
        else if (given_q[slot]) wrong = CauseGiven;
      end
      OpAlloc: begin
        if (parked_q) wrong = CauseIdle;
        else if (named >= Slots) wrong = CauseNoSlot;
        else if (given_q[slot]) wrong = CauseGiven;
      end
      OpReceive: begin
        if (parked_q) wrong = CauseIdle;
        else if (!available) wrong = CauseNoMessage;
      end
      OpWait: if (parked_q) wrong = CauseIdle;
      OpTotal: begin
        if (parked_q) wrong = CauseIdle;
        else if (total_q.how == tutti_detector_pkg::TotalNone) wrong = CauseNoTotal;
        else if (total_q.how == tutti_detector_pkg::TotalMixed) wrong = CauseMixed;
      end
      OpGroup: begin
        if (parked_q) wrong = CauseIdle;
        else if (rs1_i >= Groups) wrong = CauseNoGroup;
        else if (group_q != '0 && rs1_i != '0 && rs1_i != 32'(group_q)) wrong = CauseFromGroup;
      end
      default: ;
    endcase
  end

  logic right, sends, allocates, receives, idles, waits, leaves;
  assign right = mine && wrong == CauseNone;
  assign sends = right && op == OpSend && room;
  assign allocates = right && op == OpAlloc;
  assign receives = right && op == OpReceive;
  assign idles = right && op == OpIdle;
  assign waits = right && op == OpWait;
  assign leaves = idles && owed_q != '0;

  always_comb begin
    ready_o = right && op != OpIdle && op != OpWait;
    rd_o = '0;
    unique case (op)
      OpStatus: rd_o = {30'd0, available, room};
      OpSend: rd_o = 32'(room);
      OpReceive: rd_o = {8'd0, from_q[oldest], 8'(length_q[oldest]), 8'(oldest)};
      OpIdle: rd_o = 32'(owed_q);
      OpWait: rd_o = {30'd0, available, room};
      OpCause: rd_o = 32'(cause_q);
      OpTotal: rd_o = total_q.value;
      OpGroup: rd_o = 32'(group_q);
      default: ;
    endcase
    if (idles) ready_o = owed_q != '0 || available;
    if (waits) ready_o = (rs1_i[1:0] & {available, room}) != '0;
    refused_o = mine && (wrong != CauseNone || (cancel_i && !ready_o));
  end

  // Arrivals go into the lowest empty slot.
  logic arrives;
  assign in_ready_o = empty_q != '0;
  assign arrives = in_valid_i && in_ready_o;
  always_comb begin
    into = '0;
    for (int unsigned s = Slots; s > 0; s--) if (empty_q[s-1]) into = slot_t'(s - 1);
  end

  always_comb begin
    given_d  = given_q;
    empty_d  = empty_q;
    parked_d = parked_q;
    owed_d   = owed_q;
    if (arrives) empty_d[into] = 1'b0;
    if (allocates) begin
      given_d[slot] = 1'b1;
      empty_d[slot] = 1'b1;
    end
    if (receives) given_d[oldest] = 1'b0;
    if (release_i && parked_q) owed_d = unanimous_i ? 2'd2 : 2'd1;
    if (idles) begin
      parked_d = !ready_o;
      if (ready_o) owed_d = '0;
    end
  end

  assign send_o = sends;
  assign receive_o = receives;
  assign idle_o = parked_q && !available && owed_q == '0;
  assign vote_o = vote_q;
  assign left_o = owed_q == '0;
  assign out_valid_o = out_valid_q;
  assign out_o = out_q;
  assign member_o = '{group: group_q, value: value_q, to: rs1_i[7:0]};

  // The program's words.
  slot_t at;
  logic [3:0] word;
  assign at = word_addr_i[6+:SlotBits];
  assign word = word_addr_i[5:2];
  assign word_exists_o = 32'(word_addr_i[15:6]) < Slots && 32'(word) < Words;
  assign word_own_o = !given_q[at];
  always_comb begin
    word_data_o = '0;
    for (int unsigned w = 0; w < Words; w++) if (32'(word) == w) word_data_o = words_q[at][w];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      given_q     <= '0;
      empty_q     <= '0;
      first_q     <= '0;
      count_q     <= '0;
      out_valid_q <= 1'b0;
      parked_q    <= 1'b0;
      vote_q      <= 1'b0;
      owed_q      <= '0;
      cause_q     <= CauseNone;
      group_q     <= '0;
      next_q      <= '0;
      value_q     <= '0;
      total_q     <= '0;
    end else begin
      given_q     <= given_d;
      empty_q     <= empty_d;
      parked_q    <= parked_d;
      owed_q      <= owed_d;
      out_valid_q <= sends || (out_valid_q && !out_ready_i);
      if (receives) first_q <= first_q + slot_t'(1);
      count_q <= count_q + (SlotBits + 1)'(arrives) - (SlotBits + 1)'(receives);
      if (idles && !parked_q) begin
        vote_q  <= rs1_i[0];
        value_q <= '{
            how: tutti_detector_pkg::aggregator_t'({1'b0, rs1_i[10:8]}),
            value: rs1_i[10:8] == '0 ? '0 : rs2_i
        };
      end
      if (right && op == OpGroup) next_q <= group_t'(rs1_i);
      if (leaves) group_q <= next_q;
      if (release_i && parked_q) total_q <= group_i.total;
      if (refused_o) cause_q <= wrong == CauseNone ? CauseInterrupt : wrong;
    end
  end
  // What is not valid does not matter.
  always_ff @(posedge clk_i) begin
    if (sends)
      out_q <= '{
          to: rs1_i[7:0],
          from: core_i,
          length: length_t'(rs2_i[31:8]),
          words: words_q[slot]
      };
    if (arrives) begin
      words_q[into]  <= in_i.words;
      from_q[into]   <= in_i.from;
      length_q[into] <= in_i.length;
      order_q[slot_t'((SlotBits + 1)'(first_q) + count_q)] <= into;
    end
    if (word_write_i) for (int unsigned w = 0; w < Words; w++)
      if (32'(word) == w) words_q[at][w] <= word_data_i;
  end

`ifdef FORMAL
  assign formal_given_o = given_q;
  assign formal_empty_o = empty_q;
  assign formal_count_o = count_q;
  assign formal_first_o = first_q;
  assign formal_parked_o = parked_q;
  assign formal_owed_o = owed_q;
  assign formal_cause_o = cause_q;
  assign formal_next_o = next_q;
  assign formal_total_o = total_q;
  for (genvar s = 0; s < Slots; s++) begin : gen_formal
    assign formal_order_o[s] = order_q[s];
    assign formal_stored_o[s] =
        '{to: core_i, from: from_q[s], length: length_q[s], words: words_q[s]};
  end
`endif

  logic unused;
  assign unused = ^{insn_i[24:15], insn_i[11:7], word_addr_i[1:0], in_i.to};
endmodule
