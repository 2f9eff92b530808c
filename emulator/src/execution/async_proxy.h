// Shared memory as the asynchronous proxy sees it; docs/decisions/0009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "execution/emulated_block.h"

namespace culebra_emu {

// A bulk copy that reads shared memory gets what was there at the last proxy fence, not what
// threads have stored since. Stores are not watched; instead each 16 bytes have the number of the
// last fence when they were last seen: if there was none since, what was seen then is what is
// read, and poison if they were never seen.
class AsyncProxy {
 public:
  // In all blocks of the cluster: a thread may have stored to a peer.
  void fence(const EmulatedBlock& block);
  std::uint64_t fences(const EmulatedBlock& block) const;

  // Reads as a copy does that was issued after so many fences. 16-byte pieces.
  void read(const EmulatedBlock& block, void* to, const void* from, std::size_t bytes,
            std::uint64_t fences);
  // An asynchronous copy has written there: the proxy sees its own writes.
  void written(const EmulatedBlock& block, const void* address, std::size_t bytes);

  void clear() { views_.clear(); }

 private:
  static constexpr std::size_t kPiece = 16;
  static constexpr std::size_t kPiecesOfPage = 256;

  struct Page {
    Page();
    unsigned char bytes[kPiece * kPiecesOfPage];
    std::uint64_t fences[kPiecesOfPage] = {};
  };
  struct View {
    std::uint64_t fences = 0;
    std::unordered_map<std::size_t, std::unique_ptr<Page>> pages;
  };

  template <class Visit>
  void for_each_piece(View& view, const EmulatedBlock& block, const void* address,
                      std::size_t bytes, Visit visit);

  std::unordered_map<const EmulatedBlock*, View> views_;
};

}  // namespace culebra_emu
