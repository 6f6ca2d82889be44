// SPDX-License-Identifier: Apache-2.0
// The templates of team: they pass a callable to the workers.
// Hosted only: it needs threads and the compiled library.
#pragma once

#include "tutti/reduce/fold.hpp"
#include "tutti/team/team_class.hpp"

namespace tutti {

namespace detail {

// A callable inside a job. The job holds a copy if the callable is small, can be copied byte by
// byte and can be called as a constant; otherwise it holds the address. A copy saves each worker
// the transfer of a line from the caller's stack.
template <class Member, class F, std::size_t Most>
class held {
  static constexpr bool is_copied = [] {
    if constexpr (std::is_function_v<F>)
      return false;
    else
      return std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> &&
             sizeof(F) <= Most && alignof(F) <= 8 && std::is_invocable_v<const F&, Member&>;
  }();

 public:
  explicit held(F& f) noexcept : f_(keep(f)) {}
  decltype(auto) operator()(Member& me) const {
    if constexpr (is_copied)
      return f_(me);
    else
      return (*f_)(me);
  }
  static constexpr bool is_noexcept = std::is_nothrow_invocable_v<F&, Member&>;

 private:
  static auto keep(F& f) noexcept {
    if constexpr (is_copied)
      return f;
    else
      return &f;
  }
  std::conditional_t<is_copied, std::remove_const_t<F>, F*> f_;
};

}  // namespace detail

// ---- passing a callable to the workers

// While it lives, the ranks of a thread are ranks of a region of k ranks: their size() is k, and
// their collective operations include only those ranks.
template <class Memory>
class basic_team<Memory>::narrowed {
 public:
  narrowed(basic_team& t, rank_t thread, rank_t k);
  ~narrowed();
  narrowed(const narrowed&) = delete;
  narrowed& operator=(const narrowed&) = delete;

 private:
  void set(rank_t ranks, rank_t size, detail::group_sync<Memory>* sync) const;

  basic_team& team_;
  const rank_t thread_, first_;
  // The number of the thread's ranks that take part.
  rank_t ranks_;
  // The turn_ of all ranks of the thread, including those that take no part.
  std::uint32_t turn_;
};

template <class Memory>
template <class F>
struct basic_team<Memory>::part {
  detail::held<member, F, 48> f;

  static void run(const job& j, basic_team& t, rank_t thread) {
    t.call_ranks(thread, callable_of<part>(j).f);
    t.regions_.arrive(thread);
  }
};

template <class Memory>
template <class F, class Op, class T>
struct basic_team<Memory>::reducing_part {
  detail::held<member, F, 32> f;
  [[no_unique_address]] Op op;

  static void run(const job& j, basic_team& t, rank_t thread) {
    const reducing_part& me = callable_of<reducing_part>(j);
    const T value = me.call(t, thread);
    if (t.is_virtual() && !t.virtual_->are_subtrees()) return t.regions_.arrive(thread);
    t.regions_.arrive(thread, value, me.op);
  }

  // Returns the contribution of the thread's ranks if they are a subtree of the tournament.
  // Otherwise only results() holds what they returned.
  T call(basic_team& t, rank_t thread) const {
    T value{};
    if (!t.is_virtual()) {
      t.call_rank((*t.members_)[thread], [&](member& m) { value = f(m); });
      return value;
    }
    t.call_ranks(thread, [&](member& m) { t.virtual_->results().put(m.rank(), f(m)); });
    detail::virtual_ranks<Memory>& all = *t.virtual_;
    return all.are_subtrees() ? all.template fold_of_thread<T>(all.results(), thread, op) : value;
  }
};

// The job of a region for the first k ranks.
template <class Memory>
template <class F>
struct basic_team<Memory>::first_part {
  detail::held<member, F, 40> f;
  rank_t k;

  static void run(const job& j, basic_team& t, rank_t thread) {
    const first_part& me = callable_of<first_part>(j);
    me.call(t, thread);
    t.regions_.arrive(thread);
  }
  void call(basic_team& t, rank_t thread) const {
    // A named barrier includes all threads, also those that take no part.
    if (thread >= t.threads_of(k)) return;
    const narrowed here(t, thread, k);
    t.call_ranks(thread, f);
  }
};

template <class Memory>
template <class Part>
typename basic_team<Memory>::job basic_team<Memory>::job_for(const Part& part) noexcept {
  static_assert(std::is_trivially_copyable_v<Part> && sizeof(Part) <= sizeof(job::callable));
  job j;
  j.run = &Part::run;
  ::new (static_cast<void*>(j.callable)) Part(part);
  return j;
}

template <class Memory>
template <class Part>
const Part& basic_team<Memory>::callable_of(const job& j) noexcept {
  return *std::launder(reinterpret_cast<const Part*>(j.callable));
}

// ---- calling it

template <class Memory>
template <class F>
void basic_team<Memory>::call_rank(basic_member<Memory>& me, const F& f) noexcept {
  try {
    f(me);
  } catch (const region_cancelled&) {
    // Another rank has failed. If no rank has, the callable threw the exception itself.
    if (!cancelled_.requested()) fail(me.rank(), std::current_exception());
  } catch (...) {
    fail(me.rank(), std::current_exception());
  }
}

template <class Memory>
template <class F>
void basic_team<Memory>::call_ranks(rank_t thread, const F& f) {
  if (!is_virtual()) return call_rank((*members_)[thread], f);
  struct context {
    basic_team& t;
    const F& f;
    rank_t first_rank, count;
  } of_fibers{*this, f, virtual_->group(thread).first_rank, virtual_->group(thread).size};
  virtual_->group(thread).fibers->run(
      [](void* raw, rank_t i) {
        auto& c = *static_cast<context*>(raw);
        if (i >= c.count) return;
        const rank_t rank = c.first_rank + i;
        c.t.call_rank((*c.t.members_)[rank], c.f);
        c.t.virtual_->note_end(rank);
      },
      &of_fibers);
}

// ---- the caller's side

// Exists from the opening of a region, after begin_region, until all its ranks have ended.
template <class Memory>
class basic_team<Memory>::open_region {
 public:
  explicit open_region(basic_team& t)
      : cleared_(&t.is_open_), outer_(std::exchange(detail::team_here<Memory>(), &t)) {}
  open_region(basic_team& t, const job& j) : open_region(t) { t.regions_.open(j); }
  ~open_region() {
    // release: publishes this opener's state to the next one; pairs with begin_region, or with
    // begin_otherwise.
    cleared_->store(false, release);
    detail::team_here<Memory>() = outer_;
  }
  open_region(const open_region&) = delete;
  open_region& operator=(const open_region&) = delete;

  // Throws what a rank of the team has thrown. It is inline so that no other function knows the
  // address of this object, and a region in which no rank fails costs nothing more.
  [[noreturn, gnu::always_inline]] void fail(basic_team& t) {
    if (!t.begin_anew()) cleared_ = &t.has_sync_;
    t.rethrow_failure();
  }

 private:
  // What the end of the region clears: is_open_, or has_sync_.
  atomic<bool>* cleared_;
  const basic_team* outer_;
};

template <class Memory>
template <class F>
void basic_team<Memory>::run(F&& f) {
  using callable = std::remove_reference_t<F>;
  static_assert(std::is_invocable_v<callable&, member&>, "f is called as f(tutti::member&)");
  if (!begin_region()) return run_alone(f);
  const part<callable> all{detail::held<member, callable, 48>(f)};
  {
    open_region now(*this, job_for(all));
    call_ranks(0, all.f);
    regions_.close();
    if (cancelled_.requested()) [[unlikely]]
      now.fail(*this);
  }
}

template <class Memory>
template <class F>
void basic_team<Memory>::run(rank_t k, F&& f) {
  if (k < 1 || k > ranks_) [[unlikely]]
    refuse_width(k);
  if (k == ranks_) return run(f);
  using callable = std::remove_reference_t<F>;
  static_assert(std::is_invocable_v<callable&, member&>, "f is called as f(tutti::member&)");
  if (!begin_region()) return run_alone(f);
  const first_part<callable> some{detail::held<member, callable, 40>(f), k};
  {
    open_region now(*this);
    open_first(job_for(some), k);
    some.call(*this, 0);
    regions_.close_first(threads_of(k));
    if (cancelled_.requested()) [[unlikely]]
      now.fail(*this);
  }
}

template <class Memory>
template <class Op, class F>
auto basic_team<Memory>::run_reduce(Op op, F&& f) {
  using callable = std::remove_reference_t<F>;
  using T = std::remove_cvref_t<std::invoke_result_t<callable&, member&>>;
  static_assert(std::is_trivially_copyable_v<T>,
                "what travels between ranks is copied byte by byte");
  if constexpr (!detail::can_combine<Op, T>) {
    return detail::usable<T>(op)(T{}, T{});
  } else if constexpr (slot::template fits<T> && std::is_trivially_copyable_v<Op> &&
                       sizeof(Op) <= 16 && alignof(Op) <= 8) {
    if (!begin_region()) return canonical(run_alone(f));
    using reducing = reducing_part<callable, Op, T>;
    const reducing all{detail::held<member, callable, 32>(f), op};
    T result{};
    {
      open_region now(*this, job_for(all));
      result = all.call(*this, 0);
      if (is_virtual() && !virtual_->are_subtrees()) {
        regions_.close();
        result = schedule::fold(0, ranks_, virtual_->results().template get<T>(), op);
      } else {
        result = regions_.close(result, op);
      }
      if (cancelled_.requested()) [[unlikely]]
        now.fail(*this);
    }
    return canonical(result);
  } else {
    array<padded<T>> values(ranks_);
    rank_t count = 0;
    run([&](basic_member<Memory>& me) {
      values[me.rank()].value = f(me);
      if (me.rank() == 0) count = me.size();
    });
    return canonical(schedule::fold(
        0, count, [&](rank_t r) -> const T& { return values[r].value; },
        [&](const T& a, const T& b) { return op(a, b); }));
  }
}

template <class Memory>
template <class F>
decltype(auto) basic_team<Memory>::run_alone(F& f) {
  member alone;
  return f(alone);
}

// ---- with a deadline

template <class Memory>
template <class Rep, class Period, class F>
timed_result basic_team<Memory>::run_for(std::chrono::duration<Rep, Period> timeout, F&& f) {
  using callable = std::decay_t<F>;
  const auto until = deadline_after<Memory>(timeout);
  if (regions_.are_named())
    refuse(
        "a region that ends by a named barrier cannot be waited for with a deadline: that wait "
        "could not be resumed");
  // The workers use this copy until the region has ended, which may be after this call.
  auto kept = std::make_shared<callable>(std::forward<F>(f));
  if (!begin_region()) {
    run_alone(*kept);
    return {true, 0, 0, {}};
  }
  const part<callable> all{detail::held<member, callable, 48>(*kept)};
  late_callable_ = kept;
  if (is_virtual()) virtual_->forget_ends();
  const basic_team* const outer = std::exchange(detail::team_here<Memory>(), this);
  regions_.open(job_for(all));
  call_ranks(0, all.f);
  detail::team_here<Memory>() = outer;
  // relaxed: only this thread needs it; is_open_ tells other threads.
  late_opener_.store(&detail::team_here<Memory>(), relaxed);
  return close_by(until);
}

template <class Memory>
template <class Rep, class Period>
timed_result basic_team<Memory>::wait_for(std::chrono::duration<Rep, Period> timeout) {
  // relaxed: only this thread needs it; is_open_ tells other threads.
  if (late_opener_.load(relaxed) == nullptr) return {true, 0, 0, {}};
  return close_by(deadline_after<Memory>(timeout));
}

}  // namespace tutti
