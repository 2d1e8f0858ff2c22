package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.registry.SiteLanes;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Challenge;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.send.SiteCopy;
import dozo.send.SiteReader;
import dozo.verify.Copies;
import dozo.verify.HomeReadings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Asks other sites the challenges that a site has answered. Only an equal answer proves something: if they differ, either may be wrong.
 * Equal answers about bytes that are all zero prove nothing, because two sites that have deleted their bytes may both keep sparse files.
 */
@Component
record OtherAnswers(Copies copies, HomeReadings readings, Sites sites, SiteLanes lanes, TransferSettings settings) {

    private static final Logger LOG = LoggerFactory.getLogger(OtherAnswers.class);

    /**
     * Returns those of a site's answers that a copy with the same digest at another site gives, too.
     *
     * @param silent the names of sites that are not asked; those that fail are added
     */
    Map<Challenge, Digest> agreeing(
            int experimentId,
            int siteId,
            Map<SiteCopy, List<Challenge>> byCopy,
            Map<Challenge, Digest> answers,
            Set<String> silent)
            throws InterruptedException {
        Map<Challenge, Digest> agreeing = new HashMap<>();
        if (byCopy.isEmpty()) {
            return agreeing;
        }
        List<Integer> numbers =
                byCopy.keySet().stream().map(SiteCopy::entryNumber).toList();
        Set<String> names = new TreeSet<>();
        readings.atSites(experimentId, numbers).values().forEach(at -> at.forEach(each -> names.add(each.site())));
        names.removeAll(silent);
        for (String name : names) {
            Site other = sites.findEvenRemoved(name).orElseThrow();
            if (other.id() == siteId) {
                continue;
            }
            try {
                there(experimentId, other, byCopy).forEach((challenge, digest) -> {
                    if (digest.equals(requireNonNull(answers.get(challenge))) && !digest.equals(ofZeros(challenge))) {
                        agreeing.put(challenge, digest);
                    }
                });
            } catch (IOException e) {
                silent.add(name);
                LOG.info("site {} answers no challenges: {}", name, e.getMessage());
            }
        }
        return agreeing;
    }

    private Map<Challenge, Digest> there(int experimentId, Site other, Map<SiteCopy, List<Challenge>> byCopy)
            throws IOException, InterruptedException {
        Map<Integer, SiteCopy> asked = byCopy.keySet().stream()
                .collect(Collectors.toMap(SiteCopy::entryNumber, Function.identity(), (one, _) -> one));
        int[] numbers = asked.keySet().stream().mapToInt(Integer::intValue).toArray();
        Map<Challenge, Challenge> same = new LinkedHashMap<>();
        for (SiteCopy copy : copies.of(experimentId, other.id(), numbers)) {
            SiteCopy here = requireNonNull(asked.get(copy.entryNumber()));
            if (copy.digest().equals(here.digest())) {
                for (Challenge each : requireNonNull(byCopy.get(here))) {
                    same.put(
                            new Challenge(copy.path(), each.object(), each.offset(), each.length(), each.salt()), each);
                }
            }
        }
        if (same.isEmpty()) {
            return Map.of();
        }
        Map<Challenge, Digest> answers = new HashMap<>();
        try (Lanes to = lanes.to(other, 1)) {
            SiteReader.readOnly(to, new Patience(settings.patience()))
                    .answers(new ArrayList<>(same.keySet()))
                    .digests()
                    .forEach((challenge, digest) -> answers.put(requireNonNull(same.get(challenge)), digest));
        }
        return answers;
    }

    private static Digest ofZeros(Challenge challenge) {
        var digest = challenge.begin();
        digest.update(new byte[Math.toIntExact(challenge.length())]);
        return Digest.of(digest.digest());
    }
}
