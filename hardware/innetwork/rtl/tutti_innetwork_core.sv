// SPDX-License-Identifier: Apache-2.0
/// The state of all communicators of a node. A communicator executes its table: a stage is a set of
/// messages that must arrive (`need`) and the messages that are then sent (`send`); the last stage
/// ends the episode. Ring, tree, star and butterfly are tables, and so are the other schedules that
/// tutti compiles.
///
/// A message sets a bit at once, whether or not anything can be sent, so nodes cannot block each
/// other. Bit 0 is the host; bit 1 + p an arrival from port p; bit 1 + Ports + p a release from
/// port p. A message carries its episode. A message of the next episode is stored separately, as a
/// neighbour may have ended this one earlier. A neighbour cannot be two episodes ahead, because it
/// needs this node's message of the next one. A message of any other episode is a repetition and
/// changes nothing.
///
/// The sender of a repeated message may miss what it has caused. A node that echoes sends once more what
/// the row sent that needed the message, except to its host, if that row is complete in the open
/// episode, or the message is of the episode before. What a row sends is needed by later rows only,
/// so one repetition causes a walk through the rest of the barrier, and no storm. In a ring, a tree
/// and a star this walk comes back to whoever misses a message; hosts repeat their calls.
module tutti_innetwork_core #(
    /// Network ports, 1 to 8.
    parameter int unsigned Ports = 4,
    /// Number of communicators, 1 to 16.
    parameter int unsigned Communicators = 4,
    /// Number of rows of a table, 1 to 8.
    parameter int unsigned Stages = 5,
    /// Width of an episode's number, 2 to 8.
    parameter int unsigned EpisodeBits = 8,
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
    /// A message arrives; exactly one bit is set.
    input logic msg_valid_i,
    input logic [IndexBits-1:0] msg_index_i,
    input logic [Bits-1:0] msg_bit_i,
    input logic [EpisodeBits-1:0] msg_episode_i,
    /// The effect of the message: it counted, it was a repetition, or the table has no such
    /// message.
    output logic counted_o,
    output logic repeated_o,
    output logic stranger_o,
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
  if (EpisodeBits < 2 || EpisodeBits > 8)
    $fatal(1, "tutti_innetwork_core: EpisodeBits must be 2 to 8");

  logic [Communicators-1:0][Bits-1:0] now_q, ahead_q, used_q;
  // The row that stage_q names.
  logic [Communicators-1:0][Bits-1:0] need_q, send_q;
  logic [Communicators-1:0][StageBits-1:0] stage_q;
  logic [Communicators-1:0][EpisodeBits-1:0] episode_q;
  // An episode has ended since the communicator began.
  logic [Communicators-1:0] begun_q;
  logic [Communicators-1:0] over, chosen, fires, ending;

  logic [Bits-1:0] known, current, next;
  logic is_now, is_next;
  assign known = msg_bit_i & used_q[msg_index_i];
  assign is_now = msg_episode_i == episode_q[msg_index_i];
  // A host learns of the end of an episode only by its release, so it is never ahead.
  assign is_next = msg_episode_i == episode_q[msg_index_i] + EpisodeBits'(1) && !msg_bit_i[0];
  assign current = now_q[msg_index_i];
  assign next = ahead_q[msg_index_i];
  assign counted_o = msg_valid_i && !clear_i[msg_index_i]
      && ((is_now && (known & ~current) != '0) || (is_next && (known & ~next) != '0));
  assign stranger_o = msg_valid_i && !clear_i[msg_index_i] && known == '0;
  assign repeated_o = msg_valid_i && !clear_i[msg_index_i] && known != '0 && !counted_o;

  for (genvar c = 0; c < Communicators; ++c) begin : gen_communicator
    logic [Bits-1:0] now_d, ahead_d;
    logic mine, is_last, ends;
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
    assign mine = counted_o && 32'(msg_index_i) == c;
    assign now_d = now_q[c] | (mine && is_now ? known : '0);
    assign ahead_d = ahead_q[c] | (mine && is_next ? known : '0);
    assign over[c] = !clear_i[c] && (need_q[c] & ~now_q[c]) == '0;
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
      end else begin
        now_q[c] <= ends ? ahead_d : now_d;
        ahead_q[c] <= ends ? '0 : ahead_d;
        if (fires[c]) stage_q[c] <= stage_d;
        if (ends) episode_q[c] <= episode_q[c] + EpisodeBits'(1);
        if (ends) begun_q[c] <= 1'b1;
      end
    end
  end

  tutti_hbs_arbiter #(
      .Inputs(Communicators)
  ) i_arbiter (
      .clk_i,
      .rst_ni,
      .request_i(over),
      .serve_i(job_ready_i),
      .grant_o(chosen)
  );
  assign fires = chosen & {Communicators{job_ready_i}};

  // A repeated message, and one cycle later what it has caused. There is room for one; the host
  // repeats its call if that is not enough. Both end with the episode.
  logic doubt_valid_q, doubt_past_q, again_valid_q, is_past, has_doubt, looks_up;
  logic [IndexBits-1:0] doubt_index_q, again_index_q;
  logic [Bits-1:0] doubt_bit_q, caused, again_send_q;
  logic [EpisodeBits-1:0] doubt_episode_q, again_episode_q;
  assign is_past = begun_q[msg_index_i]
      && msg_episode_i == episode_q[msg_index_i] - EpisodeBits'(1);
  assign has_doubt = repeated_o && echo_i[msg_index_i] && (is_now || is_past)
      && !ending[msg_index_i] && !doubt_valid_q;
  assign looks_up = doubt_valid_q && !again_valid_q && !clear_i[doubt_index_q]
      && !ending[doubt_index_q];
  always_comb begin
    caused = '0;
    for (int unsigned s = 0; s < Stages; ++s)
      if (s <= 32'(last_i[doubt_index_q]) && (doubt_past_q || s < 32'(stage_q[doubt_index_q]))
          && (need_i[doubt_index_q][s] & doubt_bit_q) != '0)
        caused |= send_i[doubt_index_q][s];
    caused[0] = 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      doubt_valid_q <= 1'b0;
      again_valid_q <= 1'b0;
    end else begin
      doubt_valid_q <= has_doubt || (doubt_valid_q && !looks_up && !clear_i[doubt_index_q]
          && !ending[doubt_index_q]);
      again_valid_q <= (looks_up && caused != '0)
          || (again_valid_q && !clear_i[again_index_q] && !ending[again_index_q]
          && !(job_ready_i && job_again_o));
    end
    if (has_doubt) begin
      doubt_index_q <= msg_index_i;
      doubt_bit_q <= known;
      doubt_episode_q <= msg_episode_i;
      doubt_past_q <= is_past;
    end
    if (looks_up) begin
      again_index_q <= doubt_index_q;
      again_send_q <= caused;
      again_episode_q <= doubt_episode_q;
    end
  end

  // New messages go first.
  always_comb begin
    job_index_o = '0;
    for (int unsigned c = 0; c < Communicators; ++c) if (chosen[c]) job_index_o |= IndexBits'(c);
    if (job_again_o) job_index_o = again_index_q;
  end
  assign job_again_o = over == '0 && again_valid_q && !clear_i[again_index_q];
  assign job_valid_o = over != '0 || job_again_o;
  assign job_send_o = job_again_o ? again_send_q : send_q[job_index_o];
  assign job_episode_o = job_again_o ? again_episode_q : episode_q[job_index_o];

  assign arrived_o = now_q;
  assign stage_o = stage_q;
  assign episode_o = episode_q;
endmodule
