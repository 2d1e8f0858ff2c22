package dozo.registry;

import dozo.remote.HostKey;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** The account of a partner on our machine: the script with which root creates and changes it. */
final class PartnerAccount {

    private static final String GUARD = "/usr/local/lib/dozo-guard.py";

    private PartnerAccount() {}

    /**
     * Returns the script. To run it again changes nothing, except that what is stored is counted anew. All values in it have
     * only characters that no shell treats in another way.
     *
     * @param given what we give
     * @param taken what the partner gives, with its keys
     */
    static String script(String name, PartnerFile given, PartnerFile taken, Path count) {
        String guarded = "%s %d %s".formatted(given.root(), given.quotaBytes(), count);
        String keys = taken.keys().stream()
                .map(key -> "restrict,command=\"python3 -IS %s %s %s\" %s"
                        .formatted(GUARD, guarded, new HostKey(key).fingerprint(), key))
                .collect(Collectors.joining("\n"));
        return """
               #!/bin/sh
               # The account of partner %1$s on this machine. Run this as root, and again after each change.
               set -eu
               fail() { echo "$1" >&2; exit 1; }
               [ "$(id -u)" = 0 ] || fail 'run this as root'
               grep -qs -e --count %2$s || fail 'install dozo-guard.py first, as in hardened-site.md, step 2'
               [ -d /etc/cron.d ] || fail 'install cron first: it counts each day what is stored'
               if home=$(getent passwd %3$s | cut -d: -f6) && [ -n "$home" ]; then
                   [ "$home" = %4$s ] || fail 'the account %3$s is used for something else'
               else
                   useradd --system --user-group --home-dir %4$s --no-create-home --shell /bin/sh --password '*' %3$s
               fi
               if [ -e %5$s ]; then
                   [ "$(stat -c '%%U %%F' %5$s)" = '%3$s directory' ] || fail '%5$s is not a folder of %3$s'
               else
                   install -d -o %3$s -g %3$s -m 0700 %5$s
               fi
               install -d -m 0755 %4$s %4$s/.ssh
               [ -e %6$s ] || install -o %3$s -g %3$s -m 0644 /dev/null %6$s
               cat > %4$s/.ssh/new << 'END'
               %7$s
               END
               chmod 0644 %4$s/.ssh/new
               mv %4$s/.ssh/new %4$s/.ssh/authorized_keys
               cat > /etc/cron.d/dozo-partner-%3$s << 'END'
               @reboot root python3 -IS %2$s --count %8$s
               0 12 * * * root python3 -IS %2$s --count %8$s
               END
               python3 -IS %2$s --count %8$s || [ -s %6$s ]
               """.formatted(name, GUARD, given.account(), count.getParent(), given.root(), count, keys, guarded);
    }
}
