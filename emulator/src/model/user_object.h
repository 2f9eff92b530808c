// A reference count of the user's own thing, which graphs may share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "abi_graph.h"

namespace culebra_emu {

class UserObject {
 public:
  UserObject(void* object, CUhostFn destroy, std::uint64_t references)
      : object_(object), destroy_(destroy), references_(references) {}

  // The live one of a handle; null if there is none.
  static CUuserObject create(void* object, CUhostFn destroy, std::uint64_t references);
  static std::shared_ptr<UserObject> find(CUuserObject handle);
  static std::size_t count();
  static std::vector<std::string> describe_each();

  void retain(std::uint64_t count);
  // False if there are not as many references. The last one calls the destructor, soon and on
  // another thread, where no call of the driver is allowed.
  bool release(std::uint64_t count);

 private:
  void* const object_;
  const CUhostFn destroy_;
  std::uint64_t references_;
};

}  // namespace culebra_emu
