package dozo.send;

import dozo.file.Digest;
import dozo.remote.Challenge;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The right answers to challenges about one file, computed while all of its bytes pass in order: the same reading proves that they are
 * the bytes of its receipt.
 */
final class RightAnswers {

    private final MessageDigest whole = Digest.algorithm();
    private final Map<Challenge, MessageDigest> parts = new LinkedHashMap<>();
    private long at;

    RightAnswers(List<Challenge> challenges) {
        challenges.forEach(each -> parts.put(each, each.begin()));
    }

    void take(byte[] bytes, int from, int length) {
        take(ByteBuffer.wrap(bytes, from, length));
    }

    void take(ByteBuffer bytes) {
        int length = bytes.remaining();
        parts.forEach((challenge, digest) -> {
            long first = Math.max(at, challenge.offset());
            long end = Math.min(at + length, challenge.offset() + challenge.length());
            if (first < end) {
                digest.update(bytes.slice(bytes.position() + (int) (first - at), (int) (end - first)));
            }
        });
        whole.update(bytes);
        at += length;
    }

    /** Returns the answers; empty: these were not the bytes with this digest. */
    Optional<Map<Challenge, Digest>> of(Digest sent) {
        if (!Digest.of(whole.digest()).equals(sent)) {
            return Optional.empty();
        }
        Map<Challenge, Digest> answers = new HashMap<>();
        parts.forEach((challenge, digest) -> answers.put(challenge, Digest.of(digest.digest())));
        return Optional.of(answers);
    }
}
