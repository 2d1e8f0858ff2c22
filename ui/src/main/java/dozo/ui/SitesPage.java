package dozo.ui;

import dozo.registry.Capabilities;
import dozo.registry.Capabilities.Capability;
import dozo.registry.Capacities;
import dozo.registry.Capacity;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCheck;
import dozo.ui.PageProblems.NotThere;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;

/** The DR sites: their addresses and capabilities, and a check on request. */
@Controller
class SitesPage {

    private final Sites sites;
    private final Capabilities capabilities;
    private final Capacities capacities;

    /**
     * A site.
     *
     * @param jump the host in front of it, if there is one
     * @param capability null before the first check
     * @param capacity null before a check has reported its space
     */
    record ShownSite(
            Site site,
            List<HostKey> hostKeys,
            @Nullable SiteAddress jump,
            List<HostKey> jumpKeys,
            @Nullable Capability capability,
            @Nullable Capacity capacity) {}

    /**
     * A public host key in a form that people can compare.
     *
     * @param fingerprint as ssh-keygen prints it; empty for a line without a key
     */
    record HostKey(String kind, String fingerprint) {

        static List<HostKey> all(SiteAddress address) {
            return address.hostKey().lines().map(HostKey::of).toList();
        }

        private static HostKey of(String line) {
            String[] words = line.strip().split("\\s+", -1);
            return new HostKey(words[0], words.length < 2 ? "" : fingerprint(words[1]));
        }

        private static String fingerprint(String base64) {
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256")
                        .digest(Base64.getDecoder().decode(base64));
                return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(digest);
            } catch (IllegalArgumentException noKey) {
                return "";
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    SitesPage(Sites sites, Capabilities capabilities, Capacities capacities) {
        this.sites = sites;
        this.capabilities = capabilities;
        this.capacities = capacities;
    }

    @GetMapping("/sites")
    String list(Model model) {
        model.addAttribute("sites", sites.all().stream().map(this::shown).toList());
        return "sites";
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
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            SiteCheck check = SiteCheck.of(lanes.next());
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

    @GetMapping("/sites/{name}/remove")
    String askRemoval(@PathVariable String name, Model model) {
        model.addAttribute("site", find(name));
        return "removesite";
    }

    @PostMapping("/sites/{name}/remove")
    String remove(@PathVariable String name, Principal actor) {
        sites.remove(find(name).name(), actor.getName());
        return "redirect:/sites";
    }

    private ShownSite shown(Site site) {
        Optional<SiteAddress> jump = site.address().way().jump();
        return new ShownSite(
                site,
                HostKey.all(site.address()),
                jump.orElse(null),
                jump.map(HostKey::all).orElse(List.of()),
                capabilities.of(site.id()).orElse(null),
                capacities.of(site.id()).orElse(null));
    }

    private Site find(String name) {
        return sites.find(name).orElseThrow(() -> new NotThere("site \"%s\" does not exist", name));
    }
}
