package dozo.plan;

/**
 * A transfer unit and its partition.
 *
 * @param entryNumbers one for a large file
 * @param lengthBytes the sum of the sizes; 0 for further names of files
 */
@SuppressWarnings(
        "ArrayRecordComponent") // never compared; boxed, a thousand numbers a bundle would cost five times the memory
public record PlannedUnit(UnitKind kind, int[] entryNumbers, long lengthBytes, int partition) {}
