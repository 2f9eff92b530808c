// Graphs: building, looking, running side by side, changing, and what is refused.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "graph_driver.h"
#include "streams.h"

using namespace culebra_test;

namespace {

CUgraph new_graph() {
  CUgraph graph = nullptr;
  RETURNS(0, cuGraphCreate(&graph, 0));
  return graph;
}

CUgraphExec executable(CUgraph graph, unsigned flags = 0) {
  CUgraphExec result = nullptr;
  RETURNS(0, cuGraphInstantiateWithFlags(&result, graph, flags));
  return result;
}

// Launches on the legacy default stream and waits.
void run(CUgraphExec executable) {
  RETURNS(0, cuGraphLaunch(executable, nullptr));
  RETURNS(0, cuStreamSynchronize(nullptr));
}

using Nodes = std::vector<CUgraphNode>;

CUgraphNode add_host(CUgraph graph, const Nodes& after, CUhostFn function, void* data) {
  CUgraphNode node = nullptr;
  const CUDA_HOST_NODE_PARAMS params = {function, data};
  RETURNS(0, cuGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

CUgraphNode add_empty(CUgraph graph, const Nodes& after = {}) {
  CUgraphNode node = nullptr;
  RETURNS(0, cuGraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

// list[++list[0]] = value
struct Append {
  CUdeviceptr list;
  unsigned value;
  void* arguments[2] = {&list, &value};
  CUDA_KERNEL_NODE_PARAMS params = {};

  Append(CUfunction append, CUdeviceptr list, unsigned value) : list(list), value(value) {
    params.func = append;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
  }
  Append(const Append&) = delete;

  CUgraphNode add_to(CUgraph graph, const Nodes& after = {}) const {
    CUgraphNode node = nullptr;
    RETURNS(0, cuGraphAddKernelNode_v2(&node, graph, after.data(), after.size(), &params));
    return node;
  }
};

CUgraphNode add_fill(CUgraph graph, CUdeviceptr to, unsigned value, std::size_t count,
                     const Nodes& after = {}) {
  CUcontext context = nullptr;
  RETURNS(0, cuCtxGetCurrent(&context));
  CUgraphNode node = nullptr;
  const CUDA_MEMSET_NODE_PARAMS params = {to, 0, value, 4, count, 1};
  RETURNS(0, cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params, context));
  return node;
}

CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS params = {};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  params.bytesize = bytes;
  return params;
}

std::uint64_t graph_memory(CUgraphMem_attribute attribute) {
  std::uint64_t bytes = 0;
  RETURNS(0, cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
  return bytes;
}

Nodes nodes_of(CUgraph graph) {
  std::size_t count = 0;
  RETURNS(0, cuGraphGetNodes(graph, nullptr, &count));
  Nodes nodes(count);
  RETURNS(0, cuGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

}  // namespace

TEST(edges_order_the_nodes_of_a_graph) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph();
  const Append first(append, list.address, 1), second(append, list.address, 2),
      third(append, list.address, 3);
  // Made in another order than they run in.
  const CUgraphNode last = third.add_to(graph);
  const CUgraphNode middle = second.add_to(graph);
  const CUgraphNode start = first.add_to(graph);
  RETURNS(0, cuGraphAddDependencies_v2(graph, &start, &middle, nullptr, 1));
  RETURNS(0, cuGraphAddDependencies_v2(graph, &middle, &last, nullptr, 1));
  const CUgraphExec exec = executable(graph);
  for (int i = 0; i < 2; ++i) run(exec);
  list.download();
  const unsigned expected[] = {6, 1, 2, 3, 1, 2, 3};
  for (int i = 0; i < 7; ++i) CHECK_EQ(list.host[i], expected[i]);
}

TEST(branches_run_beside_each_other) {
  use_device();
  const CUgraph graph = new_graph();
  // Each of eight branches waits until all of them are there.
  static std::atomic<int> arrived;
  arrived = 0;
  const CUgraphNode root = add_empty(graph);
  Nodes branches;
  for (int i = 0; i < 8; ++i) {
    branches.push_back(add_host(
        graph, {root},
        [](void*) {
          ++arrived;
          while (arrived % 8 != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        },
        nullptr));
  }
  static int joined;
  joined = 0;
  add_host(
      graph, branches, [](void*) { joined = arrived; }, nullptr);
  const CUgraphExec exec = executable(graph);
  run(exec);
  CHECK_EQ(joined, 8);
  run(exec);
  CHECK_EQ(joined, 16);
}

TEST(an_executable_graph_does_not_run_beside_itself) {
  use_device();
  static std::atomic<int> inside, most;
  const CUgraph graph = new_graph();
  add_host(
      graph, {},
      [](void*) {
        most = std::max<int>(most, ++inside);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        --inside;
      },
      nullptr);
  const CUgraphExec exec = executable(graph);
  for (int i = 0; i < 4; ++i) RETURNS(0, cuGraphLaunch(exec, new_stream(CU_STREAM_NON_BLOCKING)));
  RETURNS(0, cuCtxSynchronize());
  CHECK_EQ(most.load(), 1);
}

TEST(a_launch_is_ordered_in_its_stream) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph();
  const Append two(append, list.address, 2);
  two.add_to(graph);
  const CUgraphExec exec = executable(graph);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, launch(append, 1, 1, 0, stream, list.address, 1u));
  RETURNS(0, cuGraphLaunch(exec, stream));
  RETURNS(0, launch(append, 1, 1, 0, stream, list.address, 3u));
  RETURNS(600, cuStreamQuery(stream));
  // What runs is what was launched, even if nobody has it any more.
  RETURNS(0, cuGraphExecDestroy(exec));
  RETURNS(0, cuGraphDestroy(graph));
  gate.open = true;
  list.download();
  for (unsigned i = 1; i <= 3; ++i) CHECK_EQ(list.host[i], i);
}

TEST(a_graph_tells_its_structure) {
  use_device();
  const CUgraph graph = new_graph();
  const CUgraphNode a = add_empty(graph);
  const CUgraphNode b = add_empty(graph, {a});
  const CUgraphNode c = add_empty(graph, {a, b});
  std::size_t count = 0;
  RETURNS(0, cuGraphGetRootNodes(graph, nullptr, &count));
  CHECK_EQ(count, 1u);
  CUgraphNode found[4] = {};
  count = 4;
  RETURNS(0, cuGraphGetNodes(graph, found, &count));
  CHECK_EQ(count, 3u);
  CHECK(found[0] == a && found[2] == c);
  // What is beyond is set to nothing.
  CHECK(found[3] == nullptr);
  CUgraphNode from[3] = {}, to[3] = {};
  CUgraphEdgeData data[3] = {};
  count = 3;
  RETURNS(0, cuGraphGetEdges_v2(graph, from, to, data, &count));
  CHECK_EQ(count, 3u);
  CHECK(from[0] == a && to[0] == b);
  count = 2;
  RETURNS(0, cuGraphNodeGetDependencies_v2(c, found, nullptr, &count));
  CHECK(found[0] == a && found[1] == b);
  count = 2;
  RETURNS(0, cuGraphNodeGetDependentNodes_v2(a, found, nullptr, &count));
  CHECK(found[0] == b && found[1] == c);
  RETURNS(0, cuGraphRemoveDependencies_v2(graph, &a, &c, nullptr, 1));
  RETURNS(1, cuGraphRemoveDependencies_v2(graph, &a, &c, nullptr, 1));
  RETURNS(0, cuGraphDestroyNode(b));
  count = 4;
  RETURNS(0, cuGraphGetRootNodes(graph, found, &count));
  CHECK_EQ(count, 2u);
  CUgraphNodeType type;
  RETURNS(1, cuGraphNodeGetType(b, &type));
}

TEST(edges_that_make_no_sense_are_refused) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph(), other = new_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph, {a}), foreign = add_empty(other);
  CUgraphNode node = nullptr;
  RETURNS(1, cuGraphAddDependencies_v2(graph, &a, &b, nullptr, 1));
  RETURNS(1, cuGraphAddDependencies_v2(graph, &a, &a, nullptr, 1));
  RETURNS(1, cuGraphAddDependencies_v2(graph, &a, &foreign, nullptr, 1));
  RETURNS(1, cuGraphAddEmptyNode(&node, graph, &foreign, 1));
  const CUgraphNode twice[] = {a, a};
  RETURNS(1, cuGraphAddEmptyNode(&node, graph, twice, 2));
  RETURNS(1, cuGraphAddEmptyNode(&node, graph, nullptr, 1));
  RETURNS(1, cuGraphAddEmptyNode(nullptr, graph, nullptr, 0));
  // Programmatic edges join kernels only.
  CUgraphEdgeData programmatic = {kPortProgrammatic, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  RETURNS(1, cuGraphAddNode_v2(&node, graph, &a, &programmatic, 1, &params));
  const Append one(append, list.address, 1), two(append, list.address, 2);
  const CUgraphNode kernel = one.add_to(graph);
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel = two.params;
  RETURNS(0, cuGraphAddNode_v2(&node, graph, &kernel, &programmatic, 1, &params));
  CUgraphNode found = nullptr;
  std::size_t count = 1;
  RETURNS(402, cuGraphNodeGetDependencies_v2(node, &found, nullptr, &count));
  CUgraphEdgeData data = {};
  RETURNS(0, cuGraphNodeGetDependencies_v2(node, &found, &data, &count));
  CHECK_EQ(data.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  run(executable(graph));
  list.download();
  CHECK_EQ(list.host[2], 2u);
}

TEST(a_cycle_cannot_be_instantiated) {
  use_device();
  const CUgraph graph = new_graph();
  const CUgraphNode a = add_empty(graph), b = add_empty(graph, {a});
  RETURNS(0, cuGraphAddDependencies_v2(graph, &b, &a, nullptr, 1));
  CUgraphExec exec = nullptr;
  RETURNS(1, cuGraphInstantiateWithFlags(&exec, graph, 0));
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  RETURNS(1, cuGraphInstantiateWithParams(&exec, graph, &params));
  CHECK_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  CHECK(params.hErrNode_out == a || params.hErrNode_out == b);
  RETURNS(0, cuGraphRemoveDependencies_v2(graph, &b, &a, nullptr, 1));
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  RETURNS(0, cuGraphInstantiateWithParams(&exec, graph, &params));
  CHECK_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  std::uint64_t flags = 0;
  RETURNS(0, cuGraphExecGetFlags(exec, &flags));
  CHECK_EQ(flags, std::uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY});
  RETURNS(0, cuGraphUpload(exec, nullptr));
  for (const unsigned bad : {2u, 16u, 5u}) {
    RETURNS(1, cuGraphInstantiateWithFlags(&exec, graph, bad));
  }
  RETURNS(801, cuGraphInstantiateWithFlags(&exec, graph, 4));
}

TEST(parameters_of_nodes_come_back_and_change) {
  const CUcontext context = use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8), rows(64);
  const CUgraph graph = new_graph();
  const Append one(append, list.address, 1), two(append, list.address, 2);
  const CUgraphNode kernel = one.add_to(graph);
  CUDA_KERNEL_NODE_PARAMS kernel_params = {};
  RETURNS(0, cuGraphKernelNodeGetParams_v2(kernel, &kernel_params));
  CHECK(kernel_params.func == append);
  CHECK_EQ(*static_cast<CUdeviceptr*>(kernel_params.kernelParams[0]), list.address);
  CHECK_EQ(*static_cast<unsigned*>(kernel_params.kernelParams[1]), 1u);
  RETURNS(0, cuGraphKernelNodeSetParams_v2(kernel, &two.params));
  CUDA_KERNEL_NODE_PARAMS bad = two.params;
  bad.blockDimX = 1025;
  RETURNS(1, cuGraphKernelNodeSetParams_v2(kernel, &bad));

  // A 2D fill: 3 of every 8 words, in 4 rows.
  CUgraphNode fill = nullptr;
  CUDA_MEMSET_NODE_PARAMS fill_params = {rows.address, 32, 7, 4, 3, 4};
  RETURNS(0, cuGraphAddMemsetNode(&fill, graph, &kernel, 1, &fill_params, context));
  CUDA_MEMSET_NODE_PARAMS shown = {};
  RETURNS(0, cuGraphMemsetNodeGetParams(fill, &shown));
  CHECK(shown.dst == rows.address && shown.pitch == 32 && shown.height == 4);
  fill_params.elementSize = 3;
  RETURNS(1, cuGraphMemsetNodeSetParams(fill, &fill_params));

  // A block of 2 x 2 words from the middle of the rows to their end.
  CUgraphNode copy = nullptr;
  CUDA_MEMCPY3D copy_params = {};
  copy_params.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_params.srcDevice = rows.address;
  copy_params.srcXInBytes = 4;
  copy_params.srcY = 1;
  copy_params.srcPitch = 32;
  copy_params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy_params.dstDevice = rows.address + 5 * 32;
  copy_params.dstPitch = 32;
  copy_params.WidthInBytes = 8;
  copy_params.Height = 2;
  copy_params.Depth = 1;
  RETURNS(0, cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &copy_params, context));
  CUDA_MEMCPY3D shown_copy = {};
  RETURNS(0, cuGraphMemcpyNodeGetParams(copy, &shown_copy));
  CHECK_EQ(shown_copy.WidthInBytes, 8u);
  CHECK_EQ(shown_copy.dstMemoryType, CU_MEMORYTYPE_UNIFIED);
  copy_params.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  RETURNS(801, cuGraphMemcpyNodeSetParams(copy, &copy_params));
  copy_params.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_params.Height = 1000;
  RETURNS(1, cuGraphMemcpyNodeSetParams(copy, &copy_params));

  run(executable(graph));
  list.download();
  rows.download();
  CHECK_EQ(list.host[1], 2u);
  for (int row = 0; row < 8; ++row) {
    for (int i = 0; i < 8; ++i) {
      const bool filled = (row < 4 && i < 3) || ((row == 5 || row == 6) && i < 2);
      CHECK_EQ(rows.host[row * 8 + i], filled ? 7u : 0u);
    }
  }
  // A getter of another kind.
  RETURNS(1, cuGraphMemsetNodeGetParams(kernel, &shown));
  RETURNS(1, cuGraphKernelNodeGetParams_v2(copy, &kernel_params));
}

TEST(a_kernel_node_has_attributes) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph();
  const Append one(append, list.address, 1), two(append, list.address, 2);
  const CUgraphNode first = one.add_to(graph), second = two.add_to(graph, {first});
  CUlaunchAttribute::Value value = {};
  value.cooperative = 1;
  RETURNS(0, cuGraphKernelNodeSetAttribute(first, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  RETURNS(0, cuGraphKernelNodeCopyAttributes(second, first));
  value = {};
  RETURNS(0, cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  CHECK_EQ(value.cooperative, 1);
  value.clusterDim = {2, 1, 1};
  RETURNS(912,
          cuGraphKernelNodeSetAttribute(second, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  RETURNS(1, cuGraphKernelNodeSetAttribute(second, static_cast<CUlaunchAttributeID>(99), &value));
  run(executable(graph));
  list.download();
  CHECK_EQ(list.host[1], 1u);
  CHECK_EQ(list.host[2], 2u);
}

TEST(a_clone_is_a_graph_of_its_own) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph(), inner = new_graph();
  const Append one(append, list.address, 1), two(append, list.address, 2);
  const CUgraphNode child_node = one.add_to(inner);
  CUgraphNode child = nullptr;
  RETURNS(0, cuGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
  const CUgraphNode after = add_empty(graph, {child});
  // The child was copied, and can be looked at but not destroyed.
  CUgraph embedded = nullptr;
  RETURNS(0, cuGraphChildGraphNodeGetGraph(child, &embedded));
  CHECK(embedded != inner);
  RETURNS(1, cuGraphDestroy(embedded));
  CUgraphNode found = nullptr;
  RETURNS(0, cuGraphNodeFindInClone(&found, child_node, embedded));
  RETURNS(0, cuGraphKernelNodeSetParams_v2(found, &two.params));

  CUgraph clone = nullptr;
  RETURNS(0, cuGraphClone(&clone, graph));
  RETURNS(0, cuGraphNodeFindInClone(&found, after, clone));
  CHECK(found != after);
  RETURNS(1, cuGraphNodeFindInClone(&found, after, graph));
  RETURNS(0, cuGraphDestroy(graph));
  RETURNS(0, cuGraphDestroy(inner));
  CUgraphNodeType type;
  RETURNS(1, cuGraphNodeGetType(after, &type));
  run(executable(clone));
  list.download();
  CHECK_EQ(list.host[0], 1u);
  CHECK_EQ(list.host[1], 2u);
}

TEST(events_are_recorded_and_waited_for_by_nodes) {
  use_device();
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  CUevent outside = nullptr, inside = nullptr, shown = nullptr;
  RETURNS(0, cuEventCreate(&outside, 0));
  RETURNS(0, cuEventCreate(&inside, 0));
  const CUgraph graph = new_graph();
  CUgraphNode wait = nullptr, record = nullptr;
  RETURNS(0, cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, outside));
  RETURNS(0, cuGraphAddEventRecordNode(&record, graph, &wait, 1, inside));
  RETURNS(0, cuGraphEventRecordNodeGetEvent(record, &shown));
  CHECK(shown == inside);
  RETURNS(0, cuGraphEventWaitNodeGetEvent(wait, &shown));
  CHECK(shown == outside);
  RETURNS(1, cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, nullptr));
  const CUgraphExec exec = executable(graph);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, cuEventRecord(outside, stream));
  RETURNS(0, cuGraphLaunch(exec, new_stream(CU_STREAM_NON_BLOCKING)));
  RETURNS(600, cuEventQuery(inside));
  gate.open = true;
  RETURNS(0, cuEventSynchronize(inside));
  float milliseconds = -1;
  RETURNS(0, cuEventElapsedTime_v2(&milliseconds, outside, inside));
  CHECK(milliseconds >= 0);
  // Another event for the next launches.
  CUevent other = nullptr;
  RETURNS(0, cuEventCreate(&other, 0));
  RETURNS(0, cuGraphExecEventRecordNodeSetEvent(exec, record, other));
  run(exec);
  RETURNS(0, cuEventElapsedTime_v2(&milliseconds, inside, other));
}

TEST(memory_operations_wait_and_write) {
  const CUcontext context = use_device();
  Buffer<std::uint64_t> words(2);
  CUstreamBatchMemOpParams operations[2] = {};
  operations[0].value = {CU_STREAM_MEM_OP_WAIT_VALUE_32, words.address, 5, CU_STREAM_WAIT_VALUE_GEQ,
                         0};
  operations[1].value = {CU_STREAM_MEM_OP_WRITE_VALUE_64, words.address + 8, 1ull << 40, 0, 0};
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 2, operations, 0};
  const CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  RETURNS(0, cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  CUDA_BATCH_MEM_OP_NODE_PARAMS shown = {};
  RETURNS(0, cuGraphBatchMemOpNodeGetParams(node, &shown));
  CHECK_EQ(shown.count, 2u);
  CHECK_EQ(shown.paramArray[1].value.address, words.address + 8);
  operations[0].value.address += 1;
  RETURNS(1, cuGraphBatchMemOpNodeSetParams(node, &params));
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  const CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
  RETURNS(0, cuGraphLaunch(executable(graph), stream));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  RETURNS(600, cuStreamQuery(stream));
  const DriverFunction<CUstream, CUdeviceptr, std::uint32_t, unsigned> write_value{
      "cuStreamWriteValue32_v2"};
  RETURNS(0, write_value(other, words.address, 6, 0));
  RETURNS(0, cuStreamSynchronize(stream));
  words.download();
  CHECK_EQ(words.host[1], 1ull << 40);
}

TEST(a_node_of_an_executable_graph_changes_alone) {
  const CUcontext context = use_device();
  const CUmodule module = load_test_module();
  const CUfunction append = function(module, "append");
  Buffer<unsigned> list(16), words(8);
  const CUgraph graph = new_graph();
  const Append one(append, list.address, 1), two(append, list.address, 2);
  const CUgraphNode kernel = one.add_to(graph);
  const CUgraphNode fill = add_fill(graph, words.address, 3, 4, {kernel});
  const CUgraphExec exec = executable(graph);
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, cuGraphLaunch(exec, stream));
  // The launch that is under way keeps what it began with.
  RETURNS(0, cuGraphExecKernelNodeSetParams_v2(exec, kernel, &two.params));
  CUDA_MEMSET_NODE_PARAMS fill_params = {words.address, 0, 4, 4, 8, 1};
  RETURNS(0, cuGraphExecMemsetNodeSetParams(exec, fill, &fill_params, context));
  gate.open = true;
  words.download();
  CHECK_EQ(words.host[0], 3u);
  CHECK_EQ(words.host[7], 0u);
  run(exec);
  list.download();
  words.download();
  CHECK_EQ(list.host[1], 1u);
  CHECK_EQ(list.host[2], 2u);
  CHECK_EQ(words.host[7], 4u);
  // The graph itself has not changed.
  CUDA_KERNEL_NODE_PARAMS params = {};
  RETURNS(0, cuGraphKernelNodeGetParams_v2(kernel, &params));
  CHECK_EQ(*static_cast<unsigned*>(params.kernelParams[1]), 1u);
  // Nodes of no use here: of another graph, or of another kind.
  const CUgraph other = new_graph();
  const CUgraphNode foreign = one.add_to(other);
  RETURNS(1, cuGraphExecKernelNodeSetParams_v2(exec, foreign, &two.params));
  RETURNS(1, cuGraphExecKernelNodeSetParams_v2(exec, fill, &two.params));
  fill_params.height = 2;
  fill_params.pitch = 16;
  fill_params.width = 2;
  RETURNS(1, cuGraphExecMemsetNodeSetParams(exec, fill, &fill_params, context));
}

TEST(a_disabled_node_does_nothing) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph();
  const Append one(append, list.address, 1), two(append, list.address, 2);
  const CUgraphNode first = one.add_to(graph), second = two.add_to(graph, {first});
  const CUgraphNode empty = add_empty(graph, {second});
  const CUgraphExec exec = executable(graph);
  RETURNS(0, cuGraphNodeSetEnabled(exec, first, 0));
  RETURNS(1, cuGraphNodeSetEnabled(exec, empty, 0));
  unsigned enabled = 7;
  RETURNS(0, cuGraphNodeGetEnabled(exec, first, &enabled));
  CHECK_EQ(enabled, 0u);
  RETURNS(0, cuGraphNodeGetEnabled(exec, second, &enabled));
  CHECK_EQ(enabled, 1u);
  run(exec);
  list.download();
  CHECK_EQ(list.host[0], 1u);
  CHECK_EQ(list.host[1], 2u);
  RETURNS(0, cuGraphNodeSetEnabled(exec, first, 1));
  run(exec);
  list.download();
  CHECK_EQ(list.host[0], 3u);
}

TEST(an_executable_graph_takes_over_a_graph_of_its_shape) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(16), words(4);
  const auto chain = [&](std::initializer_list<unsigned> values) {
    const CUgraph graph = new_graph();
    Nodes after;
    for (const unsigned value : values) {
      const Append next(append, list.address, value);
      after = {next.add_to(graph, after)};
    }
    return graph;
  };
  const CUgraph graph = chain({1, 2});
  const CUgraphExec exec = executable(graph);
  CUgraphExecUpdateResultInfo info = {};
  RETURNS(0, cuGraphExecUpdate_v2(exec, chain({3, 4}), &info));
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(exec);
  list.download();
  CHECK_EQ(list.host[1], 3u);
  CHECK_EQ(list.host[2], 4u);

  RETURNS(910, cuGraphExecUpdate_v2(exec, chain({5, 6, 7}), &info));
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CHECK(info.errorNode == nullptr);

  // Two nodes side by side: as many nodes, but more ends.
  const CUgraph wide = new_graph();
  const Append left(append, list.address, 8), right(append, list.address, 9);
  left.add_to(wide);
  const CUgraphNode extra = right.add_to(wide);
  RETURNS(910, cuGraphExecUpdate_v2(exec, wide, &info));
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CHECK(info.errorNode == extra);

  const CUgraph kinds = new_graph();
  const CUgraphNode fill = add_fill(kinds, words.address, 1, 4);
  left.add_to(kinds, {fill});
  RETURNS(910, cuGraphExecUpdate_v2(exec, kinds, &info));
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  CHECK(info.errorNode == fill);

  const CUgraph cooperative = chain({5, 6});
  CUlaunchAttribute::Value value = {};
  value.cooperative = 1;
  const CUgraphNode changed = nodes_of(cooperative)[1];
  RETURNS(0, cuGraphKernelNodeSetAttribute(changed, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  RETURNS(910, cuGraphExecUpdate_v2(exec, cooperative, &info));
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
  CHECK(info.errorNode == changed);

  // What failed has changed nothing.
  run(exec);
  list.download();
  CHECK_EQ(list.host[0], 4u);
  CHECK_EQ(list.host[3], 3u);
  CHECK_EQ(list.host[4], 4u);
}

TEST(a_child_of_an_executable_graph_changes) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph(), inner = new_graph(), next = new_graph(), more = new_graph();
  const Append one(append, list.address, 1), two(append, list.address, 2);
  one.add_to(inner);
  two.add_to(next);
  two.add_to(more);
  two.add_to(more);
  CUgraphNode child = nullptr;
  RETURNS(0, cuGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
  const CUgraphExec exec = executable(graph);
  RETURNS(0, cuGraphExecChildGraphNodeSetParams(exec, child, next));
  RETURNS(1, cuGraphExecChildGraphNodeSetParams(exec, child, more));
  run(exec);
  list.download();
  CHECK_EQ(list.host[0], 1u);
  CHECK_EQ(list.host[1], 2u);
  // A node inside the child.
  CUgraph embedded = nullptr;
  RETURNS(0, cuGraphChildGraphNodeGetGraph(child, &embedded));
  RETURNS(0, cuGraphExecKernelNodeSetParams_v2(exec, nodes_of(embedded)[0], &one.params));
  run(exec);
  list.download();
  CHECK_EQ(list.host[2], 1u);
}

TEST(a_graph_allocates_and_frees) {
  use_device();
  Buffer<unsigned> result(16);
  const CUcontext context = use_device();
  const CUgraph graph = new_graph();
  CUgraphNode alloc = nullptr, copy = nullptr, free = nullptr;
  auto params = alloc_params(64);
  RETURNS(0, cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  CHECK(params.dptr != 0);
  const CUgraphNode fill = add_fill(graph, params.dptr, 11, 16, {alloc});
  CUDA_MEMCPY3D copy_params = {};
  copy_params.srcMemoryType = copy_params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_params.srcDevice = params.dptr;
  copy_params.dstDevice = result.address;
  copy_params.WidthInBytes = 64;
  copy_params.Height = copy_params.Depth = 1;
  RETURNS(0, cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &copy_params, context));
  RETURNS(1, cuGraphAddMemFreeNode(&free, graph, &copy, 1, result.address));
  RETURNS(0, cuGraphAddMemFreeNode(&free, graph, &copy, 1, params.dptr));
  RETURNS(1, cuGraphAddMemFreeNode(&free, graph, &copy, 1, params.dptr));
  CUdeviceptr shown = 0;
  RETURNS(0, cuGraphMemFreeNodeGetParams(free, &shown));
  CHECK_EQ(shown, params.dptr);
  const CUgraphExec exec = executable(graph);
  run(exec);
  run(exec);
  result.download();
  CHECK_EQ(result.host[15], 11u);
  CHECK_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0u);
  CHECK_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 64u);
  std::uint64_t zero = 0;
  RETURNS(0, cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  CHECK_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0u);
  RETURNS(1, cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
  // Such a graph cannot be copied, nor lose a node, nor be instantiated twice.
  CUgraph clone = nullptr;
  CUgraphExec second = nullptr;
  CUgraphNode node = nullptr;
  RETURNS(801, cuGraphClone(&clone, graph));
  RETURNS(801, cuGraphDestroyNode(copy));
  RETURNS(801, cuGraphInstantiateWithFlags(&second, graph, 0));
  RETURNS(801, cuGraphAddChildGraphNode(&node, new_graph(), nullptr, 0, graph));
  RETURNS(0, cuGraphExecDestroy(exec));
  RETURNS(0, cuGraphExecDestroy(executable(graph)));
  RETURNS(0, cuDeviceGraphMemTrim(0));
  RETURNS(101, cuDeviceGraphMemTrim(1));
}

TEST(what_a_graph_leaves_allocated_is_freed_outside) {
  use_device();
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  const CUgraph graph = new_graph();
  CUgraphNode alloc = nullptr;
  auto params = alloc_params(64);
  RETURNS(0, cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  const CUgraphExec exec = executable(graph);
  RETURNS(1, cuMemFreeAsync(params.dptr, stream));
  RETURNS(0, cuGraphLaunch(exec, stream));
  RETURNS(1, cuGraphLaunch(exec, stream));
  RETURNS(0, cuMemsetD32Async(params.dptr, 1, 16, stream));
  RETURNS(0, cuMemFreeAsync(params.dptr, stream));
  RETURNS(1, cuMemFreeAsync(params.dptr, stream));
  RETURNS(0, cuGraphLaunch(exec, stream));
  RETURNS(0, cuMemFree_v2(params.dptr));
  RETURNS(0, cuGraphExecDestroy(exec));
  // Or by the next launch, if so wished.
  const CUgraphExec freeing = executable(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  RETURNS(0, cuGraphLaunch(freeing, stream));
  RETURNS(0, cuGraphLaunch(freeing, stream));
  CHECK_EQ(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 64u);
  // It outlives its graph.
  RETURNS(0, cuGraphExecDestroy(freeing));
  RETURNS(0, cuGraphDestroy(graph));
  RETURNS(0, cuMemsetD32Async(params.dptr, 1, 16, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  RETURNS(0, cuMemFree_v2(params.dptr));
  CHECK_EQ(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0u);
}

// Each allocation counts once, whichever way it becomes a node.
TEST(allocation_nodes_run_out_of_memory, {"CULEBRA_EMU_FAULT=oom:2;oom:4"}) {
  use_device();
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  const CUgraph graph = new_graph();
  CUgraphNode alloc = nullptr;
  auto params = alloc_params(64);
  RETURNS(0, cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  RETURNS(2, cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  CUgraph captured = nullptr;
  CUdeviceptr address = 0;
  RETURNS(0, cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  RETURNS(0, cuMemAllocAsync(&address, 64, stream));
  RETURNS(2, cuMemAllocAsync(&address, 64, stream));
  CHECK_EQ(address, 0u);
  RETURNS(0, cuStreamEndCapture(stream, &captured));
  for (const CUgraph each : {graph, captured}) {
    std::size_t nodes = 0;
    RETURNS(0, cuGraphGetNodes(each, nullptr, &nodes));
    CHECK_EQ(nodes, 1u);
  }
  CHECK_EQ(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 128u);
  RETURNS(0, cuMemAllocAsync(&address, 64, stream));
}

TEST(user_objects_go_with_their_last_reference) {
  use_device();
  static std::atomic<int> destroyed;
  destroyed = 0;
  const auto wait_for = [](int count) {
    for (int i = 0; i < 20'000 && destroyed != count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK_EQ(destroyed.load(), count);
  };
  const CUhostFn count = [](void* by) { destroyed += static_cast<int>(*static_cast<int*>(by)); };
  static int one = 1;
  CUuserObject object = nullptr;
  RETURNS(1, cuUserObjectCreate(&object, &one, count, 1, 0));
  RETURNS(1, cuUserObjectCreate(&object, &one, count, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  RETURNS(0, cuUserObjectCreate(&object, &one, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  RETURNS(0, cuUserObjectRetain(object, 2));
  RETURNS(0, cuUserObjectRelease(object, 3));
  wait_for(1);
  RETURNS(1, cuUserObjectRetain(object, 1));

  RETURNS(0, cuUserObjectCreate(&object, &one, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  const CUgraph graph = new_graph();
  Gate gate;
  add_host(graph, {}, &Gate::wait, &gate);
  RETURNS(0, cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  RETURNS(1, cuGraphReleaseUserObject(graph, object, 2));
  const CUgraphExec exec = executable(graph);
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  RETURNS(0, cuGraphLaunch(exec, stream));
  RETURNS(0, cuGraphDestroy(graph));
  RETURNS(0, cuGraphExecDestroy(exec));
  // The run under way still has it.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_EQ(destroyed.load(), 1);
  gate.open = true;
  RETURNS(0, cuStreamSynchronize(stream));
  wait_for(2);
}

TEST(a_failing_node_ends_the_graph) {
  use_device();
  const CUmodule module = load_test_module();
  const CUfunction store = function(module, "store");
  Buffer<unsigned> words(4);
  const CUgraph graph = new_graph();
  CUdeviceptr nowhere = 0;
  int value = 1;
  void* arguments[] = {&nowhere, &value};
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = store;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  CUgraphNode node = nullptr, record = nullptr;
  RETURNS(0, cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params));
  static std::atomic<bool> ran;
  ran = false;
  add_host(
      graph, {node}, [](void*) { ran = true; }, nullptr);
  CUevent event = nullptr;
  RETURNS(0, cuEventCreate(&event, 0));
  RETURNS(0, cuGraphAddEventRecordNode(&record, graph, &node, 1, event));
  RETURNS(0, cuGraphLaunch(executable(graph), nullptr));
  RETURNS(700, cuStreamSynchronize(nullptr));
  CHECK(!ran);
}

TEST(a_graph_can_be_drawn) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  const CUgraph graph = new_graph();
  const Append one(append, list.address, 1);
  const CUgraphNode kernel = one.add_to(graph);
  add_empty(graph, {kernel});
  const std::string path = std::filesystem::temp_directory_path() /
                           ("culebra-test-graph-" + std::to_string(getpid()) + ".dot");
  RETURNS(0, cuGraphDebugDotPrint(graph, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  const std::string text = read_file(path.c_str());
  std::remove(path.c_str());
  for (const char* part : {"digraph", "append", "grid 1,1,1", "empty", "->"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  RETURNS(304, cuGraphDebugDotPrint(graph, "/nowhere/at/all.dot", 0));
}

TEST(
    graphs_that_are_left_are_reported, {"CULEBRA_EMU_REPORT=1"},
    "1 graph, 1 executable graph\nculebra-emulator:   context of device 0: made by cuDevicePrimaryCtxRetain #1\nculebra-emulator:   graph 0x") {
  use_device();
  const CUgraph graph = new_graph(), inner = new_graph();
  CUgraphNode child = nullptr;
  RETURNS(0, cuGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
  RETURNS(0, cuGraphDestroy(inner));
  executable(graph);
}

TEST(unmodelled_nodes_say_so) {
  const CUcontext context = use_device();
  const CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  RETURNS(801, cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &params));
  std::uint64_t handle = 0;
  RETURNS(801, cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
  params.type = static_cast<CUgraphNodeType>(99);
  RETURNS(1, cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &params));
  RETURNS(1, cuGraphAddNode_v2(&node, nullptr, nullptr, nullptr, 0, &params));
}
