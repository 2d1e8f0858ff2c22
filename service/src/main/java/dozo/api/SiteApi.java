package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Edited;
import dozo.api.http.Editions;
import dozo.api.http.IfMatch;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.registry.Capabilities;
import dozo.registry.Capabilities.Capability;
import dozo.registry.Capacities;
import dozo.registry.Capacity;
import dozo.registry.SiteKey;
import dozo.registry.SiteLanes;
import dozo.registry.SiteSchedules;
import dozo.registry.SiteTerms;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.KeyPowers.Power;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCache;
import dozo.remote.SiteCheck;
import dozo.remote.Space;
import dozo.run.NightTimes;
import dozo.run.SiteHours;
import dozo.run.SiteHours.Now;
import dozo.run.SiteMeasuring;
import dozo.run.SiteTunings;
import dozo.run.SiteTunings.SiteTuning;
import dozo.web.Change;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** DR sites. */
@RestController
@RequestMapping("/api/v1/sites")
public record SiteApi(
        Sites sites,
        SiteKey key,
        Capabilities capabilities,
        Capacities capacities,
        SiteTimetables timetables,
        SiteHours hours,
        SiteSchedules schedules,
        NightTimes nights,
        InstantSource clock,
        SiteTunings tunings,
        SiteMeasuring measuring,
        SiteLanes siteLanes,
        Editions editions) {

    /**
     * The address of a site.
     *
     * @param port default 22
     * @param root the absolute path of Dozo's folder at the site
     * @param identity the file with the private key, on the service's machine; the key itself is never sent. Default: the
     *     service's own key
     * @param hostKey the site's public host keys, one a line
     * @param jump a jump host in front of the site; missing: none
     * @param dscp the DSCP mark of packets, 0 to 63; missing: none
     */
    record NewAddress(
            @NotBlank(message = "expected a host") String host,
            @Nullable Integer port,
            @NotBlank(message = "expected a user") String user,

            @NotBlank(message = "expected the root folder at the site")
            String root,

            @Nullable String identity,

            @NotBlank(message = "expected the site's public host key, obtained from a trusted person")
            String hostKey,

            @Nullable @Valid NewJump jump,
            @Nullable Integer dscp) {

        SiteTerms terms() {
            return new SiteTerms(
                    new SiteTerms.Host(host, port, user, identity, hostKey),
                    root,
                    jump == null
                            ? null
                            : new SiteTerms.Host(jump.host, jump.port, jump.user, jump.identity, jump.hostKey),
                    dscp);
        }
    }

    /**
     * A jump host.
     *
     * @param port default 22
     * @param identity the file with the private key for it, on the service's machine; default: that of the site
     * @param hostKey its public host keys, one a line
     */
    record NewJump(
            @NotBlank(message = "expected a host") String host,
            @Nullable Integer port,
            @NotBlank(message = "expected a user") String user,
            @Nullable String identity,

            @NotBlank(message = "expected the jump host's public host key, obtained from a trusted person")
            String hostKey) {}

    /**
     * By what people know a site.
     *
     * @param title at most 200 characters in one line; empty: only by its name
     */
    record NewSiteTitle(@Demanded @Nullable String title) {}

    /**
     * A site.
     *
     * @param title by what people know it; empty: only by its name
     * @param capabilities missing: not checked yet
     * @param capacity missing: the site does not report its free space
     */
    public record ShownSite(
            String name,
            String title,
            String host,
            int port,
            String user,
            String root,
            String identity,
            String hostKey,
            @Nullable ShownJump jump,
            int dscp,
            @Nullable Capability capabilities,
            @Nullable Capacity capacity)
            implements Edited {

        static ShownSite of(Site site, Optional<Capability> capabilities, Optional<Capacity> capacity) {
            SiteAddress address = site.address();
            return new ShownSite(
                    site.name(),
                    site.title(),
                    address.host(),
                    address.port(),
                    address.user(),
                    address.root(),
                    address.identity().toString(),
                    address.hostKey(),
                    address.way().jump().map(ShownJump::of).orElse(null),
                    address.way().dscp(),
                    capabilities.orElse(null),
                    capacity.orElse(null));
        }
    }

    /** A jump host. */
    public record ShownJump(String host, int port, String user, String identity, String hostKey) {

        static ShownJump of(SiteAddress jump) {
            return new ShownJump(
                    jump.host(), jump.port(), jump.user(), jump.identity().toString(), jump.hostKey());
        }
    }

    /**
     * The result of a check of a site.
     *
     * @param usable whether the site meets all requirements of a backup
     * @param keyExchange the key exchange that both sides agreed to, such as {@code mlkem768x25519-sha256}
     * @param safeAgainstLaterDecryption whether what is recorded on its way now stays secret, even if quantum computers exist one
     *     day
     * @param digest how digests are computed there
     * @param digestBytesPerSecond how fast, from the site's memory
     * @param unpacksTar whether files can be sent as archives
     * @param linksFiles whether files can have hard links there, so that a file with many names is stored once
     * @param cacheTool the tool that drops files from the site's cache; missing: reads are warm
     * @param clockAheadSeconds how far the site's clock is ahead
     * @param keyCould what somebody with the site's key could do to stored files, as tried on a file of Dozo's
     * @param keyCouldNot what the site refused to the key; what is in neither list is unknown
     * @param findings problems, including capabilities lost since the last check
     */
    public record CheckedSite(
            boolean usable,
            String server,
            String keyExchange,
            boolean safeAgainstLaterDecryption,
            boolean rootThere,
            boolean writable,
            boolean renameKeeps,
            boolean namesAreBytes,
            String digest,
            double digestBytesPerSecond,
            boolean syncsAtOnce,
            boolean unpacksTar,
            boolean linksFiles,
            @Nullable String cacheTool,
            @Nullable Long clockAheadSeconds,
            Set<String> extensions,
            @Nullable Long freeBytes,
            @Nullable Long totalBytes,
            Set<Power> keyCould,
            Set<Power> keyCouldNot,
            List<String> findings) {

        static CheckedSite of(SiteCheck check, List<String> lost) {
            return new CheckedSite(
                    check.usable(),
                    check.server(),
                    check.keyExchange(),
                    check.safeAgainstLaterDecryption(),
                    check.rootThere(),
                    check.writable(),
                    check.renameKeeps(),
                    check.namesAreBytes(),
                    check.digest().method(),
                    check.digestBytesPerSecond(),
                    check.syncsAtOnce(),
                    check.unpacksTar(),
                    check.linksFiles(),
                    check.cache().map(SiteCache::tool).orElse(null),
                    check.clockAhead().map(Duration::toSeconds).orElse(null),
                    new TreeSet<>(check.extensions()),
                    check.space().map(Space::freeBytes).orElse(null),
                    check.space().map(Space::totalBytes).orElse(null),
                    check.keyPowers().could(),
                    check.keyPowers().couldNot(),
                    Stream.concat(check.findings().stream(), lost.stream()).toList());
        }
    }

    /**
     * When runs may use a site, and how fast.
     *
     * @param rules such as {@code mon-fri 08:00-20:00 500 Mbit/s}, {@code sat,sun 00:00-24:00 closed} or {@code mon-fri
     *     08:00-18:00 yielding}, in the service's time zone; where none holds, there is no limit
     */
    record NewTimetable(
            @NotNull(message = "expected rules; an empty list for no limit at any time")
            List<@NotBlank(message = "expected a rule, such as mon-fri 08:00-20:00 500 Mbit/s") String> rules) {}

    /**
     * The timetable of a site, and what holds now.
     *
     * @param rules as they are kept
     * @param open whether runs may use the site now
     * @param bytesPerSecond how fast they may now; missing: without a limit
     * @param yielding whether they step back now while others use their sources or the site
     * @param until when something else begins to hold; missing: never
     */
    public record ShownTimetable(
            List<String> rules,
            boolean open,
            @Nullable Long bytesPerSecond,
            boolean yielding,
            @Nullable Instant until) {}

    /**
     * When nights to a site begin.
     *
     * @param schedules second, minute, hour, day, month and weekday in the service's time zone, such as {@code 0 0 20 * * MON-FRI}
     *     for all experiments, {@code project P001: 0 0 12 * * *} for those of a project, or {@code origin pacs: 0 30 * * * *} for those
     *     that were collected from an origin; at most 100
     */
    record NewSchedules(
            @NotNull(message = "expected schedules; an empty list for those of the setting")
            List<@NotBlank(message = "expected a schedule, such as 0 0 20 * * MON-FRI") String> schedules) {}

    /**
     * When nights to a site begin.
     *
     * @param schedules empty: as by the setting (dozo.schedule.cron)
     * @param nextAt when the next night is due; missing: never
     */
    public record ShownSchedules(
            List<ShownSchedule> schedules, @Nullable Instant nextAt) {}

    /**
     * One schedule of a site.
     *
     * @param schedule as it is kept
     * @param nextAt when its next night is due; missing: never
     */
    public record ShownSchedule(String schedule, @Nullable Instant nextAt) {}

    /** Lists all sites. */
    @GetMapping
    Page<ShownSite> list() {
        return new Page<>(sites.all().stream().map(this::shown).toList(), null);
    }

    /** Shows one site, with its capabilities at the last check and its capacity. */
    @GetMapping("/{name}")
    ShownSite one(@PathVariable String name) {
        return shown(find(name));
    }

    /** Registers a site, or replaces the address of an existing one. */
    @PutMapping("/{name}")
    ShownSite save(@PathVariable String name, @Valid @RequestBody NewAddress asked, IfMatch seen, Principal actor) {
        SiteAddress address = asked.terms().address(key);
        return shown(editions.change(
                seen,
                () -> sites.lock(name),
                () -> sites.find(name).map(this::shown),
                () -> sites.save(name, address, actor.getName())));
    }

    /** Sets the title, by which people know the site. Its name stays. */
    @Verb(
            value = "site title NAME TITLE",
            says = {"{name} has the title {title}", "{name} has no title"},
            example = "dozo site title dr 'Osaka, building 3'")
    @PutMapping("/{name}/title")
    ShownSite setTitle(@PathVariable String name, @RequestBody NewSiteTitle asked, IfMatch seen, Principal actor) {
        String title = asked.title() == null ? "" : asked.title();
        return editions.change(
                        seen,
                        () -> sites.lock(name),
                        () -> sites.find(name).map(this::shown),
                        () -> sites.setTitle(name, title, actor.getName()))
                .map(this::shown)
                .orElseThrow(Missing.thing("site", name));
    }

    /**
     * Removes a site. Nothing is changed at the site itself. If it has copies, they no longer count as safe. 409: a run or a restore
     * uses it, or it has copies.
     *
     * @param copies whether it may have copies
     */
    @Verb(
            value = "site remove NAME [--with-copies:copies=true]",
            arguments = "--with-copies=also if the site has copies",
            says = "site {name} removed",
            example = "dozo site remove dr")
    @Change(destroys = true)
    @DeleteMapping("/{name}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void remove(@PathVariable String name, @RequestParam(defaultValue = "false") boolean copies, Principal actor) {
        if (!sites.remove(name, copies, actor.getName())) {
            throw Missing.thing("site", name).get();
        }
    }

    /**
     * Checks a site now, and stores its capabilities if it is usable. 502: it cannot be reached; {@code reason} says why.
     */
    @PostMapping("/{name}/check")
    CheckedSite check(@PathVariable String name, Principal actor) throws RemoteException, InterruptedException {
        Site site = find(name);
        try (Lanes lanes = siteLanes.to(site, 1)) {
            SiteCheck check = capabilities.check(site, lanes.next());
            List<String> lost = capabilities.keep(site, check, actor.getName());
            return CheckedSite.of(check, lost);
        }
    }

    /** Shows when runs may use a site, and how fast. */
    @Verb(
            value = "site timetable NAME",
            arguments = "NAME=the site's name",
            about =
                    "Shows or sets when runs may use a site, and how fast. Where no rule holds, there is no limit; while the site"
                            + " is closed, runs to it are paused; in a window with the word yielding they step back while others use"
                            + " their sources or the site. It holds at once, also for a run that is going on.",
            lines = {
                "{rules lines}",
                "site {given.name} is [{open?}open, at most {bytesPerSecond rate}|{open?}open, without a limit|closed]"
                        + "[{yielding?}, yielding to other users][, until {until}]"
            },
            example = "dozo site timetable dr")
    @GetMapping("/{name}/timetable")
    ShownTimetable timetable(@PathVariable String name) {
        Now now = hours.now(find(name).id());
        long limit = now.allowance().bytesPerSecond();
        return new ShownTimetable(
                now.rules(),
                now.allowance().open(),
                limit == 0 ? null : limit,
                now.allowance().yielding(),
                now.until().map(ZonedDateTime::toInstant).orElse(null));
    }

    /**
     * Sets when runs may use a site, and how fast; within two seconds it holds for a run that is going on, too. A run
     * is paused while its site is closed.
     */
    @Verb(
            value = "site timetable NAME RULE…:rules",
            arguments = "RULE=\"mon-fri 08:00-20:00 500 Mbit/s\", \"sat,sun 00:00-24:00 closed\","
                    + " \"daily 22:00-06:00 60 MB/s\", \"mon-fri 08:00-18:00 yielding\","
                    + " \"mon-fri 08:00-18:00 60 MB/s yielding\"",
            result = true,
            example = "dozo site timetable dr \"mon-fri 08:00-20:00 500 Mbit/s yielding\" \"sun 06:00-12:00 closed\"")
    @Verb(
            value = "site timetable NAME --no-limit:rules=[]",
            arguments = "--no-limit=removes all rules",
            result = true,
            example = "dozo site timetable dr --no-limit")
    @PutMapping("/{name}/timetable")
    ShownTimetable setTimetable(@PathVariable String name, @Valid @RequestBody NewTimetable asked, Principal actor) {
        var _ = timetables.set(name, asked.rules, actor.getName()).orElseThrow(Missing.thing("site", name));
        return timetable(name);
    }

    /** Shows when nights to a site begin. */
    @Verb(
            value = "site schedule NAME",
            arguments = "NAME=the site's name",
            about =
                    "Shows or sets when nights to a site begin: for all experiments, for those of a project, or for those that"
                            + " were collected from an origin. A site without schedules follows the setting dozo.schedule.cron. A"
                            + " missed night is caught up once.",
            items = "schedules",
            each = "{schedule}",
            total = "site {given.name}: [next night {nextAt}|no night is due][{schedules?}|, as by the setting]",
            example = "dozo site schedule dr")
    @GetMapping("/{name}/schedules")
    ShownSchedules schedules(@PathVariable String name) {
        int site = find(name).id();
        Instant now = clock.instant();
        return new ShownSchedules(
                nights.of(site).stream()
                        .flatMap(time -> Stream.ofNullable(time.schedule())
                                .map(schedule -> new ShownSchedule(
                                        schedule.text(), time.times().next(now).orElse(null))))
                        .toList(),
                nights.next(site, now).orElse(null));
    }

    /**
     * Sets when nights to a site begin: all of its schedules. What they would have started before is not caught up. An empty list:
     * the site follows the setting.
     */
    @Verb(
            value = "site schedule NAME SCHEDULE…:schedules",
            arguments = "SCHEDULE=all schedules: \"0 0 20 * * MON-FRI\" (second, minute, hour, day, month, weekday),"
                    + " \"project P001: 0 0 12 * * *\", \"origin pacs: 0 30 * * * *\"",
            result = true,
            example = "dozo site schedule dr \"0 0 20 * * MON-FRI\" \"project P001: 0 0 12 * * *\"")
    @Verb(
            value = "site schedule NAME --default:schedules=[]",
            arguments = "--default=removes all schedules: the site follows the setting",
            result = true,
            example = "dozo site schedule dr --default")
    @PutMapping("/{name}/schedules")
    ShownSchedules setSchedules(@PathVariable String name, @Valid @RequestBody NewSchedules asked, Principal actor) {
        var _ = schedules.set(name, asked.schedules, actor.getName()).orElseThrow(Missing.thing("site", name));
        return schedules(name);
    }

    /** Shows the last measurement of a site with made-up data. 404: there is none. */
    @GetMapping("/{name}/tuning")
    SiteTuning tuning(@PathVariable String name) {
        return tunings.of(find(name).id()).orElseThrow(Missing.thing("measurement of site", name));
    }

    /**
     * Measures with made-up data how many SSH connections to a site, and channels on each, are best, and stores the result: runs
     * begin with it for 90 days. It takes about a minute. 409: a run or another measurement is active, or the site is closed by its
     * timetable. 502: the site cannot be reached, or refuses the temporary files.
     */
    @PostMapping("/{name}/tuning")
    SiteTuning tune(@PathVariable String name, Principal actor) throws RemoteException, InterruptedException {
        return measuring.measure(find(name), actor.getName());
    }

    private ShownSite shown(Site site) {
        return ShownSite.of(site, capabilities.of(site.id()), capacities.of(site.id()));
    }

    private Site find(String name) {
        return sites.find(name).orElseThrow(Missing.thing("site", name));
    }
}
