package dev.culebra.benchmarks.calls;

import dev.culebra.benchmarks.results.Result;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;

/**
 * One benchmark of JMH's with fixed parameters, and the name its result gets.
 *
 * @param problem what is done
 * @param who by whom
 * @param method the benchmark's full name
 * @param parameters values of its parameters
 * @param threads how many call at once
 * @param vmOptions of the process that measures it
 */
record JmhCase(
    String problem,
    String who,
    String method,
    Map<String, String> parameters,
    int threads,
    List<String> vmOptions) {

  /** Every benchmark of a class with every value of its parameters; C comes first. */
  static List<JmhCase> of(String problem, Class<?> type) {
    Optional<Field> parameter =
        Arrays.stream(type.getDeclaredFields())
            .filter(field -> field.isAnnotationPresent(Param.class))
            .findFirst();
    List<JmhCase> cases = new ArrayList<>();
    List<String> values =
        parameter
            .map(field -> List.of(field.getAnnotation(Param.class).value()))
            .orElse(List.of(""));
    for (String value : values) {
      // Every parameter so far is a number of bytes.
      String named =
          value.isEmpty() ? problem : problem + ", " + Words.bytes(Long.parseLong(value));
      Map<String, String> given = new LinkedHashMap<>();
      parameter.ifPresent(field -> given.put(field.getName(), value));
      Arrays.stream(type.getDeclaredMethods())
          .filter(method -> method.isAnnotationPresent(Benchmark.class))
          .sorted(
              Comparator.comparing((Method method) -> !method.getName().equals("c"))
                  .thenComparing(Method::getName))
          .forEach(
              method ->
                  cases.add(
                      new JmhCase(
                          named,
                          Words.of(method.getName()),
                          type.getName().replace('$', '.') + "." + method.getName(),
                          given,
                          1,
                          List.of())));
    }
    return cases;
  }

  /** The same by several threads, or in another kind of process. */
  JmhCase with(String newProblem, String newWho, int newThreads, String... options) {
    return new JmhCase(newProblem, newWho, method, parameters, newThreads, List.of(options));
  }

  Result.Key key(String section) {
    return new Result.Key(section, problem, who);
  }

  /** Tells JMH what to run. */
  void choose(ChainedOptionsBuilder options) {
    options.include("^" + Pattern.quote(method) + "$").threads(threads);
    parameters.forEach(options::param);
    options.jvmArgsAppend(vmOptions.toArray(String[]::new));
  }

  /** JMH's own name for it. */
  String fullName() {
    return method + (parameters.isEmpty() ? "" : " " + parameters);
  }
}
