// Stream capture: work given to a stream becomes nodes of a graph instead of running.
//
// Everything here is under graphs_mutex() unless it says otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "abi_graph.h"
#include "model/event.h"
#include "model/graph.h"
#include "model/stream.h"

namespace culebra_emu {

// Where an event was recorded.
struct CapturedPoint {
  std::weak_ptr<Capture> capture;
  std::vector<Edge> dependencies;
};

// One capture sequence: the stream it began in, and those that joined by waiting for its events.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // What a stream's next node will depend on, and the arrays that cuStreamGetCaptureInfo shows.
  struct Participant {
    StreamPtr stream;
    std::vector<Edge> dependencies;
    std::vector<CUgraphNode> shown_nodes;
    std::vector<CUgraphEdgeData> shown_data;
  };

  Capture(StreamPtr origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
          bool owns_graph);

  std::uint64_t id() const { return id_; }
  CUstreamCaptureMode mode() const { return mode_; }
  std::thread::id thread() const { return thread_; }
  const Stream& origin() const { return *origin_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  bool valid() const { return valid_; }
  void invalidate() { valid_ = false; }

  Participant& participant(const Stream& stream) { return participants_.at(&stream); }

  // Work of a participating stream. `node`, if wanted, is the new node.
  CUresult add(const Stream& stream, Work work, GraphNode** node = nullptr);
  // An event recorded in a participating stream.
  void record(const Stream& stream, Event& event);
  // Makes a stream depend on a point of this capture, and so take part in it.
  void join(const StreamPtr& stream, const std::vector<Edge>& dependencies);
  // Whether all work of the other streams comes before the end of the first one.
  bool joined() const;

 private:
  friend CUresult end_capture(const Stream& stream, std::shared_ptr<Graph>& graph);
  friend void abandon_capture(const Stream& stream);

  const std::uint64_t id_;
  const StreamPtr origin_;
  const CUstreamCaptureMode mode_;
  const std::thread::id thread_;
  const std::shared_ptr<Graph> graph_;
  const bool owns_graph_;
  bool valid_ = true;
  std::map<const Stream*, Participant> participants_;
};

// False if no stream at all is being captured. Needs no lock.
bool any_capture();

// The capture that a stream takes part in; null if none.
std::shared_ptr<Capture> capture_of(const Stream& stream);

// Whether it is a default stream that a captured one is ordered with.
bool orders_a_capture(const Stream& stream);

// Asked for everything that is put into a stream: CUDA_SUCCESS without a capture if it is to run.
CUresult find_target(const Stream& stream, std::shared_ptr<Capture>& capture);

// For what a captured stream cannot be asked: the code, and the capture is invalid from now on.
// CUDA_SUCCESS if the stream is not captured. Takes the lock itself.
CUresult refuse_in_capture(const Stream& stream);
// The same for an event that was last recorded in a captured stream; once that capture has ended,
// the event is none that can be asked, and nothing is left to be made invalid.
CUresult refuse_captured(const Event& event);

// For a call that could interfere with somebody's capture, by the modes of the captures and of this
// thread. Takes the lock itself.
CUresult refuse_unsafe_call();
// Returns the thread's mode until now.
CUstreamCaptureMode exchange_thread_mode(CUstreamCaptureMode mode);

CUresult begin_capture(const StreamPtr& stream, CUstreamCaptureMode mode,
                       std::shared_ptr<Graph> into, std::vector<Edge> dependencies);
CUresult end_capture(const Stream& stream, std::shared_ptr<Graph>& graph);
// What cuStreamWaitEvent does if the event or the stream is being captured.
CUresult wait_in_capture(const StreamPtr& stream, const Event& event);
// A capture whose first stream is destroyed is over. The second takes the lock itself.
void abandon_capture(const Stream& stream);
void abandon_captures_of(const Context& context);

}  // namespace culebra_emu
