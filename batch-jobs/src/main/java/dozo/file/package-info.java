/** Value types every room shares: names as raw bytes, digests, entries. No I/O. */
@NullMarked
package dozo.file;

import org.jspecify.annotations.NullMarked;
