/**
 * The command line. Most commands call a running service over HTTP; a copy runs in the command itself. The output is
 * for people or, with {@code --json}, for programs.
 */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "api",
            "api :: http",
            "audit",
            "collect",
            "copy",
            "crypto",
            "drill",
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
            "verify"
        })
package dozo.command;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
