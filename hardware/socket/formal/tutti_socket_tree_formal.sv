// SPDX-License-Identifier: Apache-2.0
/// All tiles of a socket with one barrier of any participants, over a network that delivers every
/// message at any later time and in any order: a thread is told only when all participants have
/// arrived, no queue overflows, and while somebody waits for whom all have arrived, a message is on
/// its way.
///
/// Counters modulo 4 tell how often each tile has announced (up) and been released (down). Between
/// neighbours they differ by the messages on their way, which is what the invariants say; the
/// distance to the centre does not matter.
module tutti_socket_tree_formal
  import tutti_socket_pkg::*;
#(
    parameter int unsigned Columns = 2,
    parameter int unsigned Rows = 2,
    parameter int unsigned Threads = 2,
    parameter int unsigned Tiles = Columns * Rows,
    parameter int unsigned TileBits = Tiles > 1 ? $clog2(Tiles) : 1,
    parameter int unsigned ThreadBits = Threads > 1 ? $clog2(Threads) : 1
) (
    input logic clk_i,
    // Free: a reset.
    input logic reset_i,
    // Free inputs: participants, which are taken once; arrivals; what the network takes and gives.
    input logic [Tiles-1:0][Threads-1:0] threads_i,
    input logic [Tiles-1:0][3:0] sides_i,
    input logic [Tiles-1:0][Threads-1:0] arrive_i,
    input logic [Tiles-1:0] take_i,
    input logic [Tiles-1:0] give_i,
    input logic [Tiles-1:0][1:0] side_i,
    // Held constant: a tile, and a thread of another.
    input logic [TileBits-1:0] told_i,
    input logic [TileBits-1:0] asked_i,
    input logic [ThreadBits-1:0] thread_i
);
  localparam int unsigned CentreX = Columns / 2;
  localparam int unsigned CentreY = Rows / 2;
  localparam int unsigned Centre = CentreY * Columns + CentreX;

  // The unit is reset at first, and again at any time.
  logic power_q = 1'b1;
  logic init_q;
  assign init_q = power_q || reset_i;
  logic make_q = 1'b0;
  logic live;
  logic [2*TileBits+ThreadBits-1:0] chosen_q;
  always_ff @(posedge clk_i) begin
    power_q <= 1'b0;
    make_q <= init_q;
    chosen_q <= {told_i, asked_i, thread_i};
  end
  assign live = !init_q && !make_q;

  logic [Tiles-1:0][Threads-1:0] threads_q, arrived, waiting_q, taken, told;
  logic [Tiles-1:0][3:0] sides_q;
  logic [Tiles-1:0][Threads-1:0][1:0] count_q;
  // Announcements, releases, messages between a tile and its parent.
  logic [Tiles-1:0][1:0] up_count_q, down_count_q;
  logic [Tiles-1:0] up_q, down_q, sends_up, has_all, busy;
  logic [Tiles-1:0][3:0] sends_down, gets_up, child_up, child_down, down_waits, child_bits;
  logic [Tiles-1:0] gets_down, up_waits, part, parent_bit;

  for (genvar n = 0; n < Tiles; ++n) begin : gen_tile
    localparam int unsigned X = n % Columns;
    localparam int unsigned Y = n / Columns;
    localparam logic [2:0] Parent = X < CentreX ? 3'(East) : X > CentreX ? 3'(West)
        : Y < CentreY ? 3'(South) : Y > CentreY ? 3'(North) : NoParent;
    // Which sides have children, and who they are.
    localparam bit [3:0] Children = {
      X > 0 && X <= CentreX, X == CentreX && Y >= CentreY && Y < Rows - 1,
      X < Columns - 1 && X >= CentreX, X == CentreX && Y <= CentreY && Y > 0
    };
    localparam int unsigned P = n == Centre ? n : Parent == 3'(East) ? n + 1
        : Parent == 3'(West) ? n - 1 : Parent == 3'(South) ? n + Columns : n - Columns;
    localparam logic [3:0] ParentSide = Parent == NoParent ? 4'd0 : 4'd1 << Parent[1:0];
    localparam int unsigned Back = (32'(Parent) + 2) % 4;

    assign part[n] = {threads_q[n], sides_q[n]} != '0;
    logic in_valid, in_ready, out_valid, is_down;
    message_t in_message, out_message;
    logic [1:0] out_side;
    logic complete_valid;
    logic complete_barrier, create_ready;
    tutti_hbs_pkg::error_t error;
    for (genvar s = 0; s < 4; ++s) begin : gen_side
      localparam int unsigned Child = !Children[s] ? n : s == North ? n - Columns
          : s == East ? n + 1 : s == South ? n + Columns : n - 1;
      assign child_up[n][s] = Children[s] && up_q[Child];
      assign child_down[n][s] = Children[s] && down_q[Child];
    end
    assign is_down = Parent != NoParent && 3'(side_i[n]) == Parent;
    assign in_valid = live && give_i[n] && (is_down ? down_q[n] : child_up[n][side_i[n]]);
    assign in_message = '{kind: is_down ? Down : Up, to: '0, load: '0};

    tutti_socket_tile #(
        .Barriers(1),
        .Threads(Threads)
    ) i_tile (
        .clk_i,
        .rst_ni(!init_q),
        .parent_i(Parent),
        .create_valid_i(make_q && {threads_i[n], sides_i[n]} != '0),
        .create_ready_o(create_ready),
        .create_barrier_i('0),
        .create_threads_i(threads_i[n]),
        .create_sides_i(sides_i[n]),
        .arrive_valid_i(live ? arrive_i[n] : '0),
        .arrive_ready_o(taken[n]),
        .arrive_barrier_i('0),
        .complete_valid_o(complete_valid),
        .complete_barrier_o(complete_barrier),
        .complete_threads_o(told[n]),
        .in_valid_i(in_valid),
        .in_ready_o(in_ready),
        .in_message_i(in_message),
        .in_side_i(side_i[n]),
        .out_valid_o(out_valid),
        .out_ready_i(live && take_i[n]),
        .out_message_o(out_message),
        .out_side_o(out_side),
        .error_o(error)
    );

    logic gives, gets;
    assign gives = live && out_valid && take_i[n];
    assign gets = in_valid && in_ready;
    assign sends_up[n] = gives && out_message.kind == Up;
    for (genvar s = 0; s < 4; ++s) begin : gen_flow
      assign sends_down[n][s] = gives && out_message.kind == Down && out_side == 2'(s);
      assign gets_up[n][s] = gets && !is_down && side_i[n] == 2'(s);
    end
    assign gets_down[n] = gets && is_down;

    // The core's bits, and what waits in the tile for the network.
    logic [Threads+4:0] members, bits;
    assign members = ~i_tile.i_core.p_q[0];
    assign bits = i_tile.i_core.s_q[0] & members;
    assign arrived[n] = bits[Threads-1:0];
    assign child_bits[n] = bits[Threads+3:Threads];
    assign parent_bit[n] = bits[Threads+4];
    assign has_all[n] = bits[Threads+3:0] == members[Threads+3:0] && part[n];
    logic [2:0] ups;
    logic [3:0][2:0] downs;
    logic good_jobs;
    always_comb begin
      ups = 3'(i_tile.peer_valid);
      good_jobs = 1'b1;
      for (int unsigned s = 0; s < 4; ++s)
        downs[s] = 3'(complete_valid && i_tile.complete_mask[Threads+s]
            && !(i_tile.used_q == '0 && i_tile.sent_q[s]));
      for (int unsigned i = 0; i < 4; ++i) begin
        if (i < 32'(i_tile.used_q)) begin
          automatic logic [3:0] open = i_tile.jobs[i_tile.first_q+2'(i)].sides
              & ~(i == 0 ? i_tile.sent_q : 4'd0);
          if (i_tile.jobs[i_tile.first_q+2'(i)].down) begin
            good_jobs = good_jobs && i_tile.jobs[i_tile.first_q+2'(i)].sides == sides_q[n];
            for (int unsigned s = 0; s < 4; ++s) downs[s] = downs[s] + 3'(open[s]);
          end else begin
            ups = ups + 3'd1;
            good_jobs = good_jobs && Parent != NoParent
                && i_tile.jobs[i_tile.first_q+2'(i)].sides == ParentSide;
          end
          good_jobs = good_jobs && open != '0
              && !i_tile.jobs[i_tile.first_q+2'(i)].barrier;
        end
      end
    end
    assign up_waits[n] = ups == 3'd1;
    for (genvar s = 0; s < 4; ++s) begin : gen_waits
      assign down_waits[n][s] = downs[s] == 3'd1;
    end
    assign busy[n] = i_tile.used_q != '0 || i_tile.peer_valid || complete_valid || up_q[n]
        || down_q[n];

    always_ff @(posedge clk_i) begin
      if (init_q) begin
        {threads_q[n], sides_q[n]} <= '0;
        {up_count_q[n], down_count_q[n], up_q[n], down_q[n]} <= '0;
        waiting_q[n] <= '0;
      end else begin
        if (make_q) {threads_q[n], sides_q[n]} <= {threads_i[n], sides_i[n]};
        if (i_tile.peer_valid) up_count_q[n] <= up_count_q[n] + 2'd1;
        if (complete_valid) down_count_q[n] <= down_count_q[n] + 2'd1;
        up_q[n] <= (up_q[n] || sends_up[n]) && !(n != Centre && gets_up[P][Back]);
        down_q[n] <= (down_q[n] || (n != Centre && sends_down[P][Back])) && !gets_down[n];
        waiting_q[n] <= (waiting_q[n] | (live ? arrive_i[n] & taken[n] : '0))
            & ~(complete_valid ? told[n] : '0);
      end
      for (int unsigned t = 0; t < Threads; ++t) begin
        if (init_q) count_q[n][t] <= '0;
        else if (live && arrive_i[n][t] && taken[n][t]) count_q[n][t] <= count_q[n][t] + 2'd1;
      end
    end

    // Counts that include what the core has in its registers.
    logic [1:0] up_now, down_now;
    assign up_now = up_count_q[n] + 2'(i_tile.peer_valid);
    assign down_now = down_count_q[n] + 2'(complete_valid);

    always_comb begin
      // Participants call only when they have been told of the last episode; others do not.
      assume (!live || (arrive_i[n] & (~threads_q[n] | waiting_q[n])) == '0);
      // The kernel tells each tile behind which sides participants are.
      for (int unsigned s = 0; s < 4; ++s) assume (!make_q || Children[s] || !sides_i[n][s]);
    end
    // A thread has arrived once more than its tile was released, or as often.
    for (genvar t = 0; t < Threads; ++t) begin : gen_count
      always_comb begin
        if (!init_q) begin
          a_count: assert (!threads_q[n][t]
              || count_q[n][t] == 2'(down_now + 2'(arrived[n][t])));
        end
      end
    end
    if (n != Centre) begin : gen_parent
      always_comb assume (!make_q || sides_i[P][Back] == ({threads_i[n], sides_i[n]} != '0));
    end

    always_comb begin
      if (!init_q) begin
        // What is not misused reports nothing; no message comes on top of another.
        a_no_misuse: assert (error == '0);
        a_jobs: assert (good_jobs && i_tile.used_q <= 3'd2 && (i_tile.used_q != '0
            || i_tile.sent_q == '0) && (i_tile.sent_q & ~i_tile.head.sides) == '0);
        a_fresh: assert (!make_q || {threads_q[n], sides_q[n], up_count_q[n], down_count_q[n], up_q[n],
            down_q[n], waiting_q[n], count_q[n]} == '0);
        a_members: assert (members == (part[n] ? {Parent != NoParent, sides_q[n], threads_q[n]}
            : '0));
        a_core: assert ((i_tile.i_core.s_q[0] | members) == '1 && i_tile.i_core.ahead_q[0] == '0
            && !parent_bit[n]);
        a_one_each: assert (ups <= 3'd1 && downs[0] <= 3'd1 && downs[1] <= 3'd1 && downs[2] <= 3'd1
            && downs[3] <= 3'd1);
        a_one_way: assert (!(complete_valid && i_tile.peer_valid));
        a_mask: assert ((!complete_valid || i_tile.complete_mask == {sides_q[n], threads_q[n]})
            && (!complete_valid || !complete_barrier)
            && (!i_tile.peer_valid || !i_tile.peer_barrier));
        a_waiting: assert (waiting_q[n] == (arrived[n] | (complete_valid ? told[n] : '0)));
        a_rearmed: assert (!complete_valid || (arrived[n] == '0 && !i_tile.peer_valid));
        a_sides: assert ((sides_q[n] & ~Children) == '0);
        a_part: assert (part[n] || !(i_tile.peer_valid || complete_valid));
        if (n != Centre) begin
          // Announced exactly when all of the tile have arrived.
          a_announced: assert (up_now == 2'(down_now + 2'(has_all[n])));
          // Between neighbours: messages on their way, or counted.
          a_up: assert (!part[n] || 2'(up_now - gen_tile[P].down_now)
              == 2'(2'(up_waits[n]) + 2'(up_q[n]) + 2'(child_bits[P][Back])));
          a_up_once: assert (3'(up_waits[n]) + 3'(up_q[n]) + 3'(child_bits[P][Back]) <= 3'd1);
          a_down: assert (2'(gen_tile[P].down_now - down_now)
              == 2'(2'(down_waits[P][Back]) + 2'(down_q[n])) || !part[n]);
          a_down_once: assert (!(down_waits[P][Back] && down_q[n]));
          a_follows: assert (sides_q[P][Back] == part[n]);
          a_idle: assert (part[n] || (!up_q[n] && !down_q[n] && !up_waits[n]
              && !child_bits[P][Back] && !down_waits[P][Back]));
          a_order: assert (!part[n] || P == Centre || 2'(up_now - gen_tile[P].up_now) <= 2'd1);
          // To the centre, whatever the distance.
          a_released: assert (!part[n] || 2'(gen_tile[Centre].down_now - down_now) <= 2'd1);
          a_arrived: assert (!part[n] || 2'(up_now - gen_tile[Centre].down_now) <= 2'd1);
        end else begin
          a_no_parent: assert (ups == '0 && !up_q[n] && !down_q[n] && !has_all[n]);
        end
      end
    end
  end

  always_comb assume (init_q || {told_i, asked_i, thread_i} == chosen_q);

  // The specification: whoever is told of an episode, all participants have arrived at it. A thread
  // may have arrived twice more than another tile was released; once less is the error.
  logic all_arrived;
  always_comb begin
    all_arrived = 1'b1;
    for (int unsigned n = 0; n < Tiles; ++n)
      if ((threads_q[n] & ~arrived[n]) != '0) all_arrived = 1'b0;
  end
  logic [Tiles-1:0][1:0] released;
  for (genvar n = 0; n < Tiles; ++n) begin : gen_released
    assign released[n] = gen_tile[n].down_now;
  end
  always_comb begin
    if (!init_q && 32'(told_i) < Tiles && 32'(asked_i) < Tiles && 32'(thread_i) < Threads) begin
      a_nobody_early: assert (!(part[told_i] && threads_q[asked_i][thread_i])
          || 2'(count_q[asked_i][thread_i] - released[told_i]) != 2'd3);
    end
    if (!init_q) begin
      a_never_stuck: assert (!(all_arrived && part[Centre]) || busy != '0);
    end
  end

  logic [1:0] episodes_q;
  always_ff @(posedge clk_i) begin
    if (init_q) episodes_q <= '0;
    else if (gen_tile[Centre].complete_valid && episodes_q != 2'd3) episodes_q <= episodes_q + 2'd1;
  end
  always_comb begin
    c_all: cover (live && episodes_q == 2'd2 && threads_q == '1);
    c_some: cover (live && episodes_q == 2'd1 && threads_q[Centre] == '0 && down_q != '0);
    c_ahead: cover (live && up_q != '0 && down_q != '0);
  end
endmodule
