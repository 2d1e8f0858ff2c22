package dozo.source.dicom;

/** What came of looking at a file. */
public sealed interface Parsed permits Header, NotDicom, Damaged {}
