/** Reads a source once, seals the inventory under a number, keeps earlier ones. */
@NullMarked
package dozo.manifest;

import org.jspecify.annotations.NullMarked;
