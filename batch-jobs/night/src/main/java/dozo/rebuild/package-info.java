/** Rebuilds the catalogue from what is at a site: finds its bags, loads their lists, and verifies the copies (ADR 0070). */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "content",
            "export",
            "file",
            "ledger",
            "manifest",
            "plan",
            "record",
            "registry",
            "remote",
            "run",
            "send",
            "source",
            "transfer",
            "verify"
        })
package dozo.rebuild;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
