/**
 * {@code dozo doctor}: checks an installation, before the first start or beside a running service, and changes nothing
 * but test files. A new check is one line in {@link dozo.doctor.Doctor} and one class.
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "broker",
            "collect",
            "crypto",
            "db",
            "file",
            "ledger",
            "message",
            "people",
            "plan",
            "record",
            "registry",
            "remote",
            "run",
            "schedule",
            "security",
            "source :: delivery",
            "start"
        })
package dozo.doctor;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
