package dozo.source.dicom;

/** The file is no DICOM: nothing to tell anybody of, as other files lie beside images. */
public record NotDicom() implements Parsed {}
