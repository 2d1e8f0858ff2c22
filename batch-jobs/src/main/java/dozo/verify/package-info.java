/** Evidence against manifest: receipts, and the bag whose manifests let anybody check without us. */
@NullMarked
@ApplicationModule(allowedDependencies = {"file"})
package dozo.verify;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
