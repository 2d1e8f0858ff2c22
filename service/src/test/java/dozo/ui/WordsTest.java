package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.alert.Condition;
import dozo.alert.Outbox.Occasion;
import dozo.collect.OriginKind;
import dozo.collect.Reconciliations;
import dozo.collect.Standings.Next;
import dozo.drill.DrillPromises.Standing;
import dozo.file.Problem;
import dozo.ledger.Breach;
import dozo.manifest.ChangeSummary;
import dozo.manifest.Manifests.ChangeKind;
import dozo.manifest.Signs;
import dozo.registry.Capacity.Outlook;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Verdict.Outcome;
import dozo.remote.KeyPowers.Harm;
import dozo.report.Report;
import dozo.report.Report.NightState;
import dozo.restore.Restores.RestoreState;
import dozo.run.FirstSteps.Step;
import dozo.run.Headlines.Kind;
import dozo.run.Runs.RunState;
import dozo.source.delivery.Trouble;
import dozo.source.tree.FolderSearch;
import dozo.verify.LedgerVerification.Verdict;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The texts of pages: every key in use exists in both languages, and no key is unused. */
class WordsTest {

    private static final Path UI = Path.of("..", "ui", "src", "main");

    /** Keys used in the code: units of an age, and what is said of ticked experiments. */
    private static final List<String> BY_CODE =
            List.of("days", "hours", "selected.none", "selected.done", "finding.acknowledge.done");

    /** Of the words that messages to recipients of alerts consist of. */
    private static final String OF_MESSAGES = "alert.";

    /** Of the words of forms of operations. */
    private static final String OF_FORMS = "do.";

    /** Of the words that the morning report consists of. */
    private static final String OF_REPORTS = "report.";

    /** Reasons of reconciliations that are not in an enum; docs/reference/origins.md and file-trees.md list them. */
    private static final List<String> OTHER_REASONS = List.of(
            "NO_ROOM",
            "MANY_GONE",
            "NOT_ACCEPTED",
            "MOVED",
            "REPLACED",
            "PERHAPS_MOVED",
            "FOLDER_TAKEN",
            "EMPTY",
            "CHANGING",
            "NO_EVIDENCE",
            "NO_MARKER",
            "FEW",
            "FEW_SERIES",
            "SHORT_SERIES",
            "NO_SIDECAR",
            "NOT_THERE",
            "COPYING",
            "CLOCK_AHEAD");

    @Test
    void bothLanguagesHaveTheSameWords() throws Exception {
        assertThat(words("ja").keySet()).isEqualTo(words("en").keySet());
        assertThat(words("ja").values())
                .allSatisfy(word -> assertThat((String) word).isNotBlank());
    }

    @Test
    void everyWordThatIsUsedIsThere() throws Exception {
        Set<String> used = found("#\\{([a-z][A-Za-z0-9_.]*)[}(]");
        used.addAll(found("#messages\\.msg\\('([a-z][A-Za-z0-9_.]*)'\\)"));

        assertThat(words("en").stringPropertyNames()).containsAll(used);
    }

    @Test
    void noWordIsThereForNothing() throws Exception {
        Set<String> named = found("#\\{([a-z][A-Za-z0-9_.]*)[}(]");
        named.addAll(found("'([a-z][A-Za-z0-9_.]*[A-Za-z0-9_])'"));
        Set<String> prefixes = found("'([a-z][A-Za-z0-9_.]*\\.)'");
        Set<String> unused = new TreeSet<>(words("en").stringPropertyNames());
        unused.removeIf(word -> named.contains(word)
                || BY_CODE.contains(word)
                || word.startsWith(OF_MESSAGES)
                || word.startsWith(OF_REPORTS)
                || word.startsWith(OF_FORMS)
                || prefixes.stream().anyMatch(word::startsWith));

        assertThat(unused).isEmpty();
    }

    @Test
    void theMorningReportHasNoOtherWords() throws Exception {
        String room = Files.readString(Path.of("../batch-jobs/night/src/main/java/dozo/report/Teller.java"))
                + Files.readString(Path.of("../service/src/main/java/dozo/message/Text.java"));
        Set<String> used = Pattern.compile("\"(report\\.[a-z.]+[a-zA-Z_.]*)\"")
                .matcher(room)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        used.addAll(found("#\\{(report\\.[a-z.]+)\\}"));
        used.addAll(found("#messages\\.msg\\('(report\\.[a-z.]+)'\\)"));
        Set<String> unused = new TreeSet<>(words("en").stringPropertyNames());
        unused.removeIf(word -> !word.startsWith(OF_REPORTS)
                || used.stream().anyMatch(key -> key.endsWith(".") ? word.startsWith(key) : word.equals(key)));

        assertThat(unused).isEmpty();
        assertThat(words("en").stringPropertyNames())
                .containsAll(used.stream().filter(key -> !key.endsWith(".")).toList());
    }

    @Test
    void everyStateHasAWord() throws Exception {
        Stream<String> needed = Stream.of(
                        Arrays.stream(State.values()).map(each -> "is." + each),
                        Arrays.stream(Kind.values()).map(each -> "headline." + each),
                        Arrays.stream(Condition.Kind.values()).map(each -> "headline." + each),
                        Arrays.stream(Occasion.values()).map(each -> OF_MESSAGES + "subject." + each),
                        Arrays.stream(Report.Verdict.values()).map(each -> OF_REPORTS + "verdict." + each),
                        Arrays.stream(RunState.values())
                                .flatMap(each -> Stream.of("state." + each, OF_REPORTS + "backup." + each)),
                        Arrays.stream(NightState.values()).map(each -> OF_REPORTS + "why." + each),
                        Arrays.stream(NightState.values())
                                .filter(each -> each != NightState.COMPLETE && each != NightState.NONE)
                                .map(each -> OF_REPORTS + "because." + each),
                        Arrays.stream(Standing.values()).map(each -> "drills." + each),
                        Arrays.stream(Step.values())
                                .flatMap(each -> Stream.of("step." + each.word(), "step." + each.word() + ".does")),
                        Arrays.stream(RestoreState.values())
                                .flatMap(each -> Stream.of("restores.is." + each, "drill.is." + each)),
                        Arrays.stream(Outlook.values()).map(each -> "capacity." + each),
                        Arrays.stream(Harm.values()).map(each -> "power.harm." + each),
                        Arrays.stream(Outcome.values()).map(each -> "verdict." + each),
                        Arrays.stream(Breach.Kind.values()).map(each -> "breach." + each),
                        Arrays.stream(Verdict.values())
                                .flatMap(each -> Stream.of("ledger." + each, "ledger." + each + ".means")),
                        Arrays.stream(ChangeKind.values()).map(each -> "change." + each),
                        Arrays.stream(ChangeSummary.Kind.values()).map(each -> "change." + each),
                        Arrays.stream(Signs.Guess.values()).map(each -> "frozen.guess." + each),
                        Arrays.stream(Problem.values()).map(each -> "reason." + each),
                        Arrays.stream(Problem.values()).map(each -> "means." + each),
                        Arrays.stream(OriginKind.values()).map(each -> "origins.kind." + each),
                        Arrays.stream(Next.values()).map(each -> "origins.next." + each),
                        Arrays.stream(Reconciliations.State.values()).map(each -> "reconciled." + each),
                        Stream.of("registered", "sealed", "copied", "verified").map(each -> "way." + each),
                        Arrays.stream(State.values())
                                .filter(each -> each != State.AT_RISK)
                                .map(each -> "at.is." + each))
                .flatMap(each -> each);

        assertThat(words("en").stringPropertyNames()).containsAll(needed.toList());
    }

    /** A DR site is called バックアップ先, as in domestic backup products. */
    @Test
    void aSiteHasOneWordInJapanese() throws Exception {
        assertThat(words("ja").values()).noneMatch(text -> text.toString().contains("サイト"));
    }

    @Test
    void everyActionOfTheLedgerHasAWord() throws Exception {
        Set<String> words = words("en").stringPropertyNames();
        String documented = Files.readString(Path.of("..", "docs", "reference", "ledger.md"));
        List<String> actions = Pattern.compile("(?:^- |\\G,\\s+)`([a-z]+\\.[a-z]+)`", Pattern.MULTILINE)
                .matcher(documented)
                .results()
                .map(found -> "did." + found.group(1))
                .toList();

        assertThat(actions).contains("did.run.started", "did.experiment.settled");
        assertThat(words).containsAll(actions);
    }

    @Test
    void everyReasonOfAReconciliationHasAWord() throws Exception {
        Stream<String> needed = Stream.of(
                        Arrays.stream(Trouble.values()).map(Enum::name),
                        Arrays.stream(FolderSearch.Reason.values()).map(Enum::name),
                        OTHER_REASONS.stream())
                .flatMap(each -> each)
                .map(each -> "says." + each);

        assertThat(words("en").stringPropertyNames()).containsAll(needed.toList());
    }

    private static Set<String> found(String pattern) throws Exception {
        try (Stream<Path> templates = Files.list(UI.resolve("resources/templates"))) {
            StringBuilder all = new StringBuilder();
            for (Path each : templates.toList()) {
                all.append(Files.readString(each));
            }
            return Pattern.compile(pattern)
                    .matcher(all)
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    static Properties words(String language) throws Exception {
        String file = language.equals("ja") ? "/messages_ja.properties" : "/messages.properties";
        Properties words = new Properties();
        try (var in = new InputStreamReader(
                Objects.requireNonNull(WordsTest.class.getResourceAsStream(file)), StandardCharsets.UTF_8)) {
            words.load(in);
        }
        return words;
    }
}
