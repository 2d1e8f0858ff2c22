package dozo.command;

import dozo.copy.Copy;
import dozo.copy.CopyBetweenSites;
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

    /** The site that the sources are at; null: this machine. */
    private final Location.@Nullable There source;

    private CopyRequest(List<Location> sources, Location destination, boolean folders) {
        this.sources = sources;
        this.destination = destination;
        this.folders = folders;
        this.into = sources.size() > 1 || destination.isFolder();
        this.source = source(sources, destination);
    }

    /** Sources as they are named at a site, and whether they go into the destination. */
    private record Sources(List<FilePath> paths, boolean into) {}

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
        FilePath folder = path(there, site);
        if (!folder.isUtf8() || hasControls(folder.bytes())) {
            throw new Failure(
                    Exit.REFUSED, "TARGET: %s: expected a name in UTF-8 without control characters".formatted(folder));
        }
        return at(site, folder);
    }

    /** Returns where the copies are, as text for people. */
    String where() {
        String at = destination instanceof Location.There there ? "at " + there.host() : "here";
        return Login.visible(source == null ? at : at + ", from " + source.host());
    }

    /** Returns what distinguishes this request's direction from others with the same {@link #site}. */
    String direction() {
        return !(destination instanceof Location.There)
                ? "from"
                : source == null ? "to" : "from %s %s %d to".formatted(source.user(), source.host(), source.port());
    }

    /** Returns the site of the destination, or else of the sources, with {@code "/"} as its root. */
    SiteAddress site(Login login) {
        return login.site(destination instanceof Location.There there ? there : Objects.requireNonNull(source));
    }

    /**
     * Returns the copy with this address of {@link #site}. First asks the sites if it must know what exists there.
     *
     * @param login for the site of the sources, if the destination is at another one
     */
    Copy copy(SiteAddress site, Login login, Copy.Options options) throws RemoteException, InterruptedException {
        return switch (destination) {
            case Location.Here here -> {
                Sources from = sources(site);
                yield new CopyFromSite(site, from.paths, here.path(), from.into, options);
            }
            case Location.There there -> copyTo(site, path(there, site), login, options);
        };
    }

    private Copy copyTo(SiteAddress site, FilePath target, Login login, Copy.Options options)
            throws RemoteException, InterruptedException {
        FilePath root = root(target);
        if (source == null) {
            List<Path> from =
                    sources.stream().map(each -> ((Location.Here) each).path()).toList();
            return new CopyToSite(at(site, root), from, below(root, target), into, options);
        }
        if (options.comparing()) {
            throw new Failure(
                    Exit.USAGE,
                    "--checksum with --dry-run compares this machine with a site, not two sites; a copy from site to site compares"
                            + " their digests and moves only what differs");
        }
        SiteAddress other = login.site(source);
        Sources from = sources(other);
        if (other.host().equals(site.host()) && other.port() == site.port()) {
            from.paths.forEach(each -> refuseOverlap(each, from.into ? target.resolve(each.name()) : target));
        }
        return new CopyBetweenSites(other, from.paths, at(site, root), below(root, target), from.into, options);
    }

    /** Refuses what would be copied onto itself, or again and again. */
    private static void refuseOverlap(FilePath source, FilePath target) {
        if (source.startsWith(target) || target.startsWith(source)) {
            throw new Failure(
                    Exit.REFUSED,
                    "DST: /%s and SRC: /%s overlap at the same host; choose another DST".formatted(target, source));
        }
    }

    /** Returns the path of a location, and asks the site for the login's home folder if needed. */
    private static FilePath path(Location.There there, SiteAddress site) throws RemoteException, InterruptedException {
        if (!there.isRelative()) {
            return there.path(new byte[0]);
        }
        try (Lanes lanes = Lanes.to(site, 1)) {
            return there.path(home(lanes.next().sftp()));
        }
    }

    private static byte[] home(Sftp sftp) throws RemoteException, InterruptedException {
        return sftp.realPath(new byte[] {'.'});
    }

    /** Returns the sources at a site, and asks it if it must know what exists there. */
    private Sources sources(SiteAddress site) throws RemoteException, InterruptedException {
        boolean relative = sources.stream().anyMatch(each -> ((Location.There) each).isRelative());
        boolean asks = relative
                || remote(sources, new byte[0]).stream()
                        .anyMatch(path -> !folders || RemotePattern.hasWildcards(path.bytes()));
        if (!asks) {
            return new Sources(remote(sources, new byte[0]), into);
        }
        try (Lanes lanes = Lanes.to(site, 1)) {
            Sftp sftp = lanes.next().sftp();
            return sources(sftp, remote(sources, relative ? home(sftp) : new byte[0]));
        }
    }

    /** What patterns match goes into the destination, also if it is only one. */
    private Sources sources(Sftp sftp, List<FilePath> typed) throws RemoteException, InterruptedException {
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
        return new Sources(from, many);
    }

    private void check() {
        if (source != null) {
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

    private static List<FilePath> remote(List<Location> places, byte[] home) {
        return places.stream().map(place -> ((Location.There) place).path(home)).toList();
    }

    /** Returns the site that the sources are at; null: this machine, and the destination is at a site. */
    private static Location.@Nullable There source(List<Location> sources, Location destination) {
        if (sources.stream().noneMatch(Location.There.class::isInstance)) {
            if (!(destination instanceof Location.There)) {
                throw usage("SRC or DST must be at a site, such as USER@HOST:/PATH; put ./ before a local name with a"
                        + " colon");
            }
            return null;
        }
        Location.There first = null;
        for (Location source : sources) {
            if (!(source instanceof Location.There site) || !isSame(first, site)) {
                throw usage("all sources must be at the same site, with the same user");
            }
            first = site;
        }
        return first;
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
