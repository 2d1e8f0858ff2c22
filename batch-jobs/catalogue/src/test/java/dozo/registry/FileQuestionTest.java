package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.FileQuestion.Unanswered;
import dozo.registry.Verdict.Outcome;
import dozo.remote.HungMount;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** A file server that does not respond blocks nobody, and is queried once per path. */
@Timeout(300)
class FileQuestionTest {

    private static final InstantSource CLOCK = InstantSource.system();
    private static final Path PATH = Path.of("/data/p");
    private static final Duration AT_ONCE = Duration.ZERO;

    @TempDir
    Path folder;

    @Test
    void whatHangsIsAskedOnceHoweverManyAskUntilItAnswers() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch answers = new CountDownLatch(1);
        FileQuestion<Integer> question = new FileQuestion<>(path -> {
            int count = asked.incrementAndGet();
            answered(answers);
            return count;
        });

        for (int n = 0; n < 3; n++) {
            assertThatThrownBy(() -> question.about("source", PATH, AT_ONCE))
                    .isInstanceOfSatisfying(
                            Unanswered.class,
                            refused -> assertThat(refused.field()).isEqualTo("source"))
                    .hasMessage("/data/p did not respond within 0 s");
        }
        answers.countDown();

        assertThat(question.about("source", PATH, FileQuestion.PERSON)).isBetween(1, 2);
        assertThat(question.about("source", PATH, FileQuestion.PERSON)).isBetween(2, 3);
    }

    @Test
    void whatLiesBesideSomethingAnsweredJustNowIsAskedOnTheSpot() throws Exception {
        FileQuestion<Thread> question = new FileQuestion<>(path -> Thread.currentThread());

        assertThat(question.about("source", PATH, FileQuestion.PERSON)).isNotSameAs(Thread.currentThread());
        await().atMost(Duration.ofMinutes(5)).until(() -> {
            question.about("source", PATH.resolve("a"), FileQuestion.PERSON);
            return question.about("source", PATH.resolve("b"), FileQuestion.PERSON) == Thread.currentThread();
        });
    }

    @Test
    void whatTheFileSystemSaysIsToldAsItIs() {
        FileQuestion<Path> question = new FileQuestion<>(path -> {
            throw new FileSystemException("no");
        });

        assertThatThrownBy(() -> question.about("source", PATH, FileQuestion.PERSON))
                .isInstanceOf(FileSystemException.class)
                .hasMessage("no");
    }

    @Test
    void whoIsInterruptedWhileItIsAskedIsToldNothingOfTheFolder() {
        CountDownLatch never = new CountDownLatch(1);
        FileQuestion<Boolean> question = new FileQuestion<>(path -> {
            answered(never);
            return true;
        });

        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> question.about("source", PATH, FileQuestion.PERSON))
                .isInstanceOfSatisfying(
                        Refusal.class,
                        refused -> assertThat(refused.isConflict()).isTrue())
                .hasMessage("interrupted while the folder was read");
        assertThat(Thread.interrupted()).isTrue();
        never.countDown();
    }

    @Test
    void registeringFromAFileServerThatHangsIsRefusedAndAFileOfLinesAsAWhole() throws Exception {
        DataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        Ledger ledger = new Ledger(jdbc, CLOCK);
        Projects projects = new Projects(jdbc, ledger, CLOCK);
        projects.create("p", "", "test");
        Experiments experiments = new Experiments(jdbc, projects, ledger, CLOCK);
        BulkRegistration bulk = new BulkRegistration(jdbc, ledger, CLOCK, new JdbcTransactionManager(database));
        Path hung = Files.createDirectory(folder.resolve("nfs"));
        String lines = "project,code,source\n" + "p,a,%1$s/a\np,b,%1$s/b\np,c,%1$s/c\n".formatted(hung);

        try (HungMount mount = new HungMount(hung)) {
            assertThatThrownBy(() -> experiments.register("p", "e", "", hung.resolve("e"), "lab"))
                    .isInstanceOf(Unanswered.class)
                    .hasMessage(hung + "/e did not respond within 5 s");
            assertThatThrownBy(() -> bulk.register(
                            new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)),
                            null,
                            Mode.EACH,
                            false,
                            "lab"))
                    .isInstanceOf(Unanswered.class)
                    .hasMessage(hung + "/a did not respond within 5 s");
        }
        assertThat(jdbc.sql("select count(*) from experiment").query(Long.class).single())
                .isZero();
    }

    @Test
    void oneRootThatHangsKeepsNobodyFromTheOthers() throws Exception {
        DataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        Ledger ledger = new Ledger(jdbc, CLOCK);
        Projects projects = new Projects(jdbc, ledger, CLOCK);
        Experiments experiments = new Experiments(jdbc, projects, ledger, CLOCK);
        BulkRegistration bulk = new BulkRegistration(jdbc, ledger, CLOCK, new JdbcTransactionManager(database));
        SourcePlaces places = new SourcePlaces(jdbc);
        Path server = Files.createDirectory(folder.toRealPath().resolve("nfs"));
        Path hung = Files.createDirectory(server.resolve("data"));
        Path answering = Files.createDirectory(folder.toRealPath().resolve("gpfs"));
        Path visit = Files.createDirectory(answering.resolve("visit"));
        Path elsewhere = Files.createDirectory(folder.toRealPath().resolve("elsewhere"));
        for (String project : List.of("p", "q")) {
            projects.create(project, "", "test");
        }
        projects.setRoots("p", List.of(hung, answering), "test");
        projects.setRoots("q", List.of(hung), "test");
        Sight lab = Sight.of(Set.of("p", "q"));

        try (HungMount mount = new HungMount(server)) {
            assertThat(places.find(lab, visit).projects()).containsExactly("p");
            String line = "project,code,source\np,a," + visit + "\n";
            assertThat(bulk.register(
                                    new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)),
                                    null,
                                    Mode.EACH,
                                    false,
                                    "lab")
                            .count(Outcome.REGISTERED))
                    .isEqualTo(1);
            for (Sight sight : List.of(lab, Sight.EVERYTHING)) {
                assertThatThrownBy(() -> places.find(sight, elsewhere))
                        .isInstanceOf(Unanswered.class)
                        .hasMessage(hung + " did not respond within 5 s");
            }
            assertThatThrownBy(() -> experiments.register("p", "e", "", elsewhere, "admin"))
                    .as("nobody knows whether it is below that root, and bound")
                    .isInstanceOf(Unanswered.class);
        }
    }

    @Test
    void severalAreAskedAtTheSameTimeAndTheSilentOnesAreLeftOut() {
        CountDownLatch allAsked = new CountDownLatch(3);
        CountDownLatch never = new CountDownLatch(1);
        FileQuestion<String> question = new FileQuestion<>(path -> {
            allAsked.countDown();
            answered(allAsked);
            switch (path.toString()) {
                case "/silent" -> answered(never);
                case "/failing" -> throw new FileSystemException("no");
                default -> {}
            }
            return "here";
        });

        assertThat(question.aboutEach(
                        "roots",
                        List.of(Path.of("/silent"), Path.of("/failing"), Path.of("/answering")),
                        Duration.ofSeconds(2)))
                .isEqualTo(Map.of(Path.of("/failing"), Optional.empty(), Path.of("/answering"), Optional.of("here")));
        never.countDown();
    }

    private static void answered(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
