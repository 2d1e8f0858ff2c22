package dozo.remote;

/** Which of our keys a site accepts. */
public enum AcceptedKey {
    /** The present one, at the site and at every host on the way. */
    PRESENT,
    /** The {@linkplain Identity#former former} one, and somewhere not the present one. */
    FORMER;

    /**
     * Logs in at a site, and does nothing there.
     *
     * @throws RemoteException if it is unknown: the site does not answer, or accepts none of them
     */
    public static AcceptedKey at(SiteAddress site) throws RemoteException, InterruptedException {
        try (SshLogin login = SshLogin.at(site, WriteCheck.NONE)) {
            login.session().close(true);
            return login.usesFormer() ? FORMER : PRESENT;
        }
    }
}
