#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/diagnosis.h"
#include "model/origin.h"
#include "words.h"

namespace culebra_emu {

// The live objects of one kind. A handle is an object's address; one that is not in here is never
// dereferenced.
template <class T>
class Registry {
 public:
  // `kind` is what messages call such an object.
  explicit Registry(const char* kind) : kind_(kind) {}

  T* add(std::shared_ptr<T> object) {
    T* handle = object.get();
    const std::unique_lock lock(mutex_);
    objects_.emplace(handle, Entry{std::move(object), current_origin()});
    return handle;
  }

  // Null if the handle is not live.
  std::shared_ptr<T> find(const T* handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found != objects_.end()) return found->second.object;
    explain(handle);
    return nullptr;
  }

  // Null if the handle was not live.
  std::shared_ptr<T> remove(const T* handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) {
      explain(handle);
      return nullptr;
    }
    auto object = std::move(found->second.object);
    history_.remember(handle, found->second.origin);
    objects_.erase(found);
    return object;
  }

  template <class Predicate>
  std::vector<std::shared_ptr<T>> remove_if(Predicate predicate) {
    std::vector<std::shared_ptr<T>> removed;
    const std::unique_lock lock(mutex_);
    std::erase_if(objects_, [&](auto& entry) {
      if (!predicate(*entry.second.object)) return false;
      history_.remember(entry.first, entry.second.origin);
      removed.push_back(entry.second.object);
      return true;
    });
    return removed;
  }

  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return objects_.size();
  }

  // What became of a handle that is not live: empty if there never was one.
  std::optional<std::string> history_of(const T* handle) const {
    const std::shared_lock lock(mutex_);
    return history_.describe(handle);
  }

  // A line for each live object: "stream 0x...: made by cuStreamCreate #2".
  std::vector<std::string> describe_each() const {
    return describe_each([](const T&) { return true; });
  }
  template <class Predicate>
  std::vector<std::string> describe_each(Predicate predicate) const {
    std::vector<std::string> lines;
    const std::shared_lock lock(mutex_);
    for (const auto& [handle, entry] : objects_) {
      if (!predicate(*entry.object)) continue;
      lines.push_back(std::string(kind_) + " " + hexadecimal(handle) + ": made by " +
                      to_string(entry.origin));
    }
    return lines;
  }

 private:
  struct Entry {
    std::shared_ptr<T> object;
    Origin origin;
  };

  static std::string hexadecimal(const void* handle) {
    char text[24];
    std::snprintf(text, sizeof text, "%p", handle);
    return text;
  }
  void explain(const T* handle) const {
    if (const auto history = history_.describe(handle)) {
      diagnose("the handle " + hexadecimal(handle) + " was " + with_article(kind_) + ", " +
               *history);
    }
  }

  const char* const kind_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<const T*, Entry> objects_;
  HandleHistory history_;
};

}  // namespace culebra_emu
