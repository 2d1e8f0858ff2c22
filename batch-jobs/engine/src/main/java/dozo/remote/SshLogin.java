package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PublicKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.sshd.client.ClientBuilder;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.auth.UserAuthFactory;
import org.apache.sshd.client.auth.keyboard.UserAuthKeyboardInteractiveFactory;
import org.apache.sshd.client.auth.password.UserAuthPasswordFactory;
import org.apache.sshd.client.auth.pubkey.PublicKeyAuthenticationReporter;
import org.apache.sshd.client.auth.pubkey.UserAuthPublicKeyFactory;
import org.apache.sshd.client.config.hosts.HostConfigEntryResolver;
import org.apache.sshd.client.keyverifier.ServerKeyVerifier;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.client.session.ClientSession.ClientSessionEvent;
import org.apache.sshd.common.AttributeRepository;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.SshException;
import org.apache.sshd.common.cipher.BuiltinCiphers;
import org.apache.sshd.common.config.keys.FilePasswordProvider;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.kex.BuiltinDHFactories;
import org.apache.sshd.common.kex.KexProposalOption;
import org.apache.sshd.common.keyprovider.KeyIdentityProvider;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.mac.BuiltinMacs;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.core.CoreModuleProperties;

/**
 * Connects to one site and logs in: pinned host key, one private key and perhaps its former one, modern algorithms only with AES-GCM first, and a
 * heartbeat that detects a dead link within 30 s. Ignores the user's SSH configuration, every agent but that of the {@linkplain Way way},
 * and passwords unless the way has them.
 *
 * @param jump logs in at the host that forwards connections to the site, if any
 * @param shellAnswers whether a shell at the site has ever answered
 * @param byFormer whether the site has refused the present key and accepted the {@linkplain Identity#former former} one
 */
record SshLogin(
        SiteAddress site, SshClient client, Optional<SshLogin> jump, AtomicBoolean shellAnswers, AtomicBoolean byFormer)
        implements AutoCloseable {

    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration AUTH_TIMEOUT = Duration.ofSeconds(30);

    /** Two unanswered beats in a row end a connection: detected after 16 to 24 s. */
    private static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(8);

    private static final int HEARTBEATS_UNANSWERED_MAX = 2;

    /** How much the site may send ahead while files are read: the distance is the same in both directions. */
    static final int RECEIVE_WINDOW_BYTES = 8 << 20;

    /** The first ones are safe against quantum computers, with OpenSSH since 9.9 and 8.5; the others are for every one since 6.5. */
    private static final List<BuiltinDHFactories> KEY_EXCHANGES = List.of(
            BuiltinDHFactories.mlkem768x25519,
            BuiltinDHFactories.sntrup761x25519,
            BuiltinDHFactories.sntrup761x25519_openssh,
            BuiltinDHFactories.curve25519,
            BuiltinDHFactories.curve25519_libssh,
            BuiltinDHFactories.ecdhp256,
            BuiltinDHFactories.ecdhp384,
            BuiltinDHFactories.ecdhp521,
            BuiltinDHFactories.dhg16_512,
            BuiltinDHFactories.dhg18_512,
            BuiltinDHFactories.dhg14_256);

    /** What both sides must have in common, and its name. */
    private static final Map<KexProposalOption, String> NEGOTIATED = new EnumMap<>(Map.of(
            KexProposalOption.ALGORITHMS, "key exchange",
            KexProposalOption.SERVERKEYS, "host key type",
            KexProposalOption.C2SENC, "cipher",
            KexProposalOption.C2SMAC, "MAC"));

    /** NB: in the context of a connection and not in its session, whose attributes are gone after it is closed. */
    static final AttributeKey<Seen> SEEN = new AttributeKey<>();

    /** In the order in which ssh tries them. */
    private static final List<UserAuthFactory> KEYS_AND_PASSWORDS = List.of(
            UserAuthPublicKeyFactory.INSTANCE,
            UserAuthKeyboardInteractiveFactory.INSTANCE,
            UserAuthPasswordFactory.INSTANCE);

    private static final List<String> BY_PASSWORD =
            List.of(UserAuthKeyboardInteractiveFactory.NAME, UserAuthPasswordFactory.NAME);

    /**
     * What was seen of a server during a login.
     *
     * @param otherHostKey whether its host key is not a pinned one
     * @param offered the methods with which the login can go on
     */
    record Seen(AtomicBoolean otherHostKey, AtomicReference<List<String>> offered) {

        Seen() {
            this(new AtomicBoolean(), new AtomicReference<>(List.of()));
        }
    }

    /** Returns a login whose connections, those to jump hosts included, are checked before each packet. */
    static SshLogin at(SiteAddress site, WriteCheck check) throws RemoteException {
        return at(site, site.way().dscp(), check);
    }

    private static SshLogin at(SiteAddress site, int dscp, WriteCheck check) throws RemoteException {
        Optional<SiteAddress> before = site.way().jump();
        SshLogin jump = before.isPresent() ? at(before.get(), dscp, check) : null;
        try {
            AtomicBoolean byFormer = new AtomicBoolean();
            return new SshLogin(
                    site,
                    client(site, dscp, check, byFormer),
                    Optional.ofNullable(jump),
                    new AtomicBoolean(),
                    byFormer);
        } catch (RemoteException e) {
            if (jump != null) {
                jump.close();
            }
            throw e;
        }
    }

    private static SshClient client(SiteAddress site, int dscp, WriteCheck check, AtomicBoolean byFormer)
            throws RemoteException {
        List<PublicKey> pinned = pinnedKeys(site);
        Optional<Path> agent = site.way().agent();
        Optional<Passwords> passwords = passwords(site);
        List<KeyPair> keys = new ArrayList<>(
                (agent.isPresent() || passwords.isPresent()) && !hasPlainKey(site.identity())
                        ? List.of()
                        : Identity.certified(site.identity(), keyPairs(site)));
        List<KeyPair> former = formerKeyPairs(site);
        keys.addAll(former);
        SshClient client = client(
                KeyIdentityProvider.wrapKeyPairs(keys),
                pinned.stream().map(KeyUtils::getKeyType).toList(),
                (session, address, key) -> {
                    boolean known = pinned.stream().anyMatch(pin -> KeyUtils.compareKeys(pin, key));
                    Seen seen = session.getConnectionContext().getAttribute(SEEN);
                    if (!known && seen != null) {
                        seen.otherHostKey.set(true);
                    }
                    return known;
                },
                dscp,
                check);
        if (passwords.isPresent()) {
            client.setUserAuthFactories(KEYS_AND_PASSWORDS);
            CoreModuleProperties.AUTH_TIMEOUT.set(client, Passwords.PATIENCE);
        }
        agent.ifPresent(socket -> client.setAgentFactory(Agent.at(socket, only(site.identity()))));
        client.setPublicKeyAuthenticationReporter(new PublicKeyAuthenticationReporter() {
            @Override
            public void signalAuthenticationSuccess(ClientSession session, String service, KeyPair accepted) {
                // NB: not called if the first try succeeds, which is with the present key.
                byFormer.set(
                        former.stream().anyMatch(pair -> KeyUtils.compareKeys(pair.getPublic(), accepted.getPublic())));
            }
        });
        return client;
    }

    private static SshClient client(
            KeyIdentityProvider keys,
            List<String> hostKeyKinds,
            ServerKeyVerifier verifier,
            int dscp,
            WriteCheck check) {
        SshClient client = ClientBuilder.builder().build();
        client.setHostConfigEntryResolver(HostConfigEntryResolver.EMPTY);
        client.setFilePasswordProvider(FilePasswordProvider.EMPTY);
        client.setKeyIdentityProvider(keys);
        client.setUserAuthFactories(List.of(UserAuthPublicKeyFactory.INSTANCE));
        client.setServiceFactories(List.of(FirstTry.FACTORY, Heartbeat.FACTORY));
        client.setServerKeyVerifier(verifier);
        setAlgorithms(client, hostKeyKinds);
        client.setIoServiceFactoryFactory(new BlockingIo(dscp, check));
        CoreModuleProperties.IO_CONNECT_TIMEOUT.set(client, CONNECT_TIMEOUT);
        CoreModuleProperties.AUTH_TIMEOUT.set(client, AUTH_TIMEOUT);
        CoreModuleProperties.IDLE_TIMEOUT.set(client, Duration.ZERO);
        CoreModuleProperties.HEARTBEAT_INTERVAL.set(client, HEARTBEAT_INTERVAL);
        CoreModuleProperties.HEARTBEAT_NO_REPLY_MAX.set(client, HEARTBEATS_UNANSWERED_MAX);
        CoreModuleProperties.WINDOW_SIZE.set(client, (long) RECEIVE_WINDOW_BYTES);
        CoreModuleProperties.WAIT_FOR_SPACE_TIMEOUT.set(client, Pipeline.WINDOW_TIMEOUT);
        client.start();
        return client;
    }

    /** Returns the key that a host presents, preferably an Ed25519 key; does not log in. */
    static PublicKey hostKey(String host, int port) throws RemoteException, InterruptedException {
        AtomicReference<PublicKey> presented = new AtomicReference<>();
        SshClient client = client(
                KeyIdentityProvider.EMPTY_KEYS_PROVIDER,
                List.of(KeyPairProvider.SSH_ED25519),
                (session, address, key) -> {
                    presented.set(key);
                    return false;
                },
                0,
                WriteCheck.NONE);
        Exception failure = new IOException("it presented no host key");
        try {
            client.connect("dozo", host, port)
                    .verify(CONNECT_TIMEOUT)
                    .getSession()
                    .waitFor(EnumSet.of(ClientSessionEvent.CLOSED), CONNECT_TIMEOUT);
        } catch (IOException e) {
            Lane.rethrowInterruption(e);
            failure = e;
        } catch (RuntimeException e) {
            failure = e;
        } finally {
            client.stop();
        }
        PublicKey key = presented.get();
        if (key == null) {
            throw new RemoteException(
                    Reason.UNREACHABLE,
                    "%s:%d does not answer as an SSH server; check the address and the port, and that it is up"
                            .formatted(host, port),
                    failure);
        }
        return key;
    }

    /** Returns a new connection, logged in, with its SFTP channels. */
    Lane lane(int number, int channels) throws RemoteException, InterruptedException {
        ClientSession session = session();
        try {
            return Lane.on(site, number, session, shellAnswers, channels);
        } catch (RemoteException | InterruptedException e) {
            session.close(true);
            throw e;
        }
    }

    @Override
    public void close() {
        client.stop();
        jump.ifPresent(SshLogin::close);
    }

    /** Returns whether the latest login there, or at a host on the way, was by a former key. */
    boolean usesFormer() {
        return byFormer.get() || jump.filter(SshLogin::usesFormer).isPresent();
    }

    /** Returns who can be asked for a password. */
    private static Optional<Passwords> passwords(SiteAddress site) {
        return site.way().passwords().filter(Passwords::canAsk);
    }

    ClientSession session() throws RemoteException, InterruptedException {
        Seen seen = new Seen();
        ClientSession session = connect(seen);
        Optional<Passwords.Asked> asked = passwords(site).map(all -> all.new Asked(site));
        asked.ifPresent(session::setUserInteraction);
        try {
            session.auth().verify(asked.isPresent() ? Passwords.PATIENCE : AUTH_TIMEOUT);
            asked.ifPresent(Passwords.Asked::accepted);
            return session;
        } catch (IOException e) {
            session.close(true);
            Lane.rethrowInterruption(e);
            throw refused(session, seen, e);
        } catch (IllegalStateException closedAlready) {
            session.close(true);
            throw refused(session, seen, new IOException(closedAlready));
        }
    }

    private ClientSession connect(Seen seen) throws RemoteException, InterruptedException {
        Map<AttributeKey<?>, Object> context = new HashMap<>();
        context.put(SEEN, seen);
        JumpChannel way = jump.isPresent() ? jump.get().wayTo(site) : null;
        if (way != null) {
            context.put(BlockingIo.WAY, way);
        }
        try {
            return client.connect(site.user(), site.host(), site.port(), AttributeRepository.ofAttributesMap(context))
                    .verify(CONNECT_TIMEOUT)
                    .getSession();
        } catch (IOException | RuntimeException e) {
            if (way != null) {
                way.close();
            }
            if (e instanceof IOException io) {
                Lane.rethrowInterruption(io);
            }
            throw new RemoteException(
                    Reason.UNREACHABLE, site + " does not answer; check that it is up and reachable", e);
        }
    }

    /** Makes this host forward a new connection to the site. */
    private JumpChannel wayTo(SiteAddress target) throws RemoteException, InterruptedException {
        ClientSession session = session();
        try {
            return JumpChannel.open(session, target.host(), target.port(), CONNECT_TIMEOUT);
        } catch (IOException | IllegalStateException e) {
            // The second one: the host has ended the session meanwhile.
            session.close(true);
            if (e instanceof IOException io) {
                Lane.rethrowInterruption(io);
            }
            throw new RemoteException(
                    Reason.UNREACHABLE,
                    "%s does not forward connections to %s: check AllowTcpForwarding and PermitOpen there, and that the site answers"
                            .formatted(site, target),
                    e);
        }
    }

    private RemoteException refused(ClientSession session, Seen seen, IOException e) {
        Optional<String> missing = missing(session);
        if (missing.isPresent()) {
            return new RemoteException(Reason.PROTOCOL, site + " offers no accepted " + missing.get(), e);
        }
        if (seen.otherHostKey.get()) {
            return new RemoteException(
                    Reason.HOST_KEY,
                    "the host key of " + site
                            + " differs from the pinned one; find out why before you change the pinned key",
                    e);
        }
        int code = e instanceof SshException ssh ? ssh.getDisconnectCode() : 0;
        String message = String.valueOf(e.getMessage());
        return switch (code) {
            case SshConstants.SSH2_DISCONNECT_NO_MORE_AUTH_METHODS_AVAILABLE,
                    SshConstants.SSH2_DISCONNECT_ILLEGAL_USER_NAME -> loginRefused(seen.offered.get(), e);
            default ->
                message.contains("authentication")
                        ? loginRefused(seen.offered.get(), e)
                        : new RemoteException(
                                Reason.UNREACHABLE, site + " closed the connection before the login was complete", e);
        };
    }

    /** Returns of what kind the server offers nothing that is accepted here, with both lists; empty if there is none. */
    private static Optional<String> missing(ClientSession session) {
        Map<KexProposalOption, String> offers = session.getServerKexProposals();
        // AES-GCM is preferred, and needs no MAC.
        boolean needsMac = !String.valueOf(offers.get(KexProposalOption.C2SENC)).contains("-gcm@openssh.com");
        for (Map.Entry<KexProposalOption, String> kind : NEGOTIATED.entrySet()) {
            String offered = offers.get(kind.getKey());
            String accepted = session.getClientKexProposals().get(kind.getKey());
            if (offered != null
                    && accepted != null
                    && (needsMac || kind.getKey() != KexProposalOption.C2SMAC)
                    && Collections.disjoint(List.of(offered.split(",")), List.of(accepted.split(",")))) {
                return Optional.of("%s: expected one of %s, found %s".formatted(kind.getValue(), accepted, offered));
            }
        }
        return Optional.empty();
    }

    private RemoteException loginRefused(List<String> offered, IOException e) {
        try {
            return new RemoteException(Reason.LOGIN_REFUSED, keysRefused() + passwordsRefused(offered), e);
        } catch (RemoteException unreadable) {
            return unreadable;
        }
    }

    private String keysRefused() throws RemoteException {
        boolean plain = hasPlainKey(site.identity());
        if (site.way().agent().isPresent()) {
            return "%s accepts no key of the agent%s for user %s; the server's log has the reason"
                    .formatted(site, plain ? ", nor the private key " + site.identity() + "," : "", site.user());
        }
        if (!plain && passwords(site).isPresent()) {
            return "%s refused the login of user %s without a key; the server's log has the reason"
                    .formatted(site, site.user());
        }
        String keys = keyPairs(site).stream()
                .map(pair -> PublicKeyEntry.toString(pair.getPublic()))
                .collect(Collectors.joining(" or "));
        return ("%s does not accept the private key for user %s: add %s to the authorized_keys of this user. If it is there,"
                        + " the account may be locked, or others may write to its folders; the server's log has the reason")
                .formatted(site, site.user(), keys);
    }

    private String passwordsRefused(List<String> offered) {
        Passwords passwords = site.way().passwords().orElse(null);
        List<String> possible = BY_PASSWORD.stream().filter(offered::contains).toList();
        if (passwords == null || possible.isEmpty()) {
            return "";
        }
        return passwords.canAsk()
                ? ". No typed password was accepted either"
                : ". It also offers %s, but %s: use a key that it accepts, or an agent"
                        .formatted(String.join(" and ", possible), passwords.whyNot());
    }

    private static void setAlgorithms(SshClient client, List<String> hostKeyKinds) {
        client.setCipherFactories(List.of(
                NativeAesGcm.orJava(BuiltinCiphers.aes128gcm),
                NativeAesGcm.orJava(BuiltinCiphers.aes256gcm),
                BuiltinCiphers.aes256ctr,
                BuiltinCiphers.aes128ctr));
        client.setMacFactories(List.of(BuiltinMacs.hmacsha256etm, BuiltinMacs.hmacsha512etm));
        client.setKeyExchangeFactories(KEY_EXCHANGES.stream()
                .filter(BuiltinDHFactories::isSupported)
                .map(ClientBuilder.DH2KEX)
                .toList());
        // The kinds of the pinned keys first: a host with keys of several types then presents a known one.
        Set<String> known = new HashSet<>();
        for (String type : hostKeyKinds) {
            known.addAll(KeyUtils.getAllEquivalentKeyTypes(type));
            known.add(type);
        }
        List<NamedFactory<Signature>> signatures = new ArrayList<>(client.getSignatureFactories());
        signatures.removeIf(signature -> signature.getName().equals("ssh-rsa"));
        signatures.sort(Comparator.comparing(signature -> !known.contains(signature.getName())));
        client.setSignatureFactories(signatures);
    }

    private static List<PublicKey> pinnedKeys(SiteAddress site) throws RemoteException {
        List<PublicKey> keys = new ArrayList<>();
        for (String line : site.hostKeyLines()) {
            keys.add(HostKey.key(site, line));
        }
        return keys;
    }

    private static List<KeyPair> keyPairs(SiteAddress site) throws RemoteException {
        List<KeyPair> pairs;
        boolean open;
        try {
            pairs = Identity.keyPairs(site.identity());
            open = Identity.isOpen(site.identity());
        } catch (IOException e) {
            throw new RemoteException(
                    Reason.LOGIN_REFUSED, "the private key for " + site + " cannot be read from " + site.identity(), e);
        }
        if (pairs.isEmpty()) {
            throw new RemoteException(
                    Reason.LOGIN_REFUSED, "no unencrypted private key for " + site + " in " + site.identity());
        }
        if (open) {
            throw new RemoteException(
                    Reason.LOGIN_REFUSED,
                    "other users can read or write the private key %s, so it is not used: run chmod 600 on it"
                            .formatted(site.identity()));
        }
        return pairs;
    }

    private static boolean hasPlainKey(Path file) {
        try {
            return Files.exists(file) && !Identity.isEncrypted(file);
        } catch (IOException unreadable) {
            return false;
        }
    }

    /** Returns the only key that an agent is to use: that of a private key which cannot be read here. */
    private static Optional<PublicKey> only(Path identity) {
        return hasPlainKey(identity) ? Optional.empty() : Identity.beside(identity, ".pub");
    }

    /** Returns the key pairs before the present ones; none if they cannot be used: the present ones are what matters. */
    private static List<KeyPair> formerKeyPairs(SiteAddress site) {
        Path former = Identity.former(site.identity());
        try {
            return Files.exists(former) && !Identity.isOpen(former) ? Identity.keyPairs(former) : List.of();
        } catch (IOException unusable) {
            return List.of();
        }
    }
}
