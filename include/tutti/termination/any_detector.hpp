// SPDX-License-Identifier: Apache-2.0
// A detector chosen by name at run time. The first of the list is a plain member because most
// programs use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/schedule/choose.hpp"
#include "tutti/termination/detector.hpp"
#include "tutti/termination/list.hpp"

namespace tutti {

// `List` is a tuple of entries like registry::detectors.
template <class Memory, class Wake, class List = registry::detectors>
class any_detector;

template <class Memory, class Wake, class First, class... Other>
class any_detector<Memory, Wake, std::tuple<First, Other...>> {
 public:
  // An empty name lets tutti choose. Throws std::invalid_argument for an unknown name.
  any_detector(rank_t participants, Wake wake, std::string_view name = {})
      : first_(First::construct(participants, wake, [](auto... arguments) {
          return typename First::template type<Memory, Wake>(arguments...);
        })) {
    if (name.empty())
      name = choose::detector(participants, choose::is_crowded(participants, Memory::cpus()));
    if (name == First::info.name) return;
    (void)((name == Other::info.name && (other_ = make<Other>(participants, wake), true)) || ...);
    if (other_ == nullptr)
      refuse("detector '" + std::string(name) + "' is not one of " +
             detail::names_of(std::array{First::info, Other::info...}));
  }

  detection enter(rank_t rank, const idle_entry& entry) {
    if (other_ == nullptr) [[likely]]
      return first_.enter(rank, entry);
    return other_->enter(rank, entry);
  }
  bool has_work(rank_t rank) noexcept {
    return other_ == nullptr ? first_.has_work(rank) : other_->has_work(rank);
  }
  detection work(rank_t rank) { return other_ == nullptr ? first_.work(rank) : other_->work(rank); }
  void tell(rank_t rank) { other_ == nullptr ? first_.tell(rank) : other_->tell(rank); }
  void refute(rank_t rank, bool vote) {
    other_ == nullptr ? first_.refute(rank, vote) : other_->refute(rank, vote);
  }
  bool withdraw(rank_t rank, bool vote, std::uint64_t episode) {
    return other_ == nullptr ? first_.withdraw(rank, vote, episode)
                             : other_->withdraw(rank, vote, episode);
  }
  void begin(std::uint64_t episodes) noexcept {
    other_ == nullptr ? first_.begin(episodes) : other_->begin(episodes);
  }
  bool releases_one_by_one() const noexcept {
    return other_ == nullptr ? first_.releases_one_by_one() : other_->releases_one_by_one();
  }
  bool may_send(rank_t rank) const {
    return other_ == nullptr ? first_.may_send(rank) : other_->may_send(rank);
  }

 private:
  class interface {
   public:
    virtual ~interface() = default;
    virtual detection enter(rank_t rank, const idle_entry& entry) = 0;
    virtual bool has_work(rank_t rank) noexcept = 0;
    virtual detection work(rank_t rank) = 0;
    virtual void tell(rank_t rank) = 0;
    virtual void refute(rank_t rank, bool vote) = 0;
    virtual bool withdraw(rank_t rank, bool vote, std::uint64_t episode) = 0;
    virtual void begin(std::uint64_t episodes) noexcept = 0;
    virtual bool releases_one_by_one() const noexcept = 0;
    virtual bool may_send(rank_t rank) const = 0;
  };

  template <class Detector>
  class wrapped final : public interface {
   public:
    template <class... Arguments>
    explicit wrapped(Arguments... arguments) : detector_(arguments...) {}
    detection enter(rank_t rank, const idle_entry& entry) override {
      return detector_.enter(rank, entry);
    }
    bool has_work(rank_t rank) noexcept override { return detector_.has_work(rank); }
    detection work(rank_t rank) override { return detector_.work(rank); }
    void tell(rank_t rank) override { detector_.tell(rank); }
    void refute(rank_t rank, bool vote) override { detector_.refute(rank, vote); }
    bool withdraw(rank_t rank, bool vote, std::uint64_t episode) override {
      return detector_.withdraw(rank, vote, episode);
    }
    void begin(std::uint64_t episodes) noexcept override { detector_.begin(episodes); }
    bool releases_one_by_one() const noexcept override { return detector_.releases_one_by_one(); }
    bool may_send(rank_t rank) const override { return detector_.may_send(rank); }

   private:
    Detector detector_;
  };

  template <class Entry>
  static std::unique_ptr<interface> make(rank_t participants, Wake wake) {
    return Entry::construct(participants, wake,
                            [](auto... arguments) -> std::unique_ptr<interface> {
                              using detector = typename Entry::template type<Memory, Wake>;
                              return std::make_unique<wrapped<detector>>(arguments...);
                            });
  }

  typename First::template type<Memory, Wake> first_;
  std::unique_ptr<interface> other_;
};

}  // namespace tutti
