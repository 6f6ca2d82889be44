// SPDX-License-Identifier: Apache-2.0
// Large messages through rings.
#include "tutti/mpi/ring_box.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "tutti/platform/misuse.hpp"

namespace tutti::mpi {
namespace {

// A message is published at the latest when a later message begins this many bytes behind the last
// published position.
constexpr std::size_t batch_bytes = 1024;

}  // namespace

ring_box::ring_box(shared_room& room, rank_t rank, std::size_t ring_bytes, waiters others)
    : room_(room),
      piece_bytes_(ring_bytes / 4),
      box_(rank, room.rings_from(rank), room.rings_to(rank), batch_bytes,
           wake{others == waiters::sleep ? &room : nullptr}) {}

// --- sending -------------------------------------------------------------------------------------

bool ring_box::sees_room(rank_t to, std::size_t bytes) const noexcept {
  if (rests_ == 0) return box_.sees_room(to, std::min(bytes, piece_bytes_));
  return std::any_of(rest_.begin(), rest_.end(), [this](const auto& one) {
    const auto& [owed, left] = one;
    return left.sent < left.bytes.size() && box_.sees_room(owed, piece_bytes_);
  });
}

void ring_box::want_room(rank_t to, bool is_wanted) noexcept {
  if (rests_ == 0) return box_.want_room(to, is_wanted);
  for (const auto& [owed, left] : rest_)
    if (left.sent < left.bytes.size()) box_.want_room(owed, is_wanted);
}

bool ring_box::send_pieces(rank_t to, const void* data, std::size_t bytes) {
  if (rests_ != 0) {
    continue_rests();
    if (rests_ != 0) return false;
  }
  room_.announce_pieces();
  const auto* const from = static_cast<const std::byte*>(data);
  rest& left = rest_[to];
  left.bytes.assign(from, from + bytes);
  left.sent = 0;
  continue_rest(to, left);
  // Nothing of the message has been sent, so it is not sent at all.
  if (left.sent == 0) {
    left.bytes.clear();
    return false;
  }
  rests_ += left.sent < bytes ? 1 : 0;
  return true;
}

// Returns false while some of the message is left.
bool ring_box::continue_rest(rank_t to, rest& left) {
  piece_.resize(piece_bytes_);
  while (left.sent < left.bytes.size()) {
    const piece_header header{left.bytes.size(), std::min(piece_bytes_ - sizeof(piece_header),
                                                          left.bytes.size() - left.sent)};
    std::memcpy(piece_.data(), &header, sizeof header);
    std::memcpy(piece_.data() + sizeof header, left.bytes.data() + left.sent, header.part);
    if (!box_.try_send(to, piece_.data(), piece_bytes_)) return false;
    extra_sent_ += left.sent == 0 ? 0 : 1;
    left.sent += header.part;
  }
  return true;
}

void ring_box::continue_rests() {
  for (auto& [to, left] : rest_) {
    if (left.sent == left.bytes.size()) continue;
    if (continue_rest(to, left)) --rests_;
  }
}

// --- receiving -----------------------------------------------------------------------------------

// Finds the next whole message among messages and pieces.
bool ring_box::stage() {
  while (box_.can_recv()) {
    const received next = box_.recv();
    const bool is_piece = next.size == piece_bytes_ && next.source != rank();
    if (!is_piece) staged_ = next;
    if (!is_piece || add_piece(next)) return is_staged_ = true;
  }
  if (rests_ != 0) continue_rests();
  return false;
}

// Returns true if the piece completes its message; then that message is staged_.
bool ring_box::add_piece(const received& piece) {
  piece_header header;
  std::memcpy(&header, piece.data, sizeof header);
  assembling& so_far = pieces_[piece.source];
  if (so_far.filled == 0) so_far.bytes.resize(header.whole);
  std::memcpy(so_far.bytes.data() + so_far.filled, piece.data + sizeof header, header.part);
  so_far.filled += header.part;
  if (so_far.filled < header.whole) {
    ++extra_taken_;
    box_.release(piece);
    return false;
  }
  const std::uint64_t index = next_assembled_++ | assembled_mark;
  assembled& done = assembled_[index];
  done = {std::move(so_far.bytes), piece};
  pieces_.erase(piece.source);
  staged_ = {done.bytes.data(), static_cast<std::uint32_t>(done.bytes.size()), piece.source, index};
  return true;
}

void ring_box::release_assembled(const received& message) {
  const auto found = assembled_.find(message.index);
  if (found == assembled_.end())
    refuse("rank " + std::to_string(rank()) + " releases a message that it does not hold");
  box_.release(found->second.last_piece);
  assembled_.erase(found);
}

}  // namespace tutti::mpi
