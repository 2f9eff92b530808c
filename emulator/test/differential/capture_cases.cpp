// What may be done while a stream is being captured: the code of the call, then of the end.
#include <vector>

#include "case.h"

namespace differential {
namespace {

struct World {
  CUcontext context;
  Kernels kernels;
  CUstream stream;
  CUstream other;
  CUevent event;
  CUdeviceptr memory;
  CUdeviceptr victim;

  explicit World(Answer& answer, unsigned flags = CU_STREAM_NON_BLOCKING)
      : context(use_device(answer)),
        kernels(answer),
        stream(new_stream(answer, flags)),
        other(new_stream(answer)),
        event(new_event(answer)),
        memory(new_memory(answer, 4096)),
        victim(new_memory(answer, 4096)) {
    // Loaded lazily otherwise, in the middle of the capture.
    NEED(launch_write(kernels.write, memory));
    NEED(cuEventRecord(event, other));
    NEED(cuCtxSynchronize());
  }
};

// `recorded` has the answers for each mode in turn; body may answer more than once.
Case capture_case(const char* name, const char* calls, const char* recorded,
                  std::vector<CUstreamCaptureMode> modes, std::function<void(World&, Answer&)> body,
                  unsigned flags = CU_STREAM_NON_BLOCKING) {
  return {name, calls, recorded, [=](Answer& answer) {
            World world(answer, flags);
            for (const CUstreamCaptureMode mode : modes) {
              NEED(cuStreamBeginCapture_v2(world.stream, mode));
              body(world, answer);
              CUgraph graph = nullptr;
              answer(cuStreamEndCapture(world.stream, &graph));
            }
          }};
}

const std::vector<CUstreamCaptureMode> kGlobal = {CU_STREAM_CAPTURE_MODE_GLOBAL};
const std::vector<CUstreamCaptureMode> kAllModes = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                    CU_STREAM_CAPTURE_MODE_RELAXED};
const std::vector<CUstreamCaptureMode> kRelaxed = {CU_STREAM_CAPTURE_MODE_RELAXED};

const Cases all({
    capture_case("capture-alloc", "capturing: alloc; global, thread-local, relaxed",
                 "900 901 900 901 0 0", kAllModes,
                 [](World&, Answer& answer) {
                   CUdeviceptr address = 0;
                   answer(cuMemAlloc_v2(&address, 64));
                 }),
    capture_case("capture-host-alloc", "capturing: host alloc", "900 901", kGlobal,
                 [](World&, Answer& answer) {
                   void* host = nullptr;
                   answer(cuMemHostAlloc(&host, 64, 0));
                 }),
    capture_case("capture-free", "capturing: cuMemFree", "900 901", kGlobal,
                 [](World& world, Answer& answer) { answer(cuMemFree_v2(world.victim)); }),
    capture_case("capture-context-sync", "capturing: cuCtxSynchronize", "900 901", kGlobal,
                 [](World&, Answer& answer) { answer(cuCtxSynchronize()); }),
    capture_case("capture-sync-self", "capturing: synchronize the stream", "900 901", kGlobal,
                 [](World& world, Answer& answer) { answer(cuStreamSynchronize(world.stream)); }),
    capture_case("capture-query-self", "capturing: query the stream", "900 901", kGlobal,
                 [](World& world, Answer& answer) { answer(cuStreamQuery(world.stream)); }),
    capture_case("capture-sync-other", "capturing: synchronize another stream", "900 901", kGlobal,
                 [](World& world, Answer& answer) { answer(cuStreamSynchronize(world.other)); }),
    capture_case("capture-query-other", "capturing: query another stream; all modes",
                 "900 901 900 901 0 0", kAllModes,
                 [](World& world, Answer& answer) { answer(cuStreamQuery(world.other)); }),
    capture_case("capture-sync-self-relaxed", "capturing, relaxed: synchronize the stream",
                 "900 901", kRelaxed,
                 [](World& world, Answer& answer) { answer(cuStreamSynchronize(world.stream)); }),
    capture_case("capture-event-query", "capturing: query an event recorded in it", "907 901",
                 kGlobal,
                 [](World& world, Answer& answer) {
                   NEED(cuEventRecord(world.event, world.stream));
                   answer(cuEventQuery(world.event));
                 }),
    capture_case("capture-event-outside", "capturing: wait for an event recorded outside",
                 "905 901", kGlobal,
                 [](World& world, Answer& answer) {
                   answer(cuStreamWaitEvent(world.stream, world.event, 0));
                 }),
    capture_case("capture-event-never", "capturing: wait for an event never recorded", "0 0",
                 kGlobal,
                 [](World& world, Answer& answer) {
                   answer(cuStreamWaitEvent(world.stream, new_event(answer), 0));
                 }),
    capture_case("capture-event-other", "capturing: query an event recorded outside",
                 "900 901 900 901 0 0", kAllModes,
                 [](World& world, Answer& answer) { answer(cuEventQuery(world.event)); }),
    capture_case(
        "capture-legacy-blocking", "capturing a blocking stream: launch on NULL", "906 901",
        kGlobal,
        [](World& world, Answer& answer) {
          answer(launch_write(world.kernels.write, world.memory));
        },
        CU_STREAM_DEFAULT),
    capture_case("capture-legacy", "capturing a non-blocking stream: launch on NULL", "0 0",
                 kGlobal,
                 [](World& world, Answer& answer) {
                   answer(launch_write(world.kernels.write, world.memory));
                 }),
    capture_case("capture-unjoined", "capturing: fork, work there, no join", "0 904", kGlobal,
                 [](World& world, Answer& answer) {
                   NEED(cuEventRecord(world.event, world.stream));
                   NEED(cuStreamWaitEvent(world.other, world.event, 0));
                   answer(launch_write(world.kernels.write, world.memory, world.other));
                 }),
    capture_case("capture-idle-fork", "capturing: fork, no work there, no join", "0 0", kGlobal,
                 [](World& world, Answer& answer) {
                   NEED(launch_write(world.kernels.write, world.memory, world.stream));
                   NEED(cuEventRecord(world.event, world.stream));
                   answer(cuStreamWaitEvent(world.other, world.event, 0));
                 }),
    capture_case("capture-twice", "capturing: begin again", "401 0", kGlobal,
                 [](World& world, Answer& answer) {
                   answer(cuStreamBeginCapture_v2(world.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
                 }),
    capture_case("capture-end-other", "capturing: end on another stream", "401 0", kGlobal,
                 [](World& world, Answer& answer) {
                   CUgraph graph = nullptr;
                   answer(cuStreamEndCapture(world.other, &graph));
                 }),
    capture_case("capture-end-forked", "capturing: end on a forked stream", "903 901", kGlobal,
                 [](World& world, Answer& answer) {
                   NEED(cuEventRecord(world.event, world.stream));
                   NEED(cuStreamWaitEvent(world.other, world.event, 0));
                   CUgraph graph = nullptr;
                   answer(cuStreamEndCapture(world.other, &graph));
                 }),
    {"capture-end-only", "end without begin", "401",
     [](Answer& answer) {
       World world(answer);
       CUgraph graph = nullptr;
       answer(cuStreamEndCapture(world.stream, &graph));
     }},
    {"capture-null-stream", "begin a capture of the NULL stream", "900",
     [](Answer& answer) {
       World world(answer);
       answer(cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
     }},
    {"capture-event-after", "an event captured, after the end: query, wait", "1 1",
     [](Answer& answer) {
       World world(answer);
       CUgraph graph = nullptr;
       NEED(cuStreamBeginCapture_v2(world.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
       NEED(cuEventRecord(world.event, world.stream));
       NEED(cuStreamEndCapture(world.stream, &graph));
       answer(cuEventQuery(world.event));
       answer(cuStreamWaitEvent(world.other, world.event, 0));
     }},
    {"capture-merge", "wait in one capture for another's event; the ends of both", "902 901 901",
     [](Answer& answer) {
       World world(answer);
       CUgraph graph = nullptr;
       NEED(cuStreamBeginCapture_v2(world.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
       NEED(cuStreamBeginCapture_v2(world.other, CU_STREAM_CAPTURE_MODE_RELAXED));
       NEED(cuEventRecord(world.event, world.stream));
       answer(cuStreamWaitEvent(world.other, world.event, 0));
       answer(cuStreamEndCapture(world.stream, &graph));
       answer(cuStreamEndCapture(world.other, &graph));
     }},
    capture_case("capture-module", "capturing: load a module, get a function", "0 0 0", kGlobal,
                 [](World&, Answer& answer) {
                   CUmodule module = nullptr;
                   CUfunction function = nullptr;
                   answer(cuModuleLoadData(&module, image().data()));
                   answer(cuModuleGetFunction(&function, module, "culebra_selftest_fill_f32"));
                 }),
    capture_case("capture-create", "capturing: create a stream, an event; occupancy", "0 0 0 0",
                 kGlobal,
                 [](World& world, Answer& answer) {
                   CUstream stream = nullptr;
                   CUevent event = nullptr;
                   int blocks = 0;
                   answer(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
                   answer(cuEventCreate(&event, 0));
                   answer(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, world.kernels.write,
                                                                      32, 0));
                 }),
    capture_case("capture-sync-copy", "capturing: synchronous copy and fill", "0 0 0", kGlobal,
                 [](World& world, Answer& answer) {
                   std::uint32_t word = 0;
                   answer(cuMemcpyHtoD_v2(world.memory, &word, 4));
                   answer(cuMemsetD32_v2(world.memory, 0, 4));
                 }),
    capture_case("capture-async", "capturing: cuMemAllocAsync, pageable asynchronous copy", "0 0 0",
                 kGlobal,
                 [](World& world, Answer& answer) {
                   static std::uint32_t words[16];
                   CUdeviceptr address = 0;
                   answer(cuMemAllocAsync(&address, 4096, world.stream));
                   answer(cuMemcpyHtoDAsync_v2(world.memory, words, sizeof words, world.stream));
                 }),
    capture_case("capture-free-plain", "capturing: cuMemFreeAsync of plain memory", "1 0", kGlobal,
                 [](World& world, Answer& answer) {
                   answer(cuMemFreeAsync(world.victim, world.stream));
                 }),
    capture_case("capture-record-external", "capturing: external record and wait", "0 0 0", kGlobal,
                 [](World& world, Answer& answer) {
                   answer(
                       cuEventRecordWithFlags(world.event, world.stream, CU_EVENT_RECORD_EXTERNAL));
                   answer(cuStreamWaitEvent(world.stream, world.event, CU_EVENT_WAIT_EXTERNAL));
                 }),
    {"external-uncaptured", "not capturing: external record, external wait", "401 401",
     [](Answer& answer) {
       World world(answer);
       answer(cuEventRecordWithFlags(world.event, world.stream, CU_EVENT_RECORD_EXTERNAL));
       answer(cuStreamWaitEvent(world.stream, world.event, CU_EVENT_WAIT_EXTERNAL));
     }},
    {"capture-destroy", "capturing: destroy the stream", "0",
     [](Answer& answer) {
       World world(answer);
       NEED(cuStreamBeginCapture_v2(world.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
       answer(cuStreamDestroy_v2(world.stream));
     }},
});

}  // namespace
}  // namespace differential
