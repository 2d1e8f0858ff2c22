package dozo.run;

import static java.util.Objects.requireNonNull;
import static java.util.function.Function.identity;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.manifest.IngestSettings;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.remote.Challenge;
import dozo.remote.RemoteException;
import dozo.run.Scrubs.Scrub;
import dozo.send.DamageKind;
import dozo.send.HomeReader;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Answers;
import dozo.send.SiteReader.Seen;
import dozo.verify.Challenges;
import dozo.verify.Challenges.Asked;
import dozo.verify.Challenges.Draw;
import dozo.verify.Challenges.Right;
import dozo.verify.Challenges.Witness;
import dozo.verify.Copies;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Asks a site for random ranges of its copies, so that one that has deleted bytes and kept digests is noticed (ADR 0114). A range counts
 * as held only if the site's answer came in time and equals the right one. That is computed from bytes that are proven in the same
 * reading: the source's, else another site's, else the whole copy as fetched. A wrong answer is asked again with another salt; two wrong
 * ones are damage. No transaction is open while bytes are read.
 *
 * <p>What the answers are compared with costs at most as much reading as the scrub itself, or {@value #BYTES_MIN} bytes. Ranges beyond
 * that are not asked, and counted.
 */
@Component
record Challenging(
        Challenges challenges,
        Scrubs scrubs,
        ScrubSettings scrubSettings,
        IngestSettings settings,
        AtSite site,
        SiteAhead ahead,
        Experiments experiments,
        Manifests manifests,
        Copies copies,
        OtherAnswers others,
        ScrubFindings found,
        Findings findings,
        TransactionTemplate transaction,
        InstantSource clock) {

    static final long BYTES_MIN = 128 << 20;

    /** One command has so many: more would let the site answer later. */
    private static final int ASKED_AT_ONCE = 64;

    /** Larger copies are not fetched. */
    private static final long FETCHED_BYTES_MAX = 1L << 30;

    private static final SecureRandom RANDOM = new SecureRandom();

    /** What is asked of one experiment, and by which means. */
    private record Place(
            NightFlow flow,
            Experiment experiment,
            Map<Integer, SiteCopy> copies,
            Map<Integer, Entry> entries,
            HomeReader home,
            Set<String> silent) {}

    /**
     * The answers of one experiment's copies.
     *
     * @param why why the site answered no more; empty: it did
     */
    private record Round(List<Asked> asked, String why) {}

    void challenge(NightFlow flow) throws RemoteException, JobInterruptedException, InterruptedException {
        Scrub scrub = scrubs.find(flow.run()).orElseThrow();
        List<Draw> drawn = challenges.draw(flow.site(), scrubSettings.challenges(), RANDOM);
        Collection<List<Draw>> fits = asManyAsFit(drawn, Math.max(BYTES_MIN, scrub.bytesRead()));
        HomeReader home = new HomeReader(
                scrub.bytesPerSecond(),
                scrubSettings.homeLoad() / 100.0,
                settings.patience(),
                scrub.cold(),
                flow::ends);
        Set<String> silent = new HashSet<>();
        int asked = 0;
        boolean answers = true;
        for (List<Draw> draws : fits) {
            flow.check();
            if (answers && !scrub.isOver(clock.instant())) {
                Round round = ask(place(flow, draws, home, silent), draws);
                answers = round.why.isEmpty();
                asked += round.asked.size();
            }
        }
        scrubs.leave(flow.run(), drawn.size() - asked);
    }

    /** Returns the draws by experiment, without files that are too much. Each file counts once, with all of its bytes. */
    private static Collection<List<Draw>> asManyAsFit(List<Draw> drawn, long bytesMax) {
        Set<Long> files = new HashSet<>();
        Map<Integer, List<Draw>> fits = new LinkedHashMap<>();
        long bytes = 0;
        for (Draw draw : drawn) {
            long file = (long) draw.experimentId() << Integer.SIZE | draw.entryNo();
            long more = files.contains(file) ? 0 : draw.sizeBytes();
            if (bytes + more <= bytesMax) {
                bytes += more;
                files.add(file);
                fits.computeIfAbsent(draw.experimentId(), _ -> new ArrayList<>())
                        .add(draw);
            }
        }
        return fits.values();
    }

    private Place place(NightFlow flow, List<Draw> draws, HomeReader home, Set<String> silent) {
        int id = draws.getFirst().experimentId();
        int[] numbers = draws.stream().mapToInt(Draw::entryNo).distinct().toArray();
        return new Place(
                flow,
                experiments.find(id).orElseThrow(),
                copies.of(id, flow.site(), numbers).stream().collect(toMap(SiteCopy::entryNumber, identity())),
                manifests.current(id, numbers).stream().collect(toMap(Entry::number, identity())),
                home,
                silent);
    }

    /** Asks, and asks again what was answered wrongly. Returns the first answers. */
    private Round ask(Place place, List<Draw> draws)
            throws RemoteException, JobInterruptedException, InterruptedException {
        Round first = round(place, draws);
        Round second = round(
                place,
                first.asked.stream().filter(Asked::isWrong).map(Asked::draw).toList());
        List<Asked> wrong = elsewhereExcepted(
                place, second.asked.stream().filter(Asked::isWrong).toList(), first.why);
        List<Asked> unknown = elsewhereExcepted(
                place,
                Stream.concat(
                                first.asked.stream().filter(Asked::isUnknown),
                                second.asked.stream().filter(one -> !one.isWrong()))
                        .toList(),
                first.why);
        long runId = place.flow.run();
        int siteId = place.flow.site();
        transaction.executeWithoutResult(_ -> {
            challenges.add(runId, siteId, first.asked);
            challenges.add(runId, siteId, second.asked);
            if (!wrong.isEmpty()) {
                found.keepNotHeld(runId, siteId, place.experiment, wrong, clock.instant());
            }
            if (!unknown.isEmpty()) {
                String message = unknown(unknown, draws.size(), first.why + second.why);
                findings.add(runId, new Finding(place.experiment.id(), Problem.UNPROVEN, message));
            }
        });
        return new Round(first.asked, first.why + second.why);
    }

    private static String unknown(List<Asked> unknown, int asked, String why) {
        Asked one = unknown.getFirst();
        String reason = "its answers contradict each other; do not trust its command";
        if (one.answer() == null) {
            reason = why.isEmpty() ? "the site returned no digest" : why;
        } else if (one.right() == null) {
            reason =
                    "nothing has the bytes of the digest to compare its answer with, neither the source nor another site";
        }
        return "of %,d random ranges of its copies, it is unknown whether the site has %,d, such as in %s: %s. The next scrub asks again"
                .formatted(asked, unknown.size(), one.copy().name(), reason);
    }

    /**
     * Leaves out copies that are as proven elsewhere: a run which died has moved them aside, and the next night puts them back; or a
     * later night of a newer database has.
     */
    private List<Asked> elsewhereExcepted(Place place, List<Asked> asked, String why)
            throws RemoteException, JobInterruptedException, InterruptedException {
        Set<SiteCopy> perhaps = asked.stream()
                .filter(one -> one.answer() != null || why.isEmpty())
                .map(Asked::copy)
                .collect(toSet());
        Set<SiteCopy> elsewhere = site.of(place.flow, sender -> elsewhere(place, sender.reader(), perhaps));
        return asked.stream().filter(one -> !elsewhere.contains(one.copy())).toList();
    }

    private Set<SiteCopy> elsewhere(Place place, SiteReader reader, Set<SiteCopy> copies)
            throws RemoteException, InterruptedException {
        // Else a site could excuse what it has not by a recorded digest.
        boolean replaced = ahead.isAhead(place.flow.run());
        List<Seen> absent = new ArrayList<>();
        for (SiteCopy copy : copies) {
            boolean stands = reader.names(copy.path().parent()).containsKey(copy.path());
            if (!stands || replaced) {
                absent.add(new Seen.Damaged(copy, stands ? DamageKind.ALTERED : DamageKind.MISSING, null, ""));
            }
        }
        return ahead.search(place.flow.run(), reader, SiteFolders.of(place.experiment.name()), absent).stream()
                .filter(Seen.AsProven.class::isInstance)
                .map(Seen::copy)
                .collect(toSet());
    }

    /** Asks about ranges, each with a new salt. */
    private Round round(Place place, List<Draw> draws)
            throws RemoteException, JobInterruptedException, InterruptedException {
        List<Asked> asked = new ArrayList<>();
        String why = "";
        for (int i = 0; i < draws.size() && why.isEmpty(); i += ASKED_AT_ONCE) {
            Map<Challenge, Draw> batch = new LinkedHashMap<>();
            for (Draw draw : draws.subList(i, Math.min(draws.size(), i + ASKED_AT_ONCE))) {
                SiteCopy copy = requireNonNull(place.copies.get(draw.entryNo()));
                batch.put(Challenge.about(copy.path(), copy.digest(), copy.sizeBytes(), draw.at(), RANDOM), draw);
            }
            Instant now = clock.instant();
            List<Challenge> questions = List.copyOf(batch.keySet());
            Answers answers = site.of(place.flow, sender -> sender.reader().answers(questions));
            Map<Challenge, Right> right = right(place, batch, answers);
            batch.forEach((challenge, draw) -> asked.add(new Asked(
                    draw,
                    requireNonNull(place.copies.get(draw.entryNo())),
                    challenge,
                    now,
                    answers.method(),
                    answers.digests().get(challenge),
                    right.get(challenge))));
            why = answers.why();
        }
        return new Round(asked, why);
    }

    /** Returns the right answers to those challenges that the site has answered, as far as anybody can compute them. */
    private Map<Challenge, Right> right(Place place, Map<Challenge, Draw> batch, Answers answers)
            throws RemoteException, JobInterruptedException, InterruptedException {
        Map<SiteCopy, List<Challenge>> byCopy = answers.digests().keySet().stream()
                .collect(groupingBy(challenge -> requireNonNull(
                        place.copies.get(requireNonNull(batch.get(challenge)).entryNo()))));
        Map<Challenge, Right> right = new HashMap<>();
        for (Map.Entry<SiteCopy, List<Challenge>> each : byCopy.entrySet()) {
            atHome(place, each.getKey(), each.getValue()).ifPresent(digests -> put(right, digests, Witness.HOME));
        }
        byCopy.values().removeIf(right.keySet()::containsAll);
        put(
                right,
                others.agreeing(place.experiment.id(), place.flow.site(), byCopy, answers.digests(), place.silent),
                Witness.SITE);
        byCopy.values().removeIf(right.keySet()::containsAll);
        for (Map.Entry<SiteCopy, List<Challenge>> each : byCopy.entrySet()) {
            SiteCopy copy = each.getKey();
            if (copy.sizeBytes() <= FETCHED_BYTES_MAX) {
                site.of(place.flow, sender -> sender.reader().fetchedAnswers(copy, each.getValue()))
                        .ifPresent(digests -> put(right, digests, Witness.FETCHED));
            }
        }
        return right;
    }

    private static Optional<Map<Challenge, Digest>> atHome(Place place, SiteCopy copy, List<Challenge> asked)
            throws JobInterruptedException, InterruptedException {
        Entry entry = place.entries.get(copy.entryNumber());
        if (entry == null) {
            return Optional.empty();
        }
        Experiment experiment = place.experiment;
        try {
            return place.home.answers(experiment.source(), experiment.bound(), entry, copy.digest(), asked);
        } catch (InterruptedException e) {
            place.flow.check();
            throw e;
        }
    }

    private static void put(Map<Challenge, Right> right, Map<Challenge, Digest> digests, Witness witness) {
        digests.forEach((challenge, digest) -> right.putIfAbsent(challenge, new Right(digest, witness)));
    }
}
