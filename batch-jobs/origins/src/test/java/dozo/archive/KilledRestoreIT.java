package dozo.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Campaign;
import dozo.loopback.LoopbackSite;
import dozo.remote.ChildProcess;
import dozo.restore.ArchiveRestore.Counts;
import dozo.source.dicom.MadeImage;
import dozo.source.dicomweb.FaultyProxy;
import dozo.source.dicomweb.FaultyProxy.Storing;
import dozo.source.dicomweb.OrthancServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A restore into an empty Orthanc is killed again and again at random moments, a third of these times the Orthanc too. In the end every
 * instance is there with its bytes, and only what was in flight at a kill was sent again.
 */
class KilledRestoreIT {

    private static final int KILLS = Campaign.times(6);
    private static final int INSTANCES = 1_200;

    /** About so many steps of the proxy are a batch: two look-ups of each instance, its bytes, the answer. */
    private static final int STEPS_OF_BATCH = 425;

    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{8}){4}");

    @TempDir
    Path folder;

    @Test
    @Tag(Campaign.TAG)
    void aRestoreThatIsKilledManyTimesSendsAgainOnlyWhatWasInFlight() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("seed of the kills: " + seed);
        Random dice = new Random(seed);
        List<String> expected = new ArrayList<>();
        Path root = Files.createDirectory(folder.resolve("dr"));
        for (int number = 0; number < INSTANCES; number++) {
            byte[] image = MadeImage.of(1, 1, number);
            Files.write(root.resolve("%04d.dcm".formatted(number)), image);
            expected.add(md5(image));
        }
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                OrthancServer orthanc = new OrthancServer(Files.createDirectory(folder.resolve("orthanc")), 1, false);
                FaultyProxy proxy = new FaultyProxy(orthanc.address())) {
            int orthancKills = 0;
            for (int kill = 0; kill < KILLS; kill++) {
                proxy.holdAfter(dice.nextInt(2 * ids(orthanc).size() + STEPS_OF_BATCH));
                new ChildProcess(RestoreProcess.class, 128, folder.resolve("log"), site.address(), proxy.address())
                        .killWhen(proxy::holds);
                if (dice.nextInt(3) == 0) {
                    orthanc.kill();
                    orthanc.start();
                    orthancKills++;
                }
                if (dice.nextBoolean()) {
                    proxy.cut();
                } else {
                    // What the process had sent still arrives.
                    proxy.letGo();
                }
            }
            int there = ids(orthanc).size();

            Counts counts = RestoreProcess.restore(site.address(), proxy.address());

            assertThat(counts).isEqualTo(new Counts(1, 1, INSTANCES - there, there, 0, 0));
            assertThat(digests(orthanc)).containsExactlyInAnyOrderElementsOf(expected);
            System.out.printf(
                    "%d kills, %d of Orthanc too; %d of %d instances were there before the last start; %d were sent again%n",
                    KILLS, orthancKills, there, INSTANCES, sentAgain(proxy.storings()));
        }
    }

    /** Returns how many instances were sent more than once: none after a request with an answer. */
    private static long sentAgain(List<Storing> storings) {
        Set<String> answered = new TreeSet<>();
        Map<String, Integer> times = new TreeMap<>();
        for (Storing storing : storings) {
            Set<String> numbers = MadeImage.NUMBER
                    .matcher(storing.text())
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.toSet());
            assertThat(numbers).noneMatch(answered::contains);
            numbers.forEach(number -> times.merge(number, 1, Integer::sum));
            if (storing.isAnswered()) {
                answered.addAll(numbers);
            }
        }
        assertThat(times).hasSize(INSTANCES);
        return times.values().stream().filter(count -> count > 1).count();
    }

    private static List<String> ids(OrthancServer orthanc) throws Exception {
        return ID.matcher(orthanc.get("/instances"))
                .results()
                .map(MatchResult::group)
                .toList();
    }

    private static List<String> digests(OrthancServer orthanc) throws Exception {
        List<String> digests = new ArrayList<>();
        for (String id : ids(orthanc)) {
            digests.add(md5(orthanc.file(id)));
        }
        return digests;
    }

    private static String md5(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
    }
}
