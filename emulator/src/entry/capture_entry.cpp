// Stream capture: beginning, ending and looking at it. What a captured stream does with work is in
// submit.cpp.
#include "entry/graph_call.h"
#include "model/capture.h"

using namespace culebra_emu;

namespace {

// Calls body(stream) under the lock of graphs.
template <class Body>
CUresult with_stream(const char* symbol, CUstream handle, Body body) {
  return graph_call(symbol, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    return stream == nullptr ? result : body(stream);
  });
}

bool is_known(CUstreamCaptureMode mode) {
  return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

// What queries of the capture see; a default stream that a captured one is ordered with cannot be
// asked, but that does no harm to the capture.
CUresult look(const Stream& stream, std::shared_ptr<Capture>& capture,
              CUstreamCaptureStatus& status) {
  if (orders_a_capture(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  capture = capture_of(stream);
  status = capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
           : capture->valid() ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                              : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_SUCCESS;
}

bool are_nodes_of(const Graph& graph, const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    if (!graph.has(edge.node)) return false;
  }
  return true;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  return with_stream("cuStreamBeginCapture_v2", handle, [&](const StreamPtr& stream) {
    if (!is_known(mode)) return CUDA_ERROR_INVALID_VALUE;
    return begin_capture(stream, mode, nullptr, {});
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle,
                                                        const CUgraphNode* dependencies,
                                                        const CUgraphEdgeData* data,
                                                        std::size_t count,
                                                        CUstreamCaptureMode mode) {
  return with_stream("cuStreamBeginCaptureToGraph", handle, [&](const StreamPtr& stream) {
    const std::shared_ptr<Graph> graph = Graph::find(graph_handle);
    std::vector<Edge> edges;
    if (graph == nullptr || graph->capturing() || !is_known(mode) ||
        !gather_edges(dependencies, data, count, edges) || !are_nodes_of(*graph, edges)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return begin_capture(stream, mode, graph, std::move(edges));
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
  return with_stream("cuStreamEndCapture", handle, [&](const StreamPtr& stream) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Graph> graph;
    const CUresult result = end_capture(*stream, graph);
    *out = graph.get();
    return result;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return with_stream("cuStreamIsCapturing", handle, [&](const StreamPtr& stream) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Capture> capture;
    return look(*stream, capture, *status);
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamGetCaptureInfo_v3(
    CUstream handle, CUstreamCaptureStatus* status, std::uint64_t* id, CUgraph* graph,
    const CUgraphNode** nodes, const CUgraphEdgeData** data, std::size_t* count) {
  return with_stream("cuStreamGetCaptureInfo_v3", handle, [&](const StreamPtr& stream) {
    if (status == nullptr || (data != nullptr && nodes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Capture> capture;
    const CUresult result = look(*stream, capture, *status);
    if (result != CUDA_SUCCESS || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return result;
    Capture::Participant& part = capture->participant(*stream);
    part.shown_nodes.clear();
    part.shown_data.clear();
    bool plain = true;
    for (const Edge& edge : part.dependencies) {
      part.shown_nodes.push_back(edge.node);
      part.shown_data.push_back(edge.data);
      plain = plain && is_plain(edge.data);
    }
    if (nodes != nullptr && data == nullptr && !plain) return CUDA_ERROR_LOSSY_QUERY;
    if (id != nullptr) *id = capture->id();
    if (graph != nullptr) *graph = capture->graph().get();
    if (nodes != nullptr) *nodes = part.shown_nodes.data();
    if (data != nullptr) *data = part.shown_data.data();
    if (count != nullptr) *count = part.shown_nodes.size();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle,
                                                                 CUgraphNode* dependencies,
                                                                 const CUgraphEdgeData* data,
                                                                 std::size_t count,
                                                                 unsigned flags) {
  return with_stream("cuStreamUpdateCaptureDependencies_v2", handle, [&](const StreamPtr& stream) {
    const std::shared_ptr<Capture> capture = capture_of(*stream);
    if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    if (!capture->valid()) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    std::vector<Edge> edges;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
        !gather_edges(dependencies, data, count, edges) ||
        !are_nodes_of(*capture->graph(), edges)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
      capture->participant(*stream).dependencies.clear();
    }
    capture->join(stream, edges);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call("cuThreadExchangeStreamCaptureMode", kNeedsInit, [&] {
    if (mode == nullptr || !is_known(*mode)) return CUDA_ERROR_INVALID_VALUE;
    *mode = exchange_thread_mode(*mode);
    return CUDA_SUCCESS;
  });
}
