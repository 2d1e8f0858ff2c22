package dozo.api;

import dozo.db.ActiveService;
import dozo.db.ActiveService.Holder;
import dozo.file.Build;
import dozo.ledger.Sight;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import java.util.List;
import java.util.Optional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The services with this database: the one that answers, and the active one. */
@RestController
record ServiceApi(ActiveService active, Services services) {

    /**
     * Shows which service answers, which one is active, which ones stand by, and the workers. Those that lack a key of the active
     * service, or differ in a setting or the version, have a list of the differences. Users with own projects see neither
     * differences nor workers.
     */
    @GetMapping("/api/v1/service")
    ShownService show(Sight sight) {
        Optional<Holder> holder = Optional.ofNullable(active.holder());
        List<SeenService> seen = services.all();
        // They name keys and their files.
        boolean all = sight.ofEverything();
        return new ShownService(
                active.name(),
                Build.VERSION,
                active.isHere(),
                holder.map(Holder::name).orElse(null),
                holder.map(Holder::url).filter(url -> !url.isEmpty()).orElse(null),
                holder.map(Holder::since).orElse(null),
                holder.map(Holder::term).orElse(null),
                all ? seen : seen.stream().map(SeenService::withoutDifferences).toList(),
                all ? services.workers() : List.of(),
                !Services.missing(seen).isEmpty());
    }
}
