package dozo.content;

import java.nio.ByteBuffer;
import java.util.Random;

/** Judges the content of files in tests, however their bytes come. */
final class Judged {

    private Judged() {}

    /** Returns the verdict on a file with this name and content. */
    static Verdict of(String name, byte[] content) {
        Verdict whole = judge(name, content, content.length);
        Random random = new Random(content.length);
        for (int bytesMax : new int[] {1, 7, 1_000}) {
            // A short file byte by byte, a long one in fewer pieces.
            Verdict inPieces = judge(
                    name, content, bytesMax == 1 && content.length > 100_000 ? 999 : 1 + random.nextInt(bytesMax));
            if (!inPieces.equals(whole)) {
                throw new AssertionError("%s at once, %s in pieces".formatted(whole, inPieces));
            }
        }
        return whole;
    }

    private static Verdict judge(String name, byte[] content, int pieceBytes) {
        Inspection inspection = new Inspection(name, content.length);
        for (int at = 0; at < content.length; at += pieceBytes) {
            inspection.take(ByteBuffer.wrap(content, at, Math.min(pieceBytes, content.length - at)));
        }
        Verdict verdict = inspection.verdict();
        if (inspection.defect() != null) {
            throw new AssertionError("the check of %s failed".formatted(name), inspection.defect());
        }
        return verdict;
    }
}
