package dozo.alert;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Something that needs a person now.
 *
 * @param site the site's name; null: it does not belong to one site
 * @param project the project's code; null: it does not belong to one project
 * @param count how many things it is about: files if some are lost, requests if reports are not taken, else experiments; 1
 * for a whole project, site or service
 * @param subject the first of them, as {@code project/experiment}, with {@code , …} if there are more; or the project or site;
 * empty: there is no name
 */
public record Condition(
        Kind kind, @Nullable String site, @Nullable String project, long count, String subject) {

    /** What is wrong. The names of headlines' kinds mean the same. */
    public enum Kind {
        LOST(true),
        DAMAGED(true),
        FROZEN(true),
        SOURCE_MISSING(true),
        DELETED_SOON(true),
        SITE_KEY_CHANGED(true),
        /** The last verification of the ledger found rows or anchors that are not as Dozo left them. */
        LEDGER_BROKEN(true),
        /** A checkpoint of a ledger contradicts what a witness has cosigned: rows were changed or removed. */
        WITNESS_REFUSED(true),
        /** Files are broken, and the scanner that may still have them whole deletes them within 7 days. */
        BROKEN_DELETED_SOON(true),
        LATE(false),
        BLOCKED(false),
        SITE_FULL(false),
        SITE_UNREACHABLE(false),
        SITE_UNUSABLE(false),
        RUN_FAILED(false),
        CLOCK_SET_BACK(false),
        NO_NIGHT(false),
        OLD_NIGHT(false),
        DRILL_FAILED(false),
        UNREAD(false),
        UNREHEARSED(false),
        /** A drill of a site failed, and none with the recovery key has been complete since. */
        SITE_DRILL_FAILED(false),
        /** No drill of a site with the recovery key was complete in time. */
        SITE_UNREHEARSED(false),
        /** By the last drill of a site, restoring everything takes longer than promised, or an unknown time. */
        RTO_EXCEEDED(false),
        /** Experiments will have waited too long within a quarter of the time that they may wait. */
        LATE_SOON(false),
        /** The site will be full within 90 days. */
        SITE_FILLING(false),
        /** An erasure waits for the approval of a second person. */
        ERASURE_REQUESTED(false),
        /** An erasure could not begin, or something could not be removed from a site. */
        NOT_ERASED(false),
        /** The service's own TLS certificate expires within 14 days, or has expired. */
        CERTIFICATE_EXPIRING(false),
        /** Dozo itself should be backed up every day, and has not been for two. */
        NOT_BACKED_UP(false),
        /** Another service stood by within a week, and none does now. */
        NOBODY_STANDS_BY(false),
        /** Within a week, a report of Storage Commitment was given up: the caller did not take it. */
        COMMITMENT_NOT_REPORTED(false),
        /** For a quarter of an hour, the port of Storage Commitment cannot be used, or no report can be made. */
        COMMITMENT_STOPPED(false),
        /** A witness has not cosigned for too long, or a log that this Dozo is a witness for has sent no checkpoint. */
        WITNESS_LATE(false);

        private final boolean grave;

        Kind(boolean grave) {
            this.grave = grave;
        }

        /** Returns whether it is told in quiet hours too: data is lost or may be, or somebody may attack. */
        public boolean isGrave() {
            return grave;
        }

        /** Returns its word for people and programs, such as {@code site-full}. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    Key key() {
        return new Key(kind, site, project);
    }

    /** What makes it the same condition, whatever it is about by now. */
    record Key(Kind kind, @Nullable String site, @Nullable String project) {}
}
