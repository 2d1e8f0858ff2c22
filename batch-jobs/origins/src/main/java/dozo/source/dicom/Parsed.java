package dozo.source.dicom;

/** The result of reading a file. */
public sealed interface Parsed permits Header, NotDicom, Damaged {}
