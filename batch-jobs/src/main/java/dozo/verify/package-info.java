/** Evidence against manifest: receipts, and the bag whose manifests let anybody check without us. */
@NullMarked
package dozo.verify;

import org.jspecify.annotations.NullMarked;
