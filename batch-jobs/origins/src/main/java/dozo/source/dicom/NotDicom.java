package dozo.source.dicom;

/** The file is not DICOM. This is not a finding: other files are normal beside images. */
public record NotDicom() implements Parsed {}
