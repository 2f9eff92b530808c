// What streams are asked besides kernels and copies.
#include "abi_graph.h"
#include "streams.h"

using namespace culebra_test;

DRIVER_CALL(cuStreamGetCtx_v2, CUstream, CUcontext*, void**);
DRIVER_CALL(cuStreamGetDevice, CUstream, CUdevice*);
DRIVER_CALL(cuStreamAddCallback, CUstream, CUstreamCallback, void*, unsigned);
DRIVER_CALL(cuStreamGetAttribute, CUstream, CUlaunchAttributeID, CUlaunchAttribute::Value*);
DRIVER_CALL(cuStreamSetAttribute, CUstream, CUlaunchAttributeID, const CUlaunchAttribute::Value*);
DRIVER_CALL(cuStreamCopyAttributes, CUstream, CUstream);
DRIVER_CALL(cuStreamWaitValue32_v2, CUstream, CUdeviceptr, std::uint32_t, unsigned);
DRIVER_CALL(cuStreamWaitValue64_v2, CUstream, CUdeviceptr, std::uint64_t, unsigned);
DRIVER_CALL(cuStreamWriteValue32_v2, CUstream, CUdeviceptr, std::uint32_t, unsigned);
DRIVER_CALL(cuStreamWriteValue64_v2, CUstream, CUdeviceptr, std::uint64_t, unsigned);
DRIVER_CALL(cuStreamBatchMemOp_v2, CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);
DRIVER_CALL(cuStreamBeginCapture_v2, CUstream, int);
DRIVER_CALL(cuStreamEndCapture, CUstream, void**);

TEST(a_stream_knows_its_context_and_device, {"CULEBRA_EMU_DEVICES=2"}) {
  use_device();
  CUcontext second = nullptr, context = nullptr;
  RETURNS(0, cuDevicePrimaryCtxRetain(&second, 1));
  RETURNS(0, cuCtxSetCurrent(second));
  const CUstream stream = new_stream(1);
  RETURNS(0, cuCtxSetCurrent(nullptr));
  CUdevice device = 9;
  void* green = &device;
  RETURNS(0, cuStreamGetDevice(stream, &device));
  CHECK_EQ(device, 1);
  RETURNS(0, cuStreamGetCtx_v2(stream, &context, &green));
  CHECK_EQ(context, second);
  CHECK(green == nullptr);
  RETURNS(1, cuStreamGetDevice(stream, nullptr));
  RETURNS(1, cuStreamGetCtx_v2(stream, nullptr, &green));
  RETURNS(201, cuStreamGetDevice(nullptr, &device));
}

namespace {

struct Called {
  std::atomic<int> result = -1;
  std::atomic<int> call_in_it = -1;
  static void back(CUstream, CUresult result, void* called) {
    CUdeviceptr memory = 0;
    static_cast<Called*>(called)->call_in_it = cuMemAlloc_v2(&memory, 64);
    static_cast<Called*>(called)->result = result;
  }
};

}  // namespace

TEST(a_callback_comes_in_order_and_is_told_of_failures) {
  use_device();
  const CUstream stream = new_stream(1);
  Gate gate;
  Called called;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, cuStreamAddCallback(stream, &Called::back, &called, 0));
  RETURNS(600, cuStreamQuery(stream));
  CHECK_EQ(called.result.load(), -1);
  gate.open = true;
  RETURNS(0, cuStreamSynchronize(stream));
  CHECK_EQ(called.result.load(), 0);
  CHECK_EQ(called.call_in_it.load(), 800);
  RETURNS(1, cuStreamAddCallback(stream, nullptr, &called, 0));
  RETURNS(1, cuStreamAddCallback(stream, &Called::back, &called, 1));
  // Not in a capture, which it ends.
  void* graph = nullptr;
  RETURNS(0, cuStreamBeginCapture_v2(stream, 0));
  RETURNS(900, cuStreamAddCallback(stream, &Called::back, &called, 0));
  RETURNS(901, cuStreamEndCapture(stream, &graph));
  called.result = -1;
  // Before the launch has failed, or the callback would be refused.
  const CUfunction store = function(load_test_module(), "store");
  Gate failing;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &failing));
  RETURNS(0, launch(store, 1, 1, 0, stream, CUdeviceptr{0}, 1));
  RETURNS(0, cuStreamAddCallback(stream, &Called::back, &called, 0));
  failing.open = true;
  RETURNS(700, cuStreamSynchronize(stream));
  CHECK_EQ(called.result.load(), 700);
}

TEST(a_stream_keeps_its_attributes) {
  use_device();
  const CUstream stream = new_stream(1), other = new_stream(1);
  CUlaunchAttribute::Value value = {};
  RETURNS(0, cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  CHECK_EQ(value.syncPolicy, 1);
  value.syncPolicy = 4;
  RETURNS(0, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value.syncPolicy = 5;
  RETURNS(1, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value = {};
  value.priority = -3;
  RETURNS(0, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  int priority = 9;
  RETURNS(0, cuStreamGetPriority(stream, &priority));
  CHECK_EQ(priority, -3);
  value = {};
  value.memSyncDomainMap = {1, 3};
  RETURNS(0, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
  value.memSyncDomainMap = {1, 4};
  RETURNS(1, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
  RETURNS(0, cuStreamCopyAttributes(other, stream));
  RETURNS(0, cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  CHECK_EQ(value.syncPolicy, 4);
  RETURNS(0, cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
  CHECK_EQ(static_cast<int>(value.memSyncDomainMap.remote), 3);
  RETURNS(0, cuStreamGetPriority(other, &priority));
  CHECK_EQ(priority, -3);
  // The device says that its cache has no such windows.
  value = {};
  RETURNS(0, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  value.accessPolicyWindow.num_bytes = 64;
  RETURNS(1, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  // Attributes of launches alone.
  RETURNS(1, cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  RETURNS(1, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  RETURNS(1, cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr));
}

TEST(a_stream_waits_for_a_word_of_memory) {
  use_device();
  const CUstream waits = new_stream(1), writes = new_stream(1);
  Buffer<std::uint32_t> words(4);
  RETURNS(0, cuStreamWaitValue32_v2(waits, words.address, 5, CU_STREAM_WAIT_VALUE_EQ));
  RETURNS(0, cuStreamWriteValue32_v2(waits, words.address + 4, 1, 0));
  RETURNS(600, cuStreamQuery(waits));
  RETURNS(0, cuStreamWriteValue32_v2(writes, words.address, 4, 0));
  RETURNS(0, cuStreamSynchronize(writes));
  RETURNS(600, cuStreamQuery(waits));
  RETURNS(0, cuStreamWriteValue32_v2(writes, words.address, 5, 0));
  RETURNS(0, cuStreamSynchronize(waits));
  words.download();
  CHECK_EQ(words.host[1], 1u);
  // 64 bits; and several operations at once, in order.
  RETURNS(0, cuStreamWaitValue64_v2(waits, words.address + 8, 1ull << 40, 0));
  RETURNS(600, cuStreamQuery(waits));
  RETURNS(0, cuStreamWriteValue64_v2(writes, words.address + 8, (1ull << 40) + 7, 0));
  RETURNS(0, cuStreamSynchronize(waits));
  CUstreamBatchMemOpParams operations[3] = {};
  operations[0].value = {CU_STREAM_MEM_OP_WRITE_VALUE_32, words.address, 8, 0, 0};
  operations[1].barrier = {CU_STREAM_MEM_OP_BARRIER, 0};
  operations[2].value = {CU_STREAM_MEM_OP_WAIT_VALUE_32, words.address, 8, 2, 0};
  RETURNS(0, cuStreamBatchMemOp_v2(waits, 3, operations, 0));
  RETURNS(0, cuStreamSynchronize(waits));
  RETURNS(1, cuStreamBatchMemOp_v2(waits, 0, operations, 0));
  RETURNS(1, cuStreamBatchMemOp_v2(waits, 3, nullptr, 0));
  operations[1].operation = static_cast<CUstreamBatchMemOpType>(99);
  RETURNS(1, cuStreamBatchMemOp_v2(waits, 3, operations, 0));
  RETURNS(1, cuStreamWaitValue32_v2(waits, words.address + 2, 5, 0));
  RETURNS(1, cuStreamWaitValue64_v2(waits, words.address + 4, 5, 0));
  RETURNS(1, cuStreamWaitValue32_v2(waits, words.address + 16, 5, 0));
  RETURNS(1, cuStreamWaitValue32_v2(waits, words.address, 5, 4));
  RETURNS(1, cuStreamWriteValue32_v2(waits, 0, 5, 0));
}
