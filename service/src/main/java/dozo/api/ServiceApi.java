package dozo.api;

import dozo.db.ActiveService;
import dozo.db.ActiveService.Holder;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The services with this database: the one that answers, and the active one. */
@RestController
class ServiceApi {

    private final ActiveService active;
    private final Services services;

    ServiceApi(ActiveService active, Services services) {
        this.active = active;
        this.services = services;
    }

    /** Shows which service answers, which one is active, and which ones stand by. */
    @GetMapping("/api/v1/service")
    ShownService show() {
        Holder holder = active.holder();
        List<SeenService> seen = services.all();
        boolean missing = !Services.missing(seen).isEmpty();
        return holder == null
                ? new ShownService(active.name(), active.isHere(), null, null, null, null, seen, missing)
                : new ShownService(
                        active.name(),
                        active.isHere(),
                        holder.name(),
                        holder.url().isEmpty() ? null : holder.url(),
                        holder.since(),
                        holder.term(),
                        seen,
                        missing);
    }
}
