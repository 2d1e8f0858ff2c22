/** Signed certificates of what is verified at a site, which people can check without Dozo. */
@NullMarked
@ApplicationModule(allowedDependencies = {"content", "file", "ledger", "manifest", "registry"})
package dozo.certificate;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
