package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.file.Problem;
import dozo.registry.Experiments.Experiment;
import dozo.registry.SiteLanes;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.RemoteException;
import dozo.send.HomeReader;
import dozo.send.HomeReader.ByteRange;
import dozo.send.SiteCopy;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import dozo.verify.Copies;
import dozo.verify.HomeReadings.AtSite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Says in which bytes rotten source files differ from their copies at a site. Only a copy that has the digest with which the file was
 * first sent, now and at the site, is compared. What a site does not answer is left out: the finding stands without it.
 */
@Component
record RottenRanges(Copies copies, Sites sites, SiteLanes lanes, TransferSettings settings) {

    private static final Logger LOG = LoggerFactory.getLogger(RottenRanges.class);

    private static final int TOLD_MAX = 10;

    /**
     * Returns what is to be said of each file, by its entry's number, as a sentence.
     *
     * @param sites at which sites copies are, by the entry's number
     * @param silent the names of sites that are not asked; those that fail are added
     */
    Map<Integer, String> of(
            Experiment experiment,
            HomeReader reader,
            List<Entry> files,
            Map<Integer, List<AtSite>> sites,
            Set<String> silent)
            throws InterruptedException {
        Map<Integer, String> sentences = new HashMap<>();
        Map<String, List<Entry>> bySite = new HashMap<>();
        for (Entry file : files) {
            sites.getOrDefault(file.number(), List.of()).stream()
                    .filter(each -> each.copyIsSealed() && !silent.contains(each.site()))
                    .findFirst()
                    .ifPresent(each -> bySite.computeIfAbsent(each.site(), _ -> new ArrayList<>())
                            .add(file));
        }
        for (Map.Entry<String, List<Entry>> each : bySite.entrySet()) {
            String name = each.getKey();
            try {
                Site site = this.sites.findEvenRemoved(name).orElseThrow();
                of(experiment, reader, each.getValue(), site)
                        .forEach((number, ranges) -> sentences.put(number, sentence(name, ranges)));
            } catch (IOException e) {
                silent.add(name);
                LOG.info("site {} does not say in which bytes files differ: {}", name, e.getMessage());
            }
        }
        return sentences;
    }

    private Map<Integer, List<ByteRange>> of(Experiment experiment, HomeReader reader, List<Entry> files, Site site)
            throws IOException, InterruptedException {
        Map<Integer, Entry> byNumber = files.stream().collect(Collectors.toMap(Entry::number, Function.identity()));
        int[] numbers = files.stream().mapToInt(Entry::number).toArray();
        Map<SiteCopy, List<ByteRange>> found = new LinkedHashMap<>();
        Map<Integer, List<ByteRange>> proven = new HashMap<>();
        try (Lanes to = lanes.to(site, 1)) {
            SiteReader there = SiteReader.readOnly(to, new Patience(settings.patience()));
            for (SiteCopy copy : copies.of(experiment.id(), site.id(), numbers)) {
                Entry file = requireNonNull(byNumber.get(copy.entryNumber()));
                try {
                    found.put(copy, reader.differences(experiment.source(), experiment.bound(), file, there, copy));
                } catch (RemoteException e) {
                    // NB: throws if the whole site is concerned.
                    Problem problem = SiteReader.problem(e);
                    LOG.info("{}: the copy of entry {} is {}", experiment.name(), file.number(), problem);
                }
            }
            for (Seen seen : there.read(List.copyOf(found.keySet()))) {
                List<ByteRange> ranges = requireNonNull(found.get(seen.copy()));
                if (seen instanceof Seen.AsProven && !ranges.isEmpty()) {
                    proven.put(seen.copy().entryNumber(), ranges);
                }
            }
        }
        return proven;
    }

    private static String sentence(String site, List<ByteRange> ranges) {
        String first = ranges.stream()
                .limit(TOLD_MAX)
                .map(range -> "%,d to %,d".formatted(range.first(), range.last()))
                .collect(Collectors.joining(", "));
        int more = ranges.size() - TOLD_MAX;
        return "It differs from the copy at %s in bytes %s%s. "
                .formatted(
                        site,
                        first,
                        more <= 0 ? "" : more == 1 ? " and 1 more range" : " and %,d more ranges".formatted(more));
    }
}
