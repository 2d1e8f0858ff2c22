package dozo.collect;

import static dozo.registry.GivenPaths.shown;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.KnownFolders.Known;
import dozo.collect.KnownFolders.Recognised;
import dozo.collect.Offer.Folder;
import dozo.collect.Origins.Origin;
import dozo.collect.Terms.Tree;
import dozo.file.FilePath;
import dozo.registry.Acquisition;
import dozo.registry.Code;
import dozo.registry.FileQuestion;
import dozo.registry.Refusal;
import dozo.source.tree.Completeness;
import dozo.source.tree.Completeness.Verdict;
import dozo.source.tree.ExperimentFolder;
import dozo.source.tree.FolderPattern.Captured;
import dozo.source.tree.FolderPattern.Field;
import dozo.source.tree.FolderSearch;
import dozo.source.tree.FolderSearch.Found;
import dozo.source.tree.FolderSearch.Trouble;
import dozo.source.tree.FoundFolder;
import dozo.source.tree.Observed;
import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Rules;
import dozo.suggest.Suggestions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Finds experiments among the folders of a tree, and judges by their content whether they are complete. Nothing is
 * copied: the folder is the experiment's source. An item's id is drawn at random when its folder is first seen, so
 * codes made of it reveal nothing that people wrote.
 */
@Component
class TreeCollector implements Collector {

    private static final int ITEM_BYTES = 10;
    private static final int THEIRS_LENGTH_MAX = 128;
    private static final FileQuestion<Path> REAL = new FileQuestion<>(Path::toRealPath);
    private static final Rules NONE = Rules.of(List.of("quiet 1h"));

    private final TreeFolders folders;
    private final Suggestions suggestions;
    private final InstantSource clock;
    private final SecureRandom chance = new SecureRandom();

    TreeCollector(TreeFolders folders, Suggestions suggestions, InstantSource clock) {
        this.folders = folders;
        this.suggestions = suggestions;
        this.clock = clock;
    }

    @Override
    public OriginKind kind() {
        return OriginKind.TREE;
    }

    @Override
    public void check(Terms terms) {
        if (terms.spool().getNameCount() == 0 || !Files.isReadable(terms.spool())) {
            throw new Refusal("root", "expected a folder below / that the service's user can read");
        }
    }

    @Override
    public Look look(Origin origin, @Nullable String newest) throws IOException, InterruptedException {
        Found found = found(origin);
        List<Known> all = folders.of(origin);
        KnownFolders known = new KnownFolders(all);
        List<Recognised> recognised =
                known.recognise(found.folders(), (before, folder) -> holdsTheSame(origin, before, folder));
        List<Offer> offers = new ArrayList<>();
        Set<String> changed = folders.grown(origin);
        List<Remark> missing = remarks(found, true);
        List<Remark> remarks = new ArrayList<>(remarks(found, false));
        for (Recognised each : recognised) {
            String item = each.known() == null ? drawn() : each.known().item();
            if (each.known() == null) {
                changed.add(item);
            }
            offers.add(offer(item, each.found(), each.known()));
            remark(each, item).ifPresent(remarks::add);
        }
        for (Known each : all) {
            if (!each.gone()
                    && !known.isTaken(each)
                    && found.isUnknown(each.place().path())) {
                offers.add(unknown(each));
            }
        }
        long there = all.stream().filter(each -> !each.gone()).count();
        if (offers.isEmpty() && there > 0) {
            throw new OriginException(
                    "no folder below %s matches the patterns; previously %d did. Check that its file system is mounted"
                            .formatted(shown(origin.terms().spool()), there));
        }
        return new Look(offers, changed, null, missing, remarks);
    }

    private static Found found(Origin origin) throws IOException, InterruptedException {
        Path root = origin.terms().spool();
        try {
            if (!REAL.about("folder", root, Room.NIGHT).equals(root)) {
                throw new OriginException("the path to %s now contains a symbolic link".formatted(shown(root)));
            }
            return FolderSearch.look(root, tree(origin).patterns());
        } catch (FileSystemException e) {
            throw new OriginException("the folder %s cannot be listed: %s"
                    .formatted(shown(root), e.getClass().getSimpleName()));
        }
    }

    private boolean holdsTheSame(Origin origin, Known known, FoundFolder found)
            throws IOException, InterruptedException {
        Completeness.Seen seen = known.place().seen();
        if (seen == null) {
            return false;
        }
        Observed now = observed(origin, found.path(), NONE);
        return now.files() == seen.files() && now.bytes() == seen.bytes() && now.digest() == seen.digest();
    }

    private Observed observed(Origin origin, FilePath path, Rules rules) throws IOException, InterruptedException {
        return new ExperimentFolder(origin.terms().spool(), path).look(rules, clock.instant());
    }

    private String drawn() {
        byte[] bytes = new byte[ITEM_BYTES];
        chance.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private Offer offer(String item, FoundFolder folder, @Nullable Known known) {
        Captured captured = folder.captured();
        Acquisition acquisition = acquisition(captured);
        Folder place = new Folder(
                folder.path(),
                folder.inode(),
                folder.bornNanos(),
                known == null ? null : known.place().seen());
        return new Offer(
                item,
                captured.value(Field.PROJECT).map(TreeCollector::theirs).orElse(null),
                code(item),
                title(captured, acquisition),
                acquisition,
                null,
                null,
                place);
    }

    /** Returns the offer of a folder that could not be looked at now; it changes nothing that is known. */
    private static Offer unknown(Known known) {
        return new Offer(
                known.item(),
                known.theirs(),
                code(known.item()),
                known.title(),
                Acquisition.UNKNOWN,
                null,
                null,
                known.place());
    }

    private static String code(String item) {
        return "tree-" + item;
    }

    /**
     * Returns a project's name as written in the origin's mapping: text as it is, but percent-encoded if it contains
     * {@code %} or is not valid text. Null if it is too long.
     */
    static @Nullable String theirs(byte[] bytes) {
        String theirs = text(bytes).filter(text -> !text.contains("%")).orElseGet(() -> Code.escaped(bytes));
        return theirs.length() <= THEIRS_LENGTH_MAX ? theirs : null;
    }

    private static Optional<String> text(byte[] bytes) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return Optional.of(text).filter(Code::isText);
        } catch (CharacterCodingException notText) {
            return Optional.empty();
        }
    }

    /** Returns the title from label and session, else from modality and day; never from the subject. */
    private static String title(Captured captured, Acquisition acquisition) {
        String said = Stream.of(Field.LABEL, Field.SESSION)
                .flatMap(field -> captured.value(field).stream())
                .map(FilePath::render)
                .collect(Collectors.joining(" "));
        if (!said.isEmpty()) {
            return said;
        }
        return Stream.of(acquisition.modality(), acquisition.day())
                .filter(Objects::nonNull)
                .map(String::valueOf)
                .collect(Collectors.joining(" "));
    }

    /** Returns the values in the folder's name, if they are valid. */
    private Acquisition acquisition(Captured captured) {
        LocalDate latest = clock.instant().atZone(ZoneOffset.UTC).toLocalDate().plusDays(1);
        LocalDate day = captured.day();
        boolean plausible = day != null && Acquisition.isPlausible(day) && !day.isAfter(latest);
        return new Acquisition(
                said(captured, Field.MODALITY, Acquisition::isModality),
                said(captured, Field.SCANNER, Code::isCode),
                plausible ? day : null);
    }

    private static @Nullable String said(Captured captured, Field field, Predicate<String> form) {
        return captured.value(field).flatMap(TreeCollector::text).filter(form).orElse(null);
    }

    private static Optional<Remark> remark(Recognised each, String item) {
        String name = each.found().path().toString();
        return switch (each.how()) {
            case SAME, NEW -> Optional.empty();
            case MOVED -> {
                FilePath before = Objects.requireNonNull(each.known()).place().path();
                yield before.equals(each.found().path())
                        ? Optional.empty()
                        : Optional.of(new Remark(name, item, "MOVED", "moved from %s".formatted(before)));
            }
            case REPLACED ->
                Optional.of(new Remark(name, item, "REPLACED", "replaced by another folder; treated as the same item"));
            case PERHAPS_MOVED ->
                Optional.of(new Remark(
                        name,
                        item,
                        "PERHAPS_MOVED",
                        "same inode number as %s, which is gone, but other content; proposed as a new item"
                                .formatted(Objects.requireNonNull(each.perhaps())
                                        .place()
                                        .path())));
        };
    }

    private static List<Remark> remarks(Found found, boolean missing) {
        List<Remark> remarks = new ArrayList<>();
        for (Trouble trouble : found.troubles()) {
            if (trouble.reason().isMissing() == missing) {
                String name =
                        trouble.path().isRoot() ? "the root" : trouble.path().toString();
                remarks.add(new Remark(name, name, trouble.reason().name(), trouble.message()));
            }
        }
        return remarks;
    }

    /**
     * Counts the folder's content, and reads from its files those facts of the acquisition that its name does not give.
     */
    @Override
    public Delivery describe(Origin origin, Offer offer) throws IOException, InterruptedException {
        Folder place = place(origin, offer.item());
        try {
            Observed now = observed(origin, place.path(), NONE);
            List<Remark> missing = remarks(offer, now.unreadable());
            Acquisition said =
                    suggestions.acquisition(place.path().under(origin.terms().spool()));
            return new Delivery(
                    offer.with(offer.acquisition().or(said), now.files(), now.bytes(), place),
                    now.files(),
                    0,
                    0,
                    now.files() == 0,
                    missing,
                    List.of());
        } catch (FileSystemException e) {
            return gone(offer, place, e);
        }
    }

    @Override
    public Delivery deliver(Origin origin, Offer offer) throws IOException, InterruptedException {
        Folder place = place(origin, offer.item());
        try {
            Rules rules = tree(origin).ready();
            Observed now = observed(origin, place.path(), rules);
            Verdict verdict = Completeness.judge(now, place.seen(), rules, clock.instant());
            List<Remark> why = remarks(offer, verdict.reasons());
            List<Remark> words = new ArrayList<>(remarks(offer, now.remarks()));
            if (!verdict.wrong()) {
                words.addAll(why);
            }
            return new Delivery(
                    offer.with(offer.acquisition(), now.files(), now.bytes(), place.with(verdict.seen())),
                    now.files(),
                    now.files(),
                    0,
                    !verdict.isComplete(),
                    verdict.wrong() ? why : List.of(),
                    words);
        } catch (FileSystemException e) {
            return gone(offer, place, e);
        }
    }

    private static Delivery gone(Offer offer, Folder place, FileSystemException e) {
        Remark missing = new Remark(
                place.path().toString(),
                offer.item(),
                "UNREADABLE",
                "the folder cannot be read: " + e.getClass().getSimpleName());
        return Delivery.none(offer, 0, missing);
    }

    private static List<Remark> remarks(Offer offer, List<Reason> reasons) {
        return reasons.stream()
                .map(reason -> new Remark(reason.name(), offer.item(), reason.word(), reason.message()))
                .toList();
    }

    @Override
    public void kept(long runId, Arrival arrival, Delivery came) {
        Folder place = came.offer().place();
        if (place != null && place.seen() != null) {
            folders.saw(arrival, place.seen());
        }
    }

    @Override
    public List<Remark> kept(Origin origin, Look look) {
        folders.keep(origin, look.offers());
        folders.bind(origin);
        return folders.follow(origin);
    }

    @Override
    public Path tree(Origin origin, String item) {
        return place(origin, item).path().under(origin.terms().spool());
    }

    private Folder place(Origin origin, String item) {
        return folders.find(origin, item).orElseThrow().place();
    }

    private static Tree tree(Origin origin) {
        return Objects.requireNonNull(origin.terms().tree());
    }
}
