/** The pages: a controller, which is a record of what it uses, and a template for each, in the reader's language. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "alert",
            "audit",
            "certificate",
            "collect",
            "db",
            "drill",
            "file",
            "registry",
            "ledger",
            "manifest",
            "people",
            "plan",
            "remote",
            "report",
            "restore",
            "run",
            "search",
            "send",
            "setting",
            "suggest",
            "transfer",
            "verify",
            "web",
            "worklist"
        })
package dozo.ui;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
