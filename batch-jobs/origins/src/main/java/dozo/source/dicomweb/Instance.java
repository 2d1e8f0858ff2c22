package dozo.source.dicomweb;

/**
 * An instance as Orthanc tells of it.
 *
 * @param id Orthanc's own, of 40 hexadecimal digits in groups
 * @param mark another one when other bytes have taken its place
 * @param series Orthanc's id of its series
 * @param sizeBytes of the file that Orthanc keeps
 */
record Instance(
        String id, String mark, String series, String studyUid, String seriesUid, String sopUid, long sizeBytes) {

    String name() {
        return "instance " + Uid.shown(sopUid);
    }

    boolean hasPlainUids() {
        return Uid.isPlain(studyUid) && Uid.isPlain(seriesUid) && Uid.isPlain(sopUid);
    }
}
