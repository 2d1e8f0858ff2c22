package dozo.run;

import dozo.plan.Planner.Limits;
import dozo.setting.Setting;
import dozo.setting.Setting.Agree;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/** How a run sends. */
@ConfigurationProperties("dozo.transfer")
public record TransferSettings(
        @Setting(
                value =
                        "SSH connections to the site, with one channel each; 0: the numbers of connections and channels are tuned"
                                + " while sending",
                min = "0",
                max = "64")
        @DefaultValue("0")
        int lanes,

        @Setting(
                value =
                        "worker steps at once. The pool of connections for runs has this many and 12 more, that of requests 16; the"
                                + " embedded server allows 100 in all",
                min = "1",
                max = "64")
        @DefaultValue("4")
        int partitions,

        @Setting(
                value = "full transfer units that a worker step has under way; up to 16 tiny ones count as a full one",
                min = "1",
                max = "100")
        @DefaultValue("4")
        int chunk,

        @Setting(
                value =
                        "bytes of small files in one unit; a file above this size that is not large is a unit by itself",
                min = "1kB",
                max = "1GB")
        @DefaultValue("32MiB")
        DataSize bundle,

        @Setting(value = "entries in one unit", min = "1", max = "100000") @DefaultValue("1000")
        int bundleEntries,

        @Setting(
                value =
                        "a file longer than this is large: a unit by itself, over all lanes at once. Shorter ones may be, where little"
                                + " is to be sent ([ADR 0018](../why/night.md#adr-0018))",
                min = "64kB",
                max = "16GB")
        @DefaultValue("64MiB")
        DataSize large,

        @Setting(
                value =
                        "minimum duration of sending from which the cost model learns ([plan](plan.md#the-table-cost_model));"
                                + " shorter times measure mostly start and end",
                min = "0s",
                max = "1d")
        @DefaultValue("10s")
        Duration learnFrom,

        @Setting(
                value = "timeout of a command at the site, plus 1 s for each 5 MB and each 50 files that it reads"
                        + " ([ADR 0027](../why/site.md#adr-0027))",
                min = "100ms",
                max = "1h")
        @DefaultValue("1m")
        Duration patience,

        @Setting(value = "how long a run waits for a lost site before it fails", min = "0s", max = "1d")
        @DefaultValue("5m")
        Duration outage,

        @Setting(
                value =
                        "of this many files whose digest the site computed, one chosen at random is also read back and compared"
                                + " ([ADR 0027](../why/site.md#adr-0027)); 1: all, 0: none",
                min = "0",
                max = "1000000000",
                agree = Agree.SERVICES_AND_WORKERS)
        @DefaultValue("1000")
        int readBackOneIn,

        @Setting("whether small files are sent by SFTP as well, not as archives into the site's tar")
        @DefaultValue("false")
        boolean sftpAlone) {

    Limits limits() {
        return new Limits(bundle.toBytes(), bundleEntries, large.toBytes());
    }
}
