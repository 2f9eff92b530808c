#include "execution/async_unit.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "checking/race_detector.h"
#include "culebra_emu/access.h"
#include "culebra_emu/atomic.h"
#include "culebra_emu/ptx_math.h"
#include "execution/group_executor.h"

namespace culebra_emu {
namespace {

constexpr unsigned char kPoison = 0xFF;

// How long nothing but vain looks at mbarriers must go on to be a deadlock. A loop of a limited
// number of looks, which then does something else, is over before.
constexpr std::uint64_t kIdleNanoseconds = 1'000'000'000;
// A look takes as long as some looks at the clock.
constexpr std::uint64_t kLooksPerClock = 1000;

// Of the thread alone: on a machine that is busy with other things nobody is late.
std::uint64_t thread_time_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// A bad address faults here, at the instruction that names it, and not when the data moves.
void touch(const void* address, std::uint32_t bytes) {
  if (bytes == 0) return;
  const auto* const first = static_cast<const volatile unsigned char*>(address);
  static_cast<void>(first[0]);
  static_cast<void>(first[bytes - 1]);
}

// Bulk copies store through the asynchronous proxy, st.async does not.
std::uint32_t proxy_of(BulkKind kind) {
  return kind == BulkKind::kValueToShared ? 0 : kAccessProxy;
}

template <class Element, class Add>
void reduce(void* to, const unsigned char* data, std::uint32_t bytes, Add add) {
  auto* const elements = static_cast<Element*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(Element); ++i) {
    Element value;
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    atomic_update(elements + i, [&](Element old) { return add(old, value); });
  }
}

}  // namespace

template <class Item>
void AsyncUnit::Groups<Item>::add(Item item) {
  items.push_back(std::move(item));
  ++open;
}

template <class Item>
void AsyncUnit::Groups<Item>::commit() {
  sizes.push_back(open);
  open = 0;
}

template <class Item>
std::size_t AsyncUnit::Groups<Item>::older_than(std::uint32_t groups) const {
  if (groups == kWaitForAll) return items.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i + groups < sizes.size(); ++i) count += sizes[i];
  return count;
}

template <class Item>
void AsyncUnit::Groups<Item>::remove(std::size_t count) {
  items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t over = 0;
  // (Empty groups in front, too: they count for no wait.)
  for (; over < sizes.size(); ++over) {
    const std::size_t part = std::min(count, sizes[over]);
    sizes[over] -= part;
    count -= part;
    if (sizes[over] != 0) break;
  }
  sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(over));
  open -= count;
}

template <class Item>
void AsyncUnit::Groups<Item>::keep_groups(std::size_t count) {
  if (sizes.size() > count) {
    sizes.erase(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(count));
  }
}

template <class Item>
void AsyncUnit::Groups<Item>::clear() {
  items.clear();
  sizes.clear();
  open = 0;
}

void AsyncUnit::begin_group(std::uint32_t threads) {
  thread_count_ = threads;
  changes_ = seen_activity_ = idle_looks_ = 0;
  if (!used_) return;
  used_ = false;
  for (PerThread& mine : threads_) {
    mine.copies.clear();
    mine.stores.clear();
    mine.read_stores = 0;
    mine.landed = 0;
  }
  mbarriers_.clear();
  proxy_.clear();
}

AsyncUnit::PerThread& AsyncUnit::of(const EmulatedThread& thread) {
  used_ = true;
  if (threads_.size() < thread_count_) threads_.resize(thread_count_);
  return threads_[executor_.number_of(thread)];
}

// --- cp.async

void AsyncUnit::copy(EmulatedThread& thread, void* to, const void* from, std::uint32_t bytes,
                     std::uint32_t source_bytes) {
  reads(thread, from, source_bytes);
  touch(from, source_bytes);
  writes(thread, to, bytes);
  std::memset(to, kPoison, bytes);
  of(thread).copies.add({to, from, bytes, source_bytes});
}

void AsyncUnit::commit_group(EmulatedThread& thread) { of(thread).copies.commit(); }

void AsyncUnit::wait_group(EmulatedThread& thread, std::uint32_t groups) {
  PerThread& mine = of(thread);
  land_copies(thread, mine, mine.copies.older_than(groups));
  mine.copies.keep_groups(groups == kWaitForAll ? 0 : groups);
}

void AsyncUnit::land_copies(EmulatedThread& thread, PerThread& mine, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Copy& copy = mine.copies.items[i];
    auto* const to = static_cast<char*>(copy.to);
    reads(thread, copy.from, copy.source_bytes);
    writes(thread, copy.to, copy.bytes);
    std::memcpy(to, copy.from, copy.source_bytes);
    std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  }
  mine.copies.remove(count);
  mine.landed += count;
}

void AsyncUnit::copy_arrive(EmulatedThread& thread, const Site& site, void* object,
                            bool no_increment) {
  Mbarrier& barrier = find(thread, site, object);
  const PerThread& mine = of(thread);
  if (!no_increment) {
    if (barrier.pending == Mbarrier::kMaxCount) fail(thread, site, "too many arrivals are pending");
    ++barrier.pending;
  }
  Landing landing;
  landing.thread = executor_.number_of(thread);
  landing.copies = mine.landed + mine.copies.items.size();
  barrier.landings.push_back(landing);
  executor_.checks().on_arrival(thread, object);
  ++changes_;
}

// --- mbarrier

Mbarrier& AsyncUnit::find(EmulatedThread& thread, const Site& site, void* object) {
  const char* wrong = nullptr;
  Mbarrier* const barrier = mbarriers_.find(object, &wrong);
  if (barrier == nullptr) fail(thread, site, wrong);
  return *barrier;
}

void AsyncUnit::check(EmulatedThread& thread, const Site& site, const char* wrong) {
  if (wrong != nullptr) fail(thread, site, wrong);
  ++changes_;
}

std::uint64_t AsyncUnit::mbarrier(EmulatedThread& thread, const Site& site,
                                  MbarrierOperation operation, void* object,
                                  std::uint64_t argument) {
  used_ = true;
  if (operation == MbarrierOperation::kInit) {
    check(thread, site, mbarriers_.init(object, argument));
    return 0;
  }
  if (operation == MbarrierOperation::kInval) {
    check(thread, site, mbarriers_.inval(object));
    return 0;
  }
  Mbarrier& barrier = find(thread, site, object);
  const std::uint64_t state = barrier.state();
  if (operation < MbarrierOperation::kTestState) executor_.checks().on_arrival(thread, object);
  switch (operation) {
    case MbarrierOperation::kArriveExpectTx:
      check(thread, site, Mbarriers::expect(barrier, argument));
      check(thread, site, Mbarriers::arrive(barrier, 1, false));
      return state;
    case MbarrierOperation::kArrive:
    case MbarrierOperation::kArriveDrop:
      check(thread, site,
            Mbarriers::arrive(barrier, argument, operation == MbarrierOperation::kArriveDrop));
      return state;
    case MbarrierOperation::kExpectTx:
      check(thread, site, Mbarriers::expect(barrier, argument));
      return 0;
    case MbarrierOperation::kCompleteTx:
      check(thread, site, Mbarriers::complete(barrier, argument));
      return 0;
    case MbarrierOperation::kTestState:
      if (Mbarrier::phase_of(argument) != barrier.phase &&
          Mbarrier::phase_of(argument) + 1 != barrier.phase) {
        fail(thread, site,
             "the state is neither of the mbarrier's phase nor of the one before; " +
                 barrier.describe());
      }
      return test(thread, site, barrier, false, argument);
    case MbarrierOperation::kTestParity:
      return test(thread, site, barrier, true, argument);
    default:
      fail(thread, site, "an unknown operation on an mbarrier");
  }
}

bool AsyncUnit::test(EmulatedThread& thread, const Site& site, Mbarrier& barrier, bool by_parity,
                     std::uint64_t argument) {
  const auto is_over = [&] {
    return by_parity ? barrier.phase % 2 != argument % 2
                     : barrier.phase != Mbarrier::phase_of(argument);
  };
  if (!is_over()) land_what_was_looked_at(thread, site, barrier);
  if (!is_over()) {
    for (Landing& landing : barrier.landings) landing.looked_at = true;
    let_others_run(thread, site, barrier);
  }
  if (!is_over()) return false;
  executor_.checks().on_departure(thread, barrier.object);
  return true;
}

void AsyncUnit::land_what_was_looked_at(EmulatedThread& thread, const Site& site,
                                        Mbarrier& barrier) {
  const std::uint64_t phase = barrier.phase;
  while (!barrier.landings.empty() && barrier.landings.front().looked_at) {
    const Landing landing = barrier.landings.front();
    barrier.landings.pop_front();
    executor_.checks().on_departure(thread, barrier.object);
    land(thread, site, barrier, landing);
    executor_.checks().on_arrival(thread, barrier.object);
    // What belongs to the next phase stays on its way.
    if (barrier.phase != phase) break;
  }
}

void AsyncUnit::land(EmulatedThread& thread, const Site& site, Mbarrier& barrier, Landing landing) {
  if (landing.bulk.to == nullptr) {
    PerThread& owner = threads_[landing.thread];
    if (landing.copies > owner.landed) {
      land_copies(thread, owner, landing.copies - owner.landed);
    }
    check(thread, site, Mbarriers::arrive(barrier, 1, false));
    return;
  }
  const BulkCopy& bulk = landing.bulk;
  if (bulk.kind != BulkKind::kValueToShared) reads(thread, bulk.from, bulk.bytes);
  writes(thread, bulk.to, bulk.bytes, proxy_of(bulk.kind));
  switch (bulk.kind) {
    case BulkKind::kValueToShared:
      std::memcpy(bulk.to, landing.value, bulk.bytes);
      break;
    case BulkKind::kSharedToShared:
      proxy_.read(*landing.source, bulk.to, bulk.from, bulk.bytes, landing.fences);
      proxy_.written(*landing.destination, bulk.to, bulk.bytes);
      break;
    default:
      std::memcpy(bulk.to, bulk.from, bulk.bytes);
      proxy_.written(*landing.destination, bulk.to, bulk.bytes);
      break;
  }
  check(thread, site, Mbarriers::complete(barrier, bulk.bytes));
}

// A thread that looks at an mbarrier in vain lets all others run. If all that run do nothing but
// look, and nothing has changed for long, nothing ever will.
void AsyncUnit::let_others_run(EmulatedThread& thread, const Site& site, const Mbarrier& barrier) {
  const std::uint64_t activity = executor_.activity() + changes_;
  if (activity != seen_activity_) {
    seen_activity_ = activity;
    idle_looks_ = 0;
  } else if (++idle_looks_ % kLooksPerClock == 0) {
    const std::uint64_t now = thread_time_ns();
    if (idle_looks_ == kLooksPerClock) {
      idle_since_ns_ = now;
    } else if (now - idle_since_ns_ > kIdleNanoseconds) {
      fail(thread, site,
           "deadlock: all threads that can run wait for mbarriers; " + barrier.describe());
    }
  }
  thread.looked_in_vain = true;
  executor_.yield_idly(thread);
}

// --- bulk copies

void AsyncUnit::bulk_copy(EmulatedThread& thread, const Site& site, const BulkCopy& copy) {
  PerThread& mine = of(thread);
  if (copy.kind != BulkKind::kValueToShared) reads(thread, copy.from, copy.bytes);
  touch(copy.from, copy.bytes);
  if (copy.kind == BulkKind::kSharedToGlobal || copy.kind == BulkKind::kSharedToShared) {
    executor_.checks().on_proxy_read(thread, copy.from, copy.bytes, code_);
  }
  if (copy.kind == BulkKind::kSharedToGlobal) {
    touch(copy.to, copy.bytes);
    mine.stores.add({copy, proxy_.fences(*thread.home), {}});
    return;
  }
  Mbarrier& barrier = find(thread, site, copy.mbarrier);
  Landing landing;
  landing.bulk = copy;
  landing.destination = &block_of(thread, site, copy.to);
  if (&block_of(thread, site, copy.mbarrier) != landing.destination) {
    fail(thread, site, "the mbarrier is not in the shared memory of the destination's block");
  }
  landing.source = thread.home;
  landing.fences = proxy_.fences(*thread.home);
  if (copy.kind == BulkKind::kValueToShared) std::memcpy(landing.value, copy.from, copy.bytes);
  writes(thread, copy.to, copy.bytes, proxy_of(copy.kind));
  std::memset(copy.to, kPoison, copy.bytes);
  barrier.landings.push_back(landing);
  executor_.checks().on_arrival(thread, copy.mbarrier);
  ++changes_;
}

EmulatedBlock& AsyncUnit::block_of(EmulatedThread& thread, const Site& site, const void* address) {
  const Cluster& cluster = *thread.home->cluster;
  for (std::uint32_t rank = 0; rank < cluster.count; ++rank) {
    if (cluster.blocks[rank]->shared.contains(address)) return *cluster.blocks[rank];
  }
  fail(thread, site, "an address outside of the cluster's shared memory");
}

void AsyncUnit::bulk_commit_group(EmulatedThread& thread) { of(thread).stores.commit(); }

void AsyncUnit::bulk_wait_group(EmulatedThread& thread, std::uint32_t groups, bool read_only) {
  PerThread& mine = of(thread);
  // Unlike wait_all, this is about groups only.
  const std::size_t count = mine.stores.older_than(std::min(groups, kWaitForAll - 1));
  read_sources(thread, mine, count);
  if (!read_only) {
    write_destinations(thread, mine, count);
    mine.stores.keep_groups(groups);
  } else if (mine.read_stores > kMostReadStores) {
    // (Half of them at once, since the others move up.)
    write_destinations(thread, mine, mine.read_stores - kMostReadStores / 2);
  }
}

void AsyncUnit::read_sources(EmulatedThread& thread, PerThread& mine, std::size_t count) {
  for (; mine.read_stores < count; ++mine.read_stores) {
    BulkStore& store = mine.stores.items[mine.read_stores];
    reads(thread, store.copy.from, store.copy.bytes);
    store.data.resize(store.copy.bytes);
    proxy_.read(*thread.home, store.data.data(), store.copy.from, store.copy.bytes, store.fences);
  }
}

void AsyncUnit::write_destinations(EmulatedThread& thread, PerThread& mine, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) write_destination(thread, mine.stores.items[i]);
  mine.stores.remove(count);
  mine.read_stores -= count;
}

void AsyncUnit::write_destination(EmulatedThread& thread, const BulkStore& store) {
  writes(thread, store.copy.to, store.copy.bytes,
         store.copy.reduction != BulkReduction::kNone ? kAccessRead | kAccessAtomic : 0);
  const unsigned char* const data = store.data.data();
  const std::uint32_t bytes = store.copy.bytes;
  switch (store.copy.reduction) {
    case BulkReduction::kNone:
      std::memcpy(store.copy.to, data, bytes);
      break;
    case BulkReduction::kAddF32:
      reduce<float>(store.copy.to, data, bytes, [](float a, float b) { return a + b; });
      break;
    case BulkReduction::kAddF16:
      reduce<std::uint32_t>(store.copy.to, data, bytes, add_rn_f16x2);
      break;
    case BulkReduction::kAddBf16:
      reduce<std::uint32_t>(store.copy.to, data, bytes, add_rn_bf16x2);
      break;
  }
}

void AsyncUnit::reads(EmulatedThread& thread, const void* address, std::uint32_t bytes) {
  executor_.checks().on_access(thread, address, bytes, kAccessRead, code_);
}

void AsyncUnit::writes(EmulatedThread& thread, const void* address, std::uint32_t bytes,
                       std::uint32_t more_kind) {
  executor_.checks().on_access(thread, address, bytes, kAccessWrite | more_kind, code_);
}

void AsyncUnit::proxy_fence(EmulatedThread& thread) {
  used_ = true;
  proxy_.fence(*thread.home);
  executor_.checks().on_proxy_fence(thread);
}

// --- the end

void AsyncUnit::on_exit(EmulatedThread& thread) {
  if (!used_ || threads_.empty()) return;
  PerThread& mine = of(thread);
  if (mine.read_stores != mine.stores.items.size()) {
    executor_.fail(CUDA_ERROR_LAUNCH_FAILED,
                   name_of(thread) +
                       " exited before its bulk copies had read their shared memory: "
                       "cp.async.bulk.wait_group (or .read) is missing");
  }
  write_destinations(thread, mine, mine.read_stores);
  mine.stores.clear();
}

void AsyncUnit::on_exit_of_block(EmulatedBlock& block) {
  if (!used_) return;
  if (const Mbarrier* barrier = mbarriers_.find_unfinished(block)) {
    executor_.fail(CUDA_ERROR_LAUNCH_FAILED,
                   "the block exited while bulk copies were on their way to its shared memory: "
                   "nobody waited for " +
                       barrier->describe());
  }
}

void AsyncUnit::fail(EmulatedThread& thread, const Site& site, const std::string& message) {
  executor_.fail(CUDA_ERROR_LAUNCH_FAILED,
                 name_of(thread) + ": " + describe_site(site) + ": " + message);
}

// --- what images call

namespace {

struct Functions {
  static EmulatedThread& of(Thread* thread) { return *static_cast<EmulatedThread*>(thread); }
  // (Always inlined, so that the return address is that of the function it is in.)
  [[gnu::always_inline]] static AsyncUnit& unit(Thread* thread) {
    AsyncUnit& unit = GroupExecutor::of(thread).async();
    unit.enter(__builtin_return_address(0));
    return unit;
  }
  // (Which would not see it from in here.)
  template <class Body>
  static auto with(AsyncUnit& unit, Thread* thread, const Body& body) {
    return GroupExecutor::or_fail(thread, [&] { return body(unit, of(thread)); });
  }

  static void copy(Thread* thread, const Site*, void* to, const void* from, std::uint32_t bytes,
                   std::uint32_t source_bytes) {
    with(unit(thread), thread, [&](AsyncUnit& unit, EmulatedThread& self) {
      return unit.copy(self, to, from, bytes, source_bytes);
    });
  }
  static void commit_group(Thread* thread) {
    with(unit(thread), thread,
         [&](AsyncUnit& unit, EmulatedThread& self) { return unit.commit_group(self); });
  }
  static void wait_group(Thread* thread, std::uint32_t groups) {
    with(unit(thread), thread,
         [&](AsyncUnit& unit, EmulatedThread& self) { return unit.wait_group(self, groups); });
  }
  static void copy_arrive(Thread* thread, const Site* site, void* object,
                          std::uint32_t no_increment) {
    with(unit(thread), thread, [&](AsyncUnit& unit, EmulatedThread& self) {
      return unit.copy_arrive(self, *site, object, no_increment != 0);
    });
  }
  static std::uint64_t mbarrier(Thread* thread, const Site* site, MbarrierOperation operation,
                                void* object, std::uint64_t argument) {
    return with(unit(thread), thread, [&](AsyncUnit& unit, EmulatedThread& self) {
      return unit.mbarrier(self, *site, operation, object, argument);
    });
  }
  static void bulk_copy(Thread* thread, const Site* site, const BulkCopy* copy) {
    with(unit(thread), thread,
         [&](AsyncUnit& unit, EmulatedThread& self) { return unit.bulk_copy(self, *site, *copy); });
  }
  static void bulk_commit_group(Thread* thread) {
    with(unit(thread), thread,
         [&](AsyncUnit& unit, EmulatedThread& self) { return unit.bulk_commit_group(self); });
  }
  static void bulk_wait_group(Thread* thread, std::uint32_t groups, std::uint32_t read_only) {
    with(unit(thread), thread, [&](AsyncUnit& unit, EmulatedThread& self) {
      return unit.bulk_wait_group(self, groups, read_only != 0);
    });
  }
  static void proxy_fence(Thread* thread) {
    with(unit(thread), thread,
         [&](AsyncUnit& unit, EmulatedThread& self) { return unit.proxy_fence(self); });
  }
};

}  // namespace

const AsyncFunctions kAsyncFunctions = {
    &Functions::copy,
    &Functions::commit_group,
    &Functions::wait_group,
    &Functions::copy_arrive,
    &Functions::mbarrier,
    &Functions::bulk_copy,
    &Functions::bulk_commit_group,
    &Functions::bulk_wait_group,
    &Functions::proxy_fence,
};

}  // namespace culebra_emu
