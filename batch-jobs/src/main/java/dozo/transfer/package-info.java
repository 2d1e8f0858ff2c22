/** Sends units, has them proven at the site, gives them their final names: the engine, and the units it works through. */
@NullMarked
package dozo.transfer;

import org.jspecify.annotations.NullMarked;
