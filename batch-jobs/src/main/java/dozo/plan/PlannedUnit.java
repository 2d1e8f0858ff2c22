package dozo.plan;

/**
 * A transfer unit and the partition it is in.
 *
 * @param entryNumbers one for a range and a whole file
 * @param offsetBytes where a range begins; else 0
 * @param lengthBytes how long it is; else the sum of the sizes
 */
@SuppressWarnings(
        "ArrayRecordComponent") // never compared; boxed, a thousand numbers a bundle would cost five times the memory
public record PlannedUnit(UnitKind kind, int[] entryNumbers, long offsetBytes, long lengthBytes, int partition) {}
