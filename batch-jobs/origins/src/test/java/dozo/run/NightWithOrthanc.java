package dozo.run;

import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Terms;
import dozo.file.Selection;
import dozo.manifest.Manifests;
import dozo.registry.Experiments.Experiment;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Target;
import dozo.source.dicom.SharedData;
import dozo.source.dicomweb.OrthancServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests of nights with a real Orthanc. Each has an empty one, where an instance replaces one with the same UIDs. */
abstract class NightWithOrthanc extends NightAtSite {

    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{8}){4}");

    Path corpus;
    OrthancServer orthanc;

    NightWithOrthanc() {
        super(OwnModules.ORIGINS, "dozo.collect.first-wait=1ms");
    }

    @BeforeEach
    final void openOrthanc() throws IOException {
        corpus = SharedData.folder();
        orthanc = orthanc("orthanc", true);
    }

    @AfterEach
    final void closeOrthanc() throws InterruptedException {
        if (orthanc != null) {
            orthanc.close();
        }
    }

    final OrthancServer orthanc(String name, boolean overwrites, String... more) throws IOException {
        return new OrthancServer(Files.createDirectory(folder.resolve(name)), 1, overwrites, more);
    }

    /** Replaces the Orthanc by another one. */
    final void replace(String name, boolean overwrites, String... more) throws Exception {
        orthanc.close();
        orthanc = orthanc(name, overwrites, more);
    }

    /** Makes what answers there the origin {@code pacs}. Nights collect from it into project {@code p}, or do not. */
    final void origin(String address, boolean collected) throws IOException {
        Path spool = Files.createDirectories(folder.resolve("spool"));
        Terms terms = new Terms(
                OriginKind.DICOMWEB,
                URI.create(address),
                null,
                List.of(),
                spool,
                collected ? "p" : null,
                Map.of(),
                collected,
                collected);
        night.get(Origins.class).save("pacs", terms, "test");
    }

    final Set<String> ids(String path) throws Exception {
        return ID.matcher(orthanc.get(path)).results().map(MatchResult::group).collect(Collectors.toSet());
    }

    final Set<String> uids() throws Exception {
        Set<String> uids = new TreeSet<>();
        for (String id : ids("/instances")) {
            uids.add(orthanc.get("/instances/%s/content/0008,0018".formatted(id)));
        }
        return uids;
    }

    /** Returns the MD5 of the bytes of each instance, by Orthanc's id. */
    final Map<String, String> digests() throws Exception {
        Map<String, String> digests = new TreeMap<>();
        for (String id : ids("/instances")) {
            digests.put(id, md5(orthanc.file(id)));
        }
        return digests;
    }

    static String md5(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Requests a restore of what is selected of an experiment's first manifest, into the origin {@code pacs}. */
    final long request(Experiment experiment, Selection selection, boolean replaces) {
        return night.get(RestoreQueue.class)
                .request(
                        experiment,
                        night.get(Manifests.class).all(experiment.id()).getFirst(),
                        selection,
                        night.site(),
                        new Target.Archive("pacs", replaces),
                        "lab")
                .id();
    }

    final KeptRestore ended(Experiment experiment, long id) {
        Night.until(() -> !now(experiment, id).state().goesOn());
        return now(experiment, id);
    }

    private KeptRestore now(Experiment experiment, long id) {
        return night.get(Restores.class).find(experiment, id).orElseThrow();
    }

    /** Returns the findings of a restore as their reasons and messages. */
    final List<String> findings(KeptRestore restore) {
        return night.get(Restores.class).findings(restore.id(), 0, 100).stream()
                .map(each -> each.reason() + " " + each.message())
                .toList();
    }
}
