package dozo.ui;

import dozo.registry.Refusal;
import dozo.registry.SiteKey;
import dozo.registry.SiteTerms;
import dozo.registry.SiteTerms.Host;
import dozo.registry.Sites.Site;
import dozo.remote.HostKey;
import dozo.remote.SiteAddress;
import dozo.remote.Way;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A site's address as form fields, named as in REST. */
record SiteForm(Form form) {

    private static final String JUMP = "jump.";

    /** Fields that few sites need. */
    private static final List<String> FURTHER =
            List.of(JUMP + "host", JUMP + "port", JUMP + "user", JUMP + "identity", JUMP + "hostKey", "dscp");

    static Form empty() {
        return new Form(Map.of("port", String.valueOf(SiteTerms.PORT_USUAL)), Map.of());
    }

    /** Returns a site's fields, with the time of its last change. */
    static Form of(Site site) {
        SiteAddress address = site.address();
        Map<String, String> values = new HashMap<>();
        put(values, "", address);
        values.put("root", address.root());
        values.put("seen", site.changedAt().toString());
        address.way().jump().ifPresent(jump -> put(values, JUMP, jump));
        if (address.way().dscp() > 0) {
            values.put("dscp", String.valueOf(address.way().dscp()));
        }
        return new Form(values, Map.of());
    }

    private static void put(Map<String, String> values, String at, SiteAddress address) {
        values.put(at + "host", address.host());
        values.put(at + "port", String.valueOf(address.port()));
        values.put(at + "user", address.user());
        values.put(at + "identity", address.identity().toString());
        values.put(at + "hostKey", address.hostKey());
    }

    /** Returns whether a field that few sites need has a value or an error. */
    static boolean needsFurther(Form form, Path ownKey) {
        String identity = form.value("identity");
        return form.errors().containsKey("identity")
                || !(identity.isBlank() || identity.equals(ownKey.toString()))
                || FURTHER.stream()
                        .anyMatch(field ->
                                form.error(field) != null || !form.value(field).isBlank());
    }

    String value(String field) {
        return form.value(field);
    }

    /**
     * Returns whether the address is complete but for the host's key. Behind a jump host, people enter it.
     *
     * @throws Refusal if something else is not as expected
     */
    boolean lacksOnlyHostKey(SiteKey own) {
        if (!isBlank("hostKey") || !isBlank(JUMP + "host")) {
            return false;
        }
        try {
            var _ = terms().address(own);
            return false;
        } catch (Refusal refused) {
            if (refused.field().equals("hostKey")) {
                return true;
            }
            throw refused;
        }
    }

    Form withHostKey(HostKey presented) {
        Map<String, String> values = new HashMap<>(form.values());
        values.put("hostKey", presented.line());
        return new Form(values, Map.of());
    }

    Form refused(Refusal refusal) {
        return Form.refused(form.values(), refusal);
    }

    String host() {
        return value("host").strip();
    }

    int port() {
        Integer port = number("port");
        return port == null ? SiteTerms.PORT_USUAL : port;
    }

    SiteTerms terms() {
        return new SiteTerms(at(""), value("root").strip(), isBlank(JUMP + "host") ? null : at(JUMP), dscp());
    }

    private Host at(String at) {
        return new Host(
                value(at + "host").strip(),
                number(at + "port"),
                value(at + "user").strip(),
                value(at + "identity").strip(),
                value(at + "hostKey"));
    }

    private @Nullable Integer number(String field) {
        return isBlank(field) ? null : Numbers.whole(field, value(field));
    }

    private @Nullable Integer dscp() {
        return isBlank("dscp")
                ? null
                : Way.dscp(value("dscp").strip()).orElseThrow(() -> new Refusal("dscp", "expected 0 to 63"));
    }

    private boolean isBlank(String field) {
        return value(field).isBlank();
    }
}
