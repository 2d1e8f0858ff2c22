package dozo.command;

import dozo.copy.Copy;
import dozo.copy.CopyFromSite;
import dozo.copy.CopyToSite;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.Sftp;
import dozo.remote.SiteAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sources and the destination of a copy. Invalid requests are refused before anything is done.
 *
 * <p>One source becomes the destination, unless the destination ends in a slash; otherwise each source goes into it.
 * NB: unlike with scp, this does not depend on what exists already, so the same command again continues the copy.
 */
final class CopyRequest {

    private final List<Location> sources;
    private final Location destination;
    private final boolean into;
    private final boolean folders;
    private final Location.There there;

    private CopyRequest(List<Location> sources, Location destination, boolean folders) {
        this.sources = sources;
        this.destination = destination;
        this.folders = folders;
        this.into = sources.size() > 1 || destination.isFolder();
        this.there = there(sources, destination);
    }

    /**
     * Parses the arguments.
     *
     * @param folders whether folders may be copied
     */
    static CopyRequest of(List<String> arguments, boolean folders) {
        List<Location> places = arguments.stream()
                .map(argument -> Location.of(RawArgument.typed(argument)))
                .toList();
        CopyRequest request = new CopyRequest(places.subList(0, places.size() - 1), places.getLast(), folders);
        request.check();
        return request;
    }

    /** Returns a server with a folder as its root. Asks the server for the login's home folder if the path needs it. */
    static SiteAddress folder(Location.There there, Login login) throws RemoteException, InterruptedException {
        SiteAddress site = login.site(there);
        byte[] home = new byte[0];
        if (there.isRelative()) {
            try (Lanes lanes = Lanes.to(site, 1)) {
                home = lanes.next().sftp().realPath(new byte[] {'.'});
            }
        }
        FilePath folder = there.path(home);
        if (!folder.isUtf8() || hasControls(folder.bytes())) {
            throw new Failure(
                    Exit.REFUSED, "TARGET: %s: expected a name in UTF-8 without control characters".formatted(folder));
        }
        return at(site, folder);
    }

    /** Returns the host as text for people. */
    String host() {
        return Login.visible(there.host());
    }

    boolean toSite() {
        return destination instanceof Location.There;
    }

    /** Returns the only site of the request, with {@code "/"} as its root. */
    SiteAddress site(Login login) {
        return login.site(there);
    }

    /** Returns the copy with this address of the site. First asks the site if it must know what exists there. */
    Copy copy(SiteAddress site, Copy.Options options) throws RemoteException, InterruptedException {
        boolean relative = all().anyMatch(place -> place instanceof Location.There remote && remote.isRelative());
        List<FilePath> typed = toSite() ? List.of() : remote(sources, new byte[] {'/', '~'});
        boolean asks =
                relative || typed.stream().anyMatch(path -> !folders || RemotePattern.hasWildcards(path.bytes()));
        if (!asks) {
            return copy(site, options, null, new byte[0]);
        }
        try (Lanes lanes = Lanes.to(site, 1)) {
            Sftp sftp = lanes.next().sftp();
            return copy(site, options, sftp, relative ? sftp.realPath(new byte[] {'.'}) : new byte[0]);
        }
    }

    private Copy copy(SiteAddress site, Copy.Options options, @Nullable Sftp sftp, byte[] home)
            throws RemoteException, InterruptedException {
        if (!(destination instanceof Location.Here here)) {
            return copyTo(site, options, home);
        }
        List<FilePath> from = remote(sources, home);
        return sftp == null
                ? new CopyFromSite(site, from, here.path(), into, options)
                : copyFrom(site, options, sftp, from, here.path());
    }

    /** What patterns match goes into the destination, also if it is only one. */
    private Copy copyFrom(SiteAddress site, Copy.Options options, Sftp sftp, List<FilePath> typed, Path target)
            throws RemoteException, InterruptedException {
        List<FilePath> from = new ArrayList<>();
        boolean many = into;
        for (FilePath source : typed) {
            boolean pattern = RemotePattern.isOne(sftp, source);
            many |= pattern;
            from.addAll(pattern ? RemotePattern.matches(sftp, source) : List.of(source));
        }
        for (FilePath source : from) {
            refuseFolder(
                    source,
                    sftp.lstat(source)
                            .filter(facts -> facts.kind() == Kind.DIRECTORY)
                            .isPresent());
        }
        checkNames(many, from.stream().map(FilePath::name).toList());
        return new CopyFromSite(site, from, target, many, options);
    }

    private Copy copyTo(SiteAddress site, Copy.Options options, byte[] home) {
        FilePath target = there.path(home);
        FilePath root = root(target);
        List<Path> from =
                sources.stream().map(source -> ((Location.Here) source).path()).toList();
        return new CopyToSite(at(site, root), from, below(root, target), into, options);
    }

    private void check() {
        if (!toSite()) {
            checkNames(
                    into,
                    sources.stream()
                            .map(source -> ((Location.There) source)
                                    .path(new byte[] {'/', '~'})
                                    .name())
                            .toList());
            return;
        }
        List<Path> here =
                sources.stream().map(source -> ((Location.Here) source).path()).toList();
        for (Path source : here) {
            FilePath shown = shown(source);
            if (!Files.exists(source, LinkOption.NOFOLLOW_LINKS)) {
                throw new Failure(Exit.REFUSED, "SRC: /%s does not exist".formatted(shown));
            }
            refuseFolder(shown, Files.isDirectory(source, LinkOption.NOFOLLOW_LINKS));
        }
        checkNames(into, here.stream().map(source -> shown(source).name()).toList());
    }

    private void refuseFolder(FilePath source, boolean isFolder) {
        if (isFolder && !folders) {
            throw new Failure(Exit.REFUSED, "SRC: /%s is a folder: use -r to copy folders".formatted(source));
        }
    }

    /** Refuses sources with the same name at the destination: one would be taken for a change of the other. */
    private static void checkNames(boolean into, List<byte[]> names) {
        if (!into) {
            return;
        }
        Set<FilePath> seen = new HashSet<>();
        for (byte[] name : names) {
            if (name.length == 0) {
                throw new Failure(
                        Exit.REFUSED, "SRC: the root folder has no name: use a destination without a trailing slash");
            }
            if (!seen.add(FilePath.of(name))) {
                throw new Failure(
                        Exit.REFUSED,
                        "SRC: two sources have the name %s: copy them separately".formatted(FilePath.render(name)));
            }
        }
    }

    private java.util.stream.Stream<Location> all() {
        return java.util.stream.Stream.concat(sources.stream(), java.util.stream.Stream.of(destination));
    }

    private static List<FilePath> remote(List<Location> places, byte[] home) {
        return places.stream().map(place -> ((Location.There) place).path(home)).toList();
    }

    /** Returns the only site of the request. */
    private static Location.There there(List<Location> sources, Location destination) {
        boolean away = sources.stream().anyMatch(Location.There.class::isInstance);
        boolean near = sources.stream().anyMatch(Location.Here.class::isInstance);
        if (destination instanceof Location.There site) {
            if (away) {
                throw usage("copying from site to site is not supported: copy to this machine first, then from here"
                        + " to the other site");
            }
            return site;
        }
        if (!away) {
            throw usage(
                    "SRC or DST must be at a site, such as USER@HOST:/PATH; put ./ before a local name with a colon");
        }
        Location.There first = null;
        for (Location source : sources) {
            if (near || !(source instanceof Location.There site) || !isSame(first, site)) {
                throw usage("all sources must be at the same site, with the same user");
            }
            first = site;
        }
        return Objects.requireNonNull(first);
    }

    private static boolean isSame(Location.@Nullable There one, Location.There other) {
        return one == null
                || (one.host().equals(other.host())
                        && one.port() == other.port()
                        && Objects.equals(one.user(), other.user()));
    }

    private static Failure usage(String message) {
        return new Failure(Exit.USAGE, message);
    }

    private static FilePath shown(Path path) {
        return FilePath.between(Path.of("/"), path);
    }

    /**
     * Returns the site's root for this copy: the parent folder of the destination. It may be a link, it is in the same
     * file system, and the copy does not create it. A root must be text, so the root is further up if the parent's name
     * is not.
     */
    private static FilePath root(FilePath target) {
        FilePath root = target.parent();
        while (!root.isUtf8() || hasControls(root.bytes())) {
            root = root.parent();
        }
        return root;
    }

    private static boolean hasControls(byte[] bytes) {
        for (byte b : bytes) {
            if (b >= 0 && b < ' ') {
                return true;
            }
        }
        return false;
    }

    private static FilePath below(FilePath root, FilePath path) {
        byte[] whole = path.bytes();
        int cut = root.isRoot() ? 0 : root.bytes().length + 1;
        return FilePath.of(Arrays.copyOfRange(whole, Math.min(cut, whole.length), whole.length));
    }

    private static SiteAddress at(SiteAddress site, FilePath root) {
        return site.withRoot("/" + new String(root.bytes(), StandardCharsets.UTF_8));
    }
}
