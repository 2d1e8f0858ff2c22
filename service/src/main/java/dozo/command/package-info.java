/** The command line: asks a running service over HTTP, and prints for people or, with {@code --json}, for programs. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "run", "transfer"})
package dozo.command;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
