package dev.culebra.benchmarks.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class MachineTest {
  @Test
  void foldersOfThisMachineStayHere() {
    assertEquals("libculebra.so", Machine.withoutFolders("/home/me/build/libculebra.so"));
    assertEquals("libcuda.so.1", Machine.withoutFolders("libcuda.so.1"));
    assertEquals("-Dnative=bench", Machine.withoutFolders("-Dnative=/home/me/bench"));
    assertEquals("-Xlog:gc:gc.txt", Machine.withoutFolders("-Xlog:gc:/var/log/gc.txt"));
    assertEquals(
        "--enable-native-access=a/b", Machine.withoutFolders("--enable-native-access=a/b"));
  }
}
