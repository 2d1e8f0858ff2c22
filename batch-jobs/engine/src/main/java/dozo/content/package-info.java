/** Says whether a file's content is whole, by the rules of its format, while its bytes pass once. Knows no site and no database. */
@NullMarked
@ApplicationModule(allowedDependencies = {})
package dozo.content;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
