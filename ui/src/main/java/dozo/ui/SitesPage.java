package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Sight;
import dozo.registry.Capabilities;
import dozo.registry.Capabilities.Capability;
import dozo.registry.Capacities;
import dozo.registry.Capacity;
import dozo.registry.Refusal;
import dozo.registry.Retirements;
import dozo.registry.Retirements.Kind;
import dozo.registry.SiteKey;
import dozo.registry.SiteLanes;
import dozo.registry.SiteSchedules;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.HostKey;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCheck;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.NightTimes;
import dozo.run.PartnerStates;
import dozo.run.Promises;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.SiteHours;
import dozo.run.SiteMeasuring;
import dozo.run.SiteTunings;
import dozo.ui.PageProblems.NotThere;
import java.security.Principal;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The DR sites: their addresses and capabilities; adding, changing, checking and removing them. */
@Controller
record SitesPage(
        Sites sites,
        SiteKey key,
        Capabilities capabilities,
        Capacities capacities,
        Promises promises,
        SiteHours hours,
        SiteSchedules schedules,
        NightTimes nights,
        SiteTunings tunings,
        SiteMeasuring measuring,
        SiteLanes siteLanes,
        Retirements retirements,
        Headlines headlines,
        Runs runs,
        PartnerStates partners,
        InstantSource clock) {

    /**
     * A site.
     *
     * @param jump the host in front of it, if there is one
     * @param capability null before the first check
     * @param capacity null before a check has reported its space
     * @param now its timetable, and what holds now
     * @param schedules of its own
     * @param nextNight null: none is due
     * @param lastNight null: none yet; a retry counts
     * @param lastScrub null: none yet
     * @param space empty if it could not be loaded, or there is no capacity
     * @param ages empty if it could not be loaded
     */
    record ShownSite(
            Site site,
            Headline headline,
            List<HostKey> hostKeys,
            @Nullable SiteAddress jump,
            List<HostKey> jumpKeys,
            @Nullable Capability capability,
            @Nullable Capacity capacity,
            SiteHours.Now now,
            List<String> schedules,
            @Nullable Instant nextNight,
            @Nullable Run lastNight,
            @Nullable Run lastScrub,
            Optional<List<Charts.Space>> space,
            Optional<Charts.Ages> ages) {}

    @GetMapping("/sites")
    String list(Sight sight, Model model) {
        model.addAttribute(
                "sites",
                headlines.all(sight).stream()
                        .filter(headline -> headline.site() != null)
                        .map(headline -> shown(sight, headline, requireNonNull(headline.site())))
                        .toList());
        model.addAttribute("partners", partners.all());
        model.addAttribute("retired", retirements.of(Kind.SITE, Sight.EVERYTHING));
        return "sites";
    }

    @GetMapping("/sites/new")
    String askAdd(Model model) {
        return form(null, SiteForm.empty(), null, model);
    }

    /** Adds a site and checks it. If no host key is given, asks the host for its key, and the user to compare it. */
    @PostMapping("/sites/new")
    String add(@RequestParam Map<String, String> typed, Principal actor, Model model) throws InterruptedException {
        SiteForm form = new SiteForm(new Form(typed, Map.of()));
        String name = form.value("name").strip();
        return entered(null, form, model, () -> sites.requireFree(name), address -> {
            sites.add(name, address, actor.getName());
            return check(name, actor, model);
        });
    }

    @GetMapping("/sites/{name}/change")
    String askChange(@PathVariable String name, Model model) {
        Site site = find(name);
        return form(site, SiteForm.of(site), null, model);
    }

    /** Changes how a site is reached, and checks it. */
    @PostMapping("/sites/{name}/change")
    String change(@PathVariable String name, @RequestParam Map<String, String> typed, Principal actor, Model model)
            throws InterruptedException {
        SiteForm form = new SiteForm(new Form(typed, Map.of()));
        return entered(find(name), form, model, () -> {}, address -> {
            sites.change(name, form.form().seen(), address, actor.getName());
            return check(name, actor, model);
        });
    }

    private interface Saving {
        String save(SiteAddress address) throws InterruptedException;
    }

    private String entered(@Nullable Site site, SiteForm typed, Model model, Runnable before, Saving saving)
            throws InterruptedException {
        try {
            before.run();
            if (!typed.lacksOnlyHostKey(key)) {
                return saving.save(typed.terms().address(key));
            }
            HostKey presented = HostKey.presentedBy(typed.host(), typed.port());
            return form(site, typed.withHostKey(presented), presented, model);
        } catch (RemoteException unreachable) {
            return form(
                    site,
                    typed.refused(
                            new Refusal(
                                    "host",
                                    "the host does not answer as an SSH server; check the address and the port, and that it is up")),
                    null,
                    model);
        } catch (Refusal refused) {
            return form(site, typed.refused(refused), null, model);
        }
    }

    private String form(@Nullable Site site, Form form, @Nullable HostKey presented, Model model) {
        model.addAttribute("site", site);
        model.addAttribute("form", form);
        model.addAttribute("presented", presented);
        model.addAttribute("further", SiteForm.needsFurther(form, key.file()));
        model.addAttribute("publicKey", key.publicKey());
        model.addAttribute("ownKey", key.file().toString());
        return "site";
    }

    @GetMapping("/sites/{name}/check")
    String ask(@PathVariable String name, Model model) {
        model.addAttribute("site", find(name));
        model.addAttribute("check", null);
        return "check";
    }

    /**
     * Checks a site over one lane, and stores its capabilities. A site that cannot be reached is a valid result, too.
     */
    @PostMapping("/sites/{name}/check")
    String check(@PathVariable String name, Principal actor, Model model) throws InterruptedException {
        Site site = find(name);
        model.addAttribute("site", site);
        try (Lanes lanes = siteLanes.to(site, 1)) {
            SiteCheck check = capabilities.check(site, lanes.next());
            List<String> lost = capabilities.keep(site, check, actor.getName());
            model.addAttribute("check", check);
            model.addAttribute(
                    "findings",
                    Stream.concat(check.findings().stream(), lost.stream()).toList());
            model.addAttribute("space", check.space().orElse(null));
            model.addAttribute(
                    "clockAhead",
                    check.clockAhead().map(ahead -> ahead.toSeconds()).orElse(null));
        } catch (RemoteException unreachable) {
            model.addAttribute("unreachable", String.valueOf(unreachable.getMessage()));
        }
        return "checked";
    }

    private List<String> schedules(Site site) {
        return schedules.of(site.id()).stream()
                .map(each -> each.schedule().text())
                .toList();
    }

    @GetMapping("/sites/{name}/tuning")
    String tuning(@PathVariable String name, Model model) {
        Site site = find(name);
        model.addAttribute("site", site);
        model.addAttribute("map", tunings.of(site.id()).map(HeatMap::new));
        return "sitetuning";
    }

    /** Measures with made-up data how many lanes and channels are best, and shows the result. */
    @PostMapping("/sites/{name}/tuning")
    String tune(@PathVariable String name, Principal actor, Model model) throws InterruptedException {
        try {
            measuring.measure(find(name), actor.getName());
        } catch (RemoteException failed) {
            model.addAttribute("unreachable", String.valueOf(failed.getMessage()));
        }
        return tuning(name, model);
    }

    private ShownSite shown(Sight sight, Headline headline, Site site) {
        Optional<SiteAddress> jump = site.address().way().jump();
        Optional<Capacity> capacity = capacities.of(site.id());
        return new ShownSite(
                site,
                headline,
                HostKey.all(site.address().hostKey()),
                jump.orElse(null),
                jump.map(each -> HostKey.all(each.hostKey())).orElse(List.of()),
                capabilities.of(site.id()).orElse(null),
                capacity.orElse(null),
                hours.now(site.id()),
                schedules(site),
                nights.next(site.id(), clock.instant()).orElse(null),
                runs.latest(sight, site.id(), RunKind.NIGHTLY_BACKUP, RunKind.RETRY)
                        .orElse(null),
                runs.latest(sight, site.id(), RunKind.SCRUB).orElse(null),
                capacity.flatMap(present -> Charts.space(capacities, site, present, clock.instant())),
                Charts.tried(() -> Charts.Ages.of(promises.at(site.id()), promises.ages(site.id()), clock.instant())));
    }

    private Site find(String name) {
        return sites.find(name).orElseThrow(() -> new NotThere("site \"%s\" does not exist", name));
    }
}
