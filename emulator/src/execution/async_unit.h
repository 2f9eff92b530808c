// The copies that go on beside a kernel: cp.async, bulk copies, and what waits for them.
//
// A copy's destination is poisoned when it is issued. The data is moved, and its source read, at
// the latest moment that the rules allow: when the issuing thread waits for the copy's group, or
// when a thread looks at the mbarrier for the second time. So a missing wait shows as poison, and
// a source that is overwritten too early shows what it was overwritten with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "culebra_emu/async_abi.h"
#include "execution/async_proxy.h"
#include "execution/mbarriers.h"

namespace culebra_emu {

class GroupExecutor;
struct EmulatedThread;

class AsyncUnit {
 public:
  explicit AsyncUnit(GroupExecutor& executor) : executor_(executor) {}

  // Forgets all of the last group of blocks.
  void begin_group(std::uint32_t threads);

  void copy(EmulatedThread& thread, void* to, const void* from, std::uint32_t bytes,
            std::uint32_t source_bytes);
  void commit_group(EmulatedThread& thread);
  void wait_group(EmulatedThread& thread, std::uint32_t groups);
  void copy_arrive(EmulatedThread& thread, const Site& site, void* object, bool no_increment);

  std::uint64_t mbarrier(EmulatedThread& thread, const Site& site, MbarrierOperation operation,
                         void* object, std::uint64_t argument);

  void bulk_copy(EmulatedThread& thread, const Site& site, const BulkCopy& copy);
  void bulk_commit_group(EmulatedThread& thread);
  void bulk_wait_group(EmulatedThread& thread, std::uint32_t groups, bool read_only);

  void proxy_fence(EmulatedThread& thread);

  // Where in the kernel the call that follows comes from.
  void enter(const void* code) { code_ = code; }

  // A copy must not outlive the memory that it reads or writes.
  void on_exit(EmulatedThread& thread);
  void on_exit_of_block(EmulatedBlock& block);

 private:
  struct Copy {
    void* to;
    const void* from;
    std::uint32_t bytes;
    std::uint32_t source_bytes;
  };
  struct BulkStore {
    BulkCopy copy;
    std::uint64_t fences;
    std::vector<unsigned char> data;
  };
  // Pieces of work in the order of their issue; groups are cut from the front.
  template <class Item>
  struct Groups {
    std::vector<Item> items;
    std::vector<std::size_t> sizes;
    std::size_t open = 0;

    void add(Item item);
    void commit();
    // How many items, from the front, are in all but the last `groups` groups.
    std::size_t older_than(std::uint32_t groups) const;
    void remove(std::size_t count);
    // Groups that are over, empty ones too, are not counted any more.
    void keep_groups(std::size_t count);
    void clear();
  };
  struct PerThread {
    Groups<Copy> copies;
    std::uint64_t landed = 0;
    Groups<BulkStore> stores;
    // Of how many of the stores, from the front, the source has been read.
    std::size_t read_stores = 0;
  };
  // A thread that waits for its sources only would pile up stores without end.
  static constexpr std::size_t kMostReadStores = 128;

  PerThread& of(const EmulatedThread& thread);
  void land_copies(EmulatedThread& thread, PerThread& mine, std::size_t count);
  void land(EmulatedThread& thread, const Site& site, Mbarrier& barrier, Landing landing);
  void land_what_was_looked_at(EmulatedThread& thread, const Site& site, Mbarrier& barrier);
  void read_sources(EmulatedThread& thread, PerThread& mine, std::size_t count);
  void write_destinations(EmulatedThread& thread, PerThread& mine, std::size_t count);
  void write_destination(EmulatedThread& thread, const BulkStore& store);
  bool test(EmulatedThread& thread, const Site& site, Mbarrier& barrier, bool by_parity,
            std::uint64_t argument);
  void let_others_run(EmulatedThread& thread, const Site& site, const Mbarrier& barrier);

  // What checked images say of their accesses, the unit says of its own (CULEBRA_EMU_CHECK).
  void reads(EmulatedThread& thread, const void* address, std::uint32_t bytes);
  void writes(EmulatedThread& thread, const void* address, std::uint32_t bytes,
              std::uint32_t more_kind = 0);

  Mbarrier& find(EmulatedThread& thread, const Site& site, void* object);
  void check(EmulatedThread& thread, const Site& site, const char* wrong);
  [[noreturn]] void fail(EmulatedThread& thread, const Site& site, const std::string& message);
  EmulatedBlock& block_of(EmulatedThread& thread, const Site& site, const void* address);

  GroupExecutor& executor_;
  std::vector<PerThread> threads_;
  std::uint32_t thread_count_ = 0;
  Mbarriers mbarriers_;
  AsyncProxy proxy_;
  bool used_ = false;
  const void* code_ = nullptr;

  // What happened to mbarriers, and how often threads have looked since anything happened at all.
  std::uint64_t changes_ = 0;
  std::uint64_t seen_activity_ = 0;
  std::uint64_t idle_looks_ = 0;
  std::uint64_t idle_since_ns_ = 0;
};

extern const AsyncFunctions kAsyncFunctions;

}  // namespace culebra_emu
