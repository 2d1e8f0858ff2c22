/** REST under {@code /api/v1} for people and programs. Every refusal names the field and the expected value. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "alert",
            "audit",
            "certificate",
            "collect",
            "copy",
            "db",
            "drill",
            "export",
            "file",
            "registry",
            "ledger",
            "manifest",
            "people",
            "plan",
            "run",
            "transfer",
            "record",
            "remote",
            "report",
            "restore",
            "search",
            "suggest",
            "verify",
            "web",
            "worklist",
            "security"
        })
package dozo.api;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
