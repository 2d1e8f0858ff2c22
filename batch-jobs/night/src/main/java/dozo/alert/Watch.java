package dozo.alert;

import java.util.List;

/** Finds conditions that the catalogue does not know, such as those of the service's own machine. */
public interface Watch {

    /** Returns the conditions that stand now; without asking anybody. */
    List<Condition> now();
}
