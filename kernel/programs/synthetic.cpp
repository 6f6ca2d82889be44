// trial
#include "kernel/platform/hosted.hpp"
#include "tutti/team/on_platform.hpp"
#include "kernel/programs/programs.hpp"
#include "tutti/reduce/operations.hpp"
#include "kernel/core/print.hpp"
namespace tutti::kernel {
bool run_synthetic(const char*) {
  basic_team<hosted_memory> t(cores());
  u64 x = 0;
  for (int i = 0; i < 100; ++i)
  t.run([&](basic_member<hosted_memory>& me) { auto s = me.reduce(plus{}, double(me.rank())); if (me.rank() == 0) x += u64(s); });
  print("sum ", x);
  return true;
}
}
