// SPDX-License-Identifier: Apache-2.0
/// The structure of a whole socket, in tiles on a mesh or a ring. The tiles form a tree: along the
/// row to the centre's column, then along that column to the centre. On a ring they form two arms.
///
/// A hop takes LinkLatency cycles and one in the router's queue. Other messages of the tiles share
/// routers and links; a ring carries none, since its routers could wait for each other.
module tutti_socket_mesh
  import tutti_socket_pkg::*;
#(
    /// Size of the mesh, 1 to 16 in each direction.
    parameter int unsigned Columns = 6,
    parameter int unsigned Rows = 6,
    /// 1 joins both ends of the only row.
    parameter int unsigned Ring = 0,
    /// Hardware threads of a tile.
    parameter int unsigned Threads = 8,
    /// Number of barriers, 1 to 128.
    parameter int unsigned Barriers = 8,
    /// Cycles of a link, 1 to 64.
    parameter int unsigned LinkLatency = 1,
    localparam int unsigned Tiles = Columns * Rows,
    localparam int unsigned BarrierBits = Barriers > 1 ? $clog2(Barriers) : 1
) (
    input logic clk_i,
    /// Synchronous reset, active low.
    input logic rst_ni,
    /// See tutti_socket_tile. Tile (x, y) is number y * Columns + x.
    input logic [Tiles-1:0] create_valid_i,
    output logic [Tiles-1:0] create_ready_o,
    input logic [BarrierBits-1:0] create_barrier_i,
    input logic [Tiles-1:0][Threads-1:0] create_threads_i,
    input logic [Tiles-1:0][3:0] create_sides_i,
    input logic [Tiles-1:0][Threads-1:0] arrive_valid_i,
    output logic [Tiles-1:0][Threads-1:0] arrive_ready_o,
    input logic [Tiles-1:0][Threads-1:0][BarrierBits-1:0] arrive_barrier_i,
    output logic [Tiles-1:0] complete_valid_o,
    output logic [Tiles-1:0][BarrierBits-1:0] complete_barrier_o,
    output logic [Tiles-1:0][Threads-1:0] complete_threads_o,
    /// The side of each tile's parent; 4 in the centre.
    output logic [Tiles-1:0][2:0] parent_o,
    /// A tile's part of the structure was misused.
    output logic [Tiles-1:0] misuse_o,
    /// Other messages. What arrives is taken at once.
    input logic [Tiles-1:0] other_valid_i,
    output logic [Tiles-1:0] other_ready_o,
    input place_t [Tiles-1:0] other_to_i,
    input logic [Tiles-1:0][8:0] other_load_i,
    output logic [Tiles-1:0] other_valid_o,
    output logic [Tiles-1:0][8:0] other_load_o
);
  if (Columns < 1 || Columns > 16 * (1 + 3 * Ring))
    $fatal(1, "tutti_socket_mesh: Columns must be 1 to 16, of a ring 1 to 64");
  if (Rows < 1 || Rows > 16) $fatal(1, "tutti_socket_mesh: Rows must be 1 to 16");
  if (Ring > 1 || (Ring == 1 && Rows != 1))
    $fatal(1, "tutti_socket_mesh: Ring must be 0, or 1 with one row");
  if (LinkLatency < 1 || LinkLatency > 64)
    $fatal(1, "tutti_socket_mesh: LinkLatency must be 1 to 64");

  localparam int unsigned CentreX = Columns / 2;
  localparam int unsigned CentreY = Rows / 2;

  logic [Tiles-1:0][3:0] in_valid, in_ready, out_valid, out_ready;
  message_t [Tiles-1:0][3:0] in, out;

  for (genvar y = 0; y < Rows; ++y) begin : gen_row
    for (genvar x = 0; x < Columns; ++x) begin : gen_column
      localparam int unsigned N = y * Columns + x;
      localparam logic [2:0] Parent = x < CentreX ? 3'(East) : x > CentreX ? 3'(West)
          : y < CentreY ? 3'(South) : y > CentreY ? 3'(North) : NoParent;
      message_t barrier, other, delivered;
      logic barrier_valid, barrier_ready, delivered_valid, delivered_ready, tile_ready, is_other;
      logic [1:0] barrier_side, from_side;
      logic [4:0] from;
      logic other_ready;
      tutti_hbs_pkg::error_t error;
      assign parent_o[N] = Parent;
      assign misuse_o[N] = error != '0;
      assign other = '{kind: Other, to: other_to_i[N], load: other_load_i[N]};
      assign other_ready_o[N] = Ring == 0 && other_ready;
      assign is_other = delivered.kind == Other;
      assign delivered_ready = is_other || tile_ready;
      assign other_valid_o[N] = delivered_valid && is_other;
      assign other_load_o[N] = delivered.load;
      always_comb begin
        from_side = '0;
        for (int unsigned s = 0; s < 4; ++s) if (from[s]) from_side |= 2'(s);
      end

      tutti_socket_router i_router (
          .clk_i,
          .rst_ni,
          .here_i('{x: 4'(x), y: 4'(y)}),
          .valid_i(in_valid[N]),
          .ready_o(in_ready[N]),
          .message_i(in[N]),
          .valid_o(out_valid[N]),
          .ready_i(out_ready[N]),
          .message_o(out[N]),
          .barrier_valid_i(barrier_valid),
          .barrier_ready_o(barrier_ready),
          .barrier_i(barrier),
          .barrier_side_i(barrier_side),
          .other_valid_i(other_valid_i[N] && Ring == 0),
          .other_ready_o(other_ready),
          .other_i(other),
          .from_o(from),
          .message_to_tile_o(delivered),
          .valid_to_tile_o(delivered_valid),
          .ready_from_tile_i(delivered_ready)
      );

      tutti_socket_tile #(
          .Barriers(Barriers),
          .Threads(Threads)
      ) i_tile (
          .clk_i,
          .rst_ni,
          .parent_i(Parent),
          .create_valid_i(create_valid_i[N]),
          .create_ready_o(create_ready_o[N]),
          .create_barrier_i,
          .create_threads_i(create_threads_i[N]),
          .create_sides_i(create_sides_i[N]),
          .arrive_valid_i(arrive_valid_i[N]),
          .arrive_ready_o(arrive_ready_o[N]),
          .arrive_barrier_i(arrive_barrier_i[N]),
          .complete_valid_o(complete_valid_o[N]),
          .complete_barrier_o(complete_barrier_o[N]),
          .complete_threads_o(complete_threads_o[N]),
          .in_valid_i(delivered_valid && !is_other),
          .in_ready_o(tile_ready),
          .in_message_i(delivered),
          .in_side_i(from_side),
          .out_valid_o(barrier_valid),
          .out_ready_i(barrier_ready),
          .out_message_o(barrier),
          .out_side_o(barrier_side),
          .error_o(error)
      );

      // Links. A side without a neighbour takes every message and gives none.
      for (genvar p = 0; p < 4; ++p) begin : gen_side
        localparam bit Inside = p == North ? y > 0 : p == South ? y < Rows - 1
            : Ring == 1 && Columns > 2 || (p == East ? x < Columns - 1 : x > 0);
        localparam int unsigned Other4 = p == North ? N - Columns : p == South ? N + Columns
            : p == East ? (x == Columns - 1 ? N + 1 - Columns : N + 1)
            : (x == 0 ? N + Columns - 1 : N - 1);
        localparam int unsigned To = Inside ? Other4 : N;
        localparam int unsigned Back = (p + 2) % 4;
        if (Inside) begin : gen_link
          tutti_hbs_link #(
              .Latency(LinkLatency),
              .BarrierBits($bits(message_t))
          ) i_link (
              .clk_i,
              .rst_ni,
              .valid_i(out_valid[N][p]),
              .ready_o(out_ready[N][p]),
              .barrier_i(out[N][p]),
              .valid_o(in_valid[To][Back]),
              .ready_i(in_ready[To][Back]),
              .barrier_o(in[To][Back])
          );
        end else begin : gen_edge
          assign out_ready[N][p] = 1'b1;
          assign in_valid[N][p] = 1'b0;
          assign in[N][p] = '0;
        end
      end
      logic unused;
      assign unused = ^{from[4], in_ready[N], out_valid[N], out[N]};
    end
  end
endmodule
