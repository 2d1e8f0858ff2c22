package dozo.ui;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Whatever pages can be refused has a Japanese text: the sources are read, and a text in them that is not known fails here. */
class RefusalWordsTest {

    /** All that pages call; what only REST and the command line say stays English. */
    private static final List<Path> SOURCES = List.of(
            Path.of("../batch-jobs/engine/src/main/java"),
            Path.of("../batch-jobs/catalogue/src/main/java"),
            Path.of("../batch-jobs/night/src/main/java"),
            Path.of("../batch-jobs/origins/src/main/java"),
            Path.of("../ui/src/main/java"),
            Path.of("src/main/java/dozo/administration"),
            Path.of("src/main/java/dozo/security"));

    /** What refuses, and which of its arguments is the text. */
    private static final Map<String, Integer> REFUSING = Map.of(
            "Refusal", 1,
            "Refusal.taken", 1,
            "NotThere", 0,
            "Refused", 1,
            "NotNow", 2,
            "wish.refused", 1,
            "refuseIf", 2,
            "awaitUntil", 1,
            "runs.close", 2);

    /** Of an origin, as what reads it says; {@code Server}, {@code FolderPattern}, {@code Rules}, {@code Evidence} and {@code Glob}. */
    private static final List<String> MALFORMED = List.of(
            "a password goes to https addresses, or to this machine",
            "the login's file has one line NAME:PASSWORD in ASCII",
            "the address is http(s)://HOST[:PORT][/PATH]",
            "{date:%s}: of yyyyMMdd, yyyy-MM-dd, yyyy.MM.dd, yyyy_MM_dd and yyMMdd one is accepted",
            "a pattern of 1 to %d characters is accepted",
            "at most %d steps are accepted",
            "a path below the root is accepted, as {project}/{date}_{label}: no empty step, no . and no ..",
            "in \"%s\" a { or } has no other half",
            "at most %d parts of a name are accepted",
            "between two captures some text is needed, as _ or -, or nobody knows where the first one ends",
            "no name has a NUL in it",
            "{%s}: {project}, {date}, {label}, {session}, {subject}, {scanner} and {modality} are accepted, and *",
            "{%s} is there twice",
            "{%s}: only {date} has a form",
            "at most %d are accepted",
            "alone: at least the quiet period is accepted",
            "late: at least the other periods are accepted",
            "\"%s\": quiet 1h, alone 72h, late 7d, marker NAME, expect N NAME, dicom, dicom N and bids are accepted",
            "%s %s%s: 1m to 366d are accepted, and quiet 0m",
            "%s: a count from 1 to %d is accepted",
            "\"%s\": a path below the experiment's folder is accepted, with * and ?, and **/ only at its beginning");

    /** What is no text by itself, as it stands in the sources, with the texts that it can be. */
    private static final Map<String, List<String>> COMPOSED = Map.ofEntries(
            entry("message", List.of()),
            entry("message.formatted(user.name())", List.of()),
            entry("tooLate", List.of()),
            entry("\"\"", List.of()),
            entry("RunEnd.STOPPED", List.of("stopped; the next run goes on where it was")),
            // Or what the site said, in its own words.
            entry(
                    "reason",
                    List.of(
                            "a defect of Dozo; the log says more: %s",
                            "the database failed: %s; the next run goes on where this one was")),
            // What is malformed of an origin's address, patterns or rules.
            entry("String.valueOf(e.getMessage())", MALFORMED),
            entry("String.valueOf(refusal.getMessage())", List.of()),
            entry("String.valueOf(wish.outside().getMessage())", List.of()),
            entry(
                    "whyNot(id, \"run %d is not running\".formatted(id))",
                    List.of("run %d is not running", "run %d is paused by %s since %s")),
            entry(
                    "\"%s; resume it or stop it first\".formatted(Runs.pausedWords(run))",
                    List.of("run %d is paused by %s since %s; resume it or stop it first")),
            entry(
                    "noRole(line.get(), user, token != null)",
                    List.of(
                            "you are in no group that gives a role here: ask an administrator which one would",
                            "you have no role yet: an administrator gives one",
                            "this takes one of the roles %s",
                            "this takes one of the roles %s, of you and of this token")));

    /** What stands in other texts, or beside a line that is not refused. */
    private static final List<String> PARTS = List.of(
            "it has none yet, and an administrator sets them",
            "a folder in %s is accepted",
            "it %s with another %s: nothing of it was changed",
            "is registered already",
            "is in line %s",
            "title",
            "modality, scanner or acquired",
            "title and modality, scanner or acquired",
            "utf-8, shift_jis (windows-31j) and utf-16le are accepted");

    private static final Pattern PLACE = Pattern.compile("%,?[sd]");

    private static final Set<String> SAID = new TreeSet<>(PARTS);

    @BeforeAll
    static void readSources() throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> sources =
                    SOURCES.stream().flatMap(RefusalWordsTest::below).toList();
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
            List<CompilationUnitTree> units = new ArrayList<>();
            task.parse().forEach(units::add);
            Map<String, ExpressionTree> all = new HashMap<>();
            units.forEach(unit -> unit.accept(new Constants(all), null));
            for (CompilationUnitTree unit : units) {
                Map<String, ExpressionTree> constants = new HashMap<>(all);
                unit.accept(new Constants(constants), null);
                unit.accept(new Refusals(constants), null);
            }
        }
    }

    @Test
    void everyRefusalHasItsTextAndNoTextIsThereForNothing() {
        assertThat(SAID).hasSizeGreaterThan(80);
        assertThat(new TreeSet<>(RefusalWords.known())).isEqualTo(SAID);
        assertThat(RefusalWords.known()).doesNotHaveDuplicates();
    }

    @Test
    void everyTextIsRecognisedAsItselfWithAllItsValues() {
        for (String text : SAID) {
            int[] n = {0};
            String refusal = PLACE.matcher(text).replaceAll(place -> "V" + ++n[0]);
            String said = RefusalWords.in(Locale.JAPANESE, refusal).orElseThrow(() -> new AssertionError(refusal));

            assertThat(said).as(text).doesNotContain("%").isNotEqualTo(refusal);
            for (int i = 1; i <= n[0]; i++) {
                assertThat(said).as(text).contains("V" + i);
            }
            assertThat(PLACE.matcher(text).replaceAll("").length())
                    .as("words of its own: " + text)
                    .isPositive();
        }
    }

    @Test
    void valuesStayAsTheyAreAndMayBeTextsThemselves() {
        assertThat(RefusalWords.in(Locale.JAPANESE, "a title has at most 200 characters"))
                .contains("題名は 200 文字までです。");
        assertThat(RefusalWords.in(Locale.JAPANESE, "\"a\\1$ (%s)\nb\" is no absolute path"))
                .contains("「a\\1$ (%s)\nb」は絶対パスではありません。");
        assertThat(RefusalWords.in(
                        Locale.JAPANESE,
                        "/x is not below a source root of project P1: it has none yet, and an administrator sets them"))
                .contains("/x はプロジェクト P1 の元データの場所の中にありません。元データの場所はまだなく、管理者が設定します。");
    }

    @Test
    void englishAndWhatNobodyKnowsStayAsTheyAre() {
        assertThat(RefusalWords.in(Locale.ENGLISH, "a title has at most 200 characters"))
                .isEmpty();
        assertThat(RefusalWords.in(Locale.JAPANESE, "nobody says this")).isEmpty();
        assertThat(RefusalWords.in(Locale.JAPANESE, "\"" + "x".repeat(5_000) + "\" is no absolute path"))
                .isEmpty();
    }

    private static Stream<Path> below(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(each -> each.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** By their names alone: in a file its own are meant. */
    private static final class Constants extends TreeScanner<Void, Void> {

        private final Map<String, ExpressionTree> found;

        Constants(Map<String, ExpressionTree> found) {
            this.found = found;
        }

        @Override
        public Void visitVariable(VariableTree variable, Void nothing) {
            if (variable.getInitializer() != null
                    && variable.getName().toString().matches("[A-Z_]+")) {
                found.put(variable.getName().toString(), variable.getInitializer());
            }
            return super.visitVariable(variable, nothing);
        }
    }

    private static final class Refusals extends TreeScanner<Void, Void> {

        private final Map<String, ExpressionTree> constants;

        Refusals(Map<String, ExpressionTree> constants) {
            this.constants = constants;
        }

        @Override
        public Void visitNewClass(NewClassTree made, Void nothing) {
            note(made.getIdentifier().toString(), made.getArguments());
            return super.visitNewClass(made, nothing);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
            note(call.getMethodSelect().toString(), call.getArguments());
            return super.visitMethodInvocation(call, nothing);
        }

        private void note(String name, List<? extends ExpressionTree> arguments) {
            Integer text = REFUSING.get(name);
            // Another room has something of this name that takes less.
            if (text != null && arguments.size() > text) {
                SAID.addAll(texts(arguments.get(text)));
            }
        }

        private List<String> texts(ExpressionTree expression) {
            List<String> composed = COMPOSED.get(expression.toString());
            return composed != null
                    ? composed
                    : switch (expression) {
                        case LiteralTree literal -> List.of(String.valueOf(literal.getValue()));
                        case ParenthesizedTree parenthesized -> texts(parenthesized.getExpression());
                        case ConditionalExpressionTree either ->
                            Stream.of(either.getTrueExpression(), either.getFalseExpression())
                                    .flatMap(each -> texts(each).stream())
                                    .toList();
                        case BinaryTree sum -> List.of(piece(sum.getLeftOperand()) + piece(sum.getRightOperand()));
                        case IdentifierTree name -> constant(name.getName().toString(), expression);
                        case MemberSelectTree name ->
                            constant(name.getIdentifier().toString(), expression);
                        case MethodInvocationTree call
                        when call.getMethodSelect() instanceof MemberSelectTree method
                                && method.getIdentifier().contentEquals("formatted") ->
                            texts(method.getExpression()).stream()
                                    .map(text -> filled(text, call.getArguments()))
                                    .toList();
                        default -> throw unseen(expression);
                    };
        }

        /** What is added to a text is a value, unless it is a text itself. */
        private String piece(ExpressionTree operand) {
            boolean text = operand instanceof LiteralTree
                    || operand instanceof BinaryTree
                    || operand instanceof IdentifierTree name
                            && constants.containsKey(name.getName().toString());
            return text ? texts(operand).getFirst() : "%s";
        }

        /** Constants that are texts stand in it as they are. */
        private String filled(String text, List<? extends ExpressionTree> values) {
            String filled = text;
            for (ExpressionTree value : values) {
                if (value instanceof IdentifierTree name
                        && constants.get(name.getName().toString()) instanceof LiteralTree literal
                        && literal.getValue() instanceof String constant) {
                    int last = filled.lastIndexOf("%s");
                    filled = filled.substring(0, last) + constant + filled.substring(last + 2);
                }
            }
            return filled;
        }

        private List<String> constant(String name, ExpressionTree expression) {
            ExpressionTree value = constants.get(name);
            if (value == null) {
                throw unseen(expression);
            }
            return texts(value);
        }

        private static AssertionError unseen(ExpressionTree expression) {
            return new AssertionError(
                    "which texts \"%s\" can be is not seen: say so in COMPOSED".formatted(expression));
        }
    }
}
