// Stream capture: what becomes a node, and every rule with its code.
#include <algorithm>
#include <cstring>

#include "graph_driver.h"
#include "streams.h"

using namespace culebra_test;

namespace {

constexpr CUstreamCaptureMode kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
constexpr CUstreamCaptureMode kThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr CUstreamCaptureMode kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

CUevent new_event() {
  CUevent event = nullptr;
  RETURNS(0, cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  return event;
}

CUstreamCaptureStatus status_of(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  RETURNS(0, cuStreamIsCapturing(stream, &status));
  return status;
}

std::size_t node_count(CUgraph graph) {
  std::size_t count = 0;
  RETURNS(0, cuGraphGetNodes(graph, nullptr, &count));
  return count;
}

std::size_t edge_count(CUgraph graph) {
  std::size_t count = 0;
  RETURNS(0, cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

// A capture in a new stream, and what some call and the end of the capture return in it.
struct Rule {
  CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  CUgraph graph = nullptr;

  explicit Rule(CUstreamCaptureMode mode = kGlobal) {
    RETURNS(0, cuStreamBeginCapture_v2(stream, mode));
  }
  // Afterwards the stream must be as good as new.
  void ends_with(int code) {
    RETURNS(code, cuStreamEndCapture(stream, &graph));
    CHECK_EQ(graph != nullptr, code == 0);
    CHECK_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    RETURNS(0, cuStreamSynchronize(stream));
  }
};

}  // namespace

TEST(captured_work_runs_when_the_graph_does) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(16);
  RETURNS(0, cuStreamBeginCapture_v2(stream, kGlobal));
  CHECK_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  RETURNS(0, cuMemsetD32Async(list.address, 0, 16, stream));
  RETURNS(0, launch(append, 1, 1, 0, stream, list.address, 7u));
  RETURNS(0, launch(append, 1, 1, 0, stream, list.address, 8u));
  CUgraph graph = nullptr;
  RETURNS(0, cuStreamEndCapture(stream, &graph));
  CHECK_EQ(node_count(graph), 3u);
  CHECK_EQ(edge_count(graph), 2u);
  list.download();
  CHECK_EQ(list.host[0], 0u);
  CUgraphExec executable = nullptr;
  RETURNS(0, cuGraphInstantiateWithFlags(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) RETURNS(0, cuGraphLaunch(executable, stream));
  list.download();
  CHECK_EQ(list.host[0], 2u);
  CHECK_EQ(list.host[1], 7u);
  CHECK_EQ(list.host[2], 8u);
  RETURNS(0, cuGraphExecDestroy(executable));
  RETURNS(0, cuGraphDestroy(graph));
}

TEST(every_kind_of_stream_work_is_captured) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  Buffer<unsigned> a(64), b(64);
  std::vector<unsigned> pageable(64, 9);
  Rule rule;
  CUdeviceptr allocated = 0;
  RETURNS(0, launch(nothing, 1, 1, 0, rule.stream));
  RETURNS(0, cuMemcpyDtoDAsync_v2(a.address, b.address, 64, rule.stream));
  RETURNS(0, cuMemcpyHtoDAsync_v2(a.address, pageable.data(), 64, rule.stream));
  RETURNS(0, cuMemcpyDtoHAsync_v2(pageable.data(), b.address, 64, rule.stream));
  RETURNS(0, cuMemsetD32Async(a.address, 1, 4, rule.stream));
  RETURNS(0, cuLaunchHostFunc(
                 rule.stream, [](void*) {}, nullptr));
  RETURNS(0, cuMemAllocAsync(&allocated, 256, rule.stream));
  CHECK(allocated != 0);
  RETURNS(0, cuMemsetD32Async(allocated, 5, 64, rule.stream));
  RETURNS(0, cuMemFreeAsync(allocated, rule.stream));
  RETURNS(0, cuEventRecordWithFlags(new_event(), rule.stream, CU_EVENT_RECORD_EXTERNAL));
  RETURNS(0, cuStreamWaitEvent(rule.stream, new_event(), CU_EVENT_WAIT_EXTERNAL));
  rule.ends_with(0);
  std::size_t count = 11;
  CUgraphNode nodes[11] = {};
  RETURNS(0, cuGraphGetNodes(rule.graph, nodes, &count));
  CHECK_EQ(count, 11u);
  const CUgraphNodeType expected[] = {
      CU_GRAPH_NODE_TYPE_KERNEL,       CU_GRAPH_NODE_TYPE_MEMCPY,    CU_GRAPH_NODE_TYPE_MEMCPY,
      CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMSET,    CU_GRAPH_NODE_TYPE_HOST,
      CU_GRAPH_NODE_TYPE_MEM_ALLOC,    CU_GRAPH_NODE_TYPE_MEMSET,    CU_GRAPH_NODE_TYPE_MEM_FREE,
      CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT};
  for (int i = 0; i < 11; ++i) {
    CUgraphNodeType type;
    RETURNS(0, cuGraphNodeGetType(nodes[i], &type));
    CHECK_EQ(type, expected[i]);
  }
  // The host pointer is captured, not what it pointed to.
  CUgraphExec executable = nullptr;
  RETURNS(0, cuGraphInstantiateWithFlags(&executable, rule.graph, 0));
  std::fill(pageable.begin(), pageable.end(), 4u);
  RETURNS(0, cuGraphLaunch(executable, rule.stream));
  RETURNS(0, cuStreamSynchronize(rule.stream));
  a.download();
  CHECK_EQ(a.host[0], 1u);
  CHECK_EQ(a.host[4], 4u);
}

TEST(a_captured_kernel_keeps_its_priority) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  RETURNS(0, cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -3));
  RETURNS(0, cuStreamBeginCapture_v2(stream, kGlobal));
  RETURNS(0, launch(nothing, 1, 1, 0, stream));
  RETURNS(0, cuStreamEndCapture(stream, &graph));
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  RETURNS(0, cuGraphGetNodes(graph, &node, &count));
  CUlaunchAttribute::Value value = {};
  RETURNS(0, cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  int priority = 0;
  std::memcpy(&priority, value.bytes, sizeof priority);
  CHECK_EQ(priority, -3);
}

TEST(an_event_forks_and_joins_a_capture) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream first = new_stream(CU_STREAM_NON_BLOCKING);
  const CUstream second = new_stream(CU_STREAM_NON_BLOCKING);
  const CUevent fork = new_event(), join = new_event();
  Buffer<unsigned> one(8), two(8);
  RETURNS(0, cuStreamBeginCapture_v2(first, kGlobal));
  RETURNS(0, launch(append, 1, 1, 0, first, one.address, 1u));
  RETURNS(0, cuEventRecord(fork, first));
  RETURNS(0, cuStreamWaitEvent(second, fork, 0));
  CHECK_EQ(status_of(second), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  RETURNS(0, launch(append, 1, 1, 0, second, two.address, 2u));
  RETURNS(0, launch(append, 1, 1, 0, first, one.address, 3u));
  RETURNS(0, cuEventRecord(join, second));
  RETURNS(0, cuStreamWaitEvent(first, join, 0));
  RETURNS(0, launch(append, 1, 1, 0, first, one.address, 4u));
  std::uint64_t ids[2] = {};
  CUgraph graphs[2] = {};
  CUstreamCaptureStatus status;
  RETURNS(
      0, cuStreamGetCaptureInfo_v3(first, &status, &ids[0], &graphs[0], nullptr, nullptr, nullptr));
  RETURNS(0, cuStreamGetCaptureInfo_v3(second, &status, &ids[1], &graphs[1], nullptr, nullptr,
                                       nullptr));
  CHECK_EQ(ids[0], ids[1]);
  CHECK(graphs[0] == graphs[1]);
  CUgraph graph = nullptr;
  RETURNS(0, cuStreamEndCapture(first, &graph));
  CHECK_EQ(status_of(second), CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK_EQ(node_count(graph), 4u);
  CHECK_EQ(edge_count(graph), 4u);
  CUgraphExec executable = nullptr;
  RETURNS(0, cuGraphInstantiateWithFlags(&executable, graph, 0));
  RETURNS(0, cuGraphLaunch(executable, first));
  one.download();
  two.download();
  CHECK_EQ(one.host[0], 3u);
  CHECK_EQ(one.host[3], 4u);
  CHECK_EQ(two.host[1], 2u);
}

TEST(unsafe_calls_break_a_capture) {
  use_device();
  CUdeviceptr address = 0;
  void* host = nullptr;
  const CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> buffer(4);
  for (const CUstreamCaptureMode mode : {kGlobal, kThreadLocal}) {
    const auto breaks = [&](auto call) {
      Rule rule(mode);
      RETURNS(900, call(rule.stream));
      CHECK_EQ(status_of(rule.stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
      RETURNS(901, cuMemsetD32Async(buffer.address, 0, 4, rule.stream));
      rule.ends_with(901);
    };
    breaks([&](CUstream) { return cuMemAlloc_v2(&address, 64); });
    breaks([&](CUstream) { return cuMemHostAlloc(&host, 64, 0); });
    breaks([&](CUstream) { return cuMemFree_v2(buffer.address); });
    breaks([&](CUstream) { return cuCtxSynchronize(); });
    breaks([&](CUstream stream) { return cuStreamSynchronize(stream); });
    breaks([&](CUstream stream) { return cuStreamQuery(stream); });
    breaks([&](CUstream) { return cuStreamSynchronize(other); });
  }
}

TEST(a_relaxed_capture_allows_unsafe_calls) {
  use_device();
  CUdeviceptr address = 0;
  const CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
  {
    Rule rule(kRelaxed);
    RETURNS(0, cuMemAlloc_v2(&address, 64));
    RETURNS(0, cuStreamSynchronize(other));
    RETURNS(0, cuMemFree_v2(address));
    rule.ends_with(0);
  }
  // But nobody can wait for the captured stream itself.
  Rule rule(kRelaxed);
  RETURNS(900, cuStreamSynchronize(rule.stream));
  rule.ends_with(901);
}

TEST(a_thread_can_relax_itself) {
  use_device();
  CUdeviceptr address = 0;
  Rule rule;
  CUstreamCaptureMode mode = kRelaxed;
  RETURNS(0, cuThreadExchangeStreamCaptureMode(&mode));
  CHECK_EQ(mode, kGlobal);
  RETURNS(0, cuMemAlloc_v2(&address, 64));
  RETURNS(0, cuThreadExchangeStreamCaptureMode(&mode));
  CHECK_EQ(mode, kRelaxed);
  rule.ends_with(0);
  mode = static_cast<CUstreamCaptureMode>(3);
  RETURNS(1, cuThreadExchangeStreamCaptureMode(&mode));
  RETURNS(1, cuThreadExchangeStreamCaptureMode(nullptr));
}

TEST(other_threads_are_bound_by_a_global_capture_only) {
  const CUcontext context = use_device();
  const auto alloc_elsewhere = [&](CUstreamCaptureMode own_mode) {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      CUdeviceptr address = 0;
      RETURNS(0, cuCtxSetCurrent(context));
      RETURNS(0, cuThreadExchangeStreamCaptureMode(&own_mode));
      result = cuMemAlloc_v2(&address, 64);
    }).join();
    return result;
  };
  {
    Rule rule(kGlobal);
    RETURNS(900, alloc_elsewhere(kGlobal));
    rule.ends_with(901);
  }
  {
    Rule rule(kGlobal);
    RETURNS(0, alloc_elsewhere(kThreadLocal));
    rule.ends_with(0);
  }
  Rule rule(kThreadLocal);
  RETURNS(0, alloc_elsewhere(kGlobal));
  rule.ends_with(0);
}

TEST(a_capture_ends_in_its_thread_unless_relaxed) {
  const CUcontext context = use_device();
  const auto end_elsewhere = [&](CUstream stream, CUgraph* graph) {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      RETURNS(0, cuCtxSetCurrent(context));
      result = cuStreamEndCapture(stream, graph);
    }).join();
    return result;
  };
  {
    Rule rule(kThreadLocal);
    RETURNS(908, end_elsewhere(rule.stream, &rule.graph));
    rule.ends_with(0);
  }
  Rule rule(kRelaxed);
  RETURNS(0, end_elsewhere(rule.stream, &rule.graph));
  CHECK(rule.graph != nullptr);
}

TEST(an_end_in_a_forked_stream_ruins_the_capture) {
  use_device();
  const CUevent event = new_event();
  const CUstream forked = new_stream(CU_STREAM_NON_BLOCKING);
  Rule rule;
  RETURNS(0, cuEventRecord(event, rule.stream));
  RETURNS(0, cuStreamWaitEvent(forked, event, 0));
  CUgraph graph = nullptr;
  RETURNS(903, cuStreamEndCapture(forked, &graph));
  CHECK(graph == nullptr);
  CHECK_EQ(status_of(forked), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  rule.ends_with(901);
  CHECK_EQ(status_of(forked), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST(captured_events_can_only_be_waited_for) {
  use_device();
  const CUevent event = new_event();
  {
    Rule rule;
    RETURNS(0, cuEventRecord(event, rule.stream));
    RETURNS(907, cuEventQuery(event));
    rule.ends_with(901);
  }
  {
    Rule rule(kRelaxed);
    RETURNS(0, cuEventRecord(event, rule.stream));
    RETURNS(907, cuEventSynchronize(event));
    rule.ends_with(901);
  }
  // After the capture there is nothing left that it could be a point of.
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  RETURNS(1, cuEventQuery(event));
  RETURNS(1, cuEventSynchronize(event));
  RETURNS(1, cuStreamWaitEvent(stream, event, 0));
  // Recording it again makes it an ordinary event.
  RETURNS(0, cuEventRecord(event, stream));
  RETURNS(0, cuEventSynchronize(event));
  RETURNS(0, cuEventQuery(event));
}

TEST(a_capture_depends_on_nothing_outside) {
  use_device();
  const CUevent event = new_event();
  const CUstream outside = new_stream(CU_STREAM_NON_BLOCKING);
  RETURNS(0, cuEventRecord(event, outside));
  {
    Rule rule;
    RETURNS(905, cuStreamWaitEvent(rule.stream, event, 0));
    rule.ends_with(901);
  }
  // An external wait is a node instead.
  Rule rule;
  RETURNS(0, cuStreamWaitEvent(rule.stream, event, CU_EVENT_WAIT_EXTERNAL));
  rule.ends_with(0);
  RETURNS(401, cuStreamWaitEvent(outside, event, CU_EVENT_WAIT_EXTERNAL));
  RETURNS(401, cuEventRecordWithFlags(event, outside, CU_EVENT_RECORD_EXTERNAL));
  RETURNS(1, cuStreamWaitEvent(outside, event, 2));
  RETURNS(1, cuEventRecordWithFlags(event, outside, 2));
}

TEST(two_captures_cannot_be_merged) {
  use_device();
  const CUevent event = new_event();
  Rule one(kRelaxed), two(kRelaxed);
  RETURNS(0, cuEventRecord(event, one.stream));
  RETURNS(902, cuStreamWaitEvent(two.stream, event, 0));
  one.ends_with(901);
  two.ends_with(901);
}

TEST(work_of_a_forked_stream_must_be_joined) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  const CUevent event = new_event();
  const CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
  {
    Rule rule;
    RETURNS(0, launch(nothing, 1, 1, 0, rule.stream));
    RETURNS(0, cuEventRecord(event, rule.stream));
    RETURNS(0, cuStreamWaitEvent(other, event, 0));
    RETURNS(0, launch(nothing, 1, 1, 0, other));
    rule.ends_with(904);
    CHECK_EQ(status_of(other), CU_STREAM_CAPTURE_STATUS_NONE);
  }
  // A fork that did nothing needs no join.
  Rule rule;
  RETURNS(0, launch(nothing, 1, 1, 0, rule.stream));
  RETURNS(0, cuEventRecord(event, rule.stream));
  RETURNS(0, cuStreamWaitEvent(other, event, 0));
  rule.ends_with(0);
}

TEST(the_default_stream_upsets_captures_of_blocking_streams) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  const CUstream stream = new_stream(CU_STREAM_DEFAULT);
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status;
  RETURNS(0, cuStreamBeginCapture_v2(stream, kRelaxed));
  RETURNS(906, cuStreamIsCapturing(nullptr, &status));
  CHECK_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  RETURNS(906, launch(nothing, 1, 1, 0, nullptr));
  CHECK_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  RETURNS(901, cuStreamEndCapture(stream, &graph));
  RETURNS(0, launch(nothing, 1, 1, 0, nullptr));
  Rule rule;
  RETURNS(0, launch(nothing, 1, 1, 0, nullptr));
  CHECK_EQ(status_of(nullptr), CU_STREAM_CAPTURE_STATUS_NONE);
  rule.ends_with(0);
}

TEST(wrong_states_leave_a_capture_alone) {
  use_device();
  const CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
  CUgraph graph = nullptr;
  Rule rule;
  RETURNS(401, cuStreamBeginCapture_v2(rule.stream, kGlobal));
  RETURNS(401, cuStreamEndCapture(other, &graph));
  RETURNS(1, cuStreamEndCapture(rule.stream, nullptr));
  RETURNS(1, cuStreamBeginCapture_v2(other, static_cast<CUstreamCaptureMode>(3)));
  RETURNS(401, cuStreamUpdateCaptureDependencies_v2(other, nullptr, nullptr, 0, 0));
  RETURNS(1, cuStreamIsCapturing(other, nullptr));
  rule.ends_with(0);
  RETURNS(401, cuStreamEndCapture(rule.stream, &graph));
}

TEST(what_is_not_of_a_stream_works_during_capture) {
  use_device();
  Buffer<unsigned> buffer(4);
  const CUmodule loaded = load_test_module();
  const CUfunction nothing = function(loaded, "nothing");
  Rule rule;
  const CUmodule module = load_test_module();
  function(module, "append");
  new_stream(CU_STREAM_NON_BLOCKING);
  new_event();
  int blocks = 0;
  RETURNS(0, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 64, 0));
  RETURNS(0, cuFuncGetAttribute(&blocks, CU_FUNC_ATTRIBUTE_NUM_REGS, nothing));
  RETURNS(0, cuMemcpyHtoD_v2(buffer.address, buffer.host.data(), 16));
  RETURNS(0, cuMemsetD32_v2(buffer.address, 0, 4));
  rule.ends_with(0);
  CHECK_EQ(node_count(rule.graph), 0u);
}

TEST(a_capture_goes_on_in_a_graph) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  CUgraph graph = nullptr, ended = nullptr;
  CUgraphNode root = nullptr;
  RETURNS(0, cuGraphCreate(&graph, 0));
  RETURNS(0, cuGraphAddEmptyNode(&root, graph, nullptr, 0));
  RETURNS(0, cuStreamBeginCaptureToGraph(stream, graph, &root, nullptr, 1, kGlobal));
  RETURNS(1, cuGraphDestroy(graph));
  RETURNS(0, launch(nothing, 1, 1, 0, stream));
  CUstreamCaptureStatus status;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* data = nullptr;
  std::size_t count = 0;
  RETURNS(0, cuStreamGetCaptureInfo_v3(stream, &status, nullptr, &ended, &nodes, &data, &count));
  CHECK(ended == graph);
  CHECK_EQ(count, 1u);
  CUgraphNode own = nullptr;
  // A node made by hand, which the next captured one then follows.
  RETURNS(0, cuGraphAddEmptyNode(&own, graph, nodes, count));
  RETURNS(0, cuStreamUpdateCaptureDependencies_v2(stream, &own, nullptr, 1,
                                                  CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  RETURNS(0, launch(nothing, 1, 1, 0, stream));
  RETURNS(0, cuStreamEndCapture(stream, &ended));
  CHECK(ended == graph);
  CHECK_EQ(node_count(graph), 4u);
  CHECK_EQ(edge_count(graph), 3u);
  // What fails leaves the user's graph alone.
  CUdeviceptr address;
  RETURNS(0, cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, kGlobal));
  RETURNS(900, cuMemAlloc_v2(&address, 64));
  RETURNS(901, cuStreamEndCapture(stream, &ended));
  RETURNS(0, cuGraphDestroy(graph));
}

TEST(a_graph_launched_into_a_capture_is_a_child) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  Buffer<unsigned> list(8);
  Rule inner;
  RETURNS(0, launch(append, 1, 1, 0, inner.stream, list.address, 3u));
  inner.ends_with(0);
  CUgraphExec executable = nullptr;
  RETURNS(0, cuGraphInstantiateWithFlags(&executable, inner.graph, 0));
  Rule outer;
  RETURNS(0, cuGraphLaunch(executable, outer.stream));
  RETURNS(0, cuGraphLaunch(executable, outer.stream));
  outer.ends_with(0);
  CHECK_EQ(node_count(outer.graph), 2u);
  CUgraphExec both = nullptr;
  RETURNS(0, cuGraphInstantiateWithFlags(&both, outer.graph, 0));
  RETURNS(0, cuGraphExecDestroy(executable));
  RETURNS(0, cuGraphLaunch(both, outer.stream));
  list.download();
  CHECK_EQ(list.host[0], 2u);
}

TEST(a_capture_ends_with_its_context) {
  use_device();
  RETURNS(0, cuStreamBeginCapture_v2(new_stream(CU_STREAM_NON_BLOCKING), kGlobal));
  RETURNS(0, cuDevicePrimaryCtxReset_v2(0));
  use_device();
  CUdeviceptr address = 0;
  RETURNS(0, cuMemAlloc_v2(&address, 64));
}

TEST(what_is_no_work_of_a_graph_breaks_a_capture) {
  use_device();
  Buffer<unsigned> buffer(4);
  const DriverFunction<CUstream, void (*)(CUstream, CUresult, void*), void*, unsigned> add_callback{
      "cuStreamAddCallback"};
  const DriverFunction<CUdeviceptr*, std::size_t, unsigned> alloc_managed{"cuMemAllocManaged"};
  const DriverFunction<CUdeviceptr, std::size_t, CUmemLocation, unsigned, CUstream> prefetch{
      "cuMemPrefetchAsync_v2"};
  const DriverFunction<CUstream, CUdeviceptr, std::uint32_t, unsigned> write{
      "cuStreamWriteValue32_v2"};
  CUdeviceptr managed = 0;
  RETURNS(0, alloc_managed(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  {
    Rule rule(kRelaxed);
    RETURNS(900, add_callback(
                     rule.stream, [](CUstream, CUresult, void*) {}, nullptr, 0));
    rule.ends_with(901);
  }
  {
    Rule rule(kRelaxed);
    RETURNS(900, prefetch(managed, 4096, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, rule.stream));
    rule.ends_with(901);
  }
  Rule rule;
  RETURNS(0, write(rule.stream, buffer.address, 1, 0));
  rule.ends_with(0);
  CHECK_EQ(node_count(rule.graph), 1u);
}

TEST(a_failed_capture_leaves_nothing, {"CULEBRA_EMU_REPORT=1"}, "nothing is left") {
  use_device();
  CUgraph graph = nullptr;
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  RETURNS(0, cuStreamBeginCapture_v2(stream, kGlobal));
  RETURNS(900, cuStreamQuery(stream));
  RETURNS(901, cuStreamEndCapture(stream, &graph));
  RETURNS(0, cuStreamBeginCapture_v2(stream, kGlobal));
  RETURNS(0, cuStreamDestroy_v2(stream));
  RETURNS(0, cuDevicePrimaryCtxRelease_v2(0));
}
