#include "model/user_object.h"

#include <mutex>

#include "model/registry.h"
#include "model/stream.h"
#include "model/workers.h"

namespace culebra_emu {
namespace {

Registry<UserObject>& registry() {
  static Registry<UserObject>& instance = *new Registry<UserObject>("user object");
  return instance;
}

std::mutex& counts() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

}  // namespace

CUuserObject UserObject::create(void* object, CUhostFn destroy, std::uint64_t references) {
  return registry().add(std::make_shared<UserObject>(object, destroy, references));
}

std::size_t UserObject::count() { return registry().size(); }

std::vector<std::string> UserObject::describe_each() { return registry().describe_each(); }

std::shared_ptr<UserObject> UserObject::find(CUuserObject handle) {
  return registry().find(handle);
}

void UserObject::retain(std::uint64_t count) {
  const std::lock_guard lock(counts());
  references_ += count;
}

bool UserObject::release(std::uint64_t count) {
  {
    const std::lock_guard lock(counts());
    if (count > references_) return false;
    references_ -= count;
    if (references_ != 0) return true;
  }
  const std::shared_ptr<UserObject> self = registry().remove(this);
  start_on_worker([destroy = destroy_, object = object_] {
    in_host_function = true;
    destroy(object);
    in_host_function = false;
  });
  return true;
}

}  // namespace culebra_emu
