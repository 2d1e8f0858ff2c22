package dozo.commitment;

import dozo.commitment.Commitments.Asked;
import dozo.verify.Images.Image;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/** Answers the messages of an association: C-ECHO, and N-ACTION once its request is stored (PS3.4 section J.3.2). */
final class Requests {

    static final String INSTANCE = "1.2.840.10008.1.20.1.1";

    /** Statuses of an answer (PS3.7 annex C). */
    static final int SUCCESS = 0x0000;

    static final int PROCESSING_FAILURE = 0x0110;
    static final int NO_SUCH_INSTANCE = 0x0112;
    static final int INVALID_ARGUMENT = 0x0115;
    static final int NO_SUCH_ACTION = 0x0123;
    static final int DUPLICATE_TRANSACTION = 0x0131;
    static final int RESOURCE_LIMIT = 0x0213;

    private static final int COMMIT = 1;
    private static final Pattern UID = Pattern.compile("[0-9.]{1,64}");

    private static final Logger LOG = LoggerFactory.getLogger(Requests.class);

    private final Commitments commitments;

    Requests(Commitments commitments) {
        this.commitments = commitments;
    }

    /** Answers a caller until it releases the association. */
    void answer(Association association, String caller) throws IOException {
        for (Message asked = association.receive(); asked != null; asked = association.receive()) {
            byte[] answer = switch (asked.number(Message.TYPE)) {
                case Message.C_ECHO_RQ -> asked.answer(SUCCESS, Offer.VERIFICATION, null);
                case Message.N_ACTION_RQ ->
                    asked.answer(status(association, caller, asked), Offer.COMMITMENT, INSTANCE);
                default -> throw new ProtocolException("command %d".formatted(asked.number(Message.TYPE)));
            };
            association.send(asked.context(), answer, true);
        }
    }

    private int status(Association association, String caller, Message asked) {
        if (!association.classOf(asked.context()).equals(Offer.COMMITMENT)
                || !asked.command().text(Message.REQUESTED_CLASS).equals(Offer.COMMITMENT)
                || !asked.command().text(Message.REQUESTED_INSTANCE).equals(INSTANCE)) {
            return NO_SUCH_INSTANCE;
        }
        if (asked.number(Message.ACTION_TYPE) != COMMIT) {
            return NO_SUCH_ACTION;
        }
        return asked.data() == null ? INVALID_ARGUMENT : status(caller, asked.data());
    }

    private int status(String caller, DataSet data) {
        String transaction = data.text(DataSet.TRANSACTION_UID);
        List<Image> images = data.images().stream()
                .map(item -> new Image(item.text(DataSet.CLASS_UID), item.text(DataSet.INSTANCE_UID)))
                .toList();
        if (images.size() > Commitments.IMAGES_MAX) {
            return RESOURCE_LIMIT;
        }
        boolean named = images.stream().allMatch(each -> isUid(each.classUid()) && isUid(each.instanceUid()));
        if (!isUid(transaction) || images.isEmpty() || !named) {
            return INVALID_ARGUMENT;
        }
        try {
            Asked asked = commitments.add(caller, transaction, images);
            LOG.info("{} asks about {} images, transaction {}: {}", caller, images.size(), transaction, asked);
            return switch (asked) {
                case ACCEPTED -> SUCCESS;
                case OTHER_IMAGES -> DUPLICATE_TRANSACTION;
                case TOO_MANY -> RESOURCE_LIMIT;
            };
        } catch (DataAccessException | TransactionException e) {
            LOG.warn("a request of {} could not be stored: {}", caller, e.getMessage());
            return PROCESSING_FAILURE;
        }
    }

    private static boolean isUid(String text) {
        return UID.matcher(text).matches();
    }
}
