/** The only room that speaks SSH: lanes to a DR site, pipelined SFTP on them, and digests computed over there. */
@NullMarked
package dozo.remote;

import org.jspecify.annotations.NullMarked;
