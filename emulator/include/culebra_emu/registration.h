// How an image knows its kernels: CULEBRA_KERNEL and CULEBRA_STRUCT. Types, sizes and offsets come
// from the compiler; only names are written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "culebra_emu/bf16.h"
#include "culebra_emu/fp16.h"
#include "culebra_emu/image.h"
#include "culebra_emu/thread.h"

namespace culebra_emu {

// The name after the last "::": how an index calls a struct.
constexpr std::string_view unqualified(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// "kernels/softmax/softmax.cu" -> "softmax"
constexpr std::string_view file_stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? path : path.substr(0, dot);
}

template <class T>
struct TypeName {
  static std::string get() {
    if constexpr (std::is_same_v<T, __half>) {
      return "f16";
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
      return "bf16";
    } else if constexpr (std::is_same_v<T, bool>) {
      return "bool";
    } else if constexpr (std::is_void_v<T>) {
      return "void";
    } else if constexpr (std::is_floating_point_v<T>) {
      return "f" + std::to_string(8 * sizeof(T));
    } else if constexpr (std::is_integral_v<T>) {
      return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
    } else if constexpr (std::is_enum_v<T>) {
      return TypeName<std::underlying_type_t<T>>::get();
    } else {
      // Found by argument-dependent lookup: CULEBRA_STRUCT declares it beside the struct.
      return std::string(culebra_emu_struct_name(static_cast<const T*>(nullptr)));
    }
  }
};

template <class T>
struct TypeName<T*> {
  static std::string get() {
    return (std::is_const_v<T> ? "const " : "") + TypeName<std::remove_cv_t<T>>::get() + "*";
  }
};

struct ImageContents {
  std::vector<Kernel*> kernels;
  std::vector<const Field*> fields;
};

// Lives as long as the image: filled by the registrations' constructors, whatever order they run
// in.
inline ImageContents& image_contents() {
  static ImageContents contents;
  return contents;
}

// Runs after the kernel's own registration, which stands before it in the same file.
struct ClusterRegistration {
  ClusterRegistration(std::string_view symbol, Index3 dim) {
    for (Kernel* kernel : image_contents().kernels) {
      if (kernel->symbol == symbol) kernel->required_cluster = dim;
    }
  }
};

constexpr std::size_t count_names(std::string_view names) {
  if (names.empty()) return 0;
  std::size_t count = 1;
  for (const char c : names) count += c == ',';
  return count;
}

inline std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> result;
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    result.emplace_back(name);
  }
  return result;
}

constexpr std::uint32_t align_up(std::uint32_t offset, std::uint32_t align) {
  return (offset + align - 1) / align * align;
}

// The layout of a kernel's parameter block: each parameter at the next multiple of its alignment,
// as CUDA does it.
template <class... Args>
constexpr auto parameter_offsets() {
  std::array<std::uint32_t, sizeof...(Args) + 1> offsets{};
  std::uint32_t end = 0;
  std::size_t i = 0;
  ((offsets[i++] = end = align_up(end, alignof(Args)), end += sizeof(Args)), ...);
  offsets[i] = end;
  return offsets;
}

template <auto kFunction>
class KernelRegistration;

template <class... Args, void (*kFunction)(Args...)>
class KernelRegistration<kFunction> {
 public:
  static constexpr std::size_t kParameterCount = sizeof...(Args);

  KernelRegistration(std::string_view symbol, std::string_view source, std::uint32_t max_threads,
                     std::string_view names)
      : symbol_(symbol),
        family_(file_stem(source)),
        names_(split_names(names)),
        types_{TypeName<std::remove_cv_t<Args>>::get()...} {
    static_assert((std::is_trivially_copyable_v<Args> && ...),
                  "a kernel's parameters are copied byte by byte");
    constexpr auto offsets = parameter_offsets<Args...>();
    const std::array<std::uint32_t, kParameterCount> sizes{sizeof(Args)...};
    const std::array<std::uint32_t, kParameterCount> aligns{alignof(Args)...};
    for (std::size_t i = 0; i < kParameterCount; ++i) {
      parameters_.push_back(
          {names_[i].c_str(), types_[i].c_str(), offsets[i], sizes[i], aligns[i]});
    }
    kernel_ = {.symbol = symbol_.c_str(),
               .family = family_.c_str(),
               .max_threads = max_threads,
               .parameter_count = kParameterCount,
               .parameters = parameters_.data(),
               .invoke = &KernelRegistration::invoke,
               .required_cluster = {}};
    image_contents().kernels.push_back(&kernel_);
  }

  KernelRegistration(const KernelRegistration&) = delete;
  KernelRegistration& operator=(const KernelRegistration&) = delete;

 private:
  static void invoke(const void* parameter_block) {
    invoke(static_cast<const char*>(parameter_block), std::index_sequence_for<Args...>());
  }

  template <std::size_t... kIndex>
  static void invoke([[maybe_unused]] const char* block, std::index_sequence<kIndex...>) {
    [[maybe_unused]] constexpr auto offsets = parameter_offsets<Args...>();
    kFunction(load<std::remove_cv_t<Args>>(block + offsets[kIndex])...);
  }

  template <class T>
  static T load(const char* address) {
    T value;
    std::memcpy(static_cast<void*>(&value), address, sizeof(T));
    return value;
  }

  std::string symbol_;
  std::string family_;
  std::vector<std::string> names_;
  std::vector<std::string> types_;
  std::vector<Parameter> parameters_;
  Kernel kernel_;
};

class StructRegistration {
 public:
  struct Member {
    const char* name;
    std::string type;
    std::size_t offset;
    std::size_t size;
  };

  StructRegistration(std::string_view name, std::vector<Member> members)
      : name_(name), members_(std::move(members)) {
    for (const Member& member : members_) {
      fields_.push_back({name_.c_str(), member.name, member.type.c_str(),
                         static_cast<std::uint32_t>(member.offset),
                         static_cast<std::uint32_t>(member.size)});
    }
    for (const Field& field : fields_) image_contents().fields.push_back(&field);
  }

  StructRegistration(const StructRegistration&) = delete;
  StructRegistration& operator=(const StructRegistration&) = delete;

 private:
  std::string name_;
  std::vector<Member> members_;
  std::vector<Field> fields_;
};

}  // namespace culebra_emu

// The image's only exported symbol. Weak: an image may have several source files.
extern "C" __attribute__((weak, visibility("default"))) const culebra_emu::Image* culebra_emu_image(
    const culebra_emu::Runtime* runtime) {
  static culebra_emu::Image image;
  if (runtime != nullptr) {
    if (runtime->abi_version != culebra_emu::kAbiVersion) return nullptr;
    culebra_emu::runtime = runtime;
  }
  const culebra_emu::ImageContents& contents = culebra_emu::image_contents();
  image = {culebra_emu::kAbiVersion,
           static_cast<std::uint32_t>(contents.kernels.size()),
           static_cast<std::uint32_t>(contents.fields.size()),
           contents.kernels.data(),
           contents.fields.data(),
           [] { return &culebra_emu::current_thread; },
#ifdef CULEBRA_EMU_CHECKED
           1};
#else
           0};
#endif
  return &image;
}

// After a kernel's definition: its symbol, the most threads a block may have, and its parameters'
// names in order.
#define CULEBRA_KERNEL(symbol, max_threads, ...)                                     \
  static_assert(culebra_emu::KernelRegistration<&symbol>::kParameterCount ==         \
                    culebra_emu::count_names(#__VA_ARGS__),                          \
                "CULEBRA_KERNEL(" #symbol ") must name each parameter once");        \
  static_assert((max_threads) >= 1 && (max_threads) <= 1024,                         \
                "CULEBRA_KERNEL(" #symbol "): a block has 1 to 1024 threads");       \
  static const culebra_emu::KernelRegistration<&symbol> culebra_emu_kernel_##symbol( \
      #symbol, __BASE_FILE__, max_threads, #__VA_ARGS__);

// After CULEBRA_KERNEL, for a kernel that can only run in clusters of x * y * z blocks.
#define CULEBRA_CLUSTER(symbol, x, y, z)                                                    \
  static_assert((x) > 0 && (y) > 0 && (z) > 0 &&                                            \
                    (x) * (y) * (z) <= static_cast<int>(culebra_emu::kMaxBlocksPerCluster), \
                "CULEBRA_CLUSTER(" #symbol "): a cluster has 1 to 16 blocks");              \
  static const culebra_emu::ClusterRegistration culebra_emu_cluster_##symbol(#symbol, {x, y, z});

// After a parameter struct, in its namespace: the struct and all its fields.
#define CULEBRA_STRUCT(type, ...)                                                 \
  [[maybe_unused]] inline std::string_view culebra_emu_struct_name(const type*) { \
    return culebra_emu::unqualified(#type);                                       \
  }                                                                               \
  static const culebra_emu::StructRegistration culebra_emu_struct_##type(         \
      #type, {CULEBRA_EMU_FOR_EACH(CULEBRA_EMU_MEMBER, type, __VA_ARGS__)});

#define CULEBRA_EMU_MEMBER(type, field)                                                        \
  culebra_emu::StructRegistration::Member{#field,                                              \
                                          culebra_emu::TypeName<decltype(type::field)>::get(), \
                                          offsetof(type, field), sizeof(type::field)},

// Applies macro(type, x) to each x. The preprocessor knows no loop: each EXPAND level rescans four
// times, which is enough for 256 fields.
#define CULEBRA_EMU_FOR_EACH(macro, type, ...) \
  __VA_OPT__(CULEBRA_EMU_EXPAND(CULEBRA_EMU_FOR_EACH_STEP(macro, type, __VA_ARGS__)))
#define CULEBRA_EMU_FOR_EACH_STEP(macro, type, first, ...) \
  macro(type, first)                                       \
      __VA_OPT__(CULEBRA_EMU_FOR_EACH_AGAIN CULEBRA_EMU_PARENS(macro, type, __VA_ARGS__))
#define CULEBRA_EMU_FOR_EACH_AGAIN() CULEBRA_EMU_FOR_EACH_STEP
#define CULEBRA_EMU_PARENS           ()
#define CULEBRA_EMU_EXPAND(...) \
  CULEBRA_EMU_EXPAND4(CULEBRA_EMU_EXPAND4(CULEBRA_EMU_EXPAND4(CULEBRA_EMU_EXPAND4(__VA_ARGS__))))
#define CULEBRA_EMU_EXPAND4(...) \
  CULEBRA_EMU_EXPAND3(CULEBRA_EMU_EXPAND3(CULEBRA_EMU_EXPAND3(CULEBRA_EMU_EXPAND3(__VA_ARGS__))))
#define CULEBRA_EMU_EXPAND3(...) \
  CULEBRA_EMU_EXPAND2(CULEBRA_EMU_EXPAND2(CULEBRA_EMU_EXPAND2(CULEBRA_EMU_EXPAND2(__VA_ARGS__))))
#define CULEBRA_EMU_EXPAND2(...) \
  CULEBRA_EMU_EXPAND1(CULEBRA_EMU_EXPAND1(CULEBRA_EMU_EXPAND1(CULEBRA_EMU_EXPAND1(__VA_ARGS__))))
#define CULEBRA_EMU_EXPAND1(...) __VA_ARGS__
