package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Device;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InfoCommandTest {
  @Test
  void tellsOfDriverKernelsAndDevices() {
    CommandRun run = CommandRun.of("info");
    assertEquals(0, run.status(), run::err);
    Device device = Device.of(0);
    for (String expected :
        List.of(
            "driver    ",
            "CUDA ",
            "softmax",
            device.name(),
            device.uuidText(),
            device.computeCapability().toString())) {
      assertTrue(run.out().contains(expected), () -> expected + " is not in: " + run.out());
    }
    assertEquals("", run.err());
  }

  @Test
  void jsonHasEveryAttribute() {
    CommandRun run = CommandRun.of("info", "--json");
    assertEquals(0, run.status(), run::err);
    Map<String, Object> json = JsonText.parse(run.out());
    Map<?, ?> driver = assertInstanceOf(Map.class, json.get("driver"));
    assertEquals("AVAILABLE", driver.get("reason"));
    List<?> devices = assertInstanceOf(List.class, json.get("devices"));
    assertEquals(Device.all().size(), devices.size());
    Map<?, ?> first = assertInstanceOf(Map.class, devices.getFirst());
    assertEquals(Device.of(0).uuidText(), first.get("uuid"));
    Map<?, ?> attributes = assertInstanceOf(Map.class, first.get("attributes"));
    assertEquals(Device.of(0).attributes().size(), attributes.size());
    assertEquals(32L, attributes.get("WARP_SIZE"));
    Map<?, ?> kernels = assertInstanceOf(Map.class, json.get("kernels"));
    assertTrue(!assertInstanceOf(List.class, kernels.get("images")).isEmpty());
  }

  @Test
  void aDeviceCanBeChosenByItsUuid() {
    Device device = Device.of(0);
    CommandRun run = CommandRun.of("info", "--device", device.uuidText(), "--json");
    assertEquals(0, run.status(), run::err);
    List<?> devices = assertInstanceOf(List.class, JsonText.parse(run.out()).get("devices"));
    assertEquals(1, devices.size());
  }
}
