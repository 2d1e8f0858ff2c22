/** Finds what a person remembers a part of: experiments, projects, files, findings, users (ADR 0104). */
@NullMarked
@ApplicationModule(allowedDependencies = {"file", "ledger", "people", "registry"})
package dozo.search;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
