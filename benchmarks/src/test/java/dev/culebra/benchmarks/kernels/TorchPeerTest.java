package dev.culebra.benchmarks.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.benchmarks.results.Json;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.session.Allowance;
import dev.culebra.benchmarks.session.Machine;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.bindings.DriverProbe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a peer that is good, wrong, silent or gone. A shell script stands in for it. */
class TorchPeerTest {
  private static final String NAME = "torch 0.0";
  private static final Problem PROBLEM = SoftmaxProblem.of(ElementType.F32, 37, 100, false);

  @TempDir Path folder;

  @AfterEach
  void forget() {
    System.clearProperty(TorchPeer.SCRIPT_PROPERTY);
  }

  /** A peer that answers a turn, and the last one, with these. */
  private TorchPeer start(String turn, String lastTurn) throws IOException {
    return start(turn, lastTurn, Duration.ofSeconds(20));
  }

  private TorchPeer start(String turn, String lastTurn, Duration most) throws IOException {
    Path script = folder.resolve("peer.sh");
    Files.writeString(
        script,
        """
        while read -r line; do
          echo "$line" >> %s
          case $line in
            *name*) echo '{"name": "%s"}' ;;
            *prove*) %s ;;
            *take*) %s ;;
            *) echo '{}' ;;
          esac
        done
        """
            .formatted(folder.resolve("asked"), NAME, lastTurn, turn));
    System.setProperty(TorchPeer.SCRIPT_PROPERTY, script.toString());
    return TorchPeer.start("sh", most);
  }

  private static String turn(String answer) {
    return "echo '" + answer + "'";
  }

  private static final String TURN = turn("{\"us\": 5.5}");

  private static String lastTurn(String error) {
    return turn("{\"us\": 5.5, \"checked_elements\": 100, \"error\": " + error + "}");
  }

  /** What the results say of the peer, once the problem has been measured beside it. */
  private Result measure(TorchPeer peer) throws Exception {
    Device device = Device.of(0);
    Session session =
        new Session(
            ResultsFile.open(
                folder.resolve("bench.json"), "smoke", Machine.about(DriverProbe.run(), device)),
            Scale.SMOKE,
            device,
            Allowance.unlimited());
    try (peer;
        Context context = Context.primary(device);
        Stream stream = context.newStream()) {
      ProblemRun.measure(
          session, KernelSection.NAME, 4, PROBLEM, context, stream, peer, new Ceilings(session), 0);
    }
    Result.Key ours = new Result.Key(KernelSection.NAME, PROBLEM.name(), "Culebra safe");
    assertTrue(session.results().find(ours).orElseThrow().failure().isEmpty(), "ours goes on");
    return session
        .results()
        .find(new Result.Key(KernelSection.NAME, PROBLEM.name(), NAME))
        .orElseThrow();
  }

  @Test
  void aGoodPeerHasASampleOfEachTurnAndItsErrorBesideTheBound() throws Exception {
    Result result = measure(start(TURN, lastTurn("1e-7")));
    assertEquals(Optional.empty(), result.failure());
    assertEquals(Extent.turns(Scale.SMOKE), result.samples().length);
    assertEquals(5.5, result.interval().median());
    assertEquals(1e-7, result.number("error").orElseThrow());
    assertEquals(PROBLEM.allowedError(), result.number("allowed_error").orElseThrow());
  }

  @Test
  @SuppressWarnings("unchecked")
  void itIsAskedForTheRowsThatWeLookAt() throws Exception {
    measure(start(TURN, lastTurn("1e-7")));
    String open =
        Files.readAllLines(folder.resolve("asked")).stream()
            .filter(line -> line.contains("\"open\""))
            .findFirst()
            .orElseThrow();
    Map<String, Object> request = (Map<String, Object>) Objects.requireNonNull(Json.parse(open));
    List<Long> rows = (List<Long>) Objects.requireNonNull(request.get("checked_rows"));
    assertEquals(0L, rows.getFirst());
    assertEquals(36L, rows.getLast());
    assertEquals(37, rows.size());
  }

  @Test
  void aPeerThatComputesSomethingElseHasNoTime() throws Exception {
    for (String error : List.of("0.5", "1e-5")) {
      String reason = measure(start(TURN, lastTurn(error))).failure().orElseThrow();
      assertTrue(reason.contains("the result is wrong"), reason);
      assertTrue(reason.contains("allowed"), reason);
      Files.delete(folder.resolve("bench.json"));
    }
    // Python writes so what is not a number, and it is no JSON.
    String reason = measure(start(TURN, lastTurn("NaN"))).failure().orElseThrow();
    assertTrue(reason.contains("its answer is no JSON object: {\"us\""), reason);
  }

  @Test
  void aPeerWhoseTimeIsNoneHasNoTime() throws Exception {
    for (String time : List.of("0", "-5.5")) {
      String answer = turn("{\"us\": %s}".formatted(time));
      String reason = measure(start(answer, lastTurn("1e-7"))).failure().orElseThrow();
      assertTrue(reason.contains("it tells a time of " + time + " us"), reason);
      Files.delete(folder.resolve("bench.json"));
    }
  }

  /** What it says beside its time goes into the file only where the schema has a place for it. */
  @Test
  void aPeerThatSaysWhatNobodyAskedIsAFailureNotADamagedFile() throws Exception {
    String answer = turn("{\"us\": 5.5, \"error\": 1e-7, \"mood\": \"good\"}");
    String reason = measure(start(TURN, answer)).failure().orElseThrow();
    assertTrue(reason.contains("details.mood is not known"), reason);
    assertTrue(Results.read(folder.resolve("bench.json")).all().size() > 1);
  }

  @Test
  void aPeerThatKeepsItsErrorToItselfHasNoTime() throws Exception {
    String reason = measure(start(TURN, TURN)).failure().orElseThrow();
    assertTrue(reason.contains("does not tell its error"), reason);
  }

  @Test
  void whatItCannotDoIsItsReason() throws Exception {
    String reason =
        measure(start(turn("{\"failed\": \"out of memory\"}"), TURN)).failure().orElseThrow();
    assertTrue(reason.contains("out of memory"), reason);
  }

  @Test
  @Timeout(30)
  void aPeerThatHangsIsEndedAndSaysWhere() throws Exception {
    TorchPeer peer = start("sleep 60", TURN, Duration.ofMillis(1500));
    assertEquals(Optional.of(NAME), peer.name());
    String reason = measure(peer).failure().orElseThrow();
    assertTrue(reason.contains("no answer to \"take\" after 1.5 s"), reason);
    assertEquals(Optional.empty(), peer.name(), "it is no peer of what comes next");
  }

  @Test
  @Timeout(30)
  void aPeerThatHangsAtItsStartIsNone() throws Exception {
    Path script = Files.writeString(folder.resolve("hang.sh"), "sleep 60\n");
    System.setProperty(TorchPeer.SCRIPT_PROPERTY, script.toString());
    try (TorchPeer peer = TorchPeer.start("sh", Duration.ofMillis(500))) {
      assertEquals(Optional.empty(), peer.name());
    }
  }

  @Test
  @Timeout(30)
  void aPeerThatEndsIsGone() throws Exception {
    TorchPeer peer = start("exit 1", TURN);
    String reason = measure(peer).failure().orElseThrow();
    assertTrue(reason.contains("it ended"), reason);
    assertEquals(Optional.empty(), peer.name());
    assertThrows(IllegalStateException.class, () -> peer.open(PROBLEM, 1));
  }

  @Test
  void aMissingPythonIsNoPeer() {
    System.setProperty(TorchPeer.SCRIPT_PROPERTY, "nowhere.py");
    try (TorchPeer peer = TorchPeer.start("no-such-python")) {
      assertFalse(peer.name().isPresent());
    }
  }
}
