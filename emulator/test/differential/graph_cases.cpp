// Graphs: how they are built, changed and launched, and what of it is refused.
#include <vector>

#include "case.h"

namespace differential {
namespace {

struct World {
  CUcontext context;
  Kernels kernels;
  CUdeviceptr memory;
  CUstream stream;
  CUgraph graph = nullptr;
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;

  explicit World(Answer& answer)
      : context(use_device(answer)),
        kernels(answer),
        memory(new_memory(answer, 4096)),
        stream(new_stream(answer)) {
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
    NEED(cuGraphAddEmptyNode(&second, graph, &first, 1));
  }
};

CUDA_MEM_ALLOC_NODE_PARAMS alloc_params() {
  CUDA_MEM_ALLOC_NODE_PARAMS params = {};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  params.bytesize = 4096;
  return params;
}

Case graph_case(const char* name, const char* calls, const char* recorded,
                std::function<void(World&, Answer&)> body) {
  return {name, calls, recorded, [=](Answer& answer) {
            World world(answer);
            body(world, answer);
          }};
}

const Cases all({
    graph_case("graph-null", "null graph: destroy, clone, node count; null node: type, destroy",
               "1 1 1 1 1",
               [](World&, Answer& answer) {
                 CUgraph copy = nullptr;
                 std::size_t count = 0;
                 CUgraphNodeType type;
                 answer(cuGraphDestroy(nullptr));
                 answer(cuGraphClone(&copy, nullptr));
                 answer(cuGraphGetNodes(nullptr, nullptr, &count));
                 answer(cuGraphNodeGetType(nullptr, &type));
                 answer(cuGraphDestroyNode(nullptr));
               }),
    graph_case("graph-create-flags", "create with flags 1", "1",
               [](World&, Answer& answer) {
                 CUgraph graph = nullptr;
                 answer(cuGraphCreate(&graph, 1));
               }),
    graph_case("graph-foreign-node", "add a node that depends on another graph's", "1",
               [](World& world, Answer& answer) {
                 CUgraph other = nullptr;
                 CUgraphNode node = nullptr;
                 NEED(cuGraphCreate(&other, 0));
                 answer(cuGraphAddEmptyNode(&node, other, &world.first, 1));
               }),
    graph_case(
        "graph-edges", "add an edge twice, to itself, backwards; instantiate; remove none",
        "1 1 0 1 1",
        [](World& world, Answer& answer) {
          CUgraphExec executable = nullptr;
          answer(cuGraphAddDependencies_v2(world.graph, &world.first, &world.second, nullptr, 1));
          answer(cuGraphAddDependencies_v2(world.graph, &world.first, &world.first, nullptr, 1));
          answer(cuGraphAddDependencies_v2(world.graph, &world.second, &world.first, nullptr, 1));
          answer(cuGraphInstantiateWithFlags(&executable, world.graph, 0));
          answer(cuGraphRemoveDependencies_v2(world.graph, &world.first, &world.first, nullptr, 1));
        }),
    graph_case("graph-duplicate", "add a node that depends on one node twice", "1",
               [](World& world, Answer& answer) {
                 const CUgraphNode twice[] = {world.first, world.first};
                 CUgraphNode node = nullptr;
                 answer(cuGraphAddEmptyNode(&node, world.graph, twice, 2));
               }),
    graph_case("graph-flags", "instantiate with flags upload, 16, device launch + auto free",
               "1 1 1",
               [](World& world, Answer& answer) {
                 CUgraphExec executable = nullptr;
                 for (const unsigned flags : {2u, 16u, 5u}) {
                   answer(cuGraphInstantiateWithFlags(&executable, world.graph, flags));
                 }
               }),
    graph_case("graph-copy-empty", "memcpy node of 0 bytes, memset node of 0 elements", "1 1",
               [](World& world, Answer& answer) {
                 CUgraphNode node = nullptr;
                 CUDA_MEMCPY3D copy = {};
                 copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                 copy.srcDevice = copy.dstDevice = world.memory;
                 copy.Height = copy.Depth = 1;
                 answer(cuGraphAddMemcpyNode(&node, world.graph, nullptr, 0, &copy, world.context));
                 CUDA_MEMSET_NODE_PARAMS fill = {world.memory, 0, 0, 4, 0, 1};
                 answer(cuGraphAddMemsetNode(&node, world.graph, nullptr, 0, &fill, world.context));
               }),
    graph_case("graph-memset-odd",
               "memset node at an odd address, of 3 bytes, past the end, no ctx", "1 1 1 0",
               [](World& world, Answer& answer) {
                 CUgraphNode node = nullptr;
                 CUDA_MEMSET_NODE_PARAMS odd = {world.memory + 1, 0, 0, 4, 1, 1};
                 answer(cuGraphAddMemsetNode(&node, world.graph, nullptr, 0, &odd, world.context));
                 CUDA_MEMSET_NODE_PARAMS three = {world.memory, 0, 0, 3, 1, 1};
                 answer(
                     cuGraphAddMemsetNode(&node, world.graph, nullptr, 0, &three, world.context));
                 CUDA_MEMSET_NODE_PARAMS past = {world.memory, 0, 0, 4, 1025, 1};
                 answer(cuGraphAddMemsetNode(&node, world.graph, nullptr, 0, &past, world.context));
                 CUDA_MEMSET_NODE_PARAMS good = {world.memory, 0, 0, 4, 4, 1};
                 answer(cuGraphAddMemsetNode(&node, world.graph, nullptr, 0, &good, nullptr));
               }),
    graph_case("graph-kernel-bad", "kernel node: grid 0, block 1025, no arguments, no function",
               "1 1 1 400",
               [](World& world, Answer& answer) {
                 CUgraphNode node = nullptr;
                 std::int64_t index = 0;
                 std::uint32_t value = 1;
                 void* arguments[] = {&world.memory, &index, &value};
                 CUDA_KERNEL_NODE_PARAMS params = {};
                 params.func = world.kernels.write;
                 params.gridDimX = params.gridDimY = params.gridDimZ = 1;
                 params.blockDimX = params.blockDimY = params.blockDimZ = 1;
                 params.kernelParams = arguments;
                 const auto add = [&](CUDA_KERNEL_NODE_PARAMS changed) {
                   answer(cuGraphAddKernelNode_v2(&node, world.graph, nullptr, 0, &changed));
                 };
                 auto changed = params;
                 changed.gridDimX = 0;
                 add(changed);
                 changed = params;
                 changed.blockDimX = 1025;
                 add(changed);
                 changed = params;
                 changed.kernelParams = nullptr;
                 add(changed);
                 changed = params;
                 changed.func = nullptr;
                 add(changed);
               }),
    graph_case("graph-memory", "graph with an allocation: instantiate twice, clone, destroy node",
               "0 801 801 801",
               [](World& world, Answer& answer) {
                 CUgraphNode node = nullptr;
                 CUgraphExec one = nullptr, two = nullptr;
                 CUgraph copy = nullptr;
                 auto params = alloc_params();
                 NEED(cuGraphAddMemAllocNode(&node, world.graph, nullptr, 0, &params));
                 answer(cuGraphInstantiateWithFlags(&one, world.graph, 0));
                 answer(cuGraphInstantiateWithFlags(&two, world.graph, 0));
                 answer(cuGraphClone(&copy, world.graph));
                 answer(cuGraphDestroyNode(node));
               }),
    graph_case("graph-memory-relaunch", "launch a graph whose allocation is not freed, twice; free",
               "0 1 0 1",
               [](World& world, Answer& answer) {
                 CUgraphNode node = nullptr;
                 CUgraphExec executable = nullptr;
                 auto params = alloc_params();
                 NEED(cuGraphAddMemAllocNode(&node, world.graph, nullptr, 0, &params));
                 NEED(cuGraphInstantiateWithFlags(&executable, world.graph, 0));
                 answer(cuGraphLaunch(executable, world.stream));
                 answer(cuGraphLaunch(executable, world.stream));
                 NEED(cuStreamSynchronize(world.stream));
                 answer(cuMemFreeAsync(params.dptr, world.stream));
                 answer(cuMemFreeAsync(params.dptr, world.stream));
               }),
    graph_case("graph-free-unknown", "free node of plain memory; of an allocation node, twice",
               "1 0 1",
               [](World& world, Answer& answer) {
                 CUgraphNode alloc = nullptr, free = nullptr;
                 auto params = alloc_params();
                 NEED(cuGraphAddMemAllocNode(&alloc, world.graph, nullptr, 0, &params));
                 answer(cuGraphAddMemFreeNode(&free, world.graph, &alloc, 1, world.memory));
                 answer(cuGraphAddMemFreeNode(&free, world.graph, &alloc, 1, params.dptr));
                 answer(cuGraphAddMemFreeNode(&free, world.graph, &alloc, 1, params.dptr));
               }),
    graph_case("graph-update", "update by an equal graph, one with a node more, another node kind",
               "0 (0) 910 (2) 910 (3)",
               [](World& world, Answer& answer) {
                 CUgraphExec executable = nullptr;
                 CUgraph other = nullptr;
                 CUgraphNode node = nullptr;
                 CUgraphExecUpdateResultInfo info = {};
                 NEED(cuGraphInstantiateWithFlags(&executable, world.graph, 0));
                 const auto update = [&](CUgraph graph) {
                   answer(cuGraphExecUpdate_v2(executable, graph, &info));
                   answer.word("(" + std::to_string(static_cast<int>(info.result)) + ")");
                 };
                 NEED(cuGraphClone(&other, world.graph));
                 update(other);
                 NEED(cuGraphAddEmptyNode(&node, other, nullptr, 0));
                 update(other);
                 NEED(cuGraphCreate(&other, 0));
                 CUDA_HOST_NODE_PARAMS host = {[](void*) {}, nullptr};
                 NEED(cuGraphAddHostNode(&node, other, nullptr, 0, &host));
                 NEED(cuGraphAddEmptyNode(&node, other, &node, 1));
                 update(other);
               }),
    graph_case("graph-enabled", "disable an empty node; a memset node", "1 0",
               [](World& world, Answer& answer) {
                 CUgraphExec executable = nullptr;
                 CUgraphNode node = nullptr;
                 CUDA_MEMSET_NODE_PARAMS fill = {world.memory, 0, 0, 4, 4, 1};
                 NEED(cuGraphAddMemsetNode(&node, world.graph, nullptr, 0, &fill, world.context));
                 NEED(cuGraphInstantiateWithFlags(&executable, world.graph, 0));
                 answer(cuGraphNodeSetEnabled(executable, world.first, 0));
                 answer(cuGraphNodeSetEnabled(executable, node, 0));
               }),
    graph_case("graph-destroyed", "a destroyed graph: node count", "1",
               [](World& world, Answer& answer) {
                 std::size_t count = 0;
                 NEED(cuGraphDestroy(world.graph));
                 answer(cuGraphGetNodes(world.graph, nullptr, &count));
               }),
    graph_case("graph-no-context", "with no context current: create, add an empty node, destroy",
               "0 0 0",
               [](World&, Answer& answer) {
                 CUgraph graph = nullptr;
                 CUgraphNode node = nullptr;
                 NEED(cuCtxSetCurrent(nullptr));
                 answer(cuGraphCreate(&graph, 0));
                 answer(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
                 answer(cuGraphDestroy(graph));
               }),
    graph_case("user-object", "create with flags 0, with 0 references; retain 0, release too many",
               "1 1 1",
               [](World&, Answer& answer) {
                 CUuserObject object = nullptr;
                 const CUhostFn nothing = [](void*) {};
                 answer(cuUserObjectCreate(&object, nullptr, nothing, 1, 0));
                 answer(cuUserObjectCreate(&object, nullptr, nothing, 0, 1));
                 NEED(cuUserObjectCreate(&object, nullptr, nothing, 1, 1));
                 answer(cuUserObjectRetain(object, 0));
               }),
});

}  // namespace
}  // namespace differential
