// SPDX-License-Identifier: Apache-2.0
/// The state of all communicators of a node. A communicator executes its table: a stage is a set of
/// messages that must arrive (`need`) and the messages that are then sent (`send`); the last stage
/// ends the episode. Ring, tree, star and butterfly are tables, and so are the other schedules that
/// tutti compiles.
///
/// A message sets a bit, whether or not anything can be sent, so nodes cannot block each other. Bit 0
/// is the host; bit 1 + p an arrival from port p; bit 1 + Ports + p a release from port p. A message
/// carries its episode. A message of the next episode is stored separately, as a neighbour may have
/// ended this one earlier. A neighbour cannot be two episodes ahead, because it needs this node's
/// message of the next one. A message of any other episode is a repetition and changes nothing.
///
/// The sender of a repeated message may miss what it has caused. A node that echoes sends once more what
/// the row sent that needed the message, except to its host, if that row is complete in the open
/// episode, or the message is of the episode before. What a row sends is needed by later rows only,
/// so one repetition causes a walk through the rest of the barrier, and no storm. In a ring, a tree
/// and a star this walk comes back to whoever misses a message; hosts repeat their calls.
///
/// A message takes two cycles: it is compared with its communicator, then sets its bit. In the first
/// of them no stage ends, so what it was compared with is still true in the second.
module tutti_innetwork_core #(
    /// Network ports, 1 to 8.
    parameter int unsigned Ports = 4,
    /// Number of communicators, 1 to 16.
    parameter int unsigned Communicators = 4,
    /// Number of rows of a table, 1 to 8.
    parameter int unsigned Stages = 5,
    /// Width of an episode's number, 2 to 32.
    parameter int unsigned EpisodeBits = 32,
    /// Derived; do not set.
    parameter int unsigned Bits = 1 + 2 * Ports,
    /// Derived; do not set.
    parameter int unsigned IndexBits = Communicators > 1 ? $clog2(Communicators) : 1,
    /// Derived; do not set.
    parameter int unsigned StageBits = Stages > 1 ? $clog2(Stages) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// The tables. A communicator's table may change only while clear_i holds it in reset and has
    /// done so for a cycle.
    input logic [Communicators-1:0][Stages-1:0][Bits-1:0] need_i,
    input logic [Communicators-1:0][Stages-1:0][Bits-1:0] send_i,
    /// The last row of each table.
    input logic [Communicators-1:0][StageBits-1:0] last_i,
    /// The communicator is not in use, or starts again.
    input logic [Communicators-1:0] clear_i,
    /// The communicator echoes.
    input logic [Communicators-1:0] echo_i,
    /// No stage ends in this cycle: a message may arrive.
    input logic hold_i,
    /// A message arrives, in every other cycle at most; exactly one bit is set, and the bit of one
    /// communicator.
    input logic msg_valid_i,
    input logic [Communicators-1:0] msg_for_i,
    input logic [Bits-1:0] msg_bit_i,
    /// Its episode, and the ones before and after that.
    input logic [EpisodeBits-1:0] msg_episode_i,
    input logic [EpisodeBits-1:0] msg_before_i,
    input logic [EpisodeBits-1:0] msg_after_i,
    /// In the next cycle: the communicator, and the effect of the message: it counted, it was a
    /// repetition, or the table has no such message.
    output logic [IndexBits-1:0] index_o,
    output logic counted_o,
    output logic repeated_o,
    output logic stranger_o,
    /// With counted_o: the message is the host's call; it is of the open episode, whose host has
    /// called.
    output logic call_o,
    output logic since_call_o,
    /// A stage is over; its row sends these messages.
    output logic job_valid_o,
    input logic job_ready_i,
    output logic [IndexBits-1:0] job_index_o,
    output logic [Bits-1:0] job_send_o,
    output logic [EpisodeBits-1:0] job_episode_o,
    /// It is an echo.
    output logic job_again_o,
    /// State for the registers.
    output logic [Communicators-1:0][Bits-1:0] arrived_o,
    output logic [Communicators-1:0][StageBits-1:0] stage_o,
    output logic [Communicators-1:0][EpisodeBits-1:0] episode_o
);
  if (Ports < 1 || Ports > 8) $fatal(1, "tutti_innetwork_core: Ports must be 1 to 8");
  if (Communicators < 1 || Communicators > 16)
    $fatal(1, "tutti_innetwork_core: Communicators must be 1 to 16");
  if (Stages < 1 || Stages > 8) $fatal(1, "tutti_innetwork_core: Stages must be 1 to 8");
  if (EpisodeBits < 2 || EpisodeBits > 32)
    $fatal(1, "tutti_innetwork_core: EpisodeBits must be 2 to 32");

  logic [Communicators-1:0][Bits-1:0] now_q, ahead_q, used_q;
  // The row that stage_q names.
  logic [Communicators-1:0][Bits-1:0] need_q, send_q;
  logic [Communicators-1:0][StageBits-1:0] stage_q;
  logic [Communicators-1:0][EpisodeBits-1:0] episode_q;
  // An episode has ended since the communicator began.
  logic [Communicators-1:0] begun_q;
  // A row is complete: known one cycle after its last message, and not in the cycle after it has
  // ended.
  logic [Communicators-1:0] over_q, chosen, fires, ending;

  // The message's first cycle: the state of its communicator.
  logic [Bits-1:0] used, now, ahead, known;
  logic [EpisodeBits-1:0] open;
  logic begun;
  logic [IndexBits-1:0] index;
  always_comb begin
    used = '0;
    now = '0;
    ahead = '0;
    open = '0;
    begun = 1'b0;
    index = '0;
    for (int unsigned c = 0; c < Communicators; ++c)
      if (msg_for_i[c]) begin
        used |= used_q[c];
        now |= now_q[c];
        ahead |= ahead_q[c];
        open |= episode_q[c];
        begun |= begun_q[c];
        index |= IndexBits'(c);
      end
  end
  assign known = msg_bit_i & used;

  // Its second cycle.
  logic [Communicators-1:0] for_q, live;
  logic [IndexBits-1:0] index_q;
  logic [Bits-1:0] known_q;
  logic [EpisodeBits-1:0] msg_episode_q;
  logic is_now_q, is_next_q, is_past_q, is_known_q, new_now_q, new_next_q, has_called_q;
  always_ff @(posedge clk_i) begin
    for_q <= rst_ni && msg_valid_i ? msg_for_i & ~clear_i : '0;
    index_q <= index;
    known_q <= known;
    msg_episode_q <= msg_episode_i;
    is_now_q <= msg_episode_i == open;
    // A host learns of the end of an episode only by its release, so it is never ahead.
    is_next_q <= msg_before_i == open && !msg_bit_i[0];
    is_past_q <= msg_after_i == open && begun;
    is_known_q <= known != '0;
    new_now_q <= (known & ~now) != '0;
    new_next_q <= (known & ~ahead) != '0;
    has_called_q <= now[0] || msg_bit_i[0];
  end
  assign live = for_q & ~clear_i;
  assign index_o = index_q;
  assign counted_o = live != '0 && ((is_now_q && new_now_q) || (is_next_q && new_next_q));
  assign stranger_o = live != '0 && !is_known_q;
  assign repeated_o = live != '0 && is_known_q && !counted_o;
  assign call_o = known_q[0];
  assign since_call_o = is_now_q && has_called_q;

  for (genvar c = 0; c < Communicators; ++c) begin : gen_communicator
    logic [Bits-1:0] now_d, ahead_d;
    logic is_last, ends;
    logic [Bits-1:0] used_d;
    logic [StageBits-1:0] stage_d;
    always_comb begin
      used_d = '0;
      for (int unsigned s = 0; s < Stages; ++s) if (s <= 32'(last_i[c])) used_d |= need_i[c][s];
    end
    // The derived values and the row are ready: the table is constant from the last cycle of the
    // reset on.
    assign stage_d = clear_i[c] || is_last ? '0 : stage_q[c] + StageBits'(1);
    always_ff @(posedge clk_i) begin
      used_q[c] <= used_d;
      if (clear_i[c] || fires[c]) begin
        need_q[c] <= need_i[c][stage_d];
        send_q[c] <= send_i[c][stage_d];
      end
    end
    assign now_d = now_q[c] | (live[c] && is_now_q ? known_q : '0);
    assign ahead_d = ahead_q[c] | (live[c] && is_next_q ? known_q : '0);
    assign is_last = stage_q[c] == last_i[c];
    assign ends = fires[c] && is_last;
    assign ending[c] = ends;

    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i[c]) begin
        now_q[c] <= '0;
        ahead_q[c] <= '0;
        stage_q[c] <= '0;
        episode_q[c] <= '0;
        begun_q[c] <= 1'b0;
        over_q[c] <= 1'b0;
      end else begin
        over_q[c] <= !fires[c] && (need_q[c] & ~now_q[c]) == '0;
        now_q[c] <= ends ? ahead_d : now_d;
        ahead_q[c] <= ends ? '0 : ahead_d;
        if (fires[c]) stage_q[c] <= stage_d;
        if (ends) episode_q[c] <= episode_q[c] + EpisodeBits'(1);
        if (ends) begun_q[c] <= 1'b1;
      end
    end
  end

  // A job waits in registers; while it does, no stage ends.
  logic job_valid_q, may_fire;
  assign may_fire = !job_valid_q && !hold_i;
  tutti_hbs_arbiter #(
      .Inputs(Communicators)
  ) i_arbiter (
      .clk_i,
      .rst_ni,
      .request_i(over_q),
      .serve_i(may_fire),
      .grant_o(chosen)
  );
  assign fires = chosen & ~clear_i & {Communicators{may_fire}};

  // A repeated message; one cycle later the rows that needed it, if they are complete; then what they
  // have sent. There is room for one; the host repeats its call if that is not enough. All end with
  // the episode.
  logic doubt_valid_q, doubt_past_q, rows_valid_q, again_valid_q, has_doubt, looks_up, looks_on;
  logic goes_again, again_sends;
  logic [IndexBits-1:0] doubt_index_q, rows_index_q, again_index_q;
  logic [Bits-1:0] doubt_bit_q, caused, again_send_q;
  logic [Stages-1:0] rows, rows_q;
  logic [EpisodeBits-1:0] doubt_episode_q, rows_episode_q, again_episode_q;
  assign has_doubt = repeated_o && echo_i[index_q] && (is_now_q || is_past_q)
      && !ending[index_q] && !doubt_valid_q;
  assign looks_up = doubt_valid_q && !rows_valid_q && !clear_i[doubt_index_q]
      && !ending[doubt_index_q];
  assign looks_on = rows_valid_q && !again_valid_q && !clear_i[rows_index_q]
      && !ending[rows_index_q];
  always_comb begin
    caused = '0;
    for (int unsigned s = 0; s < Stages; ++s) begin
      rows[s] = s <= 32'(last_i[doubt_index_q])
          && (doubt_past_q || s < 32'(stage_q[doubt_index_q]))
          && (need_i[doubt_index_q][s] & doubt_bit_q) != '0;
      if (rows_q[s]) caused |= send_i[rows_index_q][s];
    end
    caused[0] = 1'b0;
  end
  assign again_sends = again_valid_q && again_send_q != '0 && !clear_i[again_index_q];
  // New messages go first.
  assign goes_again = may_fire && over_q == '0 && again_sends;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      doubt_valid_q <= 1'b0;
      rows_valid_q <= 1'b0;
      again_valid_q <= 1'b0;
    end else begin
      doubt_valid_q <= has_doubt || (doubt_valid_q && !looks_up && !clear_i[doubt_index_q]
          && !ending[doubt_index_q]);
      rows_valid_q <= looks_up || (rows_valid_q && !looks_on && !clear_i[rows_index_q]
          && !ending[rows_index_q]);
      again_valid_q <= looks_on || (again_sends && !ending[again_index_q] && !goes_again);
    end
    // Registers that hold nothing may take anything.
    if (!doubt_valid_q) begin
      doubt_index_q <= index_q;
      doubt_bit_q <= known_q;
      doubt_episode_q <= msg_episode_q;
      doubt_past_q <= is_past_q;
    end
    if (!rows_valid_q) begin
      rows_index_q <= doubt_index_q;
      rows_q <= rows;
      rows_episode_q <= doubt_episode_q;
    end
    if (!again_valid_q) begin
      again_index_q <= rows_index_q;
      again_send_q <= caused;
      again_episode_q <= rows_episode_q;
    end
  end

  logic [IndexBits-1:0] job_index_d;
  logic [Bits-1:0] job_send_d;
  logic [EpisodeBits-1:0] job_episode_d;
  always_comb begin
    job_index_d = '0;
    job_send_d = '0;
    job_episode_d = '0;
    for (int unsigned c = 0; c < Communicators; ++c)
      if (chosen[c]) begin
        job_index_d |= IndexBits'(c);
        job_send_d |= send_q[c];
        job_episode_d |= episode_q[c];
      end
    if (over_q == '0) begin
      job_index_d = again_index_q;
      job_send_d = again_send_q;
      job_episode_d = again_episode_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) job_valid_q <= 1'b0;
    else if (may_fire) job_valid_q <= fires != '0 || goes_again;
    else if (job_valid_q) job_valid_q <= job_valid_o && !job_ready_i;
    if (may_fire) begin
      job_index_o <= job_index_d;
      job_send_o <= job_send_d;
      job_episode_o <= job_episode_d;
      job_again_o <= over_q == '0;
    end
  end
  assign job_valid_o = job_valid_q && !clear_i[job_index_o];

  assign arrived_o = now_q;
  assign stage_o = stage_q;
  assign episode_o = episode_q;
endmodule
