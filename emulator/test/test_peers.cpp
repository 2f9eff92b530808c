// Several devices: who reaches whose memory, and what devices say about themselves.
#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuDeviceCanAccessPeer, int*, CUdevice, CUdevice);
DRIVER_CALL(cuDeviceGetP2PAttribute, int*, CUdevice_P2PAttribute, CUdevice, CUdevice);
DRIVER_CALL(cuCtxEnablePeerAccess, CUcontext, unsigned);
DRIVER_CALL(cuCtxDisablePeerAccess, CUcontext);
DRIVER_CALL(cuDeviceGetByPCIBusId, CUdevice*, const char*);
DRIVER_CALL(cuDeviceComputeCapability, int*, int*, CUdevice);
DRIVER_CALL(cuDeviceGetProperties, CUdevprop*, CUdevice);
DRIVER_CALL(cuDeviceGetExecAffinitySupport, int*, CUexecAffinityType, CUdevice);

namespace {

CUcontext retain(CUdevice device) {
  CUcontext context = nullptr;
  RETURNS(0, cuDevicePrimaryCtxRetain(&context, device));
  return context;
}

int can_access(CUdevice from, CUdevice to) {
  int can = 9;
  RETURNS(0, cuDeviceCanAccessPeer(&can, from, to));
  return can;
}

}  // namespace

TEST(peer_access_is_enabled_once, {"CULEBRA_EMU_DEVICES=2"}) {
  const CUcontext first = use_device(), second = retain(1);
  CHECK_EQ(can_access(0, 1), 1);
  CHECK_EQ(can_access(0, 0), 0);
  RETURNS(705, cuCtxDisablePeerAccess(second));
  RETURNS(0, cuCtxEnablePeerAccess(second, 0));
  RETURNS(704, cuCtxEnablePeerAccess(second, 0));
  // Access goes one way.
  RETURNS(0, cuCtxSetCurrent(second));
  RETURNS(705, cuCtxDisablePeerAccess(first));
  RETURNS(0, cuCtxSetCurrent(first));
  RETURNS(0, cuCtxDisablePeerAccess(second));
  RETURNS(705, cuCtxDisablePeerAccess(second));
  RETURNS(1, cuCtxEnablePeerAccess(second, 1));
  RETURNS(201, cuCtxEnablePeerAccess(first, 0));
  RETURNS(201, cuCtxEnablePeerAccess(nullptr, 0));
  RETURNS(201, cuCtxEnablePeerAccess(reinterpret_cast<CUcontext>(0x1234), 0));
  // It ends with the context.
  RETURNS(0, cuCtxEnablePeerAccess(second, 0));
  RETURNS(0, cuDevicePrimaryCtxReset_v2(0));
  RETURNS(0, cuCtxSetCurrent(retain(0)));
  RETURNS(0, cuCtxEnablePeerAccess(second, 0));
  int value = 9;
  RETURNS(0, cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
  CHECK_EQ(value, 1);
  RETURNS(101, cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
  RETURNS(101, cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 2));
  RETURNS(1, cuDeviceGetP2PAttribute(&value, static_cast<CUdevice_P2PAttribute>(6), 0, 1));
  RETURNS(101, cuDeviceCanAccessPeer(&value, 0, 2));
  RETURNS(1, cuDeviceCanAccessPeer(nullptr, 0, 1));
}

TEST(devices_without_peer_access, {"CULEBRA_EMU_DEVICES=2", "CULEBRA_EMU_PEER=0"}) {
  use_device();
  CHECK_EQ(can_access(0, 1), 0);
  RETURNS(217, cuCtxEnablePeerAccess(retain(1), 0));
  int value = 9;
  RETURNS(0, cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
  CHECK_EQ(value, 0);
}

TEST(peer_access_by_matrix, {"CULEBRA_EMU_DEVICES=3", "CULEBRA_EMU_PEER=010,100,110"}) {
  use_device();
  CHECK(can_access(0, 1) == 1 && can_access(1, 0) == 1);
  CHECK(can_access(0, 2) == 0 && can_access(2, 0) == 1 && can_access(1, 2) == 0);
}

TEST(a_matrix_of_another_size_is_refused, {"CULEBRA_EMU_DEVICES=3", "CULEBRA_EMU_PEER=01,10"},
     "CULEBRA_EMU_PEER=01,10: expected 0, 1, or", 6) {
  cuInit(0);
}

TEST(a_device_is_found_by_its_bus, {"CULEBRA_EMU_DEVICES=2"}) {
  RETURNS(0, cuInit(0));
  CUdevice device = 9;
  for (const char* text : {"0000:02:00.0", "0:2:0", "02:00.0"}) {
    RETURNS(0, cuDeviceGetByPCIBusId(&device, text));
    CHECK_EQ(device, 1);
  }
  RETURNS(101, cuDeviceGetByPCIBusId(&device, "0000:07:00.0"));
  RETURNS(1, cuDeviceGetByPCIBusId(&device, "nonsense"));
  RETURNS(1, cuDeviceGetByPCIBusId(&device, ""));
  RETURNS(1, cuDeviceGetByPCIBusId(&device, nullptr));
  RETURNS(1, cuDeviceGetByPCIBusId(nullptr, "0000:02:00.0"));
}

TEST(old_queries_agree_with_the_attributes) {
  RETURNS(0, cuInit(0));
  int major = 0, minor = 9, value = 0, supported = 9;
  RETURNS(0, cuDeviceComputeCapability(&major, &minor, 0));
  CHECK(major == 9 && minor == 0);
  CUdevprop properties = {};
  RETURNS(0, cuDeviceGetProperties(&properties, 0));
  const int* fields = &properties.maxThreadsPerBlock;
  for (int i = 0; i < 14; ++i) {
    RETURNS(0, cuDeviceGetAttribute(&value, i + 1, 0));
    CHECK_EQ(fields[i], value);
  }
  RETURNS(0, cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  CHECK_EQ(supported, 0);
  RETURNS(1, cuDeviceGetExecAffinitySupport(&supported, static_cast<CUexecAffinityType>(1), 0));
  RETURNS(101, cuDeviceGetProperties(&properties, 1));
}
