/** AES-GCM and SHA-256 by the system's libcrypto, if it is available and correct (ADR 0057). */
@NullMarked
@ApplicationModule(allowedDependencies = {})
package dozo.crypto;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
