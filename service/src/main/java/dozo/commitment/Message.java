package dozo.commitment;

import org.jspecify.annotations.Nullable;

/**
 * A message of DIMSE (PS3.7): a command, and what it is about.
 *
 * @param context the number of the presentation context
 * @param data null: it has none
 */
record Message(byte context, DataSet command, @Nullable DataSet data) {

    static final int C_ECHO_RQ = 0x0030;
    static final int N_EVENT_REPORT_RQ = 0x0100;
    static final int N_ACTION_RQ = 0x0130;

    /** Added to the type of a request, this is the type of its answer. */
    static final int ANSWER = 0x8000;

    /** The value of {@link #DATA} if there is none. */
    static final int NO_DATA = 0x0101;

    static final int AFFECTED_CLASS = 0x0000_0002;
    static final int REQUESTED_CLASS = 0x0000_0003;
    static final int TYPE = 0x0000_0100;
    static final int NUMBER = 0x0000_0110;
    static final int ANSWERED = 0x0000_0120;
    static final int DATA = 0x0000_0800;
    static final int STATUS = 0x0000_0900;
    static final int AFFECTED_INSTANCE = 0x0000_1000;
    static final int REQUESTED_INSTANCE = 0x0000_1001;
    static final int EVENT_TYPE = 0x0000_1002;
    static final int ACTION_TYPE = 0x0000_1008;

    int number(int tag) {
        return command.number(tag);
    }

    /** Returns the command of an answer without data; an instance only if there is one. */
    byte[] answer(int status, String sopClass, @Nullable String sopInstance) {
        DataSet.Writer answer = new DataSet.Writer()
                .uid(AFFECTED_CLASS, sopClass)
                .number(TYPE, number(TYPE) | ANSWER)
                .number(ANSWERED, number(NUMBER))
                .number(DATA, NO_DATA)
                .number(STATUS, status);
        return (sopInstance == null ? answer : answer.uid(AFFECTED_INSTANCE, sopInstance)).command();
    }
}
