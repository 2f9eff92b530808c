package dev.culebra.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Map;
import java.util.Set;

/** Who may know whom, as docs/decisions/0001-rooms.md says. */
@AnalyzeClasses(packages = "dev.culebra", importOptions = ImportOption.DoNotIncludeTests.class)
class LayersTest {
  private static final String GENERATED = "dev.culebra.generated..";
  private static final String BINDINGS = "dev.culebra.bindings..";
  private static final String KERNELS = "dev.culebra.kernels..";
  private static final String API = "dev.culebra";
  private static final String OPS = "dev.culebra.ops..";
  private static final String IO = "dev.culebra.io..";
  private static final String CLI = "dev.culebra.cli..";
  private static final String TESTKIT = "dev.culebra.testkit..";

  @ArchTest
  static final ArchRule generatedKnowsNobody =
      noClasses()
          .that()
          .resideInAPackage(GENERATED)
          .should()
          .dependOnClassesThat(oursOutside(GENERATED));

  @ArchTest
  static final ArchRule bindingsKnowGeneratedOnly =
      noClasses()
          .that()
          .resideInAPackage(BINDINGS)
          .should()
          .dependOnClassesThat(oursOutside(BINDINGS, GENERATED));

  @ArchTest
  static final ArchRule kernelsKnowNobody =
      noClasses()
          .that()
          .resideInAPackage(KERNELS)
          .should()
          .dependOnClassesThat(oursOutside(KERNELS));

  @ArchTest
  static final ArchRule ioKnowsNobody =
      noClasses().that().resideInAPackage(IO).should().dependOnClassesThat(oursOutside(IO));

  @ArchTest
  static final ArchRule testkitKnowsNobody =
      noClasses()
          .that()
          .resideInAPackage(TESTKIT)
          .should()
          .dependOnClassesThat(oursOutside(TESTKIT));

  @ArchTest
  static final ArchRule onlyTestsKnowTestkit =
      noClasses()
          .that()
          .resideOutsideOfPackage(TESTKIT)
          .should()
          .dependOnClassesThat(resideInAPackage(TESTKIT));

  @ArchTest
  static final ArchRule apiKnowsBindingsAndKernels =
      noClasses()
          .that()
          .resideInAnyPackage(API, OPS)
          .should()
          .dependOnClassesThat(oursOutside(API, OPS, BINDINGS, KERNELS));

  @ArchTest
  static final ArchRule theCommandKnowsTheApiAndFiles =
      noClasses()
          .that()
          .resideInAPackage(CLI)
          .should()
          .dependOnClassesThat(resideInAnyPackage(GENERATED, KERNELS, TESTKIT));

  @ArchTest
  static final ArchRule theApiDoesNotKnowItsOperations =
      noClasses().that().resideInAPackage(API).should().dependOnClassesThat(resideInAPackage(OPS));

  @ArchTest
  static final ArchRule noRoomIsInACircle =
      slices().matching("dev.culebra.(*)..").should().beFreeOfCycles();

  /** The calls for which the JVM wants {@code --enable-native-access}. */
  private static final Map<String, Set<String>> RESTRICTED =
      Map.of(
          "java.lang.foreign.Linker", Set.of("downcallHandle", "upcallStub"),
          "java.lang.foreign.MemorySegment", Set.of("reinterpret"),
          "java.lang.foreign.AddressLayout", Set.of("withTargetLayout"),
          "java.lang.foreign.SymbolLookup", Set.of("libraryLookup"),
          "java.lang.System", Set.of("load", "loadLibrary"),
          "java.lang.Runtime", Set.of("load", "loadLibrary"));

  @ArchTest
  static final ArchRule restrictedCallsAreInBindingsAndGeneratedOnly =
      noClasses()
          .that()
          .resideOutsideOfPackages(BINDINGS, GENERATED)
          .should()
          .callCodeUnitWhere(
              new DescribedPredicate<>("the target is restricted") {
                @Override
                public boolean test(com.tngtech.archunit.core.domain.JavaCall<?> call) {
                  return isRestricted(call.getTarget());
                }
              });

  @ArchTest
  static final ArchRule nothingIsNative =
      methods()
          .should()
          .notHaveModifier(com.tngtech.archunit.core.domain.JavaModifier.NATIVE)
          .because("there is no JNI in Culebra");

  /** The rule above holds for nothing if it cannot see such calls at all. */
  @ArchTest
  static void restrictedCallsAreSeen(JavaClasses classes) {
    assertFalse(
        classes.stream()
            .filter(resideInAPackage(BINDINGS))
            .flatMap(c -> c.getMethodCallsFromSelf().stream())
            .map(JavaMethodCall::getTarget)
            .noneMatch(LayersTest::isRestricted));
  }

  /** Nor do the others if a room is not on the class path of this test. */
  @ArchTest
  static void allRoomsAreThere(JavaClasses classes) {
    for (String room : new String[] {GENERATED, BINDINGS, KERNELS, API, OPS, IO, CLI, TESTKIT}) {
      assertFalse(classes.stream().noneMatch(resideInAPackage(room)), room);
    }
  }

  private static boolean isRestricted(CodeUnitCallTarget target) {
    return RESTRICTED
        .getOrDefault(target.getOwner().getFullName(), Set.of())
        .contains(target.getName());
  }

  private static DescribedPredicate<JavaClass> oursOutside(String... allowed) {
    return resideInAPackage("dev.culebra..")
        .and(DescribedPredicate.not(resideInAnyPackage(allowed)))
        .as("classes of ours outside of " + String.join(", ", allowed));
  }
}
