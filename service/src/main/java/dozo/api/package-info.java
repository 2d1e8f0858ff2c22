/** REST under {@code /api/v1}: what people and programs ask over HTTP; every refusal says which field and what is accepted. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "collect",
            "copy",
            "db",
            "export",
            "file",
            "registry",
            "ledger",
            "manifest",
            "people",
            "plan",
            "run",
            "transfer",
            "remote",
            "restore",
            "suggest",
            "verify",
            "worklist",
            "security"
        })
package dozo.api;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
