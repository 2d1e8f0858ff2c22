package dozo.start;

import dozo.db.ActiveService;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Whether this service is the active one, for a load balancer: {@code /actuator/health/active} answers 200 only on that. A service
 * that stands by is healthy, so the status is one that counts only there.
 */
@Component
class ActiveHealth implements HealthIndicator {

    private final ActiveService active;

    ActiveHealth(ActiveService active) {
        this.active = active;
    }

    @Override
    public Health health() {
        return Health.status(active.isSure() ? "UP" : "STANDS_BY").build();
    }
}
