package dozo.command;

import dozo.remote.KeyPowers.Power;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints what is known of a site. */
final class SiteReport {

    private SiteReport() {}

    /**
     * Prints what a site can do.
     *
     * @param can a response's fields, with the same names for a site that was checked now as for one that was checked before
     */
    static void capabilities(PrintWriter out, JsonNode can) {
        ObjectNode known = can.deepCopy().asObject();
        var unknown = known.putArray("keyUnknown");
        Arrays.stream(Power.values())
                .map(Power::name)
                .filter(power -> Stream.of("keyCould", "keyCouldNot")
                        .flatMap(list -> can.path(list).valueStream())
                        .noneMatch(each -> each.stringValue().equals(power)))
                .forEach(unknown::add);
        Phrase.print(
                out,
                known,
                "  server   {server}",
                "  digests  {digest}[{digestBytesPerSecond?}, {digestBytesPerSecond size}/s from memory]",
                "  way in   [{unpacksTar?}{syncsAtOnce?}archives into tar, and ]SFTP",
                "  links    [{linksFiles?}hard links, each file once|each hard link as a file of its own]",
                "  sync     [{syncsAtOnce?}by one command|file by file]",
                "  reads    [cold, by {cacheTool}|warm]",
                "  names    [{namesAreBytes?}any bytes|UTF-8 only]",
                "  clock    {clockAheadSeconds signed} s",
                "  thief    with the key could: [{keyCould words}|nothing]; could not: [{keyCouldNot words}|nothing];"
                        + " unknown: [{keyUnknown words}|nothing]");
    }

    /** Prints how full it is, and when it will be. */
    static void capacity(PrintWriter out, JsonNode capacity) {
        Phrase.print(
                out,
                capacity,
                "  capacity {percentFull} % full, {freeBytes size} of {totalBytes size} free, seen {seenAt}",
                "{outlook=FILLING?}  full     about {fullAt day}[, at {bytesPerDay size} a day]",
                "{outlook=FULL?}  full     now",
                "{outlook=FAR?}  full     in more than 10 years[, at {bytesPerDay size} a day]",
                "{outlook=NOT_FILLING?}  full     unknown: free space has not decreased in the last 4 weeks",
                "{outlook=TOO_LITTLE_KNOWN?}  full     unknown: checked on too few days of the last 4 weeks");
    }
}
