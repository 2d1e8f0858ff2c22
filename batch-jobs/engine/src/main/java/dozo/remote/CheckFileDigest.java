package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Requests digests by the SFTP extension {@code check-file-name} (draft-ietf-secsh-filexfer-extensions). */
record CheckFileDigest() implements RemoteDigest {

    private static final String CHALLENGE = "challenge@dozo";

    @Override
    public String method() {
        return "check-file";
    }

    @Override
    public Map<FilePath, Digest> digests(Lane lane, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        return Fanout.digests(files, file -> digest(lane.sftp(), file));
    }

    @Override
    public Map<Integer, Digest> ranges(Lane lane, FilePath file, long rangeBytes, Collection<Integer> numbers)
            throws RemoteException, InterruptedException {
        Map<Integer, Digest> digests = new HashMap<>();
        for (int number : numbers) {
            digests.put(number, digest(lane.sftp(), file, number * rangeBytes, rangeBytes, rangeBytes));
        }
        return digests;
    }

    /** The guard of a hardened site answers challenges itself; any other server is read from. */
    @Override
    public Map<Challenge, Digest> answers(Lane lane, List<Challenge> challenges)
            throws RemoteException, InterruptedException {
        return lane.sftp().extensions().contains(CHALLENGE)
                ? Fanout.digests(challenges, challenge -> answer(lane.sftp(), challenge))
                : RemoteDigest.super.answers(lane, challenges);
    }

    @Override
    public String answering(Lane lane) {
        return lane.sftp().extensions().contains(CHALLENGE) ? CHALLENGE : RemoteDigest.super.answering(lane);
    }

    private static Digest answer(Sftp sftp, Challenge challenge) throws RemoteException, InterruptedException {
        Packet request = Packet.extended(CHALLENGE)
                .string(sftp.channel().raw(challenge.file()))
                .string(challenge.salt())
                .string(challenge.object().toString())
                .uint64(challenge.offset())
                .uint64(challenge.length());
        Reply reply = sftp.channel().askPatiently(request, Patience.USUAL.of(1, challenge.length()));
        sftp.channel().failIfStatus(reply, challenge.file(), Deed.DIGEST);
        reply.expect(Packet.EXTENDED_REPLY);
        return digest(reply.rest());
    }

    private static Digest digest(Sftp sftp, FilePath file) throws RemoteException, InterruptedException {
        RemoteFacts facts = sftp.lstat(file)
                .filter(there -> there.kind() == RemoteFacts.Kind.FILE)
                .orElseThrow(() -> new RemoteException(Reason.NO_SUCH_FILE, "no regular file to digest: " + file));
        if (facts.sizeBytes() == 0) {
            // Some servers refuse to digest an empty file.
            return Digest.OF_NOTHING;
        }
        return digest(sftp, file, 0, 0, facts.sizeBytes());
    }

    /**
     * Returns the digest of the bytes from {@code offset} on; a length of 0 means to the end.
     *
     * @param bytes how many these are
     */
    private static Digest digest(Sftp sftp, FilePath file, long offset, long length, long bytes)
            throws RemoteException, InterruptedException {
        Reply reply = sftp.channel().askPatiently(request(sftp, file, offset, length), Patience.USUAL.of(1, bytes));
        sftp.channel().failIfStatus(reply, file, Deed.DIGEST);
        reply.expect(Packet.EXTENDED_REPLY);
        String first = reply.text();
        // The draft's answer begins with the extension's name; that of the next draft does not.
        String algorithm = first.equals("check-file") ? reply.text() : first;
        byte[] hash = reply.rest();
        // The draft says bare bytes; some servers send a string, prefixed with its length.
        if (hash.length == Integer.BYTES + Digest.LENGTH_BYTES) {
            hash = Arrays.copyOfRange(hash, Integer.BYTES, hash.length);
        }
        return digest(algorithm.equalsIgnoreCase("sha256") ? hash : new byte[0]);
    }

    private static Digest digest(byte[] hash) throws RemoteException {
        if (hash.length != Digest.LENGTH_BYTES) {
            throw new RemoteException(Reason.UNSUPPORTED, "the site did not return a SHA-256 digest");
        }
        return Digest.of(hash);
    }

    static Packet request(Sftp sftp, FilePath file, long offset, long length) {
        return Packet.extended("check-file-name")
                .string(sftp.channel().raw(file))
                .string("sha256")
                .uint64(offset)
                .uint64(length)
                .uint32(0);
    }
}
