#include "model/capture.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "model/context.h"

namespace culebra_emu {
namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

struct Captures {
  std::atomic<std::size_t> count = 0;
  std::vector<std::shared_ptr<Capture>> all;
  std::map<const Stream*, std::shared_ptr<Capture>> by_stream;
};

// Never destroyed: see objects().
Captures& captures() {
  static Captures& instance = *new Captures;
  return instance;
}

std::uint64_t next_capture_id() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1);
}

void add_edges(std::vector<Edge>& edges, const std::vector<Edge>& more) {
  for (const Edge& edge : more) {
    if (std::find(edges.begin(), edges.end(), edge) == edges.end()) edges.push_back(edge);
  }
}

// A captured kernel keeps its stream's priority, since the graph may be launched anywhere.
void keep_priority(const Stream& stream, Work& work) {
  auto* kernel = std::get_if<KernelWork>(&work);
  const int priority = stream.priority();
  if (kernel == nullptr || priority == 0) return;
  for (const CUlaunchAttribute& attribute : kernel->attributes) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) return;
  }
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  std::memcpy(attribute.value.bytes, &priority, sizeof priority);
  kernel->attributes.push_back(attribute);
}

// Its streams are free again.
void end(const Capture& capture) {
  Captures& all = captures();
  std::erase_if(all.by_stream, [&](const auto& entry) { return entry.second.get() == &capture; });
  std::erase_if(all.all, [&](const auto& other) { return other.get() == &capture; });
  all.count = all.all.size();
  capture.graph()->set_capturing(false);
}

// The capture that work of a default stream would disturb.
Capture* implicitly_ordered_capture(const Stream& stream) {
  if (stream.kind() != Stream::Kind::kLegacyDefault) return nullptr;
  for (const auto& [other, capture] : captures().by_stream) {
    if (other->kind() == Stream::Kind::kBlocking && &other->context() == &stream.context()) {
      return capture.get();
    }
  }
  return nullptr;
}

}  // namespace

Capture::Capture(StreamPtr origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                 bool owns_graph)
    : id_(next_capture_id()),
      origin_(std::move(origin)),
      mode_(mode),
      thread_(std::this_thread::get_id()),
      graph_(std::move(graph)),
      owns_graph_(owns_graph) {}

CUresult Capture::add(const Stream& stream, Work work, GraphNode** node) {
  if (!valid_) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  keep_priority(stream, work);
  Participant& part = participant(stream);
  GraphNode* added = graph_->add(std::move(work), &stream.context(), part.dependencies);
  if (added == nullptr) {
    invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  part.dependencies = {{added, {}}};
  if (node != nullptr) *node = added;
  return CUDA_SUCCESS;
}

void Capture::record(const Stream& stream, Event& event) {
  event.set_captured(std::make_shared<CapturedPoint>(
      CapturedPoint{weak_from_this(), participant(stream).dependencies}));
}

void Capture::join(const StreamPtr& stream, const std::vector<Edge>& dependencies) {
  Participant& part = participants_[stream.get()];
  part.stream = stream;
  add_edges(part.dependencies, dependencies);
  captures().by_stream[stream.get()] = shared_from_this();
}

bool Capture::joined() const {
  std::unordered_set<const GraphNode*> before;
  std::vector<const GraphNode*> open;
  for (const Edge& edge : participants_.at(origin_.get()).dependencies) open.push_back(edge.node);
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!before.insert(node).second) continue;
    for (const Edge& edge : node->dependencies()) open.push_back(edge.node);
  }
  return std::all_of(participants_.begin(), participants_.end(), [&](const auto& entry) {
    const auto& edges = entry.second.dependencies;
    return std::all_of(edges.begin(), edges.end(),
                       [&](const Edge& edge) { return before.contains(edge.node); });
  });
}

bool any_capture() { return captures().count.load(std::memory_order_acquire) != 0; }

std::shared_ptr<Capture> capture_of(const Stream& stream) {
  const auto found = captures().by_stream.find(&stream);
  return found == captures().by_stream.end() ? nullptr : found->second;
}

bool orders_a_capture(const Stream& stream) {
  return implicitly_ordered_capture(stream) != nullptr;
}

CUresult find_target(const Stream& stream, std::shared_ptr<Capture>& capture) {
  if (Capture* disturbed = implicitly_ordered_capture(stream)) {
    disturbed->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  capture = capture_of(stream);
  return capture != nullptr && !capture->valid() ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                                 : CUDA_SUCCESS;
}

CUresult refuse_in_capture(const Stream& stream) {
  if (!any_capture()) return CUDA_SUCCESS;
  const std::lock_guard lock(graphs_mutex());
  std::shared_ptr<Capture> capture;
  const CUresult result = find_target(stream, capture);
  if (capture == nullptr) return result;
  capture->invalidate();
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult refuse_captured(const Event& event) {
  const auto point = event.captured();
  if (point == nullptr) return CUDA_SUCCESS;
  const std::lock_guard lock(graphs_mutex());
  const auto capture = point->capture.lock();
  if (capture == nullptr) return CUDA_ERROR_INVALID_VALUE;
  capture->invalidate();
  return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult refuse_unsafe_call() {
  if (!any_capture() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const std::lock_guard lock(graphs_mutex());
  CUresult result = CUDA_SUCCESS;
  for (const auto& capture : captures().all) {
    const bool own = capture->thread() == std::this_thread::get_id();
    const bool forbids = own ? capture->mode() != CU_STREAM_CAPTURE_MODE_RELAXED
                             : capture->mode() == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                   thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!forbids) continue;
    capture->invalidate();
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUstreamCaptureMode exchange_thread_mode(CUstreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

CUresult begin_capture(const StreamPtr& stream, CUstreamCaptureMode mode,
                       std::shared_ptr<Graph> into, std::vector<Edge> dependencies) {
  if (stream->kind() == Stream::Kind::kLegacyDefault) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (capture_of(*stream) != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  const bool owns_graph = into == nullptr;
  if (owns_graph) into = Graph::create();
  into->set_capturing(true);
  const auto capture = std::make_shared<Capture>(stream, mode, std::move(into), owns_graph);
  captures().all.push_back(capture);
  captures().count = captures().all.size();
  capture->join(stream, dependencies);
  return CUDA_SUCCESS;
}

CUresult end_capture(const Stream& stream, std::shared_ptr<Graph>& graph) {
  const std::shared_ptr<Capture> capture = capture_of(stream);
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (&capture->origin() != &stream) {
    capture->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (capture->mode() != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread() != std::this_thread::get_id()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  end(*capture);
  const CUresult result = !capture->valid()    ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                          : !capture->joined() ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                               : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) {
    graph = capture->graph();
  } else if (capture->owns_graph_) {
    capture->graph()->forget();
  }
  return result;
}

CUresult wait_in_capture(const StreamPtr& stream, const Event& event) {
  const std::shared_ptr<Capture> own = capture_of(*stream);
  const auto point = event.captured();
  if (point == nullptr) {
    if (own == nullptr || event.record() == nullptr) return CUDA_SUCCESS;
    own->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  const std::shared_ptr<Capture> other = point->capture.lock();
  if (other == nullptr) {
    if (own != nullptr) own->invalidate();
    return own == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (own != nullptr && own != other) {
    own->invalidate();
    other->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (!other->valid()) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->kind() == Stream::Kind::kLegacyDefault) {
    other->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  other->join(stream, point->dependencies);
  return CUDA_SUCCESS;
}

void abandon_capture(const Stream& stream) {
  const std::shared_ptr<Capture> capture = capture_of(stream);
  if (capture == nullptr || &capture->origin() != &stream) return;
  end(*capture);
  if (capture->owns_graph_) capture->graph()->forget();
}

void abandon_captures_of(const Context& context) {
  const std::lock_guard lock(graphs_mutex());
  const std::vector<std::shared_ptr<Capture>> all = captures().all;
  for (const auto& capture : all) {
    if (&capture->origin().context() == &context) abandon_capture(capture->origin());
  }
}

}  // namespace culebra_emu
