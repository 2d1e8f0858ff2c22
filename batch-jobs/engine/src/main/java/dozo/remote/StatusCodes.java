package dozo.remote;

import dozo.remote.RemoteException.Reason;

/** Translates SFTP status codes, including those of later versions, which some servers send in version 3. */
final class StatusCodes {

    private StatusCodes() {}

    static Reason reason(int status) {
        return switch (status) {
            case 2, 10 -> Reason.NO_SUCH_FILE;
            case 3 -> Reason.PERMISSION_DENIED;
            case 6, 7 -> Reason.LOST;
            case 8 -> Reason.UNSUPPORTED;
            case 11 -> Reason.EXISTS;
            case 12 -> Reason.READ_ONLY;
            case 14, 15 -> Reason.FULL;
            default -> Reason.REFUSED;
        };
    }

    static String text(int status) {
        return switch (status) {
            case 1 -> "unexpected end of file";
            case 2, 10 -> "no such file";
            case 3 -> "permission denied";
            case 4 -> "the site gives no reason; possible causes: quota, file system limit, disk error";
            case 5 -> "the site rejected this name or request; the name may be too long";
            case 6, 7 -> "the site lost its own connection";
            case 8 -> "the site does not support this operation";
            case 11 -> "the name is already in use";
            case 12 -> "the site is read-only";
            case 14 -> "the site's file system is full";
            case 15 -> "the quota at the site is used up";
            default -> "the site returned SFTP status " + status;
        };
    }
}
