/**
 * The command line: asks a running service over HTTP or, to copy, does it itself; prints for people or, with {@code --json},
 * for programs.
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "api",
            "api :: http",
            "collect",
            "copy",
            "crypto",
            "export",
            "file",
            "ledger",
            "loopback",
            "plan",
            "registry",
            "remote",
            "restore",
            "run",
            "source :: delivery",
            "source :: flywheel",
            "transfer",
            "verify",
            "worklist"
        })
package dozo.command;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
