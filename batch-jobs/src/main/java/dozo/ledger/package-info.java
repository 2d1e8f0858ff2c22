/** What happened to everything: the append-only ledger and the findings that need a person. */
@NullMarked
package dozo.ledger;

import org.jspecify.annotations.NullMarked;
