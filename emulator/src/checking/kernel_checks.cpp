#include "checking/kernel_checks.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "checking/findings.h"
#include "checking/race_detector.h"
#include "checking/source_line.h"
#include "config.h"
#include "culebra_emu/access.h"
#include "execution/group_executor.h"
#include "image/data_layout.h"
#include "model/address_space.h"
#include "words.h"

namespace culebra_emu {

// What is kept of one block's shared memory. A cooperative launch has hundreds of blocks, each with
// a window of megabytes of which little is used: so memory that is taken only when it is touched.
struct BlockChecks {
  explicit BlockChecks(std::uint32_t window_bytes) : race(window_bytes), bytes(window_bytes) {
    forget_written();
  }

  void forget_written() {
    written.reset(static_cast<unsigned char*>(std::calloc(bytes, 1)));
    if (written == nullptr) throw std::bad_alloc();
  }

  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };

  RaceDetector race;
  std::uint32_t bytes;
  // Holds `mark` for each byte that the block has written.
  std::unique_ptr<unsigned char, Free> written;
  unsigned char mark = 0;
};

EmulatedBlock::EmulatedBlock(const SharedLayout& layout, bool guarded) : shared(layout, guarded) {}
EmulatedBlock::~EmulatedBlock() = default;

bool KernelChecks::Access::reads() const { return (kind & kAccessRead) != 0; }
bool KernelChecks::Access::writes() const { return (kind & kAccessWrite) != 0; }

namespace {

std::string name_of_kind(std::uint32_t kind) {
  const bool atomic = (kind & kAccessAtomic) != 0;
  const std::string scope = (kind & kAccessWithinBlock) != 0 ? " for its block alone" : "";
  if ((kind & kAccessRead) != 0 && (kind & kAccessWrite) != 0) {
    return atomic ? "atomic operation" + scope : "update";
  }
  return (atomic ? "atomic " : "") + std::string((kind & kAccessWrite) != 0 ? "write" : "read") +
         scope;
}

std::string of_bytes(std::uint64_t bytes) { return " of " + bytes_text(bytes); }

std::string hexadecimal(const void* address) {
  char text[24];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

// Only these order what lanes do to memory; a shuffle or a vote does not.
bool orders_memory(const char* operation) {
  return std::strcmp(operation, "__syncwarp") == 0 || std::strcmp(operation, "bar_warp_sync") == 0;
}

}  // namespace

std::string KernelChecks::Access::describe() const {
  return name_of_kind(kind) + of_bytes(bytes) + " at " + hexadecimal(address);
}

KernelChecks::KernelChecks(GroupExecutor& executor)
    : executor_(executor), enabled_(config().checks.any()) {}

void KernelChecks::learn_ranges(const Launch& launch, Thread** current_thread,
                                const std::vector<EmulatedThread>& threads) {
  ranges_.clear();
  collective_ = {};
  spans_blocks_ = launch.cooperative || launch.cluster.x * launch.cluster.y * launch.cluster.z > 1;
  releasing_blocks_.clear();
  const auto add = [&](const void* begin, std::uint64_t bytes) {
    const auto* first = static_cast<const char*>(begin);
    ranges_.push_back({first, first + bytes});
  };
  add(launch.parameters.data(), launch.parameters.size());
  add(threads.data(), threads.size() * sizeof(EmulatedThread));
  add(&kRuntime, sizeof kRuntime);
  add(&kAsyncFunctions, sizeof kAsyncFunctions);
  add(current_thread, sizeof *current_thread);

  image_ = launch.data_layout.get();
  add_thread_locals(reinterpret_cast<std::uintptr_t>(launch.kernel->invoke));
}

// Those of the image that the code lies in.
void KernelChecks::add_thread_locals(std::uintptr_t code) {
  struct Search {
    std::uintptr_t code;
    std::vector<Range>& ranges;
  } search{code, ranges_};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& [code_address, ranges] = *static_cast<Search*>(argument);
        bool holds_code = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          holds_code |= header.p_type == PT_LOAD &&
                        code_address - (info->dlpi_addr + header.p_vaddr) < header.p_memsz;
        }
        if (!holds_code) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
            const auto* const first = static_cast<const char*>(info->dlpi_tls_data);
            ranges.push_back({first, first + header.p_memsz});
          }
        }
        return 1;
      },
      &search);
}

void KernelChecks::prepare(EmulatedBlock& block) {
  if (block.checks == nullptr) {
    block.checks = std::make_unique<BlockChecks>(block.shared.window_bytes());
  }
  if (races_ != nullptr && block.block.cluster_rank == 0) {
    block.cluster->party = races_->begin(block.block.index);
  }
  BlockChecks& checks = *block.checks;
  checks.race.begin_block();
  if (++checks.mark == 0) {
    checks.forget_written();
    checks.mark = 1;
  }
}

void KernelChecks::order_all(EmulatedBlock& block) { block.checks->race.barrier(); }

void KernelChecks::on_grid_barrier(std::span<const Cluster> clusters) {
  if (races_ == nullptr) return;
  std::vector<RaceParty*> parties;
  for (const Cluster& cluster : clusters) parties.push_back(cluster.party.get());
  races_->barrier(parties);
}

namespace {

std::uint32_t linear_index(const EmulatedThread& thread) {
  return static_cast<std::uint32_t>(&thread - thread.home->threads);
}

template <class Holder>
bool lies_in(const Holder& holder, const void* object) {
  const auto* const first = reinterpret_cast<const char*>(&holder);
  const auto* const place = static_cast<const char*>(object);
  return place >= first && place < first + sizeof holder;
}

}  // namespace

// An object that is not the block's alone hands over to other blocks, too. (So does the cluster's
// barrier, but there each block hands over to itself as well.)
void KernelChecks::release(EmulatedThread& thread, const void* object) {
  const EmulatedBlock& home = *thread.home;
  const bool to_peers = spans_blocks_ && !home.shared.contains(object) && !lies_in(home, object) &&
                        !lies_in(*home.cluster, object);
  home.checks->race.release(linear_index(thread), object, to_peers);
  if (!to_peers) return;
  const auto [entry, is_new] = releasing_blocks_.try_emplace(object, &home);
  if (!is_new && entry->second != &home) entry->second = nullptr;
}

void KernelChecks::acquire(EmulatedThread& thread, const void* object) {
  RaceDetector& race = thread.home->checks->race;
  race.acquire(linear_index(thread), object);
  if (!spans_blocks_) return;
  const auto found = releasing_blocks_.find(object);
  if (lies_in(*thread.home->cluster, object) ||
      (found != releasing_blocks_.end() && found->second != thread.home)) {
    race.hear_from_peers(linear_index(thread));
  }
}

void KernelChecks::meet(EmulatedBlock& block, std::uint32_t warp, std::uint32_t lanes,
                        const char* operation) {
  collective_ = {&block, warp, lanes, false};
  if (orders_memory(operation)) meet_now();
}

// A collective that accesses memory (ldmatrix) does it for all lanes when all are there.
void KernelChecks::meet_now() {
  if (collective_.met) return;
  collective_.met = true;
  collective_.block->checks->race.meet(collective_.warp, collective_.lanes);
}

void KernelChecks::part() {
  if (collective_.met) collective_.block->checks->race.part(collective_.warp, collective_.lanes);
  collective_.block = nullptr;
}

bool KernelChecks::is_own(const Access& access) const {
  if (executor_.stacks().contains(access.address)) return true;
  const auto holds = [&](const Range& range) {
    return access.address >= range.begin && access.address + access.bytes <= range.end;
  };
  if (std::any_of(ranges_.begin(), ranges_.end(), holds)) return true;
  // What threadIdx and its like read.
  const Cluster& cluster = *access.thread.home->cluster;
  if (holds({reinterpret_cast<const char*>(cluster.windows.data()),
             reinterpret_cast<const char*>(cluster.windows.data() + cluster.windows.size())})) {
    return true;
  }
  const auto* block = reinterpret_cast<const char*>(&access.thread.home->block);
  return holds({block, block + sizeof(Block)});
}

void KernelChecks::on_access(EmulatedThread& thread, const void* address, std::uint64_t bytes,
                             std::uint32_t kind, const void* code) {
  if (!enabled_ || bytes == 0) return;
  const Access access{thread, static_cast<const char*>(address), bytes, kind, code};
  // Nearly all accesses are to the thread's own stack or to its block's shared memory.
  const char here = 0;
  if (static_cast<std::uint64_t>(access.address - &here) < FiberStacks::kStackBytes) return;
  if (thread.home->shared.contains(address)) return check_shared(access, *thread.home);
  if (AddressSpace::is_device_address(reinterpret_cast<std::uint64_t>(address))) {
    return check_global(access);
  }
  if (image_ != nullptr && image_->contains(reinterpret_cast<std::uint64_t>(address))) {
    return check_image(access);
  }
  if (is_own(access)) return;
  const Cluster& cluster = *thread.home->cluster;
  for (std::uint32_t rank = 0; rank < cluster.count; ++rank) {
    EmulatedBlock& block = *cluster.blocks[rank];
    if (block.shared.contains(address)) return check_shared(access, block);
  }
  check_global(access);
}

void KernelChecks::check_shared(const Access& access, EmulatedBlock& owner) {
  const bool is_peer = &owner != access.thread.home;
  // (The fault that follows says more about a block that has exited.)
  if (owner.shared.closed()) return;
  if (config().checks.memory && !owner.shared.holds(access.address, access.bytes)) {
    fail(access.thread,
         "invalid shared " + access.describe() + (is_peer ? ", of another block" : "") + ", " +
             owner.shared.describe(access.address),
         access.code);
  }
  const auto offset = static_cast<std::uint64_t>(access.address - owner.shared.window());
  // What blocks of a cluster do to each other's memory is not compared, but may order.
  if (config().checks.race) {
    if (is_peer) {
      acquire_and_release(access);
    } else {
      check_race(access, owner);
    }
  }
  if (config().checks.init) {
    check_written(access, owner.checks->written.get() + offset, owner.checks->mark, &owner);
  }
}

void KernelChecks::acquire_and_release(const Access& access) {
  if ((access.kind & kAccessAcquire) != 0) acquire(access.thread, access.address);
  if ((access.kind & kAccessRelease) != 0) release(access.thread, access.address);
}

void KernelChecks::check_race(const Access& access, EmulatedBlock& owner) {
  if (collective_.block == &owner) meet_now();
  if ((access.kind & kAccessAcquire) != 0) acquire(access.thread, access.address);
  const auto offset = static_cast<std::uint64_t>(access.address - owner.shared.window());
  const auto race = owner.checks->race.access(
      {linear_index(access.thread), access.kind, access.code}, offset, access.bytes);
  if ((access.kind & kAccessRelease) != 0) release(access.thread, access.address);
  if (!race) return;
  char key[64];
  std::snprintf(key, sizeof key, "race %p %p", race->earlier.code, race->later.code);
  const char* const place = owner.shared.window() + race->offset;
  report(access, key,
         "race between this " + name_of_kind(access.kind) + of_bytes(access.bytes) + " at " +
             hexadecimal(access.address) + " and " +
             with_article(name_of_kind(race->earlier.kind)) + " by " +
             name_of(owner.threads[race->earlier.thread]) + " at " +
             source_line(race->earlier.code) + ", with nothing that orders them; the byte lies " +
             owner.shared.describe(place));
}

namespace {

const char* words_for(GlobalRaces::Missing missing) {
  switch (missing) {
    case GlobalRaces::Missing::kRelease:
      return ", with no fence (__threadfence, or a release for the device) between that and the "
             "atomic access by which its block tells this one";
    case GlobalRaces::Missing::kAcquire:
      return ", with no fence (__threadfence, or an acquire for the device) behind the atomic "
             "access by which this block is told";
    default:
      return ", with nothing that orders them";
  }
}

}  // namespace

void KernelChecks::check_race_between_blocks(const Access& access) {
  if (races_ == nullptr) return;
  const EmulatedBlock& home = *access.thread.home;
  const auto race =
      races_->access(*home.cluster->party, home.block.cluster_rank,
                     {home.block.index, linear_index(access.thread), access.kind, access.code},
                     reinterpret_cast<std::uint64_t>(access.address), access.bytes);
  if (!race) return;
  char key[64];
  std::snprintf(key, sizeof key, "race %p %p", race->earlier.code, access.code);
  const std::string place = image_ != nullptr && image_->contains(race->address)
                                ? image_->describe(race->address, 1)
                                : address_space().describe(race->address, 1);
  report(access, key,
         "race between this " + access.describe() + " and " +
             with_article(name_of_kind(race->earlier.kind)) + " by block " +
             to_string(race->earlier.block) + ", " + name_of(home.threads[race->earlier.thread]) +
             " at " + source_line(race->earlier.code) + words_for(race->missing) +
             (place.empty() ? "" : "; the byte lies " + place));
}

void KernelChecks::fence_proxy(EmulatedThread& thread) {
  thread.home->checks->race.proxy_fence(linear_index(thread));
}

void KernelChecks::check_fenced(const Access& access) {
  const EmulatedBlock& home = *access.thread.home;
  if (!config().checks.race || !home.shared.holds(access.address, access.bytes)) return;
  const auto offset = static_cast<std::uint64_t>(access.address - home.shared.window());
  const auto store = home.checks->race.find_unfenced(offset, access.bytes);
  if (!store) return;
  char key[64];
  std::snprintf(key, sizeof key, "fence %p %p", store->code, access.code);
  report(access, key,
         "race between this bulk copy" + of_bytes(access.bytes) + " and " +
             with_article(name_of_kind(store->kind)) + " by " +
             name_of(home.threads[store->thread]) + " at " + source_line(store->code) +
             ": no fence.proxy.async comes behind it, by a thread that is ordered behind it");
}

const UsableMemory* KernelChecks::usable(const Access& access) {
  const auto address = reinterpret_cast<std::uint64_t>(access.address);
  if (const std::uint64_t version = memory_index().version(); version != recent_version_) {
    recent_ = {};
    recent_version_ = version;
  }
  for (const UsableMemory& memory : recent_) {
    if (memory.contains(address, access.bytes)) return &memory;
  }
  const auto found = memory_index().find(address);
  if (!found || !found->contains(address, access.bytes)) return nullptr;
  UsableMemory& place = recent_[next_recent_++ % recent_.size()];
  place = *found;
  return &place;
}

// A variable of the image. All are written from the start: without a value they are zero.
void KernelChecks::check_image(const Access& access) {
  acquire_and_release(access);
  const auto address = reinterpret_cast<std::uint64_t>(access.address);
  if (!config().checks.memory || image_->allows(address, access.bytes)) {
    return check_race_between_blocks(access);
  }
  fail(access.thread,
       "invalid global " + access.describe() + ", " + image_->describe(address, access.bytes),
       access.code);
}

void KernelChecks::check_global(const Access& access) {
  const auto address = reinterpret_cast<std::uint64_t>(access.address);
  // A flag in global memory orders what the block's threads do to shared memory, too.
  acquire_and_release(access);
  if (const UsableMemory* memory = usable(access)) {
    check_race_between_blocks(access);
    if (config().checks.init && memory->written != nullptr) {
      check_written(access, memory->written + (address - memory->address), 1, nullptr);
    }
    return;
  }
  if (!config().checks.memory || address_space().contains(address, access.bytes)) {
    return check_race_between_blocks(access);
  }
  std::string where = address_space().describe(address, access.bytes);
  if (where.empty()) {
    where = AddressSpace::is_device_address(address)
                ? "no allocation is near"
                : "which is host memory that the driver does not know, or no memory";
  }
  fail(access.thread, "invalid global " + access.describe() + ", " + where, access.code);
}

void KernelChecks::check_written(const Access& access, unsigned char* written, unsigned char mark,
                                 const EmulatedBlock* owner) {
  if (access.reads()) {
    const unsigned char* const end = written + access.bytes;
    const unsigned char* const first =
        std::find_if(static_cast<const unsigned char*>(written), end,
                     [&](unsigned char byte) { return byte != mark; });
    if (first != end) {
      const char* const place = access.address + (first - written);
      const std::string where =
          owner != nullptr ? owner->shared.describe(place)
                           : address_space().describe(reinterpret_cast<std::uint64_t>(place), 1);
      char key[32];
      std::snprintf(key, sizeof key, "init %p", access.code);
      report(access, key,
             "init: " + access.describe() + " of memory that nobody has written, " + where);
    }
  }
  if (access.writes()) std::memset(written, mark, access.bytes);
}

void KernelChecks::on_out_of_bounds(const EmulatedThread& thread, const char* what,
                                    const void* code) {
  if (config().checks.memory) fail(thread, std::string("invalid index: ") + what, code);
}

void KernelChecks::fail(const EmulatedThread& thread, const std::string& what, const void* code) {
  count_finding();
  executor_.fail(CUDA_ERROR_ILLEGAL_ADDRESS,
                 name_of(thread) + ": " + what + "; at " + source_line(code));
}

void KernelChecks::report(const Access& access, const std::string& key, const std::string& what) {
  const std::string text = what + "; at " + source_line(access.code);
  if (add_finding(key, [&] { return executor_.describe(access.thread) + ": " + text; })) {
    executor_.fail(CUDA_ERROR_LAUNCH_FAILED, name_of(access.thread) + ": " + text);
  }
}

}  // namespace culebra_emu
