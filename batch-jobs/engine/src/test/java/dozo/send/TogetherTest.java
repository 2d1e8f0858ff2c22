package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TogetherTest {

    private static final SiteAddress NOWHERE =
            new SiteAddress("127.0.0.1", 1, "nobody", "/", Path.of("none"), "ssh-ed25519 AAAA");

    private final Lanes lanes = Lanes.to(NOWHERE, 1);
    private final Workers workers = new Workers(lanes);
    private final List<List<Integer>> done = new CopyOnWriteArrayList<>();
    private final CountDownLatch first = new CountDownLatch(1);

    @AfterEach
    void close() {
        workers.close();
        lanes.close();
    }

    @Test
    void whatIsAskedForMeanwhileIsDoneAtOnceAfterwards() throws Exception {
        Together<Integer, Integer> doubled = new Together<>(workers, 1, 3, asked -> {
            done.add(asked);
            first.await();
            return asked.stream().map(each -> 2 * each).toList();
        });
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            int question = i;
            answers.add(workers.begin(() -> doubled.ask(question)));
            await().until(() -> question == 1 ? done.size() == 1 : doubled.waiting() == question - 1);
        }

        first.countDown();

        for (int i = 1; i <= 5; i++) {
            assertThat(Workers.join(answers.get(i - 1))).isEqualTo(2 * i);
        }
        assertThat(done).containsExactly(List.of(1), List.of(2, 3, 4), List.of(5));
    }

    @Test
    void aFailureIsThatOfOneQuestion() throws Exception {
        Together<Integer, Integer> picky = new Together<>(workers, 1, 9, asked -> {
            done.add(asked);
            first.await();
            if (asked.contains(2)) {
                throw new RemoteException(Reason.REFUSED, "no 2");
            }
            return asked;
        });
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            int question = i;
            answers.add(workers.begin(() -> picky.ask(question)));
            await().until(() -> question == 1 ? done.size() == 1 : picky.waiting() == question - 1);
        }

        first.countDown();

        assertThat(Workers.join(answers.get(0))).isEqualTo(1);
        assertThatThrownBy(() -> Workers.join(answers.get(1))).hasMessage("no 2");
        assertThat(Workers.join(answers.get(2))).isEqualTo(3);
    }

    @Test
    void afterTheEndNothingIsDone() {
        workers.close();
        Together<Integer, Integer> late = new Together<>(workers, 1, 9, asked -> asked);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> late.ask(1))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LOST));
        }
    }
}
