package dozo.report;

import dozo.alert.Condition;
import dozo.file.Size;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Reason;
import dozo.report.Report.Backup;
import dozo.report.Report.Because;
import dozo.report.Report.Need;
import dozo.report.Report.NightState;
import dozo.report.Report.SiteNight;
import dozo.report.Report.Tonight;
import dozo.report.Report.Waiting;
import dozo.report.Told.Detail;
import dozo.report.Told.Item;
import dozo.report.Told.Section;
import dozo.report.Told.Tone;
import dozo.run.Runs.RunKind;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.stereotype.Component;

/** Tells a report in the words of a language. */
@Component
public class Teller {

    private final MessageSource words;
    private final ZoneId zone;

    Teller(MessageSource words, ZoneId zone) {
        this.words = words;
        this.zone = zone;
    }

    /** Returns a report in the words of a language, English or Japanese. */
    public Told tell(Report report, Locale locale) {
        return new Telling(report, locale).told();
    }

    private final class Telling {

        private final Report report;
        private final Locale locale;

        Telling(Report report, Locale locale) {
            this.report = report;
            this.locale = locale;
        }

        Told told() {
            String because =
                    report.reasons().stream().findFirst().map(this::because).orElse("");
            String sentence = say("report.verdict." + report.verdict(), because);
            return new Told(
                    locale.getLanguage(),
                    say("report.title", date(report.day())),
                    report.verdict(),
                    sentence,
                    say("alert.subject.REPORT", date(report.day()), sentence),
                    say(report.current() ? "report.asof" : "report.then", time(report.at()), zone.getId()),
                    sections());
        }

        private String because(Because reason) {
            return switch (reason.why()) {
                case NEED -> sentence(Objects.requireNonNull(reason.need()));
                case NO_SITE -> say("report.because.NO_SITE");
                case NIGHT -> {
                    SiteNight site = Objects.requireNonNull(reason.site());
                    yield say("report.because." + site.state(), site.site(), time(site.dueAt()));
                }
                case UNSAFE -> unsafe("report.because.UNSAFE", Objects.requireNonNull(reason.site()));
            };
        }

        private String unsafe(String key, SiteNight site) {
            return say(key, site.site(), site.unsafe(), site.experiments());
        }

        private String sentence(Need need) {
            return need.sentence().in(words, locale);
        }

        private List<Section> sections() {
            return Stream.of(
                            new Section(say("report.done"), sites(this::done)),
                            new Section(say("report.undone"), undone()),
                            new Section(say(report.current() ? "report.needs" : "report.needs.then"), needs()),
                            new Section(say("report.oldest"), oldest()),
                            new Section(say("report.tonight"), sites(this::tonight)))
                    .filter(section -> !section.items().isEmpty())
                    .toList();
        }

        private List<Item> sites(Function<SiteNight, Stream<Item>> items) {
            return report.sites().stream().flatMap(items).toList();
        }

        private Stream<Item> done(SiteNight site) {
            Stream<Item> backups = site.backups().stream().map(backup -> done(site, backup));
            boolean all = switch (site.state()) {
                case NOT_STARTED, NOT_YET, NONE, UNRECORDED -> false;
                default -> true;
            };
            Item night = new Item(
                    site.state() == NightState.NOT_STARTED ? Tone.GAP : Tone.QUIET,
                    say("report.night." + (all ? NightState.NONE : site.state()), site.site(), time(site.dueAt())),
                    null,
                    List.of());
            return all ? backups : Stream.concat(backups, Stream.of(night));
        }

        private Item done(SiteNight site, Backup backup) {
            String night = backup.kind() == RunKind.RETRY ? say("report.retry", site.site()) : site.site();
            String name = backup.kind() == RunKind.CHOSEN ? say("report.chosen", site.site()) : night;
            List<Detail> details = new ArrayList<>();
            details.add(new Detail(proved(backup), null, false));
            if (!backup.message().isEmpty()) {
                details.add(new Detail(say("report.message", backup.message()), null, true));
            }
            return new Item(
                    tone(backup),
                    say(
                            "report.backup." + backup.state(),
                            name,
                            time(backup.startedAt()),
                            time(backup.endedAt()),
                            Findings.words(backup.findings())),
                    "/runs/" + backup.run(),
                    details);
        }

        private static Tone tone(Backup backup) {
            return switch (backup.state()) {
                case COMPLETE -> Tone.SAFE;
                case RUNNING, PAUSED -> Tone.BUSY;
                case FINDINGS, FAILED, STOPPED -> Tone.GAP;
            };
        }

        private String proved(Backup backup) {
            return backup.entries() == 0
                    ? say("report.proved.nothing")
                    : say(
                            "report.proved",
                            backup.experiments(),
                            Size.text(backup.bytes()),
                            backup.entries(),
                            Size.text((long) backup.bytesPerSecond()) + "/s");
        }

        private List<Item> undone() {
            List<Item> undone = sites(this::undone);
            boolean well = !report.sites().isEmpty()
                    && report.sites().stream()
                            .allMatch(site -> site.unsafe() == 0 && site.state() == NightState.COMPLETE);
            return well
                    ? Stream.concat(Stream.of(plain(Tone.SAFE, say("report.undone.none"))), undone.stream())
                            .toList()
                    : undone;
        }

        private Stream<Item> undone(SiteNight site) {
            Stream.Builder<Item> undone = Stream.builder();
            if (site.state() != NightState.NONE && site.state() != NightState.COMPLETE) {
                undone.add(plain(
                        site.state() == NightState.NOT_YET || site.state() == NightState.UNRECORDED
                                ? Tone.QUIET
                                : Tone.GAP,
                        say("report.because." + site.state(), site.site(), time(site.dueAt()))));
            }
            if (site.unsafe() > 0) {
                List<Detail> waiting = site.waiting().stream()
                        .filter(Waiting::due)
                        .map(each -> waiting(site, each))
                        .toList();
                undone.add(new Item(Tone.GAP, unsafe("report.undone.unsafe", site), "/experiments", waiting));
            }
            if (site.later() > 0) {
                undone.add(plain(Tone.QUIET, say("report.undone.later", site.site(), site.later())));
            }
            return undone.build();
        }

        private Detail waiting(SiteNight site, Waiting each) {
            String why = each.reason() == null ? say("report.why." + site.state()) : say("reason." + each.reason());
            return new Detail(
                    say("report.waiting", each.experiment(), why, time(each.since()), size(each)),
                    "/experiments/" + each.experiment(),
                    false);
        }

        private String size(Waiting each) {
            return each.files() == null || each.bytes() == null
                    ? say("report.waiting.unread")
                    : say("report.waiting.size", Size.text(each.bytes()), each.files());
        }

        private List<Item> needs() {
            List<Item> needs = Stream.concat(report.needs().stream().map(this::need), sites(this::findings).stream())
                    .toList();
            return needs.isEmpty()
                    ? List.of(plain(Tone.QUIET, say(report.current() ? "report.needs.none" : "report.needs.none.then")))
                    : needs;
        }

        private Item need(Need need) {
            String where = Stream.of(
                            Optional.ofNullable(need.site()),
                            Optional.ofNullable(need.project()),
                            Optional.ofNullable(need.since()).map(since -> say("report.since", time(since))))
                    .flatMap(Optional::stream)
                    .collect(Collectors.joining(say("report.comma")));
            Stream<Detail> details = where.isEmpty() ? Stream.empty() : Stream.of(new Detail(where, null, false));
            return new Item(
                    Tone.GAP,
                    sentence(need),
                    "/alerts",
                    Stream.concat(details, cure(need)).toList());
        }

        /** Returns what to do about a frozen experiment, the release last. */
        private Stream<Detail> cure(Need need) {
            if (need.kind() != Condition.Kind.FROZEN || !report.current()) {
                return Stream.empty();
            }
            return Stream.of(
                    new Detail(say("report.frozen.look"), "/experiments/" + need.subject() + "/frozen", false),
                    new Detail(say("report.frozen.restore"), null, false),
                    new Detail(say("report.frozen.ask"), null, false),
                    new Detail(say("report.frozen.release"), null, false));
        }

        private Stream<Item> findings(SiteNight site) {
            List<Reason> open = site.findings() == null ? List.of() : site.findings();
            if (open.isEmpty()) {
                return Stream.empty();
            }
            long all = open.stream().mapToLong(Reason::count).sum();
            List<Detail> reasons = open.stream()
                    .map(each -> new Detail(
                            say("report.finding", say("reason." + each.reason()), Findings.words(each.count())),
                            "/findings?reason=" + each.reason(),
                            false))
                    .toList();
            return Stream.of(
                    new Item(Tone.GAP, say("report.findings", site.site(), Findings.words(all)), "/findings", reasons));
        }

        private List<Item> oldest() {
            boolean all = report.sites().stream().allMatch(site -> site.oldestUnprotected() == null);
            return all && report.experiments() > 0 && !report.sites().isEmpty()
                    ? List.of(plain(Tone.QUIET, say("report.oldest.none")))
                    : sites(this::oldest);
        }

        private Stream<Item> oldest(SiteNight site) {
            return site.waiting().stream()
                    .limit(1)
                    .map(each -> new Item(
                            each.due() ? Tone.GAP : Tone.QUIET,
                            say("report.oldest.each", site.site(), each.experiment(), time(each.since())),
                            "/experiments/" + each.experiment(),
                            List.of()));
        }

        private Stream<Item> tonight(SiteNight site) {
            Tonight tonight = site.tonight();
            if (tonight == null) {
                return Stream.empty();
            }
            boolean nothing = tonight.experiments() == 0;
            String text = say(
                    nothing ? "report.tonight.nothing" : "report.tonight.each",
                    site.site(),
                    time(tonight.beginsAt()),
                    tonight.probable(),
                    tonight.experiments(),
                    Size.planned(tonight.bytes()),
                    time(tonight.untilAt()));
            return Stream.of(new Item(
                    Tone.QUIET,
                    text,
                    "/sites/%s/forecast".formatted(site.site()),
                    tonight.nights() == 0 && !nothing
                            ? List.of(new Detail(say("outlook.guess"), null, false))
                            : List.of()));
        }

        private static Item plain(Tone tone, String text) {
            return new Item(tone, text, null, List.of());
        }

        private String say(String key, Object... arguments) {
            return words.getMessage(key, arguments, locale);
        }

        private String time(@Nullable Instant moment) {
            return moment == null ? "–" : format(day() + " HH:mm z").format(moment.atZone(zone));
        }

        private String date(LocalDate day) {
            return format(day()).format(day);
        }

        /** Returns the form of dates on pages. */
        private String day() {
            return locale.getLanguage().equals(Locale.JAPANESE.getLanguage()) ? "uuuu/MM/dd" : "d MMM uuuu";
        }

        private DateTimeFormatter format(String pattern) {
            return DateTimeFormatter.ofPattern(pattern, locale);
        }
    }
}
