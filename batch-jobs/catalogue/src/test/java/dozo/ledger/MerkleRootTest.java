package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Digest;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The root is that of RFC 9162, for any number of leaves. */
class MerkleRootTest {

    @Test
    void theRootsAreThoseThatOthersCompute() {
        // From the tests of Certificate Transparency's reference implementation.
        List<String> leaves = List.of(
                "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f");
        MerkleRoot tree = new MerkleRoot();

        assertThat(tree.root()).hasToString("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        leaves.subList(0, 1).forEach(leaf -> tree.add(HexFormat.of().parseHex(leaf)));
        assertThat(tree.root()).hasToString("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        leaves.subList(1, 8).forEach(leaf -> tree.add(HexFormat.of().parseHex(leaf)));
        assertThat(tree.root()).hasToString("5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
    }

    @Test
    void everyNumberOfLeavesGivesTheRootOfTheDefinition() {
        MerkleRoot tree = new MerkleRoot();
        List<byte[]> leaves = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            byte[] leaf = ("leaf " + i).getBytes(StandardCharsets.US_ASCII);
            leaves.add(leaf);
            tree.add(leaf);
            assertThat(tree.root()).as("%d leaves", i + 1).isEqualTo(defined(leaves));
        }
    }

    /** Computes the root as section 2.1.1 defines it. */
    private static Digest defined(List<byte[]> leaves) {
        if (leaves.size() == 1) {
            return hash(0, leaves.getFirst());
        }
        int left = Integer.highestOneBit(leaves.size() - 1);
        return hash(
                1,
                defined(leaves.subList(0, left)).bytes(),
                defined(leaves.subList(left, leaves.size())).bytes());
    }

    private static Digest hash(int kind, byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(kind);
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return Digest.ofContent(all.toByteArray());
    }
}
