package dozo.security;

import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.LDAPSearchException;
import com.unboundid.ldap.sdk.RDN;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResult;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchScope;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import com.unboundid.ldap.sdk.extensions.StartTLSExtendedRequest;
import com.unboundid.util.ssl.HostNameSSLSocketVerifier;
import dozo.people.Role;
import java.io.IOException;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * The LDAP directory: whether a user exists, whether the password is right, and what the groups give. This is the only
 * class that uses LDAP. Passwords are sent only over TLS, except to this machine itself. Nothing is kept: every query
 * has its own connection, every answer has a time limit, and at most eight queries run at once.
 */
@Component
class Directory {

    private static final Logger LOG = LoggerFactory.getLogger(Directory.class);

    private static final int AT_ONCE_MAX = 8;
    private static final int GROUPS_MAX = 1_000;
    private static final int LDAP_PORT = 389;
    private static final int LDAPS_PORT = 636;

    private final DirectorySettings settings;
    private final Semaphore turns = new Semaphore(AT_ONCE_MAX, true);

    /** The directory's answer about a user. */
    sealed interface Answer permits Known, Wrong, Unknown {}

    /** The user exists; with the roles and projects of the groups. */
    record Known(Set<Role> roles, Set<String> projects) implements Answer {}

    /** The user exists, but the password is not accepted. */
    record Wrong() implements Answer {}

    /** The user does not exist. */
    record Unknown() implements Answer {}

    /** The directory cannot be queried, or not now. */
    static final class Silent extends Exception {
        private static final long serialVersionUID = 1L;

        Silent(String message, Exception cause) {
            super(message, cause);
        }
    }

    Directory(DirectorySettings settings) {
        this.settings = settings;
    }

    boolean given() {
        return settings.given();
    }

    /** Checks a password. */
    Answer login(String name, String password) throws Silent {
        // NB: a bind with an empty password is anonymous, and the server reports success.
        if (password.isEmpty()) {
            return new Wrong();
        }
        return ask(connection -> {
            Optional<SearchResultEntry> entry = entry(connection, name);
            if (entry.isEmpty()) {
                return new Unknown();
            }
            Known known = known(connection, name, entry.get());
            return binds(connection, entry.get().getDN(), password) ? known : new Wrong();
        });
    }

    /** Returns whether the user still exists, and what the groups give now. */
    Answer look(String name) throws Silent {
        return ask(connection -> {
            Optional<SearchResultEntry> entry = entry(connection, name);
            return entry.isEmpty() ? new Unknown() : known(connection, name, entry.get());
        });
    }

    /** Returns what is wrong with the directory; empty: nothing. Does not ask for any user. */
    Optional<DirectoryFault> fault() {
        try (LDAPConnection connection = connect()) {
            for (String base : new TreeSet<>(List.of(
                    settings.base(), settings.groupBase().isEmpty() ? settings.base() : settings.groupBase()))) {
                if (connection.getEntry(base, SearchRequest.NO_ATTRIBUTES) == null) {
                    return Optional.of(new DirectoryFault(
                            DirectoryFault.Kind.BASE,
                            "there is no %s, or its search does not find it".formatted(base)));
                }
            }
            return Optional.empty();
        } catch (LDAPException e) {
            return Optional.of(new DirectoryFault(kind(e), String.valueOf(e.getMessage())));
        } catch (IOException | GeneralSecurityException e) {
            return Optional.of(new DirectoryFault(DirectoryFault.Kind.TLS, String.valueOf(e.getMessage())));
        }
    }

    private static DirectoryFault.Kind kind(LDAPException e) {
        ResultCode code = e.getResultCode();
        if (code.equals(ResultCode.INVALID_CREDENTIALS)
                || code.equals(ResultCode.NO_SUCH_OBJECT)
                || code.equals(ResultCode.INSUFFICIENT_ACCESS_RIGHTS)
                || code.equals(ResultCode.INAPPROPRIATE_AUTHENTICATION)) {
            return DirectoryFault.Kind.LOGIN;
        }
        // What a server answers that does not know StartTLS.
        if (code.equals(ResultCode.PROTOCOL_ERROR) || code.equals(ResultCode.UNWILLING_TO_PERFORM)) {
            return DirectoryFault.Kind.TLS;
        }
        boolean overTls = String.valueOf(e.getMessage()).matches("(?s).*(TLS|SSL|certificat|hostname).*");
        return overTls ? DirectoryFault.Kind.TLS : DirectoryFault.Kind.AWAY;
    }

    private interface Question {
        Answer ask(LDAPConnection connection) throws LDAPException;
    }

    private Answer ask(Question question) throws Silent {
        boolean turn = false;
        try {
            turn = turns.tryAcquire(settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
            if (!turn) {
                throw new Silent("too many requests are waiting for the directory", new IOException("no turn"));
            }
            try (LDAPConnection connection = connect()) {
                return question.ask(connection);
            }
        } catch (LDAPException | IOException | GeneralSecurityException e) {
            LOG.warn("the directory {} does not answer: {}", settings.url(), e.getMessage());
            throw new Silent("the directory does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Silent("interrupted", e);
        } finally {
            if (turn) {
                turns.release();
            }
        }
    }

    private LDAPConnection connect() throws LDAPException, IOException, GeneralSecurityException {
        URI address = settings.address();
        int port = address.getPort() > 0 ? address.getPort() : settings.overTls() ? LDAPS_PORT : LDAP_PORT;
        int limitMillis = Math.toIntExact(settings.timeout().toMillis());
        LDAPConnectionOptions options = new LDAPConnectionOptions();
        options.setConnectTimeoutMillis(limitMillis);
        options.setResponseTimeoutMillis(limitMillis);
        options.setFollowReferrals(false);
        options.setSSLSocketVerifier(new HostNameSSLSocketVerifier(true));
        LDAPConnection connection = settings.overTls()
                ? new LDAPConnection(Trust.in(settings.caFile()).getSocketFactory(), options, address.getHost(), port)
                : new LDAPConnection(options, address.getHost(), port);
        try {
            if (settings.startsTls()) {
                demandSuccess(connection
                        .processExtendedOperation(new StartTLSExtendedRequest(Trust.in(settings.caFile())))
                        .getResultCode());
            }
            if (!settings.managerDn().isEmpty()) {
                connection.bind(new SimpleBindRequest(settings.managerDn(), settings.managerPassword()));
            }
            return connection;
        } catch (LDAPException | IOException | GeneralSecurityException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static void demandSuccess(ResultCode result) throws LDAPException {
        if (!result.equals(ResultCode.SUCCESS)) {
            throw new LDAPException(result, "the directory does not support StartTLS: " + result);
        }
    }

    private Optional<SearchResultEntry> entry(LDAPConnection connection, String name) throws LDAPException {
        String filter = settings.userFilter().replace("{0}", Filter.encodeValue(name));
        SearchRequest search = new SearchRequest(settings.base(), SearchScope.SUB, filter, "memberOf");
        search.setSizeLimit(2);
        List<SearchResultEntry> found = search(connection, search);
        if (found.size() > 1) {
            LOG.warn("the directory has more than one user {}; none of them can log in", name);
        }
        return found.size() == 1 ? Optional.of(found.getFirst()) : Optional.empty();
    }

    private static List<SearchResultEntry> search(LDAPConnection connection, SearchRequest search)
            throws LDAPException {
        try {
            return entries(connection.search(search));
        } catch (LDAPSearchException e) {
            if (e.getResultCode().equals(ResultCode.SIZE_LIMIT_EXCEEDED)) {
                return entries(e.getSearchResult());
            }
            throw e;
        }
    }

    private static List<SearchResultEntry> entries(SearchResult result) {
        List<SearchResultEntry> entries = result.getSearchEntries();
        return entries == null ? List.of() : entries;
    }

    private static boolean binds(LDAPConnection connection, String dn, String password) throws LDAPException {
        try {
            connection.bind(new SimpleBindRequest(dn, password));
            return true;
        } catch (LDAPException e) {
            if (e.getResultCode().isConnectionUsable()) {
                return false;
            }
            throw e;
        }
    }

    private Known known(LDAPConnection connection, String name, SearchResultEntry user) throws LDAPException {
        return settings.groups().of(groups(connection, name, user));
    }

    /**
     * Returns the names of the user's groups in lower case: groups that list the user, and groups that the user's entry
     * lists.
     */
    private Set<String> groups(LDAPConnection connection, String name, SearchResultEntry user) throws LDAPException {
        Set<String> groups = new HashSet<>();
        Filter naming = Filter.createORFilter(
                Filter.createEqualityFilter("member", user.getDN()),
                Filter.createEqualityFilter("uniqueMember", user.getDN()),
                Filter.createEqualityFilter("memberUid", name));
        String base = settings.groupBase().isEmpty() ? settings.base() : settings.groupBase();
        SearchRequest search = new SearchRequest(base, SearchScope.SUB, naming, "cn");
        search.setSizeLimit(GROUPS_MAX);
        for (SearchResultEntry group : search(connection, search)) {
            String cn = group.getAttributeValue("cn");
            if (cn != null) {
                groups.add(cn.toLowerCase(Locale.ROOT));
            }
        }
        Attribute memberOf = user.getAttribute("memberOf");
        if (memberOf != null) {
            for (String dn : memberOf.getValues()) {
                RDN named = new DN(dn).getRDN();
                if (named != null) {
                    groups.add(named.getAttributeValues()[0].toLowerCase(Locale.ROOT));
                }
            }
        }
        return groups;
    }
}
