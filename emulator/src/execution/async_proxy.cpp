#include "execution/async_proxy.h"

#include <cstring>

namespace culebra_emu {

AsyncProxy::Page::Page() { std::memset(bytes, 0xFF, sizeof bytes); }

void AsyncProxy::fence(const EmulatedBlock& block) {
  for (std::uint32_t rank = 0; rank < block.cluster->count; ++rank) {
    ++views_[block.cluster->blocks[rank]].fences;
  }
}

std::uint64_t AsyncProxy::fences(const EmulatedBlock& block) const {
  const auto view = views_.find(&block);
  return view == views_.end() ? 0 : view->second.fences;
}

template <class Visit>
void AsyncProxy::for_each_piece(View& view, const EmulatedBlock& block, const void* address,
                                std::size_t bytes, Visit visit) {
  const auto first =
      static_cast<std::size_t>(static_cast<const char*>(address) - block.shared.window());
  Page* page = nullptr;
  std::size_t page_number = ~std::size_t{0};
  for (std::size_t done = 0; done < bytes; done += kPiece) {
    const std::size_t piece = (first + done) / kPiece;
    if (piece / kPiecesOfPage != page_number) {
      page_number = piece / kPiecesOfPage;
      auto& slot = view.pages[page_number];
      if (slot == nullptr) slot = std::make_unique<Page>();
      page = slot.get();
    }
    visit(*page, piece % kPiecesOfPage, done);
  }
}

void AsyncProxy::read(const EmulatedBlock& block, void* to, const void* from, std::size_t bytes,
                      std::uint64_t fences) {
  for_each_piece(views_[&block], block, from, bytes,
                 [&](Page& page, std::size_t piece, std::size_t done) {
                   unsigned char* const seen = page.bytes + kPiece * piece;
                   if (fences > page.fences[piece]) {
                     std::memcpy(seen, static_cast<const char*>(from) + done, kPiece);
                     page.fences[piece] = fences;
                   }
                   std::memcpy(static_cast<char*>(to) + done, seen, kPiece);
                 });
}

void AsyncProxy::written(const EmulatedBlock& block, const void* address, std::size_t bytes) {
  View& view = views_[&block];
  for_each_piece(view, block, address, bytes, [&](Page& page, std::size_t piece, std::size_t done) {
    std::memcpy(page.bytes + kPiece * piece, static_cast<const char*>(address) + done, kPiece);
    page.fences[piece] = view.fences;
  });
}

}  // namespace culebra_emu
