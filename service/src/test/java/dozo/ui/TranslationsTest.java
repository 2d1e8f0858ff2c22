package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import dozo.file.Message;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every message that pages can show has a Japanese text. The formats are read from the sources: they are arguments of
 * {@code @FormatMethod}s, and the compiler requires them to be constants.
 */
class TranslationsTest {

    /** All code that pages and their forms call. Messages that only REST and the command line print stay English. */
    private static final List<Path> SOURCES = List.of(
            Path.of("../batch-jobs/engine/src/main/java"),
            Path.of("../batch-jobs/catalogue/src/main/java"),
            Path.of("../batch-jobs/night/src/main/java"),
            Path.of("../batch-jobs/origins/src/main/java"),
            Path.of("../ui/src/main/java"),
            Path.of("src/main/java/dozo/security"),
            Path.of("src/main/java/dozo/api/AlertApi.java"),
            Path.of("src/main/java/dozo/api/DrillApi.java"),
            Path.of("src/main/java/dozo/api/ExperimentApi.java"),
            Path.of("src/main/java/dozo/api/NewExperiment.java"),
            Path.of("src/main/java/dozo/api/HoldApi.java"),
            Path.of("src/main/java/dozo/api/ProjectApi.java"),
            Path.of("src/main/java/dozo/api/RestoreBatchApi.java"),
            Path.of("src/main/java/dozo/api/TokenApi.java"),
            Path.of("src/main/java/dozo/api/UserApi.java"));

    private static final Pattern MISSING = Pattern.compile("Missing\\.thing\\(\"([^\"]+)\",");

    private static final Pattern PLACE = Pattern.compile("%,?[sd]");

    /** The position of the format among a method's arguments, by {@code Class.method} or the class of a constructor. */
    private static final Map<String, Integer> FORMAT_METHODS = new HashMap<>();

    private static final Map<String, ExpressionTree> CONSTANTS = new HashMap<>();

    private static final TreeSet<String> FORMATS = new TreeSet<>();

    @BeforeAll
    static void readSources() throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> sources =
                    SOURCES.stream().flatMap(TranslationsTest::below).toList();
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
            List<CompilationUnitTree> units = new ArrayList<>();
            task.parse().forEach(units::add);
            units.forEach(unit -> unit.accept(new Declarations(), null));
            units.forEach(unit -> unit.accept(new Calls(), null));
        }
        // Forms show that a resource does not exist, whichever it is.
        for (Path each : below(Path.of("src/main/java/dozo/api")).toList()) {
            MISSING.matcher(Files.readString(each))
                    .results()
                    .forEach(call -> FORMATS.add(call.group(1) + " \"%s\" does not exist"));
        }
    }

    @Test
    void everyMessageHasItsTranslationAndNoTranslationIsThereForNothing() {
        assertThat(FORMATS).hasSizeGreaterThan(200);
        assertThat(Translations.japanese().keySet()).containsExactlyInAnyOrderElementsOf(FORMATS);
    }

    @Test
    void everyTranslationSaysAllValues() {
        Translations.japanese().forEach((english, japanese) -> {
            int places = (int) PLACE.matcher(english).results().count();
            Object[] values = Stream.iterate(101, n -> n + 1).limit(places).toArray();

            String said = Translations.in(Locale.JAPANESE, new Message(english, List.of(values)))
                    .orElseThrow();

            assertThat(said).as(english).doesNotContain("%").isNotEqualTo(english);
            assertThat(Stream.of(values).map(String::valueOf))
                    .as(english)
                    .allSatisfy(value -> assertThat(said).contains(value));
        });
    }

    @Test
    void valuesStayAsTheyAreAndMayBeMessagesThemselves() {
        assertThat(Translations.in(Locale.JAPANESE, Message.of("expected a title of at most %d characters", 200)))
                .contains("題名は 200 文字までです。");
        assertThat(Translations.in(
                        Locale.JAPANESE,
                        Message.of(
                                "%s is not below a source root of project %s: %s",
                                "a\\1$ (%s)\nb",
                                "P1",
                                Message.of("the project has no source root yet; ask an administrator to set one"))))
                .contains("a\\1$ (%s)\nb はプロジェクト P1 の元データの場所の中にありません。元データの場所はまだなく、管理者が設定します。");
    }

    @Test
    void englishAndWhatHasNoTranslationStayAsTheyAre() {
        assertThat(Translations.in(Locale.ENGLISH, Message.of("expected a title of at most %d characters", 200)))
                .isEmpty();
        assertThat(Translations.in(Locale.JAPANESE, Message.verbatim("expected a title of at most 200 characters")))
                .isEmpty();
    }

    private static Stream<Path> below(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(each -> each.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean has(VariableTree variable, String annotation) {
        return variable.getModifiers().getAnnotations().stream()
                .anyMatch(each -> each.getAnnotationType().toString().equals(annotation));
    }

    private static final class Declarations extends TreeScanner<Void, Void> {

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
            for (var member : type.getMembers()) {
                if (member instanceof MethodTree method) {
                    String name = method.getName().contentEquals("<init>")
                            ? type.getSimpleName().toString()
                            : type.getSimpleName() + "." + method.getName();
                    List<? extends VariableTree> parameters = method.getParameters();
                    for (int i = 0; i < parameters.size(); i++) {
                        if (has(parameters.get(i), "FormatString")) {
                            FORMAT_METHODS.put(name, i);
                        }
                    }
                } else if (member instanceof VariableTree constant && constant.getInitializer() != null) {
                    CONSTANTS.put(constant.getName().toString(), constant.getInitializer());
                }
            }
            return super.visitClass(type, nothing);
        }
    }

    private static final class Calls extends TreeScanner<Void, Void> {

        private String type = "";

        @Override
        public Void visitClass(ClassTree declared, Void nothing) {
            String outer = type;
            type = declared.getSimpleName().toString();
            super.visitClass(declared, nothing);
            type = outer;
            return null;
        }

        @Override
        public Void visitNewClass(NewClassTree made, Void nothing) {
            note(made.getIdentifier().toString(), made.getArguments());
            return super.visitNewClass(made, nothing);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
            String name = call.getMethodSelect().toString();
            note(name.contains(".") ? name : type + "." + name, call.getArguments());
            return super.visitMethodInvocation(call, nothing);
        }

        /** Notes the message of a constraint. */
        @Override
        public Void visitAnnotation(AnnotationTree annotation, Void nothing) {
            for (ExpressionTree argument : annotation.getArguments()) {
                if (argument instanceof AssignmentTree set
                        && set.getVariable().toString().equals("message")
                        && constant(set.getExpression()) instanceof String message) {
                    FORMATS.add(message);
                }
            }
            return super.visitAnnotation(annotation, nothing);
        }

        private static void note(String name, List<? extends ExpressionTree> arguments) {
            Integer place = FORMAT_METHODS.get(name);
            String format = place == null || arguments.size() <= place ? null : constant(arguments.get(place));
            if (format != null) {
                FORMATS.add(format);
            }
        }

        /** Returns null for a parameter that is itself a format, and for a message instead of a format. */
        private static @Nullable String constant(ExpressionTree expression) {
            return switch (expression) {
                case LiteralTree literal -> String.valueOf(literal.getValue());
                case BinaryTree sum -> constant(sum.getLeftOperand()) + constant(sum.getRightOperand());
                case IdentifierTree name -> constant(name.getName().toString());
                case MemberSelectTree name -> constant(name.getIdentifier().toString());
                default -> null;
            };
        }

        private static @Nullable String constant(String name) {
            ExpressionTree value = CONSTANTS.get(name);
            return value == null ? null : constant(value);
        }
    }
}
